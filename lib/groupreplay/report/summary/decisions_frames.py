"""What the summary asks of the tables that decisions are made by: as `frames`, whose queries these
are too.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.joins.next_flips import look_at, next_flips


def tiers(readiness: DataFrame, _: int) -> DataFrame:
    return readiness.groupBy("flip_tier").agg(sf.count(sf.lit(1)).alias("groups"))


def flips(readiness: DataFrame, top: int) -> DataFrame:
    return next_flips(readiness, top).select(
        "group_id", "team", "flip_tier", "partitions", "suggested_assignor", look_at()
    )


def costliest_wave(waves: DataFrame, _: int) -> DataFrame:
    stopped = sf.coalesce("est_ms", "low_ms")
    return (
        waves.where((stopped > 0) & ~sf.col("class").isin("START", "STOP"))
        .orderBy(sf.desc(stopped), "group_id", "from_offset")
        .limit(1)
        .select(
            "group_id",
            "team",
            sf.col("class").alias("wave_class"),
            sf.unix_millis("started_at").alias("started_at_ms"),
            "departed",
            "joined",
            "moved",
            stopped.alias("stopped_ms"),
            (sf.col("est_ms").isNotNull() & ~sf.coalesce("est_is_partial", sf.lit(False))).alias(
                "is_estimate"
            ),
        )
    )


def worst_group(days: DataFrame, _: int) -> DataFrame:
    def available(lost: str) -> Column:
        return sf.greatest(sf.lit(0.0), 100 * (1 - sf.sum(lost) / sf.sum("partitions_ms")))

    return (
        days.where("partitions_ms > 0")
        .groupBy("group_id")
        .agg(
            sf.max("team").alias("team"),
            available("low_ms").alias("most_pct"),
            sf.when(sf.sum("high_unknown") == 0, available("high_ms")).alias("least_pct"),
            sf.sum("low_ms").alias("low_ms"),
        )
        .where("low_ms > 0")
        .orderBy("most_pct", "group_id")
        .limit(1)
        .select("group_id", "team", "most_pct", "least_pct")
    )
