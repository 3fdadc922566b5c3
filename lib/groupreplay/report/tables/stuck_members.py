"""Table `stuck_members`: who was, or is, stuck, since when, why, on whom, until when."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.joins.columns import instants, integer
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.episodes import episode_columns, stuck_episodes, stuck_fact_columns


def stuck_members(staged: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`."""
    return stuck_episodes(staged, context, of_members=True).select(
        *stuck_fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        "reason",
        *episode_columns(context),
        sf.coalesce("blocked_by", sf.array().cast("array<string>")).alias("blocked_by"),
        integer("partitions_waiting"),
        integer("partitions_held"),
        *instants("deadline_at"),
        sf.col("episode.until_ms").isNull().alias("is_open"),
        sf.col("episode.repetitions").alias("repetitions"),
        "detail",
        "evidence",
        "is_final",
    )
