"""Table `stuck_groups`: groups that were, or are, stuck as a whole."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.episodes import episode_columns, stuck_episodes, stuck_fact_columns


def stuck_groups(staged: DataFrame, context: ReportContext) -> DataFrame:
    """staged: the night's rows of `replayed`."""
    return stuck_episodes(staged, context, of_members=False).select(
        *stuck_fact_columns(context),
        "reason",
        *episode_columns(context),
        sf.col("episode.until_ms").isNull().alias("is_open"),
        sf.col("episode.repetitions").alias("repetitions"),
        "detail",
        "evidence",
        "is_final",
    )
