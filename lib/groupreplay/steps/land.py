"""Step land: units -> rows of `raw_records`, bytes with their position, in one commit.

A task reads one unit, or several small ones, straight from the files. What each unit saw comes back with the commit, so nothing is read again to know
how far the log was read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

from groupreplay.sources.planning import pack, unit_weight
from groupreplay.sources.read_units import DDL, read_units
from groupreplay.steps.plan import Landing, landed
from groupreplay.tables.warehouse import Warehouse
from groupreplay.wire.units import Unit

ReadUnits = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def raw_rows(spark: SparkSession, units: Sequence[Unit]) -> DataFrame:
    """The raw rows of units, without night and cluster: lazily, one task a pack of units, the largest first."""
    tasks = pack(units, spark.sparkContext.defaultParallelism, unit_weight)
    return mapped_units(spark, [[unit.to_json() for unit in packed] for packed in tasks], read_units, DDL)


def mapped_units(spark: SparkSession, tasks: Sequence[Sequence[str]], read: ReadUnits, ddl: str) -> DataFrame:
    """The rows that `read` makes of the units of each task, given as JSON in a column `unit`."""
    table = pa.table(
        {
            "task": pa.array([task for task, packed in enumerate(tasks) for _ in packed], pa.int64()),
            "unit": pa.array([unit for packed in tasks for unit in packed], pa.string()),
        }
    )
    planned = spark.createDataFrame(table)
    # One row, and so one task, for each pack: a range is cut into just as many partitions, and a broadcast join leaves them as they are.
    numbered = spark.range(0, len(tasks), 1, len(tasks)).withColumnRenamed("id", "task")
    return numbered.join(sf.broadcast(planned), "task").select("unit").mapInArrow(read, ddl)


def land(warehouse: Warehouse, logical_date: date, units: Sequence[Unit], before: Landing, user_metadata: Mapping[str, Any]) -> Landing:
    """Lands units into a night, in one commit that may be repeated: it replaces the whole night by what it had landed before and these.

    before: what the nights before it landed and, where it ran before, what it landed itself.
    """
    night = {"cluster": sf.lit(warehouse.cluster), "logical_date": sf.lit(logical_date)}
    where = f"cluster = '{warehouse.cluster}' AND logical_date = DATE'{logical_date}'"
    night["log_incarnation"] = _incarnations(units, before)
    rows, observation = _observed(raw_rows(warehouse.spark, units).withColumns(night))
    if before.raw_version >= 0:
        # A version that an older groupreplay left may lack columns.
        rows = rows.unionByName(warehouse.read("raw_records", before.raw_version).where(where), allowMissingColumns=True)
    version = warehouse.replace("raw_records", rows, where, user_metadata)
    found = observation.get
    details = {(row["offsets_partition"], row["detail"]) for row in found["units"]}
    after = landed(before, units, [(partition, json.loads(detail)) for partition, detail in details], set(found["damaged"]))
    return replace(after, kinds=tuple(sorted({*before.kinds, *found["kinds"]})), raw_version=version)


def _incarnations(units: Sequence[Unit], before: Landing) -> Column:
    """Of the log that a row is of: how often its topic was created anew before, NULL for never."""
    known = {partition: each.log_incarnation for partition, each in before.partitions.items()}
    known |= {unit.offsets_partition: unit.log_incarnation for unit in units if unit.log_incarnation}
    found = [sf.when(sf.col("offsets_partition") == partition, sf.lit(number)) for partition, number in known.items() if number]
    return sf.coalesce(*found, sf.lit(None)).cast("int")


def _observed(rows: DataFrame) -> tuple[DataFrame, Observation]:
    """The same rows; once they are written, the observation has `units`, what each unit saw, `damaged`, partitions with damage, and `kinds`."""
    observation = Observation("units")
    is_unit, is_damage = sf.col("kind") == "unit", sf.col("kind") == "damage"
    units = sf.collect_list(sf.when(is_unit, sf.struct("offsets_partition", "detail"))).alias("units")
    damaged = sf.collect_set(sf.when(is_damage, sf.col("offsets_partition"))).alias("damaged")
    return rows.observe(observation, units, damaged, sf.collect_set("kind").alias("kinds")), observation
