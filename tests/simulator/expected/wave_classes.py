"""`departure_waves`, as logs of brokers sharpen it: how the members of a wave went, and the class
that this makes it (decisions.md, departure_waves)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain as chained
from itertools import combinations, product
from typing import Any, Final

from tests.simulator.compare import Key, OneOf, Wanted
from tests.simulator.expected import departure_waves, member_ends, wave_processes, waves
from tests.simulator.expected.comings import GONE, JOINED, REPLACED
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.moves import movers_of
from tests.simulator.expected.waves import Chain, Event
from tests.simulator.tables import Row

FLAP_CYCLES: Final = 3
"""`waves.flap_cycles`."""

_LATE: Final = frozenset({"POLL_TIMEOUT", "REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "SYNC_TIMEOUT"})
_EXPIRED: Final = frozenset({"EXPIRED", "SESSION_EXPIRED"})
_BY_SILENCE: Final = frozenset({"LEFT", "EXPIRED", "UNKNOWN"})
_WITHOUT_ENDS: Final = frozenset({"BOUNCE", "AWAY", "START", "STOP", "RECREATE", "SCALE_UP"})
_WAYS: Final = ((1, 0), (0, 1), (0, 0))
"""Of a departure: whether it was late, and whether its session ran out."""

_NO: Final = frozenset({False})

_ANY: Final = frozenset[str]()
"""Ends of a departure of which the truth does not say how it was done."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a row says: its class, and how many departures ended in each way."""

    wave: str
    ends: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Class:
    """Ends that a wave's departures can have, and the class that follows from those of the row.

    departures: of each, the ends that it may have had. flaps: whether a member left and came back
    often enough; both where only hosts show who came back. events: kind of event -> how many.
    before: members before the wave. after: members after each event. new_hosts: whether who came is
    on other hosts than who went, and nobody is left on these; both where it hangs on a member that
    went on at another host, which is no event.
    """

    departures: tuple[frozenset[str], ...]
    flaps: frozenset[bool]
    events: Mapping[str, int]
    before: int
    after: tuple[int, ...]
    new_hosts: frozenset[bool] = _NO

    def admits(self, value: Any) -> bool:
        return (
            isinstance(value, Told)
            and _can_be(self.departures, Counter(value.ends))
            and value.wave in self._classes(value.ends)
        )

    @property
    def possible(self) -> set[str]:
        """All that it may be, in whichever way its departures ended."""
        counts = {(0, 0)}
        for each in self.departures:
            late, expired = (each == _ANY or bool(each & kind) for kind in (_LATE, _EXPIRED))
            other = each == _ANY or bool(each - _LATE - _EXPIRED)
            ways = [
                way for way, is_one in zip(_WAYS, (late, expired, other), strict=True) if is_one
            ]
            counts = {(was[0] + way[0], was[1] + way[1]) for was in counts for way in ways}
        return {
            found
            for late, expired in counts
            for found in self._classes({"POLL_TIMEOUT": late, "EXPIRED": expired})
        }

    def _classes(self, ends: Mapping[str, int]) -> set[str]:
        return {self._first(ends, *each) for each in product(self.flaps, self.new_hosts)}

    def _first(self, ends: Mapping[str, int], flaps: bool, has_new_hosts: bool) -> str:
        """The first class that applies."""
        joined, gone = self.events.get(JOINED, 0), self.events.get(GONE, 0)
        late = sum(count for end, count in ends.items() if end in _LATE)
        expired = sum(count for end, count in ends.items() if end in _EXPIRED)
        if not joined and not gone:
            return "BOUNCE" if self.events.get(REPLACED) else "AWAY"
        if self.before == 0:
            return "START"
        if flaps:
            return "FLAPPING"
        if gone and late == gone:
            return "POLL_TIMEOUT"
        if gone and 2 * expired >= gone:
            return "CRASH"
        if joined == gone and has_new_hosts:
            return "HOST_SWAP"
        return self._by_numbers(joined, gone)

    def _by_numbers(self, joined: int, gone: int) -> str:
        after = self.after
        if 0 in after and any(after[after.index(0) :]):
            return "RECREATE"
        if after[-1] == 0:
            return "STOP"
        if gone >= 2 and joined >= 1 and abs(joined - gone) <= max(1, self.before // 10):
            return "ROLLOUT"
        if joined == gone == 1:
            return "RESTART"
        if joined == gone:
            return "MIXED"
        return "SCALE_UP" if joined > gone else "SCALE_DOWN"

    def __str__(self) -> str:
        told = [sorted(each) for each in self.departures]
        return f"{self.events} of {self.before}, new hosts {sorted(self.new_hosts)}, {told}"


def _can_be(departures: Sequence[frozenset[str]], ends: Counter[str]) -> bool:
    """Whether the departures can share out the ends, one each. They can where no set of ends is
    smaller than the number of departures that must take from it (Hall's theorem)."""
    if len(departures) != ends.total():
        return False
    choices = chained.from_iterable(combinations(ends, size) for size in range(len(ends)))
    return all(
        sum(each != _ANY and each & ends.keys() <= set(chosen) for each in departures)
        <= sum(ends[end] for end in chosen)
        for chosen in choices
    )


def ends_of(event: Event, events: Sequence[Event], known: Mapping[Key, Wanted]) -> frozenset[str]:
    """Ends that a departure may have had. Who leaves by a heartbeat and joins again under its id
    did not poll in time (decisions.md, what each departure was).

    events: of the chain. known: (group, member, offset of its removal) -> how it ended.
    """
    coming = event.coming
    must = known.get((event.life.group_id, coming.member_id, coming.operation.first_offset))
    if must is None or must.left_out:
        return _ANY
    detail = must.values["end_detail"]
    ends = set(detail.values if isinstance(detail, OneOf) else (detail,))
    comes_back = any(
        each.coming.kind == JOINED and each.coming.member_id == coming.member_id
        for each in events
        if each.coming.operation.first_offset > coming.operation.first_offset
    )
    gave_up = comes_back and "LEAVE_HEARTBEAT" in ends
    return frozenset(ends - {"LEAVE_HEARTBEAT"} | {"POLL_TIMEOUT"} if gave_up else ends)


class Confident:
    """How sure a class must be: of what silence says it is not. Where all ends are by lines, two
    about one member may lie near, and POLL_TIMEOUT may be by silence."""

    def admits(self, value: Any) -> bool:
        confidence, told = value
        if told.wave in _WITHOUT_ENDS:
            return bool(confidence == "EXACT")
        if not _BY_SILENCE.isdisjoint(told.ends):
            return bool(confidence == "INFERRED")
        return confidence == "EXACT" or (confidence == "INFERRED" and bool(told.ends))

    def __str__(self) -> str:
        return "EXACT where lines say it, INFERRED where silence does"


def _new_hosts(wave: Sequence[Event]) -> frozenset[bool]:
    hosts_out, hosts_in = (wave_processes.hosts_of(wave, kind) for kind in (GONE, JOINED))
    movers = [movers_of(life) for life in waves.lives_of(wave)]
    had = {host for of_life in movers for hosts in of_life.values() for host in hosts}
    moved = {member_id for of_life in movers for member_id in of_life}
    members = wave[-1].coming.operation.members
    left = {each.host for member_id, each in members.items() if member_id not in moved}
    are_apart = bool(hosts_out and hosts_in) and hosts_out.isdisjoint(hosts_in)
    return frozenset(are_apart and hosts_out.isdisjoint(each) for each in (left, left | had))


def _flaps(wave: Sequence[Event]) -> frozenset[bool]:
    cycles = wave_processes.cycles_of(wave)
    return frozenset(most >= FLAP_CYCLES for most in cycles.most)


def class_of(
    wave: Sequence[Event], chain: Chain, before: int, known: Mapping[Key, Wanted]
) -> Class:
    """before: members before the wave. known: as of `ends_of`."""
    gone = [event for event in wave if event.coming.kind == GONE]
    return Class(
        tuple(sorted((ends_of(each, chain.events, known) for each in gone), key=sorted)),
        _flaps(wave),
        Counter(event.coming.kind for event in wave),
        before,
        tuple(event.members for event in wave),
        _new_hosts(wave),
    )


def _wanted(history: History) -> dict[Key, Wanted]:
    known: dict[Key, Wanted] = {
        (key[0], key[1], must.offsets[1]): must
        for key, must in member_ends.CHECK.wanted(history).items()
    }
    wanted: dict[Key, Wanted] = {}
    for found in waves.chains_of(history):
        before = found.events[0].members_before
        for wave in waves.waves_of(found):
            first, after = wave[0].coming.operation, tuple(event.members for event in wave)
            told = class_of(wave, found, before, known)
            key = (found.life.group_id, first.first_offset)
            values = {"told": told, "confidence": Confident()}
            wanted[key] = Wanted(values, (first.first_offset,))
            before = after[-1]
    return wanted


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    gathered = []
    for row in rows:
        told = Told(row["class"], dict(row["ends"]))
        gathered.append({**row, "told": told, "confidence": (row["class_confidence"], told)})
    return gathered


def _key_of(history: History, row: Row) -> Key:
    return departure_waves.CHECK.key_of(history, row)


CHECK: Final = Check("wave_classes", _wanted, _key_of, gathered=_gathered)
