"""Which processes and clients the events of a wave are of, and what KIP-345 would have made of them
(measures.md, Waves)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Between
from tests.simulator.expected.comings import GONE, JOINED, Coming
from tests.simulator.expected.history import History
from tests.simulator.expected.kip_345 import Happened, rebalances_of
from tests.simulator.expected.moves import CLIENTS_ALIKE, MOVED, has_moved
from tests.simulator.expected.repetitions import shared_clients
from tests.simulator.expected.waves import Chain, Event, lives_of

HOSTS_SHOWN: Final = 20


def process_of(coming: Coming) -> str:
    return coming.member.instance_id or f"member {coming.member_id}"


def processes_of(wave: Sequence[Event]) -> dict[str, Any]:
    """Pairs of a departure and a later join of one process, and how many processes there are. A
    member that comes back under its id is the same for sure; under another id its client id and
    host tell."""
    processes = {process_of(event.coming) for event in wave}
    clients = {_client(event.coming) for event in wave}
    return {
        "cycles": Between(*cycles_of(wave).all),
        "touched": Between(len(clients), len(processes)),
    }


class Clients(NamedTuple):
    """Clients of events, those that went most often first; of these alike any order. counts: client
    id, host and instance -> departures and joins."""

    counts: Mapping[tuple[str | None, ...], tuple[int, int]]

    def admits(self, value: Any) -> bool:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            return False
        names = ("client_id", "client_host", "instance_id")
        told = {
            tuple(each[name] for name in names): (each["departed"], each["joined"])
            for each in value
        }
        went = [each["departed"] for each in value]
        most = sorted((gone for gone, _ in self.counts.values()), reverse=True)[:HOSTS_SHOWN]
        return told.items() <= self.counts.items() and went == most


def clients_of(wave: Sequence[Event]) -> Clients:
    counts: dict[tuple[str | None, ...], Counter[str]] = {}
    for event in wave:
        who = event.coming.member
        key = who.client_id, who.host, who.instance_id
        counts.setdefault(key, Counter())[event.coming.kind] += 1
    return Clients({key: (each[GONE], each[JOINED]) for key, each in counts.items()})


def timeouts_of(
    history: History, chain: Chain, waves: Sequence[Sequence[Event]]
) -> list[dict[str, Any]]:
    """Of each wave what KIP-345's two timeouts would have made of it."""
    names = ("epochs_registration", "epochs_expansion", "registration_pending")
    lives = lives_of(chain.events)
    if any(shared_clients(life) - {None} for life in lives):
        return [dict.fromkeys(names, CLIENTS_ALIKE)] * len(waves)
    if any(map(has_moved, lives)):
        return [dict.fromkeys(names, MOVED)] * len(waves)
    of_wave = [place for place, wave in enumerate(waves) for _ in wave]
    before, founders = chain.events[0].members_before, set[int]()
    for place, wave in enumerate(waves):
        if not before:
            founders |= {event for event, number in enumerate(of_wave) if number == place}
        before = wave[-1].members
    events = [Happened(each.coming.kind, each.at, _who(each)) for each in chain.events]
    until = history.truth.logs[chain.life.offsets_partition].last_at
    found = rebalances_of(events, founders, until)
    places = (found.registrations, found.expansions, found.pending)
    registrations, expansions, pending = (
        Counter(of_wave[each] for each in all_) for all_ in places
    )
    return [
        dict(zip(names, (registrations[each], expansions[each], pending[each] > 0), strict=True))
        for each in range(len(waves))
    ]


def _who(event: Event) -> object:
    member = event.coming.member
    return member.instance_id or (member.client_id, member.host)


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
        for name in (process_of, _client)
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
