"""Partitions that came from one member to the next in one life, and whether another process has
them then (measures.md, What a change of hands costs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Between, Untold
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Span
from tests.simulator.expected.repetitions import shared_clients
from tests.simulator.lives import Life, is_conversion
from tests.simulator.truth import Member, Operation

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Move:
    """span, heir: who had it, and who got it; had, has: these members then. released, granted: operations.

    is_move: whether another process has it; None where the two are clients of one client id, of
    which only hosts tell whether they are one. is_return: of these, back to the process that had
    lost it within the hour before. is_last: of several that had it, the one that lost
    it last.
    """

    span: Span
    heir: Span
    had: Member
    has: Member
    released: Operation
    granted: Operation
    is_move: bool | None
    is_return: bool = False
    is_last: bool = True


def moves_of(history: History, life: Life) -> Iterator[Move]:
    """In the order in which the partitions were given. Replaced static members, and members
    that get back what they had, are there too."""
    holdings, operations = history.holdings(life), life.operations
    last: dict[int, Span] = {}
    found = []
    for span in holdings.spans:
        heir = holdings.next_after(span)
        if heir is None or span.closed is None:
            continue
        found.append((span, heir))
        known = last.get(id(heir))
        if known is None or (known.closed or 0) <= span.closed:
            last[id(heir)] = span
    came_from: dict[int, str | None] = {}
    found.sort(key=lambda each: each[1].opened)
    for span, heir in found:
        released = operations[span.closed or 0]
        before, granted = operations[(span.closed or 1) - 1], operations[heir.opened]
        had, has = before.members[span.member_id], granted.members[heir.member_id]
        is_recent = released.at - operations[span.opened].at <= HOUR_MS
        before_that = came_from.get(id(span)) if is_recent else None
        is_move = _is_move(span, had, heir, has)
        is_return = bool(is_move) and _process(heir, has) == before_that
        came_from[id(heir)] = _process(span, had) if is_move else before_that
        is_last = last[id(heir)] is span
        yield Move(span, heir, had, has, released, granted, is_move, is_return, is_last)


def _process(span: Span, member: Member) -> str:
    return member.instance_id or f"member {span.member_id}"


def _is_move(span: Span, had: Member, heir: Span, has: Member) -> bool | None:
    if span.member_id == heir.member_id:
        return False
    if had.instance_id is not None or has.instance_id is not None:
        return had.instance_id != has.instance_id
    return True if had.client_id != has.client_id else None


CLIENTS_ALIKE: Final = Untold("processes that only their client id and host tell")
MOVED: Final = Untold("processes that went on at another host")
NAMELESS: Final = Untold("a deleted topic's name need not be known over a conversion")
CONTESTED: Final = Untold("what a leader gave to two members at once")


def counts_of(history: History, lives: Sequence[Life], moves: Iterable[Move]) -> dict[str, Any]:
    """`moved` and `returned` of some moves of these lives."""
    found = list(moves)
    for holdings in map(history.holdings, lives):
        if any(holdings.is_contested(span.partition) for span in holdings.spans):
            return {"moved": CONTESTED, "returned": CONTESTED}
    converts = any(is_conversion(*step) for life in lives for step in life.steps())
    deleted = history.truth.deleted if converts else {}
    sure = sum(each.is_move is True and each.span.partition.topic not in deleted for each in found)
    upper = sum(each.is_move is not False for each in found)
    if any(shared_clients(life) - {None} for life in lives):
        return {"moved": Between(sure, upper), "returned": CLIENTS_ALIKE}
    if any(map(has_moved, lives)):
        return {"moved": Between(sure, upper), "returned": MOVED}
    if sure < upper:
        return {"moved": Between(sure, upper), "returned": NAMELESS}
    return {"moved": sure, "returned": sum(each.is_return for each in found)}


def has_moved(life: Life) -> bool:
    """Whether a member had two hosts."""
    return bool(movers_of(life))


def movers_of(life: Life) -> dict[str, set[str | None]]:
    """Members that had several hosts -> these."""
    hosts: dict[str, set[str | None]] = defaultdict(set)
    for operation in life.operations:
        for member_id, member in operation.members.items():
            hosts[member_id].add(member.host)
    return {member_id: each for member_id, each in hosts.items() if len(each) > 1}


def is_taken_over(move: Move) -> bool:
    """Whether the member that had it was replaced by another id of its instance."""
    was = move.had.instance_id
    return was is not None and any(
        member.instance_id == was
        for member_id, member in move.released.members.items()
        if member_id != move.span.member_id
    )
