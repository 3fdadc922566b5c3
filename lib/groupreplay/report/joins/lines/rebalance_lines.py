"""Named step: facts of classic generations, and the rebalance that the coordinator logged as
leading to each.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.report.joins.lines.departures import EVIDENCE_TYPE, SLACK_MS, evidence_column

REBALANCE_MS: Final = 3_600_000
"""A join phase lasts as long as the longest rebalance timeout of its members."""

_REBALANCE_TYPE: Final = (
    "struct<started_at: bigint, cause: string, reason: string, client_reason: string,"
    f" cause_member_id: string, evidence: {EVIDENCE_TYPE}>"
)


def with_rebalance(facts: DataFrame, evidence: DataFrame | None, at: Column) -> DataFrame:
    """facts with `rebalance`: of a classic generation the rebalance that its coordinator logged as
    leading to it, the last before the generation; NULL where no line shows it.

    facts: rows with group_id, epoch and protocol.
    evidence: rows of the table of all nights, None without broker logs.
    at: when the generation's record was written, ms.
    """
    if evidence is None:
        return facts.withColumn("rebalance", sf.lit(None).cast(_REBALANCE_TYPE))
    fields = sf.struct(
        "started_at",
        "cause",
        "reason",
        "client_reason",
        "cause_member_id",
        evidence_column().alias("evidence"),
    )
    told = (
        evidence.where(sf.col("kind") == Rebalance.KIND)
        .groupBy(sf.col("group_id").alias("_group_id"), (sf.col("generation") + 1).alias("_epoch"))
        .agg(sf.collect_set(fields).alias("_rebalances"))
    )
    same = (
        (sf.col("group_id") == sf.col("_group_id"))
        & (sf.col("epoch") == sf.col("_epoch"))
        & (sf.col("protocol") == "classic")
    )
    joined = facts.join(told, same, "left")
    near = sf.filter(
        "_rebalances",
        lambda each: each["started_at"].between(at - REBALANCE_MS, at + SLACK_MS),
    )
    return joined.withColumn("rebalance", sf.array_max(near).cast(_REBALANCE_TYPE)).drop(
        "_group_id", "_epoch", "_rebalances"
    )
