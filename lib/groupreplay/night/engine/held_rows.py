"""Rows that are asked many times: computed once, and held until nobody asks any more."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

SMALL_ROWS: Final = 100_000
"""A night of so few rows is held while its tables, its summary and its pages are made of it: a scan
of a Delta table costs a job to find its files.
"""

SMALL_BYTES: Final = 32 << 20
"""As SMALL_ROWS, for a table of all nights, by the size of its files."""


def held(frame: DataFrame) -> DataFrame:
    """The same rows, which the first query that asks computes.

    On one machine what made them is forgotten as well. Spark sends each task all that its rows were
    made of, and looks it through in every query: of a small night that was a third of all work.
    Where executors come and go they would take such rows along, so there Spark keeps what it needs
    to make them again.
    """
    is_one_machine = str(frame.sparkSession.sparkContext.master).startswith("local")
    return frame.localCheckpoint(eager=False) if is_one_machine else frame.persist()
