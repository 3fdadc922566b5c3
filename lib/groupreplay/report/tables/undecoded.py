"""Table `undecoded`: rows that replay could not decode, and stretches of bytes that landing could
not read.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.joins.columns import integer, night
from groupreplay.report.joins.unit_rows import joined_sources, landed_units, log_name
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.wire.segments.raw_rows import DAMAGE
from groupreplay.workers.fact_frames import Undecoded

RAW_BYTES_MAX: Final = 1024
"""Enough to see what it is; the rest is still in the source."""


def undecoded(inputs: TableInputs) -> DataFrame:
    """Replay does not carry a row's source along: it is that of the units of its partition, as in
    `coverage`.
    """
    raw, lines = inputs.raw, inputs.lines
    sources = landed_units(raw).groupBy("input").agg(joined_sources())
    rows = (
        _rows(inputs.staged)
        .unionByName(_stretches(raw))
        .join(sf.broadcast(sources), "input", "left")
    )
    if lines is not None:
        rows = rows.unionByName(_lines(lines), allowMissingColumns=True)
    by_encoding = sf.when(sf.col("encoding") == "json", "dump_log").otherwise("segments")
    return rows.select(
        *night(inputs.context),
        sf.coalesce("source", "own_source", by_encoding).alias("source"),
        "input",
        integer("offsets_partition"),
        "offset",
        "group_id",
        "reason",
        sf.substring("raw", 1, RAW_BYTES_MAX).alias("raw"),
        "raw_bytes",
        "encoding",
        "path",
        "position",
    )


def _rows(staged: DataFrame) -> DataFrame:
    return staged.where(sf.col("kind") == "undecoded").select(
        sf.lit(None).cast("string").alias("own_source"),
        log_name(sf.col("offsets_partition")).alias("input"),
        "offsets_partition",
        "offset",
        "group_id",
        "reason",
        "raw",
        "raw_bytes",
        "encoding",
        sf.lit(None).cast("string").alias("path"),
        sf.lit(None).cast("bigint").alias("position"),
    )


def _lines(lines: DataFrame) -> DataFrame:
    """Damaged lines: each row the first of those that follow one another."""
    more = sf.concat("detail", sf.lit(", and so "), sf.col("requests") - 1, sf.lit(" more lines"))
    return lines.where(sf.col("kind") == "damage").select(
        sf.col("source").alias("own_source"),
        "input",
        sf.col("position").alias("offset"),
        sf.when(sf.col("requests") > 1, more).otherwise(sf.col("detail")).alias("reason"),
        sf.encode("line", "utf-8").alias("raw"),
        sf.coalesce(sf.get_json_object("counts", "$.bytes").cast("bigint"), sf.lit(0)).alias(
            "raw_bytes"
        ),
        sf.lit("text").alias("encoding"),
        sf.col("input").alias("path"),
        "position",
    )


def _stretches(raw: DataFrame) -> DataFrame:
    detail = sf.from_json("detail", "reason STRING, path STRING, position BIGINT, bytes BIGINT")

    def told(name: str) -> Column:
        return sf.col(f"told.{name}")

    return (
        raw.where(sf.col("kind") == "damage")
        .withColumn("told", detail)
        .select(
            sf.col("source").alias("own_source"),
            "input",
            sf.col("offsets_partition").cast("bigint").alias("offsets_partition"),
            "offset",
            sf.lit(None).cast("string").alias("group_id"),
            sf.coalesce(told("reason"), sf.lit("damaged")).alias("reason"),
            sf.col("value").alias("raw"),
            sf.coalesce(told("bytes"), sf.length("value"), sf.lit(0))
            .cast("bigint")
            .alias("raw_bytes"),
            sf.lit(None).cast("string").alias("encoding"),
            told("path").alias("path"),
            told("position").alias("position"),
        )
    )


SPEC: Final = TableSpec(
    name="undecoded",
    build=undecoded,
    facts=(Undecoded,),
    raw=frozenset({DAMAGE}),
    is_owned=True,
    faults=frozenset({"reason"}),
)
