"""What a table is built of, by hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.report.context import ReportContext
from groupreplay.report.table_inputs import StoredTables, TableInputs
from groupreplay.workers.fact_frames import KINDS

TOPICS_DDL = "topic_id STRING, topic STRING"


def topics_of(spark: SparkSession, night: date, *names: tuple[str, str]) -> DataFrame:
    """Rows of `topics` that this night wrote. names: (topic_id, topic)."""
    return spark.createDataFrame(list(names), TOPICS_DDL).withColumn("logical_date", sf.lit(night))


def inputs_of(
    staged: DataFrame,
    context: ReportContext,
    raw: DataFrame | None = None,
    lines: DataFrame | None = None,
    *,
    given_topics: DataFrame | None = None,
    tables: Mapping[str, DataFrame] | None = None,
) -> TableInputs:
    """Inputs of a table. raw, given_topics: None: no rows.

    tables: name -> rows of all nights, which this night and earlier ones committed; None: `topics`
        with one name, of the id `id-orders`.
    """
    spark = staged.sparkSession
    stored = (
        {"topics": topics_of(spark, context.logical_date, ("id-orders", "orders"))}
        if tables is None
        else tables
    )

    def unpack(kinds: Collection[type[Any]], columns: Collection[str] | None) -> DataFrame:
        rows = staged
        if kinds != KINDS:
            rows = staged.where(sf.col("kind").isin(*[kind.KIND for kind in kinds]))
        return rows if columns is None else rows.select("kind", *columns)

    return TableInputs(
        unpack,
        KINDS,
        context,
        staged.limit(0) if raw is None else raw,
        lines,
        no_topics(spark) if given_topics is None else given_topics,
        StoredTables(context.logical_date, stored.__getitem__, tuple(stored), tuple(stored)),
    )


def read_to(staged: DataFrame, context: ReportContext, at: int) -> Mapping[str, DataFrame]:
    """`coverage` of this night, which read every partition of the staged facts up to a time, ms."""
    read = staged.select(
        sf.lit(context.logical_date).alias("logical_date"),
        sf.concat(sf.lit("__consumer_offsets-"), "offsets_partition").alias("input"),
        sf.timestamp_millis(sf.lit(at)).alias("last_at"),
    )
    return {"coverage": read.distinct()}


def no_topics(spark: SparkSession) -> DataFrame:
    """`given_topics` where no source gives any."""
    return spark.createDataFrame([], f"{TOPICS_DDL}, partitions INT")
