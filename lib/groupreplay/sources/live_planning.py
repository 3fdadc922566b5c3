"""What a night reads of the live topic: offsets as an admin client told them, and where the nights before stopped -> units. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from groupreplay.errors import SourceUnreadable
from groupreplay.sources.planning import Landed
from groupreplay.wire.read_live import UNKNOWN_MS
from groupreplay.wire.units import KAFKA, Unit

UNIT_OFFSETS: Final = 4_000_000
"""A minute or two of reading: long enough to be worth a task, short enough that partitions of different sizes even out."""

UNITS_MAX: Final = 16
"""Units of one partition. A compacted log may hold few records in billions of offsets."""

READ_WITHIN_MS: Final = 6 * 3_600_000
"""Longer than any read of a night takes, retries included."""


@dataclass(frozen=True, slots=True)
class LiveTopic:
    """The offsets topic at one moment. as_of_ms: when its ends were taken, by the clock of this machine. topic_id: base64 as Kafka prints it.

    offsets: partition -> (where its log begins, one past the last offset that a consumer which reads committed gets). compaction_lag_ms: the cleaner
    leaves records alone that are younger (`min.compaction.lag.ms`), 0 if it does not, or may not be asked.
    """

    topic: str
    topic_id: str
    as_of_ms: int
    offsets: Mapping[int, tuple[int, int]]
    compaction_lag_ms: int = 0

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "offsets": {str(key): each for key, each in self.offsets.items()}}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> LiveTopic:
        """Inverse of `to_json`."""
        content = json.loads(text)
        return cls(**{**content, "offsets": {int(key): (first, end) for key, (first, end) in content["offsets"].items()}})


def plan_live_units(source: str, live: LiveTopic, landed: Mapping[int, Landed], topic_id: str) -> list[Unit]:
    """Units of one night, by partition and offset; none of a partition that has nothing new.

    topic_id: of the nights before, "" where none of them asked. Raises SourceUnreadable where this is not the log that they landed.
    """
    if topic_id and live.topic_id != topic_id:
        raise SourceUnreadable(source, f"the topic {live.topic} was made anew: its id is {live.topic_id}, nights before landed {topic_id}; {_REMEDY}")
    units = []
    for partition, (log_start, end) in sorted(live.offsets.items()):
        start = landed[partition].next_offset if partition in landed else log_start
        if end < start:
            why = f"partition {partition} of {live.topic} ends at offset {end}, nights before landed it up to {start}"
            raise SourceUnreadable(source, f"{why}: it was cut or made anew, or these are other brokers; {_REMEDY}")
        size = max(UNIT_OFFSETS, -(-(end - start) // UNITS_MAX))
        for first in range(start, end, size):
            units.append(Unit(partition, first, min(first + size, end), (), KAFKA, f"__consumer_offsets-{partition}"))
    return units


def whole_since_ms(live: LiveTopic, now_ms: int) -> int:
    """From when on no record can have been taken by the cleaner while the topic is read, beginning now."""
    return now_ms - live.compaction_lag_ms + READ_WITHIN_MS if live.compaction_lag_ms > READ_WITHIN_MS else UNKNOWN_MS


def read_at_once(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units in rounds, at most one of a partition in each: a read by Spark takes one range of each partition, and makes it one task."""
    rounds: list[list[Unit]] = []
    seen: dict[int, int] = {}
    for unit in units:
        place = seen[unit.offsets_partition] = seen.get(unit.offsets_partition, -1) + 1
        if place == len(rounds):
            rounds.append([])
        rounds[place].append(unit)
    return rounds


_REMEDY: Final = "give the configuration another cluster name, or move the warehouse aside"
