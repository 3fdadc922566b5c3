"""Rebalances that KIP-345's two timeouts would have made of the events of a chain (measures.md,
KIP-345's two timeouts)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.simulator.expected.comings import GONE, JOINED, REPLACED

REGISTRATION_MS: Final = 900_000
EXPANSION_MS: Final = 300_000
"""`static.registration_ms` and `static.expansion_ms`."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One event. process: who it was of."""

    kind: str
    at: int
    process: object


@dataclass(slots=True)
class Rebalances:
    """Places of events that opened a window which ended in a rebalance; pending: of events whose
    registration window was open at the end."""

    registrations: list[int] = field(default_factory=list)
    expansions: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)


def rebalances_of(events: Sequence[Happened], founders: Collection[int], until: int) -> Rebalances:
    """founders: places of joins that begin the group. until: time up to which anything is known."""
    found = Rebalances()
    place, gone = 0, list[int]()
    while place < len(events) or gone:
        ends = events[gone[0]].at + REGISTRATION_MS if gone else None
        at = events[place].at if place < len(events) else until
        if ends is not None and ends <= at:
            found.registrations.append(gone[0])
            gone = []
        elif place == len(events):
            break
        else:
            event = events[place]
            was_gone = [each for each in gone if events[each].process == event.process]
            gone = [each for each in gone if each not in was_gone]
            if event.kind == GONE:
                gone.append(place)
            elif event.kind in (JOINED, REPLACED):
                if event.kind == JOINED and not was_gone and place not in founders:
                    _expand(found, events, place)
            else:
                gone = sorted([*gone, *was_gone])
            place += 1
    found.pending = gone
    if found.expansions and events[found.expansions[-1]].at + EXPANSION_MS > until:
        found.expansions.pop()
    return found


def _expand(found: Rebalances, events: Sequence[Happened], place: int) -> None:
    """A window is open for as long as its end is not past."""
    last = found.expansions[-1] if found.expansions else None
    if last is None or events[place].at > events[last].at + EXPANSION_MS:
        found.expansions.append(place)
