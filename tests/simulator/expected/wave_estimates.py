"""`departure_waves.est_ms` of classic groups, as request logs complete it: between what is sure of
when members stopped and the generation before (measures.md, departure_waves).

How near estimates are to the truth is held over many (`estimates`); a bracket holds each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, Untold, Wanted
from tests.simulator.expected import departure_waves
from tests.simulator.expected.comings import GONE
from tests.simulator.expected.departure_waves import Chain, Event, charged_to
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.holdings import is_new_generation
from tests.simulator.expected.unread import Unread, is_unsure
from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC, Operation

SLACK_MS: Final = 250
"""Of each partition: requests on their way, and who is told a moment after the K2 before."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """est_ms from least to most; None where no line shows when anybody was told."""

    least: int
    most: int

    def admits(self, value: Any) -> bool:
        return value is None or self.least <= value <= self.most

    def __str__(self) -> str:
        return f"{self.least}..{self.most}"


WITH_OTHERS: Final = Untold("what else than generations an estimate is made of")
UNSURE: Final = Untold("groups of which clocks or commits make estimates unsure")


def _est_ms(
    history: History, chain: Chain, wave: Sequence[Event], after: Sequence[Event] | None
) -> Any:
    operations = [event.coming.operation for event in wave]
    is_classic = all(each.protocol == CLASSIC for each in operations)
    if not is_classic or any(event.coming.kind == GONE for event in wave):
        return WITH_OTHERS
    life = wave[0].life
    if life is not wave[-1].life or is_unsure(history, life):
        return UNSURE
    if operations[0].protocol_type == "connect":
        return None
    charged = charged_to(history, wave, after)
    if any(each.gap is None or each.gap.until is None for each in charged):
        return UNSURE
    least = sum(_least_ms(each, charged) for each in charged)
    most = sum(each.granted.at - _told_from(life, each.released) for each in charged)
    slack = SLACK_MS * len(charged)
    return Bracket(max(0, least - slack), most + slack)


def _least_ms(unread: Unread, charged: Sequence[Unread]) -> int:
    """Nobody stops before it is told; who was told is told of a generation in the mean."""
    if unread.released is not unread.granted or unread.gap is None or not unread.gap.was_eager:
        return 0
    stopped = [each.gap.since for each in charged if each.released is unread.released and each.gap]
    return max(0, unread.granted.true_at - max(stopped))


def _told_from(life: Life, released: Operation) -> int:
    """A generation is told of after the one before began."""
    before = released
    for was, operation in life.steps():
        if operation is released:
            return before.at if before is not released else life.operations[0].at
        if was is None or is_new_generation(was, operation):
            before = operation
    raise AssertionError("an operation of the life")


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for chain in departure_waves.chains_of(history):
        waves = list(departure_waves.waves_of(chain))
        for wave, after in zip(waves, [*waves[1:], None], strict=True):
            first = wave[0].coming.operation.first_offset
            values = {"est_ms": _est_ms(history, chain, wave, after)}
            wanted[chain.life.group_id, first] = Wanted(values, (first,))
    return wanted


CHECK: Final = Check("wave_estimates", _wanted, departure_waves.CHECK.key_of)
