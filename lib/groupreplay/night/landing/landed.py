"""What nights have landed: one type for both streams, records of the offsets topic and lines of
brokers' logs. It is kept in `runs`, so that the next night need not look at what was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from groupreplay.sources.watermark import (
    NO_TIME_MS,
    PartitionWatermark,
    TextWatermark,
    Watermark,
)
from groupreplay.tables.warehouse import NO_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """What one stream landed, up to a night and in it.

    watermarks: log -> how far all nights so far have read it.
    rows: records or lines that this night landed.
    kinds: kinds of all raw rows that this night landed.
    raw_version: version of the table of raw rows that has all of them, NO_VERSION where this night
        has landed nothing.
    """

    watermarks: Mapping[Any, Watermark] = field(default_factory=dict)
    rows: int = 0
    kinds: tuple[str, ...] = ()
    raw_version: int = NO_VERSION

    def next_night(self) -> Self:
        """Where the night after this one begins."""
        return replace(self, rows=0, kinds=(), raw_version=NO_VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsLanding(Landing):
    """What was landed of the offsets topic.

    watermarks: partition -> how far it was read.
    as_of_ms: greatest record time, NO_TIME_MS for none.
    open_commits: commits landed without the end of their transaction, by all nights.
    markers: transaction markers that this night landed.
    holes: (partition, last hole) of this night's units.
    topic_id: id of the offsets topic, as the cluster stated it, "" where it is not known.
    cluster_id: id of the last cluster that was asked for the live topic, "" where it is not known.
    states_from: the night that was rebuilt first, as an ISO date: states that nights before it left
        are not read; "" where all states are read.
    late_until: the newest night, as an ISO date, whose late rows this one replays because it was
        rebuilt; "" for none.
    """

    watermarks: Mapping[int, PartitionWatermark] = field(default_factory=dict)
    as_of_ms: int = NO_TIME_MS
    open_commits: int = 0
    markers: int = 0
    holes: tuple[tuple[int, int], ...] = ()
    topic_id: str = ""
    cluster_id: str = ""
    states_from: str = ""
    late_until: str = ""

    def next_night(self) -> Self:
        """Where the night after this one begins."""
        return replace(
            self, rows=0, kinds=(), raw_version=NO_VERSION, markers=0, holes=(), late_until=""
        )

    def read_until_ms(self, earlier: Self | None) -> dict[int, tuple[int, int]]:
        """Partition of the live topic -> its `read_until_ms` of the night before, and of this one.

        earlier: what the night before had landed, None for the first night.
        """
        before = {} if earlier is None else earlier.watermarks
        return {
            partition: (
                before[partition].read_until_ms if partition in before else NO_TIME_MS,
                each.read_until_ms,
            )
            for partition, each in self.watermarks.items()
            if each.read_until_ms != NO_TIME_MS
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesLanding(Landing):
    """What was landed of brokers' logs.

    watermarks: identity of a log -> how far it was read.
    sources: kinds of logs that were ever landed.
    """

    watermarks: Mapping[str, TextWatermark] = field(default_factory=dict)
    sources: tuple[str, ...] = ()

    @property
    def newest_ms(self) -> int:
        """Time of the newest line of all logs, NO_TIME_MS for none."""
        return max((each.newest_ms for each in self.watermarks.values()), default=NO_TIME_MS)
