"""Table `group_conversions`: every change of a group between the two protocols."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Conversion
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.joins.context import ReportContext


def group_conversions(staged: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`."""
    return staged.where(sf.col("kind") == Conversion.KIND).select(
        *fact_columns(context),
        *instants("converted_at"),
        "direction",
        "mode",
        "trigger_member_id",
        integer("epoch_before"),
        integer("epoch_after"),
        "is_final",
    )
