"""`departure_waves`: which comings and goings of a group are one wave, and how many there are
(decisions.md, departure_waves)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulator.compare import AllOf, Between, Key, Untold, Wanted
from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED
from tests.simulator.expected.day_costs import OVER_CONVERSIONS, unknown_of
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.moves import counts_of, moves_of
from tests.simulator.expected.transitions import transitions_of
from tests.simulator.expected.unread import (
    CONTESTED,
    Unread,
    bounds_of_wave,
    is_contested,
    unread_of,
)
from tests.simulator.expected.wave_processes import (
    HOSTS_SHOWN,
    clients_of,
    hosts_of,
    process_of,
    processes_of,
    timeouts_of,
)
from tests.simulator.expected.waves import (
    CHAIN_GAP_MS,
    Chain,
    Event,
    chains_of,
    is_opaque,
    lives_of,
    waves_of,
)
from tests.simulator.lives import Life, is_conversion
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, Operation, Partition


def _row(
    history: History,
    chain: Chain,
    wave: Sequence[Event],
    later: Sequence[Event] | None,
    before: int,
) -> Wanted:
    """later: the wave that follows in the chain."""
    first, last = wave[0].coming.operation, wave[-1].coming.operation
    kinds = Counter(event.coming.kind for event in wave)
    after = [event.members for event in wave]
    costs = _costs(history, wave, later) | _moves(history, wave, later)
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
        "settled_at": _settled_at(history, wave, later),
        **processes_of(wave),
        **costs,
        **_commits(history, wave, later, costs["low_ms"]),
        "clients": clients_of(wave),
        "is_cut": False,
        "is_final": history.is_final(chain.is_over, chain.events[-1].at),
        "hosts_out": sorted(hosts_of(wave, GONE))[:HOSTS_SHOWN],
        "hosts_in": sorted(hosts_of(wave, JOINED))[:HOSTS_SHOWN],
    }
    return Wanted(values, (first.first_offset, last.first_offset))


def _epochs(wave: Sequence[Event]) -> int | None:
    first, last = wave[0], wave[-1]
    if first.life is not last.life:
        return None
    before = first.coming.before
    # Generation 0 is none yet: then the first one that anybody was in counts as the first.
    begun = before.epoch if before is not None else 0
    return last.coming.operation.epoch - (begun or first.coming.operation.epoch - 1)


def _costs(
    history: History, wave: Sequence[Event], after: Sequence[Event] | None
) -> dict[str, Any]:
    """What was let go before the next wave; charged is what no later epoch began before."""
    lives = lives_of(wave)
    found = [
        each
        for life in lives
        for each in unread_of(history, life)
        if _is_in(wave, after, each.released)
    ]
    return bounds_of_wave(
        history, lives, found, [each for each in found if _is_charged(wave, each.released)]
    )


def _commits(
    history: History, wave: Sequence[Event], after: Sequence[Event] | None, bound: Any
) -> dict[str, Any]:
    """What commits before and after changes of hands show, of those that it is charged with, and
    their low_ms together. bound: what that is by what clients read."""
    if is_opaque(wave):
        return dict.fromkeys(("low_ms", "high_ms", "high_unknown", "longest_idle_ms"))
    lives = lives_of(wave)
    untold = next((why for life in lives if (why := _is_untold(history, life))), None)
    if untold is not None:
        return dict.fromkeys(("high_unknown", "longest_idle_ms"), untold)
    charged = [
        each
        for life in lives
        for each in transitions_of(history, life)
        if _is_in(wave, after, each.unread.released) and _is_charged(wave, each.unread.released)
    ]
    unknown = unknown_of(history, lives[0], charged)
    idles = [each.idle_ms for each in charged if each.idle_ms]
    longest = max(idles, default=None) if isinstance(unknown, int) else unknown
    low_ms = AllOf((sum(each.low_ms for each in charged), bound))
    return {"high_unknown": unknown, "longest_idle_ms": longest, "low_ms": low_ms}


def _is_untold(history: History, life: Life) -> Untold | None:
    if is_contested(history, life):
        return CONTESTED
    return OVER_CONVERSIONS if any(is_conversion(*step) for step in life.steps()) else None


def charged_to(
    history: History, life: Life, wave: Sequence[Event], after: Sequence[Event] | None
) -> list[Unread]:
    """What a wave is charged with of one of its lives."""
    return [
        each
        for each in unread_of(history, life)
        if _is_in(wave, after, each.released) and _is_charged(wave, each.released)
    ]


def _is_in(wave: Sequence[Event], after: Sequence[Event] | None, released: Operation) -> bool:
    """Whether an operation lies in a wave, or behind it and before the next."""
    offset = released.first_offset
    return wave[0].coming.operation.first_offset <= offset and (
        after is None or offset < after[0].coming.operation.first_offset
    )


def _is_charged(wave: Sequence[Event], released: Operation) -> bool:
    offset = released.first_offset
    last = [each for each in wave if each.coming.operation.first_offset <= offset][-1]
    is_near = released.at - last.at <= CHAIN_GAP_MS
    return is_near and last.coming.operation.epoch == released.epoch


def _settled_at(
    history: History, wave: Sequence[Event], after: Sequence[Event] | None
) -> int | None:
    """Of the epoch in force after the last event, where neither an event nor another epoch came
    first."""
    last = wave[-1]
    operation = last.coming.operation
    begun = [
        each
        for each in epochs_of(history, last.life)
        if each.opened.first_offset <= operation.first_offset
    ]
    at = begun[-1].converged_at if begun else None
    if at is None or not last.at <= at <= last.at + CHAIN_GAP_MS:
        return None
    return None if after is not None and after[0].at <= at else at


OPAQUE: Final = {"moved": None, "returned": None, "moves_floor": None}
"""Of waves that have to do with Connect."""


def _moves(
    history: History, wave: Sequence[Event], after: Sequence[Event] | None
) -> dict[str, Any]:
    """What was let go before the next wave and is charged to this one."""
    lives = lives_of(wave)
    if is_opaque(wave):
        return OPAQUE
    found = [
        each
        for life in lives
        for each in moves_of(history, life)
        if _is_in(wave, after, each.released) and _is_charged(wave, each.released)
    ]
    counts = counts_of(history, lives, found)
    if not isinstance(counts["returned"], int):
        return counts | {"moves_floor": counts["returned"]}
    return counts | {"moves_floor": min(counts["moved"], least_moves(wave))}


def least_moves(wave: Sequence[Event]) -> int:
    """What an assignor that moves as little as it can must move."""
    held, is_there, was_there = Counter[str](), dict[str, bool](), dict[str, bool]()
    for event in wave:
        coming, process = event.coming, process_of(event.coming)
        was_there.setdefault(process, coming.kind != JOINED)
        if coming.kind == GONE:
            held[process] += len(coming.member.held)
        if coming.kind in (GONE, JOINED):
            is_there[process] = coming.kind == JOINED
    operation = wave[-1].coming.operation
    members, is_classic = operation.members.values(), operation.protocol == CLASSIC
    targets = [each.assigned if is_classic else each.target for each in members]
    target = frozenset[Partition]().union(*targets)
    gone = sum(number for process, number in held.items() if not is_there[process])
    new = sum(there and not was_there[process] for process, there in is_there.items())
    shares = new * (len(target) // len(members)) if members else 0
    return max(min(len(target), gone), shares)


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for chain in chains_of(history):
        before = chain.events[0].members_before
        waves = list(waves_of(chain))
        timeouts = timeouts_of(history, chain, waves)
        for wave, after, by_kip in zip(waves, [*waves[1:], None], timeouts, strict=True):
            key = (chain.life.group_id, wave[0].coming.operation.first_offset)
            row = _row(history, chain, wave, after, before)
            row = replace(row, values={**row.values, **by_kip})
            wanted[key] = history.judged(chain.life, row)
            before = wave[-1].members
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], history.opened_by(row)


CHECK: Final = Check("departure_waves", _wanted, _key_of)
