"""Table `group_state`: the state of each group's machine, carried to the next night."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.joins.columns import integer, night
from groupreplay.report.joins.context import ReportContext


def group_state(staged: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`."""
    return staged.where(sf.col("kind") == "group_state").select(
        *night(context), "group_id", integer("offsets_partition"), "state_bytes"
    )
