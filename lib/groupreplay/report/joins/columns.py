"""Columns of `replayed` as the tables have them: narrow integers, instants, and what every fact of
a group begins with.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from groupreplay.report.context import ReportContext

LAST_INSTANT_MS: Final = 9_223_372_036_854
"""2262-04-11, ms since the epoch: the end of nanoseconds in 64 bits, past which Parquet readers
turn a time into nonsense.
"""

_INT_MIN: Final = -(2**31)
_INT_MAX: Final = 2**31 - 1


def integer(name: str) -> Column:
    """A BIGINT of `replayed` as INT. Damaged input can say anything and the cast would end the job:
    what does not fit becomes the limit.
    """
    limit = (
        f"CASE WHEN `{name}` > {_INT_MAX} THEN int({_INT_MAX}) WHEN `{name}` < {_INT_MIN} THEN"
        f" int({_INT_MIN}) END"
    )
    return sf.expr(f"coalesce(try_cast(`{name}` AS INT), {limit})").alias(name)


def sane_ms(value: Column) -> Column:
    """Ms since the epoch within what every reader can show; NULL stays NULL."""
    return (
        sf.when(value > LAST_INSTANT_MS, sf.lit(LAST_INSTANT_MS))
        .when(value < 0, sf.lit(0))
        .otherwise(value)
    )


def instant(value: Column, name: str) -> Column:
    """Ms since the epoch as TIMESTAMP."""
    return sf.timestamp_millis(sane_ms(value)).alias(name)


def instants(*names: str) -> list[Column]:
    """The `*_at` columns of `replayed`, by name."""
    return [instant(sf.col(name), name) for name in names]


def durations(*names: str) -> list[Column]:
    """The `*_ms` columns of `replayed`, by name; NULL where the clocks of two machines make one
    negative.
    """
    return [sf.when(sf.col(name) >= 0, sf.col(name)).alias(name) for name in names]


def night(context: ReportContext) -> list[Column]:
    """cluster, logical_date: every table begins with them."""
    return [
        sf.lit(context.cluster).alias("cluster"),
        sf.lit(context.logical_date).alias("logical_date"),
    ]


def fact_columns(context: ReportContext) -> list[Column]:
    """What every table of groups' facts begins with."""
    place = [
        sf.col("group_id"),
        sf.col("incarnation"),
        integer("offsets_partition"),
        sf.col("from_offset"),
        sf.col("to_offset"),
        sf.col("start_observed"),
        integer("log_incarnation"),
    ]
    return [*night(context), *place]


def duration_ms(since: str, until: str) -> Column:
    """From one time in ms to another. NULL without both; never negative: lines are written a moment
    after what they show.
    """
    passed = sf.col(until) - sf.col(since)
    return sf.when(passed.isNotNull(), sf.greatest(sf.lit(0), passed))
