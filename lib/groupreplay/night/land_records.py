"""Step land: units -> rows of `raw_records`, bytes with their position, in one commit.

A task reads one unit, or several small ones, straight from the files. What each unit saw comes back
with the commit, so nothing is read again to know how far the log was read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.model import KafkaSource
from groupreplay.night.plan import Landing, landed
from groupreplay.sources.kafka_admin import readable
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.live_rows import live_rows
from groupreplay.sources.planning import pack, unit_weight
from groupreplay.tables.warehouse import NO_VERSION, Warehouse
from groupreplay.wire.segments.units import KAFKA, Unit
from groupreplay.workers.live_rows import empty_unit_rows
from groupreplay.workers.read_units import DDL, read_units

RAW_RECORDS: Final = "raw_records"

ReadUnits = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def raw_rows(spark: SparkSession, units: Sequence[Unit]) -> DataFrame:
    """The raw rows of units, without night and cluster: lazily, one task a pack of units, the
    largest first.
    """
    tasks = pack(units, spark.sparkContext.defaultParallelism, unit_weight)
    return mapped_units(
        spark, [[unit.to_json() for unit in packed] for packed in tasks], read_units, DDL
    )


def mapped_units(
    spark: SparkSession, tasks: Sequence[Sequence[str]], read: ReadUnits, ddl: str
) -> DataFrame:
    """The rows that `read` makes of the units of each task, given as JSON in a column `unit`."""
    table = pa.table(
        {
            "task": pa.array(
                [task for task, packed in enumerate(tasks) for _ in packed], pa.int64()
            ),
            "unit": pa.array([unit for packed in tasks for unit in packed], pa.string()),
        }
    )
    planned = spark.createDataFrame(table)
    # One row, and so one task, for each pack: a range is cut into just as many partitions, and a
    # broadcast join leaves them as they are.
    numbered = spark.range(0, len(tasks), 1, len(tasks)).withColumnRenamed("id", "task")
    return numbered.join(sf.broadcast(planned), "task").select("unit").mapInArrow(read, ddl)


@dataclass(frozen=True, slots=True)
class Live:
    """The live topic as it was planned, and how to reach it."""

    source: KafkaSource
    topic: LiveTopic


def land(
    warehouse: Warehouse,
    logical_date: date,
    units: Sequence[Unit],
    before: Landing,
    user_metadata: Mapping[str, Any],
    live: Live | None = None,
    *,
    resumed: bool = False,
) -> Landing:
    """Lands units into a night, in one commit that may be repeated: it replaces the whole night by
    what it had landed before and these.

    before: what the nights before it landed and, where it ran before, what it landed itself.
    live: needed for units of it; whoever cannot read it raises SourceUnreadable.
    resumed: the run was begun by a process that died: if it died after the commit, that is taken
        for this one and nothing is read, since the files may be gone by now.
    """
    night = {"cluster": sf.lit(warehouse.cluster), "logical_date": sf.lit(logical_date)}
    where = f"cluster = '{warehouse.cluster}' AND logical_date = DATE'{logical_date}'"
    night["log_incarnation"] = _incarnations(units, before)
    version = (
        warehouse.version_of_run(RAW_RECORDS, user_metadata, before.raw_version)
        if resumed
        else NO_VERSION
    )
    if version != NO_VERSION:
        found = _told_by(warehouse, version, where, before.raw_version)
    else:
        observation = Observation("units")
        rows = warehouse.shaped(
            RAW_RECORDS, _all_rows(warehouse.spark, units, live).withColumns(night)
        ).observe(observation, *_told())
        if before.raw_version >= 0:
            # A version that an older groupreplay left may lack columns.
            rows = rows.unionByName(
                warehouse.read(RAW_RECORDS, before.raw_version).where(where),
                allowMissingColumns=True,
            )
        with readable(live.source) if live else nullcontext():
            version = warehouse.replace(RAW_RECORDS, rows, where, user_metadata)
        found = observation.get
    details = {(row["offsets_partition"], row["detail"]) for row in found["units"]}
    kinds = {*before.kinds, *found["kinds"]}
    if empty := _without_records(units, details):
        # Which ones they are is known after the read; until the run is LANDED nobody reads what the
        # first commit left. A run that is taken over between the two commits comes by here, too.
        table = empty_unit_rows(empty)
        of_units = f"{where} AND kind IN ('unit', 'other_log')"
        rows = (
            warehouse.spark.createDataFrame(table)
            .withColumns(night)
            .unionByName(warehouse.read(RAW_RECORDS, version).where(of_units))
        )
        version = warehouse.replace(RAW_RECORDS, rows, of_units, user_metadata)
        details |= {
            (row["offsets_partition"], row["detail"])
            for row in table.to_pylist()
            if row["kind"] == "unit"
        }
        kinds |= set(table.column("kind").to_pylist())
    after = landed(
        before,
        units,
        [(partition, json.loads(detail)) for partition, detail in details],
        set(found["damaged"]),
    )
    return replace(after, kinds=tuple(sorted(kinds)), raw_version=version)


def _all_rows(spark: SparkSession, units: Sequence[Unit], live: Live | None) -> DataFrame:
    """The raw rows of all units, wherever they are."""
    of_files, of_topic = (
        [unit for unit in units if unit.source != KAFKA],
        [unit for unit in units if unit.source == KAFKA],
    )
    if not of_topic:
        return raw_rows(spark, of_files)
    assert live is not None, "units of the live topic were planned from it"
    rows = live_rows(spark, live.source, live.topic, of_topic)
    return rows.unionByName(raw_rows(spark, of_files)) if of_files else rows


def _without_records(units: Sequence[Unit], details: Iterable[tuple[int, str]]) -> list[Unit]:
    """Units of the live topic that gave no row of their own: nobody meets one of which no record is
    left.
    """
    told = [(partition, json.loads(detail)["first_offset"]) for partition, detail in details]
    live = [unit for unit in units if unit.source == KAFKA]
    assert not live or len(told) == len(set(told)), "a unit is read by one task"
    return [unit for unit in live if (unit.offsets_partition, unit.start_offset) not in set(told)]


def _incarnations(units: Sequence[Unit], before: Landing) -> Column:
    """Of the log that a row is of: how often its topic was created anew before, NULL for never."""
    known = {partition: each.log_incarnation for partition, each in before.partitions.items()}
    known |= {
        unit.offsets_partition: unit.log_incarnation for unit in units if unit.log_incarnation
    }
    found = [
        sf.when(sf.col("offsets_partition") == partition, sf.lit(number))
        for partition, number in known.items()
        if number
    ]
    return sf.coalesce(*found, sf.lit(None)).cast("int")


def _told() -> list[Column]:
    """Aggregates of raw rows: `units`, what each unit saw, `damaged`, partitions with damage, and
    `kinds`.
    """
    is_unit, is_damage = sf.col("kind") == "unit", sf.col("kind") == "damage"
    units = sf.collect_list(sf.when(is_unit, sf.struct("offsets_partition", "detail"))).alias(
        "units"
    )
    damaged = sf.collect_set(sf.when(is_damage, sf.col("offsets_partition"))).alias("damaged")
    return [units, damaged, sf.collect_set("kind").alias("kinds")]


def _told_by(
    warehouse: Warehouse, version: int, where: str, before_version: int
) -> Mapping[str, Any]:
    """`_told` of what a commit added to its night, read off the table.

    before_version: what it found there, -1 nothing.
    """
    rows = warehouse.read(RAW_RECORDS, version).where(where)
    told = rows.where(sf.col("kind").isin("unit", "damage")).select(
        "kind", "offsets_partition", "detail"
    )
    if before_version >= 0:
        told = told.exceptAll(
            warehouse.read(RAW_RECORDS, before_version).where(where).select(*told.columns)
        )
    found = told.agg(*_told()).collect()[0].asDict()
    return {**found, "kinds": [row["kind"] for row in rows.select("kind").distinct().collect()]}
