"""Two nights of a log that grows: what the second leaves undisturbed, and copies of the first to
disturb it on.
"""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from groupreplay.config.reader import load_config
from groupreplay.night.run import run_night
from tests.end_to_end.logs import copy_log, half
from tests.faults.nights import Nights, Rows, contents, run_rows
from tests.support.few_tables import FEW, few_tables

RECORDING = "other-groups-4.2"
"""Small, with transactions, a deleted group, and every kind of group."""

PAGED: Final = "group_days"
"""Published beside few tables: by what they cost groups of this recording get pages of their own."""

FIRST, SECOND = date(2026, 11, 21), date(2026, 11, 22)


class Told:
    """Two nights of a log that grows, the second of which was disturbed or not.

    is_few: nights publish few tables, whatever process runs them.
    """

    def __init__(self, spark: SparkSession, folder: Path, *, is_few: bool) -> None:
        self.spark, self.folder, self.is_few = spark, folder, is_few
        self.logs = copy_log(RECORDING, folder / "logs", half)
        self.first = self.place("first")
        self.run_here(self.first, FIRST)
        copy_log(RECORDING, self.logs)
        # With pages, which a night that is killed must leave too.
        self.undisturbed = self.copy("undisturbed").configure(("segments", self.logs), pages=True)
        self.run_here(self.undisturbed, SECOND)
        self.expected: dict[str, Rows] = contents(self.undisturbed.warehouse)

    def place(self, name: str) -> Nights:
        tables = (*FEW, PAGED) if self.is_few else ()
        return Nights(self.folder, self.folder / name, tables).configure(("segments", self.logs))

    def copy(self, name: str) -> Nights:
        """A warehouse that has the first night."""
        nights = self.place(name)
        shutil.copytree(self.first.warehouse, nights.warehouse)
        return nights

    def run_here(self, nights: Nights, night: date) -> None:
        """A night in the session of the tests, which is started already."""
        with few_tables(PAGED) if self.is_few else nullcontext():
            run_night(self.spark, load_config(str(nights.config)), night, take_over=True)

    def forget(self) -> None:
        """What the session of the tests remembers of logs, which a new process would not."""
        jvm: Any = self.spark._jvm
        jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def published(self) -> list[str]:
        """Tables that the second night committed when it published."""
        (row,) = [
            row for row in run_rows(self.undisturbed.warehouse) if row["logical_date"] == SECOND
        ]
        before = {
            row["logical_date"]: dict(row["table_versions"])
            for row in run_rows(self.first.warehouse)
        }[FIRST]
        return sorted(name for name, version in row["table_versions"] if version > before[name])
