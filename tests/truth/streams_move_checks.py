"""Hand-overs of tasks, against the words of leaders, what clients saw and the broker's debug log:
every check gives its problems, as sentences; none where all is well.
"""

from __future__ import annotations

from collections.abc import Iterator

from groupreplay.replay.streams_facts import TaskHandOver
from tests.truth.streams_checks import CLASSIC, STREAMS
from tests.truth.streams_moves import LetGo, Move, let_go, moves
from tests.truth.streams_tables import NOISE_MS, StreamsTables, is_near, task_of
from tests.truth.streams_truth import StreamsTruth

Told = list[tuple[str, object, object]]
"""(what, what the row says, what is true)"""

LETS_GO_MS = 6_000
"""From a leader's decision to the owner's last word of a task: it joins again in between."""
HANDLES_MS = 8_000
"""From a grant to the receiver's first word of it."""
RESTORES_MS = 20_000
"""From a grant to the end of its restore."""
AHEAD_MS = 50
"""A client's clock may be so much ahead of the broker's."""


def classic_hand_overs(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Every task that a member lost, and what became of it; none that never was."""
    problems = []
    for group in truth.groups:
        left = _rows(tables, group, CLASSIC)
        for move in moves(truth, group):
            row = _row_of(left, move)
            if row is None:
                problems.append(f"{_name(move)}: no hand-over of {move.process} to {move.to}")
                continue
            left.remove(row)
            for what, got, wanted in (*_taken_and_granted(row, move), *_kind(row, move)):
                if got != wanted:
                    problems.append(f"{_name(move)}: {what} {got}, in truth {wanted}")
        problems += [_never_was(row) for row in left]
    return problems


def readiness(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Classic groups: since when a receiver had learnt a task, and between which bounds it became
    ready; what it lacked then, and at the grant, as the leader counted.
    """
    problems = []
    for move, row in _moved(truth, tables):
        if move.to == move.process or move.to is None or move.grant is None:
            continue
        told: Told = []
        if move.learning:
            first, last = move.learning[0], move.learning[-1]
            told = [
                ("learning since", is_near(row.learning_started_at, first.decided_at), True),
                ("not ready until", is_near(row.last_not_ready_at, last.decided_at), True),
                ("ready at", is_near(row.ready_at, move.taken.decided_at), True),
                ("found ready with little enough lag", _is_ready(truth, move), True),
            ]
        lag = move.lag(move.grant)
        if not move.is_gone and lag is not None:
            told.append(("whether it is known what was left", row.gap_records is not None, True))
        if row.gap_records is not None and lag is not None:
            # A dormant task is one short a store (clients up to 4.2); all have one store here.
            told.append(("records left", 0 <= lag - row.gap_records <= 1, True))
        problems += [
            f"{_name(move)}: {what} is wrong in {row}"
            for what, got, wanted in told
            if got != wanted
        ]
    return problems


def heard_by_clients(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Classic groups: the owner suspended each task after it was taken, and the receiver was given
    it after it was granted.
    """
    problems = []
    for move, row in _moved(truth, tables):
        if move.to is None or row.released_at is None or row.granted_at is None:
            continue
        clients = _clients(truth, move.group)
        gave = [
            at
            for at in truth.logs[clients[move.process]].suspended[move.task]
            if at >= row.released_at - AHEAD_MS
        ]
        if not move.is_gone and (not gave or min(gave) - row.released_at > LETS_GO_MS):
            problems.append(f"{_name(move)}: released at {row.released_at}, suspended at {gave}")
        got = [
            given.at
            for given in truth.logs[clients[move.to]].given
            if move.task in given.active and given.at >= row.granted_at - AHEAD_MS
        ]
        if not got or min(got) - row.granted_at > HANDLES_MS:
            problems.append(f"{_name(move)}: granted at {row.granted_at}, given at {got[:1]}")
    return problems


def restored(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Classic groups: what a receiver lacked at the grant it restored then, as its listener
    counted; of a replica at most that, for it may have got on since its thread joined.
    """
    problems = []
    for row, count in restores(truth, tables):
        assert row.gap_records is not None
        is_right = (
            abs(row.gap_records - count) <= 1
            if row.hand_over_kind == "COLD"
            else count <= row.gap_records + 1
        )
        if not is_right:
            problems.append(f"restored {count} records: {row}")
    return problems


def restores(truth: StreamsTruth, tables: StreamsTables) -> Iterator[tuple[TaskHandOver, int]]:
    """(hand-over, records restored) of the first restore after each, where one task alone can be
    meant.
    """
    seen: set[int] = set()
    for event in truth.seen:
        client = event["member"]
        if event["event"] != "restore_end" or client not in truth.group_of:
            continue
        hits = [
            row
            for row in _rows(tables, truth.group_of[client], CLASSIC)
            if row.to_process_id == truth.process[client] != row.from_process_id
            and row.partition == event["partition"]
            and row.gap_records is not None
            and row.granted_at is not None
            and -AHEAD_MS <= event["at"] - row.granted_at <= RESTORES_MS
        ]
        if len({row.subtopology for row in hits}) == 1 and id(hits[-1]) not in seen:
            seen.add(id(hits[-1]))
            yield hits[-1], event["restored"]


def streams_hand_overs(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Streams groups: every task that a member let go of, and who got it; none that never was."""
    problems = []
    for group in truth.groups:
        left = _rows(tables, group, STREAMS)
        for one in let_go(truth, group):
            row = next((row for row in left if _is_of(row, one)), None)
            if row is None:
                problems.append(f"no hand-over of {one}")
                continue
            left.remove(row)
            problems += [
                f"{one}: {what} {got}, in truth {wanted}"
                for what, got, wanted in _as_the_broker_said(truth, row, one)
                if got != wanted
            ]
        problems += [_never_was(row) for row in left if row.released_at is not None]
    return problems


# ---------------------------------------------------------------- one row


def _rows(tables: StreamsTables, group: str, protocol: str) -> list[TaskHandOver]:
    return [row for row in tables.of(group, TaskHandOver) if row.protocol == protocol]


def _row_of(rows: list[TaskHandOver], move: Move) -> TaskHandOver | None:
    near = (
        row
        for row in rows
        if task_of(row) == move.task
        and row.from_member_id == move.member
        and is_near(row.released_at, move.taken.decided_at)
    )
    return next(near, None)


def _moved(truth: StreamsTruth, tables: StreamsTables) -> Iterator[tuple[Move, TaskHandOver]]:
    for group in truth.groups:
        rows = _rows(tables, group, CLASSIC)
        for move in moves(truth, group):
            row = _row_of(rows, move)
            if row is not None:
                yield move, row


def _taken_and_granted(row: TaskHandOver, move: Move) -> Told:
    cause = "OWNER_GONE" if move.is_gone else "STATELESS" if move.is_stateless else "REBALANCED"
    told: Told = [
        ("of process", row.from_process_id, move.process),
        ("to process", row.to_process_id, move.to),
        ("cause", row.cause, cause),
    ]
    if move.grant is None:
        return [*told, ("granted at", row.granted_at, None)]
    unowned_ms = move.grant.decided_at - move.taken.decided_at
    return [
        *told,
        ("granted near", is_near(row.granted_at, move.grant.decided_at), True),
        ("unowned near", is_near(row.unowned_ms, unowned_ms, 2 * NOISE_MS), True),
    ]


def _kind(row: TaskHandOver, move: Move) -> Told:
    if move.to is None:
        return [("outcome", row.outcome in ("OPEN", "UNOBSERVED"), True)]
    kind = (
        "IN_PROCESS"
        if move.is_within
        else "WARMED"
        if move.learning
        else "DORMANT"
        if move.has_state()
        else "COLD"
    )
    outcome = (
        "RETURNED"
        if move.is_bounce
        else "OWNER_GONE"
        if move.is_gone
        else "ELSEWHERE"
        if move.owed_to not in (None, move.to)
        else "TRANSFERRED"
    )
    told: Told = [("outcome", row.outcome, outcome)]
    if move.is_bounce:  # it has its own state still
        return [*told, ("kind", row.hand_over_kind in ("DORMANT", "WARMED"), True)]
    if not move.is_stateless or move.is_within:
        told.append(("kind", row.hand_over_kind, kind))
    return told


def _is_ready(truth: StreamsTruth, move: Move) -> bool:
    """Whether the leader counted little enough that the receiver lacked, when it took the task."""
    lag = move.lag(move.taken)
    if move.is_gone or lag is None:
        return True
    return lag <= int(truth.setting(move.group, "acceptable.recovery.lag", "10000"))


def _is_of(row: TaskHandOver, one: LetGo) -> bool:
    return (
        task_of(row) == one.task
        and row.from_member_id == one.member
        and is_near(row.released_at, one.released_at, 2 * NOISE_MS)
    )


def _as_the_broker_said(truth: StreamsTruth, row: TaskHandOver, one: LetGo) -> Told:
    to = truth.process_of[one.to_member] if one.to_member is not None else None
    told: Told = [
        ("to member", row.to_member_id, one.to_member),
        ("to process", row.to_process_id, to),
    ]
    if one.granted_at is None:
        told.append(("granted at", row.granted_at, None))
    else:
        near = is_near(row.granted_at, one.granted_at, 2 * NOISE_MS)
        is_within = to == truth.process_of[one.member]
        kind = "IN_PROCESS" if is_within else "WARMED" if one.was_kept else "COLD"
        told += [("granted near", near, True), ("kind", row.hand_over_kind, kind)]
    if one.asked_at is not None:
        took_ms = one.released_at - one.asked_at
        told += [
            ("asked near", is_near(row.requested_at, one.asked_at), True),
            ("revoked within", is_near(row.revoke_ms, took_ms, 2 * NOISE_MS), True),
        ]
    return told


def _clients(truth: StreamsTruth, group: str) -> dict[str, str]:
    """process -> client"""
    return {truth.process[client]: client for client, of in truth.group_of.items() if of == group}


def _name(move: Move) -> str:
    return f"{move.group}, {move.task} in generation {move.taken.number}"


def _never_was(row: TaskHandOver) -> str:
    return (
        f"{row.group_id}: {task_of(row)} of {row.from_member_id} at {row.released_at} to"
        f" {row.to_member_id}, {row.outcome}, never was"
    )
