"""`stuck_members` and `stuck_groups`: stretches past their thresholds (measures.md, stuck).

Not among them: repetitions (FENCE_LOOP, EPOCH_STORM), and ASSIGNED_NOT_CONSUMING, which hangs on
which commits are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Untold, Wanted
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.repetitions import (
    FENCE_LOOP,
    WINDOW_MS,
    Chain,
    epoch_storms,
    fence_loops,
    shared_clients,
)
from tests.simulator.expected.stretches import THRESHOLDS_MS, Stretch, stretches_of
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import Operation

NOT_TOLD: Final = "repetitions of clients that share an id"
NOT_JUDGED: Final = "reasons that are not judged"
DEADLINE_OF_HOLDERS: Final = Untold("timers of holders")


def _row(history: History, life: Life, stretch: Stretch) -> tuple[Key, Wanted]:
    opened, closed = stretch.opened, stretch.closed
    # By a new leader's clock it can begin before the record that opens it.
    later = max(stretch.since, opened, key=lambda each: each.at)
    starts = {each.at: each for each in (stretch.since, later)}
    values: dict[str, Any] = {
        "incarnation": history.incarnation(life),
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(opened.first_offset, _last_offset(history, stretch)),
        "to_offset": Between(closed.first_offset, closed.last_offset) if closed else None,
        "start_observed": True,
        "is_final": closed is not None,
        "reason": stretch.reason,
        "since_at": OneOf(tuple(starts)),
        "until_at": closed.at if closed else None,
        "stuck_ms": OneOf(tuple(history.lasted_ms(each, closed) for each in starts.values())),
        "is_open": closed is None,
        "detail": stretch.detail,
        "repetitions": None,
    }
    if stretch.member is not None:
        values |= _of_member(history, stretch)
    is_member = stretch.member_id is not None
    first = opened.first_offset if is_member else _first_offset(history, opened)
    key = (life.group_id, stretch.member_id, stretch.reason, first)
    return key, Wanted(values, (opened.first_offset,))


def _last_offset(history: History, stretch: Stretch) -> int:
    """Of what opens it. The log does not part two operations of a group in one millisecond, so what
    a group is stuck by may end with a member's heartbeat."""
    last = stretch.opened
    while stretch.member_id is None:
        following = history.operation_at(last.group_id, last.last_offset + 1)
        if following is None or following.at != last.at:
            break
        last = following
    return last.last_offset


def _first_offset(history: History, operation: Operation) -> int:
    """Of the operations of a group in the millisecond of this one, up to it."""
    while True:
        before = history.operation_at(operation.group_id, operation.first_offset - 1)
        if before is None or before.at != operation.at:
            return operation.first_offset
        operation = before


def _of_member(history: History, stretch: Stretch) -> dict[str, Any]:
    member = stretch.member
    assert member is not None
    return {
        "member_id": stretch.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": OneOf(_hosts(history, stretch)),
        "member_protocol": member.protocol,
        "blocked_by": sorted(stretch.blocked_by),
        "deadline_at": _deadline_at(history, stretch),
        "partitions_held": OneOf(tuple(stretch.held)),
        "partitions_waiting": OneOf(tuple(stretch.waiting)) if stretch.waiting else None,
    }


def _hosts(history: History, stretch: Stretch) -> tuple[str | None, ...]:
    """A process may have moved while it was stuck."""
    opened, closed, member_id = stretch.opened, stretch.closed, stretch.member_id or ""
    found = {
        operation.members[member_id].host
        for operation in history.truth.operations[opened.group_id]
        if member_id in operation.members
        and opened.first_offset <= operation.first_offset
        and (closed is None or operation.first_offset <= closed.first_offset)
    }
    return tuple(found)


