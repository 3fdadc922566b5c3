"""Facts as Spark sees them once the grouped map has given them back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from groupreplay.workers.fact_frames import REPLAYED, UnionSchema
from groupreplay.workers.packed import DDL, PackedFacts


def frame_of(spark: SparkSession, schema: UnionSchema, facts: Iterable[Any]) -> DataFrame:
    """One row a fact, all columns of the schema; NULL where a kind has no such field."""
    rows = [
        {field.name: getattr(fact, field.name) for field in fields(fact)} | {"kind": fact.KIND}
        for fact in facts
    ]
    return spark.createDataFrame(
        pa.Table.from_pylist(rows, schema=pa.schema(list(schema.columns.items()))), schema.ddl
    )


def packed_of(spark: SparkSession, facts: Iterable[Any]) -> DataFrame:
    """The same facts as rows of `replayed`, without night and cluster."""
    gathered = PackedFacts(REPLAYED)
    gathered.add([*facts])
    return spark.createDataFrame(gathered.take(), DDL)


def only_row(frame: DataFrame) -> Row:
    """The row of a frame that has one."""
    (row,) = frame.collect()
    return row
