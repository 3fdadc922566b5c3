"""`departure_waves`: which comings and goings of a group are one wave, and how many there are
(decisions.md, departure_waves)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Between, Key, Untold, Wanted
from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED, Coming, comings_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.unread import Unread, bounds_of_wave, unread_of
from tests.simulator.lives import Life
from tests.simulator.tables import Row

GAP_MS: Final = 300_000
"""`waves.gap_ms`."""

CHAIN_GAP_MS: Final = 3_600_000
"""What comes later is another chain, whose first wave may be a start."""


@dataclass(slots=True)
class _Event:
    coming: Coming
    life: Life
    at: int
    members_before: int

    @property
    def members(self) -> int:
        return len(self.coming.operation.members)


@dataclass(slots=True)
class _Chain:
    """Events of one group, until it is removed."""

    life: Life
    events: list[_Event] = field(default_factory=list)


def _chains(lives: Sequence[Life]) -> Iterator[_Chain]:
    """lives: of one group, in order. An offline conversion goes on with the chain."""
    chain: _Chain | None = None
    for life in lives:
        for found in comings_of(life):
            operation = found[0].operation
            if chain is not None and operation.at - chain.events[-1].at > CHAIN_GAP_MS:
                yield chain
                chain = None
            chain = chain or _Chain(life)
            at = max([operation.at, *(each.at for each in chain.events[-1:])])
            before = found[0].before
            members = len(before.members) if before is not None else 0
            chain.events += [_Event(coming, life, at, members) for coming in found]
        if life.converted_by is None and chain is not None:
            yield chain
            chain = None
    if chain is not None:
        yield chain


def _waves(chain: _Chain) -> Iterator[list[_Event]]:
    """A start holds joins alone; any wave ends where nothing follows for longer than the gap."""
    wave: list[_Event] = []
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


def _row(
    history: History, chain: _Chain, wave: Sequence[_Event], before: int, costs: dict[str, Any]
) -> Wanted:
    first, last = wave[0].coming.operation, wave[-1].coming.operation
    kinds = Counter(event.coming.kind for event in wave)
    after = [event.members for event in wave]
    values: dict[str, Any] = {
        "incarnation": history.incarnation(chain.life),
        "offsets_partition": chain.life.offsets_partition,
        "from_offset": Between(first.first_offset, first.last_offset),
        "to_offset": Between(last.first_offset, last.last_offset),
        "start_observed": True,
        "started_at": wave[0].at,
        "ended_at": wave[-1].at,
        "members_before": before,
        "members_after": after[-1],
        "members_low": min([before, *after]),
        "joined": kinds[JOINED],
        "departed": kinds[GONE],
        "replaced": kinds[REPLACED],
        "away": kinds[AWAY],
        "epochs": _epochs(wave),
        **costs,
    }
    return Wanted(values, (first.first_offset, last.first_offset))


def _epochs(wave: Sequence[_Event]) -> int | None:
    first, last = wave[0], wave[-1]
    if first.life is not last.life:
        return None
    before = first.coming.before
    # Generation 0 is none yet: then the first one that anybody was in counts as the first.
    begun = before.epoch if before is not None else 0
    return last.coming.operation.epoch - (begun or first.coming.operation.epoch - 1)


def _costs(
    history: History, wave: Sequence[_Event], after: Sequence[_Event] | None
) -> dict[str, Any]:
    """What was let go before the next wave; charged is what no later epoch began before."""
    life, first = wave[0].life, wave[0].coming.operation
    if life is not wave[-1].life:
        return dict.fromkeys(("low_ms", "high_ms"), Untold("waves over a conversion"))
    until = None if after is None else after[0].coming.operation.first_offset
    found = [
        each
        for each in unread_of(history, life)
        if first.first_offset <= each.released.first_offset
        and (until is None or each.released.first_offset < until)
    ]
    return bounds_of_wave(history, life, found, [each for each in found if _is_charged(wave, each)])


def _is_charged(wave: Sequence[_Event], unread: Unread) -> bool:
    offset = unread.released.first_offset
    last = [each for each in wave if each.coming.operation.first_offset <= offset][-1]
    return last.coming.operation.epoch == unread.released.epoch


def _wanted(history: History) -> dict[Key, Wanted]:
    lives: dict[str, list[Life]] = {}
    for life in history.lives:
        lives.setdefault(life.group_id, []).append(life)
    wanted: dict[Key, Wanted] = {}
    for group_id, of_group in lives.items():
        for chain in _chains(of_group):
            before = chain.events[0].members_before
            waves = list(_waves(chain))
            for wave, after in zip(waves, [*waves[1:], None], strict=True):
                key = (group_id, wave[0].coming.operation.first_offset)
                costs = _costs(history, wave, after)
                wanted[key] = _row(history, chain, wave, before, costs)
                before = wave[-1].members
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], history.opened_by(row)


CHECK: Final = Check("departure_waves", _wanted, _key_of)