def _deadline_at(history: History, stretch: Stretch) -> Any:
    """When the member's rebalance timer runs out; None for classic members, and once a new leader
    armed the timers anew."""
    if stretch.reason == "WAITING_ON_HOLDER":
        return DEADLINE_OF_HOLDERS
    member = stretch.member
    if member is None or member.is_classic or member.rebalance_timeout_ms is None:
        return None
    if stretch.reason != "SLOW_REVOCATION":
        return None
    fallen = history.has_other_leader(stretch.since, stretch.closed)
    deadlines = {at + member.rebalance_timeout_ms for at in stretch.requested_at}
    return OneOf((*deadlines, *([None] if fallen else [])))


def _repeated(history: History, life: Life, chain: Chain) -> Iterator[tuple[Key, Wanted]]:
    """Rows of repetitions: from the first removal, or epoch, to the last return."""
    opened = chain.turns[0].ended
    for first, last in chain.episodes():
        since, until = chain.turns[first].began, chain.turns[last].ended
        is_last = last == len(chain.turns) - 1 and life.end is None and not chain.is_full
        is_open = is_last and history.truth.as_of_ms - until.at <= WINDOW_MS
        until_at = None if is_open else until.at
        values: dict[str, Any] = {
            "incarnation": history.incarnation(life),
            "offsets_partition": life.offsets_partition,
            "from_offset": Between(opened.first_offset, opened.last_offset),
            "start_observed": True,
            "since_at": since.at,
            "until_at": until_at,
            "stuck_ms": (until_at or history.truth.as_of_ms) - since.at,
            "is_open": is_open,
            "repetitions": last - first + 1,
            "detail": None,
        }
        if chain.reason == FENCE_LOOP:
            turns = chain.turns[first : last + 1]
            values |= {
                "member_id": OneOf(tuple(each.member_id for each in turns)),
                "client_id": chain.client_id,
                "blocked_by": [],
                "deadline_at": None,
            }
        key = (life.group_id, chain.client_id, chain.reason, since.at)
        left_out = "" if chain.is_certain else NOT_TOLD
        yield key, Wanted(values, (since.first_offset, until.first_offset), left_out)


def _wanted_of_members(history: History) -> dict[Key, Wanted]:
    wanted = _stretches(history, of_members=True)
    for life in history.lives:
        for chain in fence_loops(life):
            wanted.update(_repeated(history, life, chain))
    return wanted


def _wanted_of_groups(history: History) -> dict[Key, Wanted]:
    wanted = _stretches(history, of_members=False)
    for life in history.lives:
        for chain in epoch_storms(life, epochs_of(history, life)):
            wanted.update(_repeated(history, life, chain))
    return wanted


def _stretches(history: History, *, of_members: bool) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        elected = history.truth.elected.get(life.offsets_partition, ())
        for stretch in stretches_of(life, elected):
            lasted_ms = history.lasted_ms(stretch.since, stretch.closed)
            is_stuck = lasted_ms >= THRESHOLDS_MS[stretch.reason]
            if is_stuck and of_members == (stretch.member_id is not None):
                key, row = _row(history, life, stretch)
                wanted[key] = row
    return wanted


def _key_of(history: History, row: Row) -> Key:
    if row["repetitions"] is not None:
        return row["group_id"], row.get("client_id"), row["reason"], row["since_at"]
    opened = history.operation_at(row["group_id"], row["from_offset"])
    if opened is None or row.get("member_id") is not None:
        return row["group_id"], row.get("member_id"), row["reason"], history.opened_by(row)
    return row["group_id"], None, row["reason"], _first_offset(history, opened)


def _excuse(history: History, row: Row) -> str:
    if row["reason"] == FENCE_LOOP:
        lives = [each for each in history.lives if each.group_id == row["group_id"]]
        is_shared = any(row["client_id"] in shared_clients(each) for each in lives)
        return NOT_TOLD if is_shared else ""
    return "" if row["reason"] in THRESHOLDS_MS else NOT_JUDGED


MEMBERS: Final = Check("stuck_members", _wanted_of_members, _key_of, _excuse)
GROUPS: Final = Check("stuck_groups", _wanted_of_groups, _key_of, _excuse)
