"""Which member of a classic Streams group holds which task from one generation to the next: spans
end and begin, and what an owner gave up is handed over.
"""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import (
    CopyRun,
    Generation,
    MemberTasks,
    StreamsState,
    Task,
)
from groupreplay.replay.output import Output
from groupreplay.replay.streams.classic.assignor import (
    EXACT,
    role_of,
)
from groupreplay.replay.streams.classic.rebalance_causes import (
    PROBING,
)
from groupreplay.replay.streams.classic.streams_stalls import StreamsStalls
from groupreplay.replay.streams.classic.task_spans import Roles, TaskSpans
from groupreplay.replay.streams.task_moves import TaskMoves
from groupreplay.replay.streams_facts import ACTIVE, HeldTask

Wanted = dict[Task, str]


class TaskHands:
    """Spans and hand-overs of one life, generation by generation."""

    def __init__(
        self,
        state: StreamsState,
        output: Output,
        spans: TaskSpans,
        moves: TaskMoves,
        stalls: StreamsStalls,
    ) -> None:
        self._state = state
        self._output = output
        self._spans = spans
        self._moves = moves
        self._stalls = stalls
        self._placed: tuple[Wanted, str] | None = None

    def change(
        self,
        before: Generation | None,
        now: Generation,
        wanted: Wanted,
        observed: bool,
        cause: str | None = None,
    ) -> int:
        """Ends and begins spans, and the hand-overs that follow. Returns how many spans ended.

        cause: cause of the generation, None where the K2 repeats one.
        """
        self._spans.begin_generation()
        self._moves.begin_generation()
        if cause is not None:
            self._spans.count_generation(is_probing=cause == PROBING)
        for member in now.members.values():
            self._spans.note_sums(now, member)
        placed = wanted, self._state.assignor
        is_quiet = before is not None and placed == self._placed and _is_same(before, now)
        self._placed = placed
        return 0 if is_quiet else self._change_spans(before, now, wanted, observed)

    def _change_spans(
        self, before: Generation | None, now: Generation, wanted: Wanted, observed: bool
    ) -> int:
        """As `change`, where anything may have changed."""
        roles = {m.member_id: self._roles(now, wanted, m) for m in now.members.values()}
        replaced = _replaced(before, now)
        ended = self.end_spans(now, roles, replaced, before)
        if before is None:
            self._begin_unseen(now)
        for member in now.members.values():
            self._spans.hold(now, member, roles[member.member_id], observed)
            self._spans.note_sums(now, member)
            self._spans.note_owed(now, member)
            for task in sorted([task for task in member.given if task in self._state.moves]):
                self._moves.grant(now, task, member)
        self._note_runs(before, now)
        return ended

    def _roles(self, now: Generation, wanted: Wanted, member: MemberTasks) -> Roles:
        """What a member holds. A copy that only keeps a store open until its task is given begins
        no span, and ends none (StreamsPartitionAssignor.buildStandbyTaskMap).
        """
        roles: Roles = dict.fromkeys(member.given, (ACTIVE, EXACT))
        process = member.process_id
        for task in member.replicas - member.given:
            if now.owed.get(task) != process or process in self._state.runs.get(task, ()):
                roles[task] = role_of(self._state, now, wanted, task, member)
        return roles

    def end_spans(
        self,
        now: Generation,
        roles: dict[str, Roles],
        replaced: set[str],
        before: Generation | None,
    ) -> int:
        """Ends every span that its member does not go on with; returns how many."""
        ended = 0
        active = now.active
        for key in self._spans.held():
            member_id, task = key
            span = self._state.spans[member_id][task]
            role = roles.get(member_id, {}).get(task)
            if role is not None and role[0] == span.row.role:
                continue
            ended += 1
            self._stalls.end_learning(span, now)
            process, was_active = span.row.process_id, span.row.role == ACTIVE
            reason = self._end_reason(now, member_id, span.row, replaced)
            hidden = before is None
            row = self._spans.end(
                key, now.at, now.offset, now.epoch, "UNOBSERVED" if hidden else reason
            )
            if not was_active:
                continue
            if not now.members:
                # The application is stopped: there is nobody whom the task could go to.
                self._output.emit(row)
                continue
            owner = before.members.get(member_id) if before is not None else None
            if owner is None or process is None:
                self._output.emit(row)
                continue
            holder = active.get(task)
            stays = holder is not None and holder.process_id == process
            self._moves.begin(now, task, owner, row, stays=stays)
        return ended

    def _end_reason(
        self, now: Generation, member_id: str, row: HeldTask, replaced: set[str]
    ) -> str:
        if member_id in replaced:
            return "REPLACED"
        if member_id not in now.members:
            return "LEFT_OR_FENCED"
        task, process = (row.subtopology, row.partition), row.process_id
        holder = now.active.get(task)
        is_here = holder is not None and holder.process_id == process
        if row.role != ACTIVE:
            return "PROMOTED" if is_here else "WITHDRAWN"
        if is_here or now.owed.get(task) == process:
            return "MOVED_IN_PROCESS"
        if process is not None and (task, process) in now.copies:
            return "DEMOTED"
        topics = {topic for member in now.members.values() for topic in member.topics}
        inputs = self._state.inputs.get(task, frozenset())
        is_read = not inputs or any(topic in topics for topic, _ in inputs)
        return "REVOKED" if is_read else "TASK_REMOVED"

    def _begin_unseen(self, now: Generation) -> None:
        """Behind a hole a K2 still shows what it takes from its own members."""
        active = now.active
        for member in now.members.values():
            for task in sorted(member.owned - member.given):
                holder = active.get(task)
                stays = holder is not None and holder.process_id == member.process_id
                if not stays:
                    self._moves.begin(now, task, member, None, stays=False)

    def _note_runs(self, before: Generation | None, now: Generation) -> None:
        """Since when each process has held a replica of each task, without a break."""
        runs, copies = self._state.runs, now.copies
        for task in list(runs):
            for process in [p for p in runs[task] if (task, p) not in copies]:
                del runs[task][process]
            if not runs[task]:
                del runs[task]
        for task, process in copies:
            of_task = runs.setdefault(task, {})
            if process not in of_task:
                of_task[process] = CopyRun(now.at, probes_before=self._state.probes)
            elif (
                before is not None
                and now.owed.get(task) == process
                and before.owed.get(task) != process
            ):
                of_task[process].last_not_owed_at = before.at


def _is_same(before: Generation, now: Generation) -> bool:
    """Whether a generation gives everybody what the one before gave, as most probes do."""
    had = before.members
    return (
        before.owed == now.owed
        and had.keys() == now.members.keys()
        and all(
            (member.given, member.replicas, member.process_id)
            == (had[member_id].given, had[member_id].replicas, had[member_id].process_id)
            for member_id, member in now.members.items()
        )
    )


def _replaced(before: Generation | None, now: Generation) -> set[str]:
    """Members whose instance came back under another id."""
    if before is None:
        return set()
    back = {
        m.instance_id
        for i, m in now.members.items()
        if i not in before.members and m.instance_id is not None
    }
    return {
        i for i, m in before.members.items() if i not in now.members and m.instance_id in back
    } - {i for i, m in before.members.items() if m.instance_id is None}
