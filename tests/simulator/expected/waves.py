"""Events of groups, by chains, and which of them are one wave (measures.md, Waves)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.simulator.expected.comings import JOINED, Coming, comings_of
from tests.simulator.expected.history import History
from tests.simulator.lives import Life
from tests.simulator.truth import STREAMS

GAP_MS: Final = 300_000
"""`waves.gap_ms`."""

CHAIN_GAP_MS: Final = 3_600_000
"""What comes later is another chain, whose first wave may be a start."""


@dataclass(slots=True)
class Event:
    coming: Coming
    life: Life
    at: int
    members_before: int

    @property
    def members(self) -> int:
        return len(self.coming.operation.members)


@dataclass(slots=True)
class Chain:
    """Events of one group, until it is removed. is_over: it was, or an hour passed; none follows."""

    life: Life
    events: list[Event] = field(default_factory=list)
    is_over: bool = False


def _chains(history: History, lives: Sequence[Life]) -> Iterator[Chain]:
    """lives: of one group, in order. An offline conversion goes on with the chain, but for one to a
    streams group; a life whose beginning wrote none has one of its own."""
    chain: Chain | None = None
    for life in lives:
        if chain is not None and history.begins_unwritten(life):
            chain.is_over = True
            yield chain
            chain = None
        for found in comings_of(life):
            operation = found[0].operation
            if chain is not None and operation.at - chain.events[-1].at > CHAIN_GAP_MS:
                chain.is_over = True
                yield chain
                chain = None
            chain = chain or Chain(life)
            at = max([operation.at, *(each.at for each in chain.events[-1:])])
            before = found[0].before
            members = len(before.members) if before is not None else 0
            chain.events += [Event(coming, life, at, members) for coming in found]
        becomes = life.converted_by.protocol if life.converted_by is not None else None
        if chain is not None and becomes in (None, STREAMS):
            chain.is_over = life.end is not None
            yield chain
            chain = None
    if chain is not None:
        yield chain


def waves_of(chain: Chain) -> Iterator[list[Event]]:
    """A start holds joins alone; any wave ends where nothing follows for longer than the gap."""
    wave: list[Event] = []
    members, is_start = chain.events[0].members_before, False
    for event in chain.events:
        is_late = bool(wave) and event.at - wave[-1].at > GAP_MS
        if wave and (is_late or (is_start and event.coming.kind != JOINED)):
            yield wave
            wave = []
            is_start = is_late and members == 0
        elif not wave:
            is_start = members == 0
        wave.append(event)
        members = event.members
    yield wave


def is_opaque(wave: Sequence[Event]) -> bool:
    """Whether the group was one of Connect at any of these events: its assignments cannot be read."""
    return any(event.coming.operation.protocol_type == "connect" for event in wave)


def lives_of(wave: Sequence[Event]) -> list[Life]:
    """Several where the group went over to the other protocol while it was empty: what was held
    before has no next holder."""
    return list({id(event.life): event.life for event in wave}.values())


def chains_of(history: History) -> Iterator[Chain]:
    """Of all groups."""
    lives: dict[str, list[Life]] = {}
    for life in history.lives:
        lives.setdefault(life.group_id, []).append(life)
    for of_group in lives.values():
        yield from _chains(history, of_group)
