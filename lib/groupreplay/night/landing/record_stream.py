"""Records of the offsets topic, as a stream that `land_units` lands into `raw_records`: bytes
with their position, which tasks read straight from files or brokers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.sources import KafkaSource
from groupreplay.night.landing.land_units import Found, mapped_units
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.landing.landed_records import after_units
from groupreplay.sources.kafka_admin import readable
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.live_rows import live_rows
from groupreplay.sources.planning import pack, unit_weight
from groupreplay.wire.segments.raw_rows import RECORD, UNIT
from groupreplay.wire.segments.units import KAFKA, Unit
from groupreplay.workers.live_rows import empty_unit_rows
from groupreplay.workers.read_units import DDL, read_units

RAW_RECORDS: Final = "raw_records"


@dataclass(frozen=True, slots=True)
class Live:
    """The live topic as it was planned, and how to reach it."""

    source: KafkaSource
    topic: LiveTopic


@dataclass(frozen=True, slots=True)
class RecordStream:
    """Units of the offsets topic.

    units: at least one.
    live: needed where some of them are of the live topic, else None.
    """

    units: tuple[Unit, ...]
    live: Live | None = None

    table: ClassVar[str] = RAW_RECORDS
    row_kind: ClassVar[str] = RECORD
    summary_kind: ClassVar[str] = UNIT
    summary_columns: ClassVar[tuple[str, ...]] = ("offsets_partition", "detail")

    def raw_rows(self, spark: SparkSession) -> DataFrame:
        of_files = [unit for unit in self.units if unit.source != KAFKA]
        of_topic = [unit for unit in self.units if unit.source == KAFKA]
        if not of_topic:
            return rows_of_files(spark, of_files)
        assert self.live is not None, "units of the live topic were planned from it"
        rows = live_rows(spark, self.live.source, self.live.topic, of_topic)
        return rows.unionByName(rows_of_files(spark, of_files)) if of_files else rows

    def labels(self, before: RecordsLanding) -> Mapping[str, Column]:
        """log_incarnation: how often the topic of the row's log was created again before, NULL for
        never.
        """
        known = {partition: each.log_incarnation for partition, each in before.watermarks.items()}
        known |= {
            unit.offsets_partition: unit.log_incarnation
            for unit in self.units
            if unit.log_incarnation
        }
        found = [
            sf.when(sf.col("offsets_partition") == partition, sf.lit(number))
            for partition, number in known.items()
            if number
        ]
        return {"log_incarnation": sf.coalesce(*found, sf.lit(None)).cast("int")}

    def reading(self) -> AbstractContextManager[None]:
        return readable(self.live.source) if self.live else nullcontext()

    def rows_left(self, found: Found) -> pa.Table | None:
        """Rows of live units of which no record is left, so that no task meets one."""
        read = [
            (partition, detail["first_offset"]) for partition, detail in _details(found.summaries)
        ]
        live = [unit for unit in self.units if unit.source == KAFKA]
        assert not live or len(read) == len(set(read)), "a unit is read by one task"
        starts = set(read)
        empty = [unit for unit in live if (unit.offsets_partition, unit.start_offset) not in starts]
        return empty_unit_rows(empty) if empty else None

    def after(self, before: RecordsLanding, found: Found, logical_date: date) -> RecordsLanding:
        return after_units(before, self.units, _details(found.summaries), set(found.damaged))


def rows_of_files(spark: SparkSession, units: list[Unit]) -> DataFrame:
    """The raw rows of units of files, without night and cluster, not yet read: one task a pack of
    units, the largest first.
    """
    tasks = pack(units, spark.sparkContext.defaultParallelism, unit_weight)
    return mapped_units(
        spark, [[unit.to_json() for unit in packed] for packed in tasks], read_units, DDL
    )


def _details(summaries: frozenset[tuple[Any, ...]]) -> list[tuple[int, Mapping[str, Any]]]:
    return [(partition, json.loads(detail)) for partition, detail in summaries]
