"""What a night reads of the live topic: its offsets as an admin client gave them, and watermarks of
the nights before -> units. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.wire.segments.other_logs import LOWER_END, TOPIC_ID, shown
from groupreplay.wire.segments.read_live import UNKNOWN_MS
from groupreplay.wire.segments.units import KAFKA, Unit

UNIT_OFFSETS: Final = 4_000_000
"""A minute or two of reading: long enough to be worth a task, short enough that partitions of
different sizes even out.
"""

UNITS_MAX: Final = 16
"""Units of one partition. A compacted log may hold few records in billions of offsets."""

READ_WITHIN_MS: Final = 6 * 3_600_000
"""Longer than any read of a night takes, retries included."""


@dataclass(frozen=True, slots=True)
class LiveTopic:
    """The offsets topic at one moment.

    as_of_ms: when its ends were taken, by the clock of this machine.
    topic_id: base64 as Kafka prints it.
    offsets: partition -> (where its log begins, one past the last offset that a consumer which
        reads committed gets).
    compaction_lag_ms: the cleaner leaves records alone that are younger (`min.compaction.lag.ms`),
        0 if it does not, or may not be asked.
    cluster_id: id of its cluster, as that states it, "" where it states none.
    whole: partitions that hold nothing behind these ends: no transaction was open.
    """

    topic: str
    topic_id: str
    as_of_ms: int
    offsets: Mapping[int, tuple[int, int]]
    compaction_lag_ms: int = 0
    cluster_id: str = ""
    whole: tuple[int, ...] = ()


def plan_live_units(
    live: LiveTopic, watermarks: Mapping[int, PartitionWatermark], others: Container[int] = ()
) -> list[Unit]:
    """Units of one night, by partition and offset; none of a partition that has nothing new.

    others: partitions of `other_live_logs`, each read from where its new log begins. One that is
        empty so far has a unit without offsets, so that the end of the old log is reported and
        remembered. Once the new log has grown as long, nothing would show that any more.
    """
    units = []
    for partition, (log_start, end) in sorted(live.offsets.items()):
        start = (
            watermarks[partition].next_position
            if partition in watermarks and partition not in others
            else log_start
        )
        size = max(UNIT_OFFSETS, -(-(end - start) // UNITS_MAX))
        firsts = range(start, end, size) or range(
            start, start + 1 if partition in others else start
        )
        units += [
            Unit(
                partition,
                first,
                min(first + size, end),
                (),
                KAFKA,
                f"__consumer_offsets-{partition}",
            )
            for first in firsts
        ]
    return units


def other_live_logs(
    live: LiveTopic, watermarks: Mapping[int, PartitionWatermark], topic_id: str
) -> dict[int, str]:
    """Partition -> what shows that its log is another than the nights before read
    (`wire.segments.other_logs`).

    topic_id: id of the topic that these nights read, "" where it is not known.
    """
    if is_other_topic(live, topic_id):
        return {
            partition: shown(TOPIC_ID, topic_id=live.topic_id, known_topic_id=topic_id)
            for partition in sorted(live.offsets)
            if partition in watermarks
        }
    ends = {
        partition: (end, watermarks[partition].next_position)
        for partition, (_, end) in sorted(live.offsets.items())
        if partition in watermarks
    }
    return {
        partition: shown(LOWER_END, end_offset=end, next_offset=read)
        for partition, (end, read) in ends.items()
        if end < read
    }


def is_other_topic(live: LiveTopic, topic_id: str) -> bool:
    """Whether the topic was created again.

    topic_id: as in `other_live_logs`.
    """
    return bool(topic_id) and live.topic_id != topic_id


def whole_since_ms(live: LiveTopic, now_ms: int) -> int:
    """From when on no record can have been taken by the cleaner while the topic is read, beginning
    now.
    """
    return (
        now_ms - live.compaction_lag_ms + READ_WITHIN_MS
        if live.compaction_lag_ms > READ_WITHIN_MS
        else UNKNOWN_MS
    )


def read_at_once(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units in rounds, at most one of a partition in each: a read by Spark takes one range of each
    partition, and makes it one task.
    """
    rounds: list[list[Unit]] = []
    seen: dict[int, int] = {}
    for unit in units:
        place = seen[unit.offsets_partition] = seen.get(unit.offsets_partition, -1) + 1
        if place == len(rounds):
            rounds.append([])
        rounds[place].append(unit)
    return rounds
