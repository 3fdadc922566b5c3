"""Table `rebalances`: every rebalance of a classic group, phase by phase."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.report.joins.columns import instants, integer, night
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.departures import evidence_column


def rebalances(evidence: DataFrame, context: ReportContext) -> DataFrame:
    """evidence: the rows that the night wrote."""
    return evidence.where(sf.col("kind") == Rebalance.KIND).select(
        *night(context),
        "group_id",
        integer("generation"),
        *instants("started_at"),
        "group_state",
        "cause",
        "cause_member_id",
        "reason",
        "client_reason",
        *instants("joined_at"),
        integer("members_joined"),
        *instants("synced_at"),
        sf.greatest(sf.lit(0), sf.col("joined_at") - sf.col("started_at")).alias("join_ms"),
        sf.greatest(sf.lit(0), sf.col("synced_at") - sf.col("joined_at")).alias("sync_ms"),
        "members_missing",
        "members_dropped",
        "nobody_joined",
        "outcome",
        evidence_column().alias("evidence"),
        "is_final",
    )
