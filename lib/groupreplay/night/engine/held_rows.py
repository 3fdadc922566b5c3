"""Rows that several queries read: computed once, and held until the last query is done."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

SMALL_ROWS: Final = 100_000
"""A night of at most this many rows is held while tables, summary and pages are made of it: each
scan of a Delta table costs a job that finds its files.
"""

SMALL_BYTES: Final = 32 << 20
"""As SMALL_ROWS, for a table of all nights, by the size of its files."""

PACKED_BYTES: Final = 256 << 20
"""Table `replayed` is held to this size of its files: every table of a night scans all of it."""


def held_in_one(frame: DataFrame) -> DataFrame:
    """`held`, in one partition: for few rows. Spark then needs no shuffle to group, sort or join
    them, and a table of a small night is one task.
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
