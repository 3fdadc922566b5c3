"""`departure_waves.est_ms`, as request logs complete it: between what is sure of when members
stopped and the first moment that may count as that (measures.md, What a change of hands costs).

How near estimates are to the truth is held over many (`estimates`); a bracket holds each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected import departure_waves, member_ends
from tests.simulator.expected.departure_waves import charged_to
from tests.simulator.expected.estimated import Estimated, Range
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.unread import CONTESTED, is_contested
from tests.simulator.expected.waves import Event, chains_of, is_opaque, lives_of, waves_of
from tests.simulator.lives import Life
from tests.simulator.tables import Row


@dataclass(frozen=True, slots=True)
class Told:
    """What a row says: est_ms, and whether of some who went nothing shows when they stopped."""

    est_ms: int | None
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Bracket:
    """est_ms from least to most. least_untold: the least where it is partial. may_be_null: members
    of an eager generation stopped, and no line need show when they were told."""

    least: int
    most: int
    least_untold: int
    may_be_null: bool

    def admits(self, value: Any) -> bool:
        if not isinstance(value, Told):
            return False
        if value.est_ms is None:
            return self.may_be_null
        least = self.least_untold if value.is_partial else self.least
        return least <= value.est_ms <= self.most

    def __str__(self) -> str:
        return f"{self.least} ({self.least_untold}) to {self.most}, or NULL: {self.may_be_null}"


NOTHING: Final = Told(None, False)


def _told(
    history: History,
    estimated: Callable[[Life], Estimated],
    wave: Sequence[Event],
    after: Sequence[Event] | None,
) -> Any:
    ranges: list[Range] = []
    if is_opaque(wave):
        return NOTHING
    for life in lives_of(wave):
        if is_contested(history, life):
            return CONTESTED
        ranges += estimated(life).of(charged_to(history, life, wave, after))
    return Bracket(
        sum(each.least for each in ranges),
        sum(each.most for each in ranges),
        sum(each.least_untold for each in ranges),
        any(each.is_stop for each in ranges),
    )


def _wanted(history: History) -> dict[Key, Wanted]:
    ends: dict[Key, Wanted] = {
        (key[0], key[1], must.offsets[1]): must
        for key, must in member_ends.CHECK.wanted(history).items()
    }
    of_lives: dict[int, Estimated] = {}

    def estimated(life: Life) -> Estimated:
        if id(life) not in of_lives:
            of_lives[id(life)] = Estimated(history, life, ends)
        return of_lives[id(life)]

    wanted: dict[Key, Wanted] = {}
    for chain in chains_of(history):
        waves = list(waves_of(chain))
        for wave, after in zip(waves, [*waves[1:], None], strict=True):
            first = wave[0].coming.operation.first_offset
            values = {"told": _told(history, estimated, wave, after)}
            wanted[chain.life.group_id, first] = Wanted(values, (first,))
    return wanted


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [{**row, "told": Told(row["est_ms"], bool(row["est_is_partial"]))} for row in rows]


CHECK: Final = Check("wave_estimates", _wanted, departure_waves.CHECK.key_of, gathered=_gathered)
