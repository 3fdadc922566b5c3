"""Which assignor a group shows itself to have, and what its replicas are then.

Nothing in a K2 names the assignor. The highly available one leaves each task with state at the
place it wants, or owes it there, or asks for another rebalance; a generation that does neither
shows another one. Source: HighAvailabilityTaskAssignor, TaskMovement, FallbackPriorTaskAssignor.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.replay.kept.streams_tasks import Generation, MemberTasks, StreamsState, Task
from groupreplay.replay.streams_facts import STANDBY, WARMUP

HIGH_AVAILABILITY = "HIGH_AVAILABILITY"
FALLBACK = "FALLBACK"
OTHER = "OTHER"
UNKNOWN = "UNKNOWN"

EXACT = "EXACT"
INFERRED = "INFERRED"


def is_stable(generation: Generation) -> bool:
    """Nothing is to come: no member rejoins by itself, nothing was taken, there is no error."""
    return (
        generation.next_at is None
        and not generation.due()
        and not generation.revoked
        and not generation.error
    )


def judge_assignor(state: StreamsState, generation: Generation, wanted: Mapping[Task, str]) -> str:
    """What this generation shows of the assignor; `state.assignor` is what those before showed.

    FALLBACK holds for one generation: the end offsets could not be fetched, so all stays.
    """
    if len(generation.threads) < 2 or generation.error:
        return state.assignor
    misplaced = misplaced_tasks(generation, wanted)
    if not misplaced:
        return HIGH_AVAILABILITY if state.assignor in (UNKNOWN, FALLBACK) else state.assignor
    if generation.next_at is not None and not generation.revoked:
        copies = generation.copies
        if not any((task, wanted[task]) in copies for task in misplaced):
            return FALLBACK if state.assignor != OTHER else OTHER
    if generation.next_at is not None or _hides_probing(generation):
        return HIGH_AVAILABILITY if state.assignor in (UNKNOWN, FALLBACK) else state.assignor
    return OTHER if is_stable(generation) else state.assignor


def misplaced_tasks(generation: Generation, wanted: Mapping[Task, str]) -> set[Task]:
    """Tasks with state that are neither where the assignor wants them nor owed there."""
    active, owed = generation.active, generation.owed
    return {
        task
        for task, process in wanted.items()
        if (task not in active or active[task].process_id != process)
        and (task not in owed or owed[task] not in (process, None))
    }


def _hides_probing(generation: Generation) -> bool:
    """The member of the leader's process that would have the probing time is owed a task, so it
    rejoins at once instead.
    """
    leader = generation.leader_process_id
    return any(member.process_id == leader for member in generation.due())


def role_of(
    state: StreamsState,
    generation: Generation,
    wanted: Mapping[Task, str],
    task: Task,
    member: MemberTasks,
) -> tuple[str, str]:
    """(role, confidence) of a replica. A warm-up is a replica where the task is to become active.

    Where another assignor placed it, a warm-up is a replica beyond num.standby.replicas that was
    not there when the group was stable.
    """
    process = member.process_id
    if state.assignor in (HIGH_AVAILABILITY, FALLBACK, UNKNOWN):
        holder = generation.active.get(task)
        is_active_here = holder is not None and holder.process_id == process
        role = WARMUP if wanted.get(task) == process and not is_active_here else STANDBY
        return role, EXACT if state.assignor == HIGH_AVAILABILITY else INFERRED
    if state.standby_replicas is None or state.stable_copies is None:
        return STANDBY, INFERRED
    copies = len([1 for m in generation.members.values() if task in m.replicas])
    is_extra = copies > state.standby_replicas and (task, process) not in state.stable_copies
    return (WARMUP if is_extra else STANDBY), INFERRED


def note_stable(state: StreamsState, generation: Generation) -> None:
    """num.standby.replicas is the smallest number of replicas of a task with state, while nothing
    moves and there are places for them.
    """
    if not is_stable(generation) or len(generation.threads) < 2:
        return
    copies = generation.copies
    per_task = dict.fromkeys((t for t in generation.active if t[0] in state.stateful), 0)
    for task, _ in copies:
        if task in per_task:
            per_task[task] += 1
    if per_task:
        state.standby_replicas = min(per_task.values())
    state.stable_copies = copies
