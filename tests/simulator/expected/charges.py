"""Which event of a life each change of hands is charged to (measures.md, Waves)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Between
from tests.simulator.expected.comings import GONE, REPLACED, Coming, comings_of
from tests.simulator.expected.history import History
from tests.simulator.expected.moves import HOUR_MS, Move, counts_of, moves_of
from tests.simulator.lives import Life

_ORDER: Final = "GRJA"


class Charged(NamedTuple):
    """A change of hands, and the events that it may be charged to: of several that one operation
    shows alike nobody says which was the last."""

    move: Move
    events: Sequence[Coming]


def charged_of(history: History, life: Life) -> list[Charged]:
    """Of changes to another process."""
    return history.made_once(_charged_of, life)


def _charged_of(history: History, life: Life) -> list[Charged]:
    by_offset = {found[0].operation.first_offset: found for found in comings_of(life)}
    return [
        Charged(move, _events(move, by_offset))
        for move in moves_of(history, life)
        if move.is_move is not False
    ]


def _events(move: Move, by_offset: Mapping[int, Sequence[Coming]]) -> Sequence[Coming]:
    """The own one of a member that went or was taken over; else the last before, where no epoch
    began in between."""
    offset, who = move.released.first_offset, move.span.member_id
    own = [
        each
        for each in by_offset.get(offset, ())
        if each.member_id == who and each.kind in (GONE, REPLACED)
    ]
    if own:
        return own
    place = max((each for each in by_offset if each <= offset), default=None)
    if place is None:
        return ()
    last = by_offset[place]
    event = max(last, key=lambda each: _ORDER.index(each.kind))
    is_near = move.released.at - event.operation.at <= HOUR_MS
    if not is_near or event.operation.epoch != move.released.epoch:
        return ()
    return [each for each in last if each.kind == event.kind]


def moved_for(history: History, life: Life, events: Collection[Coming]) -> Any:
    """How many changes of hands are charged to some events."""
    ours = [(move, of) for move, of in charged_of(history, life) if any(e in events for e in of)]
    sure = [move for move, of in ours if all(each in events for each in of)]
    least = counts_of(history, [life], sure)["moved"]
    if len(sure) == len(ours):
        return least
    most = counts_of(history, [life], [move for move, _ in ours])["moved"]
    if isinstance(least, int | Between) and isinstance(most, int | Between):
        first = least if isinstance(least, int) else least.first
        return Between(first, most if isinstance(most, int) else most.last)
    return least
