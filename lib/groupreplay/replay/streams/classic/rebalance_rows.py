"""The row of one generation of a classic group in `streams_rebalances`."""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.replay.kept.streams_tasks import Generation, StreamsState, Task
from groupreplay.replay.life import Life
from groupreplay.replay.streams.classic.assignor import (
    EXACT,
    HIGH_AVAILABILITY,
    INFERRED,
    OTHER,
    UNKNOWN,
    is_stable,
    misplaced_tasks,
)
from groupreplay.replay.streams.classic.rebalance_causes import FOLLOWUP, PROBING, RebalanceCause
from groupreplay.replay.streams.task_moves import positive
from groupreplay.replay.streams_facts import STANDBY, WARMUP, StreamsRebalance

ASSIGNOR_ERRORS = {
    1: "INCOMPLETE_SOURCE_TOPIC_METADATA",
    2: "VERSION_PROBING",
    3: "ASSIGNMENT_ERROR",
    4: "SHUTDOWN_REQUESTED",
}
"""Source: AssignorError."""

NONE, VERSION = "NONE", "VERSION"


def assignor_error(code: int) -> str | None:
    """Kafka's name of an error code; None for 0."""
    return None if code == 0 else ASSIGNOR_ERRORS.get(code, f"ERROR_{code}")


def new_row(
    life: Life,
    state: StreamsState,
    before: Generation | None,
    now: Generation,
    cause: RebalanceCause,
    *,
    observed: bool,
) -> StreamsRebalance:
    """What the K2 alone says, and the one before."""
    ended = now.join_ended_at if now.join_ended_at >= 0 else None
    row = StreamsRebalance(
        **life.place,
        from_offset=now.offset,
        start_observed=observed,
        epoch=now.epoch,
        protocol="classic",
        cause=cause.cause,
        cause_member_id=cause.member_id,
        cause_process_id=_process_of(before, now, cause.member_id),
        confidence=cause.confidence,
        also=cause.also,
        join_ended_at=ended,
        decided_at=now.at,
        leader_member_id=now.leader,
        leader_process_id=now.leader_process_id,
        members=len(now.members),
        processes=len(now.threads),
        error_code=assignor_error(now.error),
        assignor=state.assignor,
        assignor_confidence=_confidence(state.assignor),
    )
    if ended is not None:
        row.sync_ms = positive(now.at - ended)
        if cause.cause == PROBING and before is not None:
            row.scheduled_at = before.next_at
            row.join_ms = positive(ended - (before.next_at or ended))
        elif cause.cause == FOLLOWUP and before is not None:
            row.join_ms = positive(ended - before.at)
    _versions(row, now)
    _what_is_next(row, now)
    return row


def _confidence(assignor: str) -> str | None:
    if assignor == UNKNOWN:
        return None
    return EXACT if assignor == HIGH_AVAILABILITY else INFERRED


def _process_of(before: Generation | None, now: Generation, member_id: str | None) -> str | None:
    for generation in (now, before):
        if generation is not None and member_id in generation.members:
            return generation.members[member_id].process_id
    return None


def _versions(row: StreamsRebalance, now: Generation) -> None:
    versions = [m.version for m in now.members.values() if m.version]
    row.min_version = min(versions, default=None)
    row.max_version = max(versions, default=None)
    row.common_version = max((m.usable_version for m in now.members.values()), default=0) or None


def _what_is_next(row: StreamsRebalance, now: Generation) -> None:
    """When somebody rejoins by itself, and who; outcome."""
    due, at = now.due(), now.next_at
    changes_version = [
        m.member_id
        for m in now.members.values()
        if m.used_version and (m.used_version < m.version or m.usable_version > m.version)
    ]
    if due or now.revoked:
        row.next_kind, row.outcome = FOLLOWUP, "FOLLOWUP_DUE"
        row.next_member_id = due[0].member_id if len(due) == 1 else None
    elif changes_version:
        row.next_kind, row.outcome = VERSION, "FOLLOWUP_DUE"
    elif at is not None:
        row.next_kind, row.outcome, row.next_at = PROBING, "PROBING_DUE", at
        row.next_member_id = next(m.member_id for m in now.members.values() if m.next_ms == at)
    else:
        row.next_kind, row.outcome = NONE, "STABLE" if is_stable(now) else "FOLLOWUP_DUE"
    if now.error:
        row.outcome = "ERROR"
    if at is not None:
        # Clocks of clients and brokers agree within some ms, and intervals are whole seconds.
        row.probing_interval_ms = max(0, round((at - now.at) / 1000) * 1000)


def count_tasks(
    row: StreamsRebalance, state: StreamsState, now: Generation, wanted: Mapping[Task, str]
) -> None:
    """Tasks by where they are, once the K2's spans are what they are."""
    active = now.active
    row.tasks_active, row.tasks_owed = len(active), len(now.owed)
    row.tasks_missing = len(now.missing)
    row.tasks = len(active) + len(now.owed) + len(now.missing)
    roles = [span.row.role for span in state.all_spans()]
    row.standby_copies, row.warmup_copies = roles.count(STANDBY), roles.count(WARMUP)
    if len(now.threads) > 1:
        if wanted and state.assignor not in (OTHER, UNKNOWN):
            row.tasks_misplaced = len(misplaced_tasks(now, wanted))
        row.imbalance_tenths = _imbalance(state, now)


def count_ready(state: StreamsState, before: Generation | None, now: Generation) -> int:
    """Replicas that the leader found near enough to the end: their task is theirs now, or owed to
    them, and was not before.
    """
    active = {(task, member.process_id) for task, member in now.active.items()}
    owed = {(task, process) for task, process in now.owed.items() if process is not None}
    known = set(before.owed.items()) if before is not None else set()
    copies = {(task, process) for task, its in state.runs.items() for process in its}
    return len((copies & (active | owed)) - known)


def _imbalance(state: StreamsState, now: Generation) -> int | None:
    """Greatest distance of a process from its share of the active tasks with state, in tenths of a
    percent of that share. A share goes by threads.
    """
    counts = dict.fromkeys(now.threads, 0)
    for task, member in now.active.items():
        counts[member.process_id] += task[0] in state.stateful
    for task, process in now.owed.items():
        if process is not None and process in counts:
            counts[process] += task[0] in state.stateful
    total, threads = sum(counts.values()), len(now.members)
    if not total:
        return None
    shares = {p: total * len(members) / threads for p, members in now.threads.items()}
    return round(1000 * max(abs(counts[p] - share) / share for p, share in shares.items()))


def commit_gap(times: list[int], join_ended_at: int, at: int) -> int | None:
    """From the last commit before a join phase ended to `at`, the first one after the generation.

    None where none of the times that are kept is as early.
    """
    last = max((each for each in times if each <= join_ended_at), default=None)
    return None if last is None else positive(at - last)
