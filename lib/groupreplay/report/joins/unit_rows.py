"""Named step: the `unit` rows of landing -> what each of them says of its input, for `coverage` and
`undecoded`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

COUNTS: Final = ("reduced", "control", "aborted", "open_commits", "duplicates", "holes", "late")
"""Counts of a unit that `coverage` shows as they are."""

_DETAIL: Final = ", ".join(
    f"{name} BIGINT"
    for name in ("first_offset", "next_offset", "first_ts_ms", "last_ts_ms", *COUNTS)
)

OFFSETS_TOPIC: Final = "__consumer_offsets"

_TOLD: Final = ", ".join(
    f"{name} BIGINT"
    for name in (
        *(
            "from_position",
            "next_position",
            "lines",
            "matched",
            "unmatched",
            "continuation",
            "passed",
            "damaged",
            "too_long",
            "reduced",
        ),
        *("first_ms", "last_ms"),
    )
)


def read_stretches(lines: DataFrame) -> DataFrame:
    """source, input, and `told`: what the `file` rows of landed lines say of their file, a struct
    of BIGINTs and `loggers`.
    """
    told = sf.from_json("counts", f"{_TOLD}, loggers MAP<STRING, BIGINT>").alias("told")
    return lines.where(sf.col("kind") == "file").select("source", "input", told)


def landed_units(raw: DataFrame) -> DataFrame:
    """offsets_partition, source, input, log_incarnation, and `unit`: the counts that its detail
    holds, a struct of BIGINTs.
    """
    return raw.where(sf.col("kind") == "unit").select(
        "offsets_partition",
        "source",
        "input",
        "log_incarnation",
        sf.from_json("detail", _DETAIL).alias("unit"),
    )


def joined_sources() -> Column:
    """An aggregate: the kinds that one log was read from, in order, joined by +."""
    return sf.array_join(sf.array_sort(sf.collect_set("source")), "+").alias("source")


def log_name(partition: Column) -> Column:
    """`input` of one partition of the offsets topic."""
    return sf.concat(sf.lit(OFFSETS_TOPIC + "-"), partition.cast("string"))
