"""`departure_waves`: which comings and goings of a group are one wave, and how many there are
(decisions.md, departure_waves)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED, Coming, comings_of
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.moves import counts_of, moves_of
from tests.simulator.expected.unread import Unread, bounds_of_wave, unread_of
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, STREAMS, Operation, Partition

GAP_MS: Final = 300_000
"""`waves.gap_ms`."""

HOSTS_SHOWN: Final = 20

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
    """Events of one group, until it is removed."""

    life: Life
    events: list[Event] = field(default_factory=list)


def _chains(history: History, lives: Sequence[Life]) -> Iterator[Chain]:
    """lives: of one group, in order. An offline conversion goes on with the chain, but for one to a
    streams group; a life whose beginning wrote none has one of its own."""
    chain: Chain | None = None
    for life in lives:
        if chain is not None and history.begins_unwritten(life):
            yield chain
            chain = None
        for found in comings_of(life):
            operation = found[0].operation
            if chain is not None and operation.at - chain.events[-1].at > CHAIN_GAP_MS:
                yield chain
                chain = None
            chain = chain or Chain(life)
            at = max([operation.at, *(each.at for each in chain.events[-1:])])
            before = found[0].before
            members = len(before.members) if before is not None else 0
            chain.events += [Event(coming, life, at, members) for coming in found]
        becomes = life.converted_by.protocol if life.converted_by is not None else None
        if chain is not None and becomes in (None, STREAMS):
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
        **_processes(wave),
        **costs,
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


def lives_of(wave: Sequence[Event]) -> list[Life]:
    """Several where the group went over to the other protocol while it was empty: what was held
    before has no next holder."""
    return list({id(event.life): event.life for event in wave}.values())


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
"""Of Connect: its assignments cannot be read."""


def _moves(
    history: History, wave: Sequence[Event], after: Sequence[Event] | None
) -> dict[str, Any]:
    """What was let go before the next wave and is charged to this one."""
    lives = lives_of(wave)
    if wave[0].coming.operation.protocol_type == "connect":
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


def _process(coming: Coming) -> str:
    return coming.member.instance_id or f"member {coming.member_id}"


def least_moves(wave: Sequence[Event]) -> int:
    """What an assignor that moves as little as it can must move."""
    held, is_there, was_there = Counter[str](), dict[str, bool](), dict[str, bool]()
    for event in wave:
        coming, process = event.coming, _process(event.coming)
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


def _processes(wave: Sequence[Event]) -> dict[str, Any]:
    """Pairs of a departure and a later join of one process, and how many processes there are. A
    member that comes back under its id is the same for sure; under another id its client id and
    host tell."""
    processes = {_process(event.coming) for event in wave}
    clients = {_client(event.coming) for event in wave}
    return {
        "cycles": Between(*cycles_of(wave).all),
        "touched": Between(len(clients), len(processes)),
    }


def hosts_of(wave: Sequence[Event], kind: str) -> set[str]:
    """Hosts of those that came, or went."""
    hosts = {event.coming.member.host for event in wave if event.coming.kind == kind}
    return {host for host in hosts if host is not None}


class Cycles(NamedTuple):
    """Pairs of a departure and a later join: by member id, and by client id. all: of the wave.
    most: of one process."""

    all: tuple[int, int]
    most: tuple[int, int]


def cycles_of(wave: Sequence[Event]) -> Cycles:
    by_id, by_client = (
        _pairs((event.coming.kind, name(event.coming)) for event in wave)
        for name in (_process, _client)
    )
    return Cycles(
        (by_id.total(), by_client.total()),
        (max(by_id.values(), default=0), max(by_client.values(), default=0)),
    )


def _client(coming: Coming) -> str | None:
    return coming.member.instance_id or coming.member.client_id


def _pairs(events: Iterable[tuple[str, str | None]]) -> Counter[str | None]:
    """Who -> how often they went and came back. events: kind, and who it was."""
    out, pairs = Counter[str | None](), Counter[str | None]()
    for kind, who in events:
        if kind == GONE:
            out[who] += 1
        elif kind == JOINED and out[who]:
            out[who] -= 1
            pairs[who] += 1
    return pairs


def chains_of(history: History) -> Iterator[Chain]:
    """Of all groups."""
    lives: dict[str, list[Life]] = {}
    for life in history.lives:
        lives.setdefault(life.group_id, []).append(life)
    for of_group in lives.values():
        yield from _chains(history, of_group)


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for chain in chains_of(history):
        before = chain.events[0].members_before
        waves = list(waves_of(chain))
        for wave, after in zip(waves, [*waves[1:], None], strict=True):
            key = (chain.life.group_id, wave[0].coming.operation.first_offset)
            row = _row(history, chain, wave, after, before)
            wanted[key] = history.judged(chain.life, row)
            before = wave[-1].members
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], history.opened_by(row)


CHECK: Final = Check("departure_waves", _wanted, _key_of)
