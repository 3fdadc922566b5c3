"""`coordinator_events`: each election is a load, each resignation an unload (evidence.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.injected import Injected
from tests.simulator.tables import Row

_EVENTS: Final = {"LOADED": "elect", "UNLOADED": "resign"}
_SOON_MS: Final = 10_000
"""A load takes ms; a former leader may learn late that it is one."""


def _wanted(history: History) -> dict[Key, Wanted]:
    former = former_of(history)
    wanted: dict[Key, Wanted] = {}
    for name, what in _EVENTS.items():
        for (kind, partition, broker), events in history.led.items():
            if kind != what:
                continue
            for event in events:
                values: dict[str, Any] = {
                    "occurred_at": Between(event.broker_at, event.broker_at + _SOON_MS),
                    "moved_from": former.get((partition, event.at)) if name == "LOADED" else None,
                }
                wanted[str(partition), broker, name, event.broker_at] = Wanted(values, ())
    return wanted


def former_of(history: History) -> dict[tuple[int, int], Any]:
    """(partition, true time of an election) -> the other broker that had it before; None: nobody.

    Lines come in the order of the brokers' clocks: where these differ, it may be another.
    """
    elections: dict[int, list[Injected]] = defaultdict(list)
    for (what, partition, _), events in history.led.items():
        if what == "elect":
            elections[partition] += events
    found: dict[tuple[int, int], Any] = {}
    for partition, events in elections.items():
        truly = sorted(events, key=lambda event: event.at)
        told = sorted(events, key=lambda event: event.broker_at)
        for event in events:
            before = {_before(event, truly), _before(event, told)}
            found[partition, event.at] = OneOf(tuple(before))
    return found


def _before(event: Injected, events: list[Injected]) -> int | None:
    place = events.index(event)
    before = events[place - 1].broker if place else None
    return None if before == event.broker else before


def _key_of(history: History, row: Row) -> Key:
    """Of the broker's elections, or resignations, the last one before."""
    partition, broker = row["offsets_partition"], row["broker"]
    events = history.led.get((_EVENTS.get(row["event"], ""), partition, broker), [])
    place = bisect_right(events, row["occurred_at"], key=lambda event: event.broker_at) - 1
    since = events[place].broker_at if place >= 0 else None
    return str(partition), broker, row["event"], since


CHECK: Final = Check("coordinator_events", _wanted, _key_of)
