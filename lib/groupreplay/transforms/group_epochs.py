"""Table `group_epochs`: every epoch or generation of a group."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Epoch
from groupreplay.transforms.columns import fact_columns, instants, integer
from groupreplay.transforms.context import ReportContext


def group_epochs(staged: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`."""
    return staged.where(sf.col("kind") == Epoch.KIND).select(
        *fact_columns(context),
        integer("epoch"),
        "protocol",
        *instants("started_at"),
        "cause",
        "cause_member_id",
        "confidence",
        *instants("target_at", "converged_at", "superseded_at"),
        integer("members"),
        integer("members_classic"),
        integer("partitions_moved"),
        "assign_ms",
        "converge_ms",
        "outcome",
        "is_final",
    )
