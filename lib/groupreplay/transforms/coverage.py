"""Table `coverage`: what was read and what became of it.

`landed` is counted from the rows that landing wrote, the other three from what replay made of them, so that their sum is a check and no identity.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.transforms.columns import instant, night
from groupreplay.transforms.context import ReportContext
from groupreplay.transforms.inputs import COUNTS, joined_sources, landed_units, log_name

_OUTCOMES = ("landed", "decoded", "unknown", "undecoded")


def coverage(staged: DataFrame, raw: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`.

    raw: the rows of `raw_records` that the night read: those it landed, and as kind `record` the commits of earlier nights that its markers settled.
    """
    parts = _units(raw).unionByName(_landed(raw), allowMissingColumns=True).unionByName(_replayed(staged), allowMissingColumns=True)
    sums = [sf.coalesce(sf.sum(name), sf.lit(0)).alias(name) for name in (*_OUTCOMES, *COUNTS)]
    inputs = parts.groupBy("input").agg(
        joined_sources(),
        sf.min("first_offset").alias("first_offset"),
        sf.max("next_offset").alias("next_offset"),
        sf.min("first_ms").alias("first_ms"),
        sf.max("last_ms").alias("last_ms"),
        *sums,
    )
    return inputs.select(
        *night(context),
        "source",
        "input",
        "first_offset",
        "next_offset",
        instant(sf.col("first_ms"), "first_at"),
        instant(sf.col("last_ms"), "last_at"),
        *_OUTCOMES,
        *COUNTS,
    )


def _units(raw: DataFrame) -> DataFrame:
    def time(name: str) -> Column:
        return sf.when(sf.col(f"unit.{name}") >= 0, sf.col(f"unit.{name}"))

    return landed_units(raw).select(
        "input",
        "source",
        "unit.first_offset",
        "unit.next_offset",
        time("first_ts_ms").alias("first_ms"),
        time("last_ts_ms").alias("last_ms"),
        *[f"unit.{name}" for name in COUNTS],
    )


def _landed(raw: DataFrame) -> DataFrame:
    """Rows that must become something: records, and stretches of bytes that are damage from the start.

    Counted on their own, because there are millions: numbers alone aggregate in a hash map, texts beside them would make Spark sort.
    """
    rows = raw.where(sf.col("kind").isin("record", "damage")).groupBy("input")
    return rows.agg(sf.count(sf.lit(1)).alias("landed"), sf.count_if(sf.col("kind") == "damage").alias("undecoded"))


def _replayed(staged: DataFrame) -> DataFrame:
    """Slices count partitions of groups that had no news, too: these are no inputs of the night."""
    counts = staged.where((sf.col("kind") == "counts") & (sf.col("decoded") + sf.col("unknown") + sf.col("undecoded") > 0))
    return counts.select(log_name(sf.col("offsets_partition")).alias("input"), "decoded", "unknown", "undecoded")
