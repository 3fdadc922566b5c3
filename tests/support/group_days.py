"""Days of recorded groups, and what their clients say that these days were."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from groupreplay.records.entries import Entry
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.facts import Fact
from tests.support.recordings import groups, recordings

Partition = tuple[str, int]
_Event = tuple[int, str, str, frozenset[Partition] | None]
"""(at, member, assigned or stopped, partitions; None: all of the member's)."""

SUMS = (
    *("unobserved_ms", "members_ms", "empty_ms", "mixed_ms", "consumer_ms", "classic_ms"),
    *("rebalancing_ms", "partitions_ms", "unowned_ms", "away_ms", "sync_ms", "longer_ms"),
    *("high_unknown", "handovers", "moved", "returned", "transitions_hidden", "epochs_begun"),
    *("joins", "departures", "replaced", "away", "cycles"),
)
"""What days add up to, whatever they are cut at."""

_MODES = {
    "EMPTY": "empty_ms",
    "MIXED": "mixed_ms",
    "consumer": "consumer_ms",
    "classic": "classic_ms",
}


def days_of(facts: Iterable[Fact]) -> list[GroupDay]:
    """In order."""
    return sorted((f for f in facts if isinstance(f, GroupDay)), key=lambda f: f.day)


def sums(days: Iterable[GroupDay]) -> dict[str, int]:
    """All days together, and low_ms, high_ms."""
    found = dict.fromkeys(SUMS, 0)
    for day in days:
        for name in SUMS:
            found[name] += getattr(day, name)
    found["low_ms"] = found["unowned_ms"] + found["away_ms"] + found["sync_ms"]
    found["high_ms"] = found["low_ms"] + found["longer_ms"]
    return found


def measured_to(days: Iterable[GroupDay], now: int) -> list[GroupDay]:
    """Days of one group as the report tells them: the newest goes on to the horizon, here all of it
    as one day.
    """
    return [_grown(day, max(0, now - day.to_at)) for day in days]


def _grown(day: GroupDay, passed: int) -> GroupDay:
    if day.rate_members is None:
        return day
    if not day.is_watched:
        return dataclasses.replace(day, unobserved_ms=day.unobserved_ms + passed)
    rates = {
        "members_ms": day.rate_members,
        "partitions_ms": day.rate_partitions or 0,
        "unowned_ms": day.rate_unowned or 0,
        "away_ms": day.rate_away or 0,
        "rebalancing_ms": int(day.is_rebalancing or False),
    }
    if day.mode is not None:
        rates[_MODES[day.mode]] = 1
    grown = {name: getattr(day, name) + rate * passed for name, rate in rates.items()}
    return dataclasses.replace(day, **grown)


def as_of(recording: str) -> int:
    """Newest record time of a recording."""
    return max(entry.ts_ms for each in groups(recording) for entry in each.entries)


def shifted(entries: Iterable[Entry], by_ms: int) -> list[Entry]:
    """The same log at another time: what its records say of time too."""
    return [_at(entry, lambda at: at + by_ms) for entry in entries]


def stretched(entries: Sequence[Entry], times: int) -> list[Entry]:
    """The same log, everything so many times as slow."""
    begin = entries[0].ts_ms
    return [_at(entry, lambda at: begin + (at - begin) * times) for entry in entries]


def holed(entries: Sequence[Entry], begin: int, end: int) -> list[Entry]:
    """The log without a stretch of its records, which every later one knows."""
    hole = entries[end - 1].offset
    rest = [each._replace(last_hole=max(each.last_hole, hole)) for each in entries[end:]]
    return [*entries[:begin], *rest]


def _at(entry: Entry, moved: Callable[[int], int]) -> Entry:
    record = entry.record
    value: Any = record.value
    if value is not None and getattr(value, "current_state_timestamp_ms", -1) >= 0:
        at = moved(value.current_state_timestamp_ms)
        value = dataclasses.replace(value, current_state_timestamp_ms=at)
        record = dataclasses.replace(record, value=value)
    return entry._replace(ts_ms=moved(entry.ts_ms), record=record)


# ---------------------------------------------------------------- what clients say


def unread_ms(
    recording: str,
    group_id: str,
    partitions: Iterable[Partition],
    since: int = 0,
    until: int = 2**62,
) -> int:
    """Partition-ms that nobody read, from a client that stopped to the next one that was given the
    partition, by the clients' own account.

    since, until: those that were given then, ms since the epoch.
    """
    events = sorted(_events(recording, group_id), key=lambda each: each[0])
    total = 0
    for partition in partitions:
        readers: set[str] = set()
        stopped: int | None = None
        for at, member, kind, of in events:
            if of is not None and partition not in of:
                continue
            if kind == "assigned":
                if stopped is not None and not readers and since <= at < until:
                    total += at - stopped
                stopped = None
                readers.add(member)
            elif member in readers:
                readers.discard(member)
                stopped = at if not readers else stopped
    return total


@cache
def _events(recording: str, group_id: str) -> list[_Event]:
    """Of a group, in no order."""
    return [*_told_of(recording, group_id)]


def _told_of(recording: str, group_id: str) -> Iterator[_Event]:
    told = _lines(recording)
    members = {e["member"] for e in told if e.get("group") == group_id and "member" in e}
    for event in told:
        kind, member = event.get("event") or event.get("action"), event.get("member")
        if not isinstance(member, str) or member not in members:
            continue
        if kind in ("assigned", "revoke_begin", "lost"):
            of = frozenset(_partition(text) for text in event["partitions"])
            yield event["at"], member, "assigned" if kind == "assigned" else "stopped", of
        elif kind in ("hang_begin", "kill", "freeze", "closed"):
            yield event["at"], member, "stopped", None


def _partition(text: str) -> Partition:
    topic, _, number = text.rpartition("-")
    return topic, int(number)


@cache
def _lines(recording: str) -> list[dict[str, Any]]:
    """What clients and the script wrote down."""
    found: list[dict[str, Any]] = []
    for name in ("members", "timeline"):
        path = recordings()[recording] / "truth" / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found += map(json.loads, lines)
    return found


def partitions_of(recording: str, group_id: str) -> set[Partition]:
    """Every partition that a client of the group was ever given."""
    return {
        partition
        for _, _, kind, of in _events(recording, group_id)
        if kind == "assigned" and of
        for partition in of
    }
