"""Rows that several queries read: computed once, and held until the last query is done."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

HELD_ROWS: Final = 100_000
"""A night of at most this many rows is held while tables, summary and pages are made of it: each
scan of a Delta table costs a job that finds its files.
"""

HELD_BYTES: Final = 32 << 20
"""As HELD_ROWS, for a table of all nights, by the size of its files."""

PACKED_BYTES: Final = 256 << 20
"""Table `replayed` is held if its files are at most this large: every table of a night reads all of
it.
"""


def held_in_one_partition(frame: DataFrame) -> DataFrame:
    """`held`, in one partition. For few rows: Spark groups, sorts and joins them without a shuffle,
    so a table of a small night takes one task.
    """
    return held(frame.coalesce(1))


def held(frame: DataFrame) -> DataFrame:
    """The same rows; the first query that reads them computes them.

    On one machine the plan that made them is dropped too. Otherwise Spark sends the whole plan to
    each task and walks through it in every query: a third of all work of a small night. On a
    cluster executors may be lost with their rows, so there Spark keeps the plan to make them again.
    """
    is_one_machine = str(frame.sparkSession.sparkContext.master).startswith("local")
    return frame.localCheckpoint(eager=False) if is_one_machine else frame.persist()
