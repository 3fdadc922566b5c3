"""Table `member_states`: what each member was doing, span by span."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import MemberState
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.joins.context import ReportContext


def member_states(staged: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`."""
    return staged.where(sf.col("kind") == MemberState.KIND).select(
        *fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        integer("member_epoch"),
        "state",
        *instants("from_at", "to_at"),
        integer("partitions_assigned"),
        integer("partitions_pending"),
        "waiting_on",
        "is_final",
    )
