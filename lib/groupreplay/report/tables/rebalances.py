"""Table `rebalances`: every rebalance of a classic group, phase by phase."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.report.joins.columns import duration_ms, instants, integer, night
from groupreplay.report.joins.lines.departures import evidence_column
from groupreplay.report.joins.lines.fenced_members import with_members_back
from groupreplay.report.joins.lines.rejoin_times import with_joins
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec


def rebalances(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    rows = inputs.evidence.where(sf.col("kind") == Rebalance.KIND)
    return with_members_back(with_joins(rows, context), context).select(
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
        duration_ms("started_at", "joined_at").alias("join_ms"),
        duration_ms("joined_at", "synced_at").alias("sync_ms"),
        "members_missing",
        "members_dropped",
        "nobody_joined",
        "outcome",
        evidence_column().alias("evidence"),
        "is_final",
        *instants("first_joined_at", "last_joined_at"),
        "last_joined_member_id",
        "members_back",
    )


SPEC: Final = TableSpec(
    name="rebalances",
    build=rebalances,
    evidence=(Rebalance,),
    is_owned=True,
    quotes=frozenset({"reason", "client_reason"}),
    members=frozenset({"last_joined_member_id", "members_back"}),
)
