"""Readers of `_sql/` never see half a night: while one runs they see the last that is finished,
then the new one.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from pyspark.sql import SparkSession

from groupreplay.night.earlier.history import past_nights
from groupreplay.tables.sql_files import mend_sql
from groupreplay.tables.warehouse import Warehouse
from tests.faults.nights import Rows, run_rows, table_rows
from tests.faults.told import FIRST, SECOND, Told


def told_versions(warehouse: Path) -> dict[str, int]:
    """Table -> version, as the statements for Spark name it."""
    lines = (warehouse / "_sql/spark.sql").read_text().splitlines()
    words = [line.split() for line in lines if line.startswith("CREATE")]
    return {each[5]: int(each[each.index("OF") + 1]) for each in words}


def test_statements_show_the_last_finished_night_while_another_one_runs(
    spark: SparkSession, told: Told
) -> None:
    nights = told.copy("read")
    before = told_versions(nights.warehouse)
    read = {name: table_rows(nights.warehouse / name, version) for name, version in before.items()}
    seen: list[tuple[dict[str, int], dict[str, Rows], list[str]]] = []
    ended = threading.Event()

    def reader() -> None:
        while not ended.is_set():
            done = [row["run_id"] for row in run_rows(nights.warehouse) if row["state"] == "DONE"]
            versions = told_versions(nights.warehouse)
            seen.append(
                (
                    versions,
                    {
                        name: table_rows(nights.warehouse / name, version)
                        for name, version in versions.items()
                    },
                    done,
                )
            )

    thread = threading.Thread(target=reader)
    thread.start()
    try:
        told.run_here(nights, SECOND)
    finally:
        ended.set()
        thread.join()
    after = told_versions(nights.warehouse)
    now = {name: table_rows(nights.warehouse / name) for name in after}
    assert before != after
    for versions, rows, done in seen:
        assert versions in (before, after), "never versions of two nights"
        assert rows == (read if versions == before else now)
        assert versions == before or len(done) >= 1
    assert [versions for versions, _, _ in seen].count(before) >= 5
    for row in run_rows(nights.warehouse):
        expected = before if row["logical_date"] == FIRST else after
        assert dict(row["table_versions"]) == expected, "runs names the same"
    # A run that died between DONE and these files left the old ones: the next run mends them before
    # anything else.
    shutil.rmtree(nights.warehouse / "_sql")
    warehouse = Warehouse(spark, str(nights.warehouse), "c")
    newest = past_nights(warehouse.read("runs"))[-1]
    mend_sql(warehouse, newest.logical_date, newest.versions)
    assert told_versions(nights.warehouse) == after
