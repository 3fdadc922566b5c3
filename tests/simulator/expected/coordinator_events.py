"""`coordinator_events`: each election is a load, each resignation an unload (evidence.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Key, LineAt, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.load_failures import failures_of, why_of
from tests.simulator.injected import Injected
from tests.simulator.logged import Logged
from tests.simulator.tables import Row

_EVENTS: Final = {"LOADED": "elect", "LOAD_FAILED": "elect", "UNLOADED": "resign"}
_SAYS: Final = {
    "LOADED": "Finished loading of metadata from",
    "LOAD_FAILED": "Failed to load metadata from",
    "UNLOADED": "Finished unloading metadata for",
}
_SOON_MS: Final = 10_000
"""A load takes ms; a former leader may learn late that it is one."""


class Shown(NamedTuple):
    """An event of a partition as the broker's logger was called: what, where, and the election or
    resignation that it is of, None where there is none."""

    name: str
    offsets_partition: int
    call: Logged
    of: Injected | None

    @property
    def key(self) -> Key:
        place = str(self.offsets_partition), self.call.broker, self.name
        return *place, self.call.broker_at, self.call.position


def shown_of(history: History) -> Iterator[Shown]:
    for call in history.truth.logged.all:
        for name, says in _SAYS.items():
            if call.says.startswith(says):
                partition = int(call.values[0].rpartition("-")[2])
                events = history.led.get((_EVENTS[name], partition, call.broker), ())
                before = [each for each in events if each.at <= call.at]
                yield Shown(name, partition, call, before[-1] if before else None)


def _wanted(history: History) -> dict[Key, Wanted]:
    former, failures = former_of(history), failures_of(history)
    wanted: dict[Key, Wanted] = {}
    seen: set[int] = set()
    for shown in shown_of(history):
        seen.add(id(shown.of))
        wanted[shown.key] = Wanted(_values(history, shown, former, failures), ())
    for name, what in (("LOADED", "elect"), ("UNLOADED", "resign")):
        for (kind, partition, broker), events in history.led.items():
            for event in events if kind == what else ():
                if id(event) not in seen:
                    key = str(partition), broker, name, event.broker_at, None
                    wanted[key] = Wanted({"occurred_at": event.broker_at}, ())
    return wanted


def _values(
    history: History,
    shown: Shown,
    former: Mapping[tuple[int, int], Any],
    failures: Mapping[tuple[int, int], Injected],
) -> dict[str, Any]:
    call, of = shown.call, shown.of
    values: dict[str, Any] = {
        "offsets_partition": shown.offsets_partition,
        "broker": call.broker,
        "event": shown.name,
        "occurred_at": call.broker_at if of and call.at - of.at <= _SOON_MS else "no such event",
        "duration_ms": None,
        "records": None,
        "moved_from": None,
        "detail": None,
        "evidence": LineAt("server_log", call.position),
    }
    if shown.name == "UNLOADED" or of is None:
        return values
    partition, leader_epoch = map(int, of.detail.split())
    if shown.name == "LOAD_FAILED":
        failure = failures.get((partition, leader_epoch))
        return values | {"detail": why_of(failure) if failure else "no load failed"}
    load = history.loads[partition, leader_epoch]
    return values | {
        "occurred_at": load.broker_at,
        "duration_ms": load.took_ms,
        "records": history.truth.logs[partition].offsets_before(leader_epoch)
        if partition in history.truth.logs
        else 0,
        "moved_from": former.get((partition, of.at)),
    }


def former_of(history: History) -> dict[tuple[int, int], Any]:
    """(partition, true time of an election) -> the other broker that had it before; None: nobody.
    Who failed to load it never had it.

    Lines come in the order of the brokers' clocks: where these differ, it may be another.
    """
    elections: dict[int, list[Injected]] = defaultdict(list)
    for (what, partition, _), events in history.led.items():
        if what == "elect":
            elections[partition] += events
    failures = failures_of(history)

    def has_loaded(event: Injected) -> bool:
        partition, leader_epoch = map(int, event.detail.split())
        return (partition, leader_epoch) not in failures

    found: dict[tuple[int, int], Any] = {}
    for partition, events in elections.items():
        truly = sorted(events, key=lambda event: event.at)
        told = sorted(events, key=lambda event: event.broker_at)
        for event in events:
            before = {
                _before(event, [each for each in order if each is event or has_loaded(each)])
                for order in (truly, told)
            }
            found[partition, event.at] = OneOf(tuple(before))
    return found


def _before(event: Injected, events: list[Injected]) -> int | None:
    place = events.index(event)
    before = events[place - 1].broker if place else None
    return None if before == event.broker else before


def _key_of(history: History, row: Row) -> Key:
    place = str(row["offsets_partition"]), row["broker"], row["event"]
    return *place, row["occurred_at"], row["evidence"]["position"]


CHECK: Final = Check("coordinator_events", _wanted, _key_of)
