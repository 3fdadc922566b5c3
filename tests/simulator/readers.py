"""When nobody read a partition, as clients wrote down what they read.

A process reads what it owns from when it applied its assignment until a callback gives it up, it
leaves, freezes or dies. Times are true ones.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

Read = tuple[str, str, int]
"""A partition as a group reads it: group, topic's name, number."""


class Gap(NamedTuple):
    """A time in which nobody read a partition that was read before. until: None where nobody read
    it again.
    was_eager: who read it last gives up all that it has in each rebalance."""

    since: int
    until: int | None
    was_eager: bool


class Readers:
    """Gaps of each partition, in order. names: of topics, by id."""

    def __init__(self, recording: Path, names: Mapping[str, str]) -> None:
        self._gaps: dict[Read, list[Gap]] = defaultdict(list)
        self._first: dict[Read, int] = {}
        self._by: dict[Read, set[int]] = defaultdict(set)
        self._open: dict[Read, Gap] = {}
        owned: dict[int, set[Read]] = defaultdict(set)
        with gzip.open(recording / "truth" / "reading.jsonl.gz", "rt", encoding="utf-8") as text:
            for told in text:
                line = json.loads(told)
                now = {_read(names, line["g"], each) for each in line["r"]}
                before, owned[line["pr"]] = owned[line["pr"]], now
                for read in before - now:
                    self._stop(read, line)
                for read in now - before:
                    self._start(read, line)
        for read, gap in self._open.items():
            self._gaps[read].append(gap)

    def _stop(self, read: Read, line: Mapping[str, Any]) -> None:
        self._by[read].discard(line["pr"])
        if not self._by[read]:
            self._open[read] = Gap(line["t"], None, "eager" in line)

    def _start(self, read: Read, line: Mapping[str, Any]) -> None:
        self._by[read].add(line["pr"])
        self._first.setdefault(read, line["t"])
        gap = self._open.pop(read, None)
        if gap is not None:
            self._gaps[read].append(gap._replace(until=line["t"]))

    def gap_at(self, read: Read, true_at: int) -> Gap | None:
        """The gap that holds a time; None where somebody read then, or nobody had before."""
        gaps = self._gaps.get(read, [])
        place = bisect_right(gaps, true_at, key=lambda each: each.since)
        gap = gaps[place - 1] if place else None
        return gap if gap is not None and (gap.until is None or true_at <= gap.until) else None

    def has_read(self, read: Read, true_at: int) -> bool:
        """Whether somebody had read a partition by then."""
        return self._first.get(read, true_at + 1) <= true_at

    def unread_ms(self, read: Read, since: int, until: int) -> int:
        """For how long nobody read a partition between two times."""
        first = self._first.get(read)
        if first is None:
            return until - since
        unread = max(0, min(first, until) - since)
        for gap in self._gaps.get(read, ()):
            ended = until if gap.until is None else min(gap.until, until)
            unread += max(0, ended - max(gap.since, since))
        return unread


def _read(names: Mapping[str, str], group_id: str, told: str) -> Read:
    topic, number = told.rsplit("/", 1)
    return group_id, names.get(topic, topic), int(number)
