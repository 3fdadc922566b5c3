"""What the overview asks of decisions: which groups can be flipped, what deploys cost, and how long
partitions were not read. As in `fleet_frames`, whose queries these are too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.page.model import fleet
from groupreplay.report.joins.next_flips import look_at, next_flips
from groupreplay.report.pages.asked import ROWS, PageNights, Tables, rows_as


def verdicts(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    counted = tonight["readiness"].groupBy("verdict", "flip_tier")
    return counted.agg(sf.count(sf.lit(1)).alias("groups")).transform(rows_as, fleet.VerdictCount)


def flips(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    chosen = next_flips(tonight["readiness"], ROWS).withColumn("look_at", look_at())
    return chosen.transform(rows_as, fleet.Flip)


def rules(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    fired = tonight["readiness"].select("group_id", sf.explode("rules").alias("each"))
    stands = fired.where(sf.col("each.severity").isin("BLOCK", "BLOCK_ONLINE", "FIX", "CHECK"))
    return (
        stands.groupBy(sf.col("each.rule").alias("rule"), sf.col("each.severity").alias("severity"))
        .agg(sf.count_distinct("group_id").alias("groups"), sf.min("each.detail").alias("detail"))
        .orderBy(sf.desc("groups"), "rule", "severity")
        .limit(ROWS)
        .transform(rows_as, fleet.RuleCount)
    )


STOPPED: Final[Mapping[str, str]] = {
    "wave": "class",
    "stopped_ms": "coalesce(est_ms, low_ms)",
    "is_estimate": "est_ms IS NOT NULL AND NOT coalesce(est_is_partial, false)",
}
"""Columns of a wave that are worked out, as SQL."""


def waves(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    return (
        tonight["departure_waves"]
        .where(of.is_of_last("ended_at"))
        .orderBy(
            sf.desc_nulls_last(sf.expr(STOPPED["stopped_ms"])),
            "started_at",
            "group_id",
            sf.coalesce("log_incarnation", sf.lit(0)),
            "from_offset",
        )
        .limit(ROWS)
        .transform(rows_as, fleet.Wave, **STOPPED)
    )


def wave_counts(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    counted = tonight["departure_waves"].where(of.is_of_last("ended_at")).groupBy("class")
    return counted.agg(sf.count(sf.lit(1)).alias("waves")).transform(
        rows_as, fleet.WaveCount, wave="class"
    )


_COSTS: Final = ("partitions_ms", "low_ms", "high_ms", "high_unknown", "moved", "returned")


def cost_days(_: Tables, nights: Tables, of: PageNights) -> DataFrame:
    """The newest days, as many as a page has nights at least."""
    days = nights["group_days"].groupBy("day").agg(*[sf.sum(name).alias(name) for name in _COSTS])
    most = max(len(of.as_of_ms), 30)
    return (
        days.orderBy(sf.desc("day"))
        .limit(most)
        .transform(rows_as, fleet.CostDay, day="CAST(day AS STRING)")
    )


def cost_groups(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    days = tonight["group_days"].where(of.is_of_last("to_at"))
    return (
        days.groupBy("group_id")
        .agg(
            sf.max("team").alias("team"),
            *[sf.sum(name).alias(name) for name in _COSTS],
            sf.max("handover_max_ms").alias("handover_max_ms"),
        )
        .where("low_ms > 0")
        .orderBy(sf.desc("low_ms"), "group_id")
        .limit(ROWS)
        .transform(rows_as, fleet.CostGroup)
    )
