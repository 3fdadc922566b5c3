"""Rows of a run that are committed without Spark's writer: what anybody reads is what Spark's
writer leaves, and what others did to the table meanwhile stays.

Holds tables/delta/delta_log.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from groupreplay import shortcuts
from groupreplay.errors import RunHeld
from groupreplay.tables.delta import own_files
from groupreplay.tables.run_rows import DONE, LANDED, REPLAYED
from groupreplay.tables.runs import Ledger
from groupreplay.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NIGHT = date(2026, 1, 1)
VERSIONS = {"topics": 3, "a/b = 'c'": -1}
CLUSTERS = ("c", "50% of a:b=Zoë ✓")
"""The second is one that a folder, a URI and a path each hold in other letters."""


@pytest.fixture
def made(spark: SparkSession, tmp_path: Path) -> Callable[[str, str], Warehouse]:
    """A warehouse with its table `runs`, by the name of its folder and of its cluster."""

    def make(folder: str, cluster: str) -> Warehouse:
        warehouse = Warehouse(spark, str(tmp_path / folder), cluster)
        warehouse.create_all(["runs"])
        return warehouse

    return make


def _done(warehouse: Warehouse, cluster: str) -> Ledger:
    ledger = Ledger(warehouse, cluster, config='{"a": 1}')
    run = ledger.acquire(NIGHT, "1.0", "hash", '{"units":[]}')
    run = ledger.advance(run, LANDED, as_of_at=1_700_000_000_123)
    ledger.advance(run, DONE, table_versions=VERSIONS, counts={}, digest={"topics": "ff"})
    return ledger


def _operations(warehouse: Warehouse) -> list[dict[str, Any]]:
    """commitInfo of each commit but the first, the oldest first."""
    folder = Path(warehouse.path("runs")) / "_delta_log"
    logs = sorted(folder.glob("*.json"))[1:]
    return [
        action["commitInfo"]
        for log in logs
        for action in map(json.loads, log.read_text().splitlines())
        if "commitInfo" in action
    ]


def _by_own_files(warehouse: Warehouse) -> list[bool]:
    """Of each commit but the first whether it came without Spark's writer, which counts rows."""
    return [not info["operationMetrics"] for info in _operations(warehouse)]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_is_read_is_what_sparks_writer_leaves(
    cluster: str, made: Callable[[str, str], Warehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = made("own", cluster)
    ledger = _done(own, cluster)
    monkeypatch.setenv(shortcuts.VARIABLE, shortcuts.FIRST_VERSION)
    by_spark = made("spark", cluster)
    other = _done(by_spark, cluster)
    assert _by_own_files(own) == [True] * 3
    assert _by_own_files(by_spark) == [False] * 3
    (mine,), (theirs,) = ledger.of_night(NIGHT), other.of_night(NIGHT)
    named = {"run_id", "started_at", "renewed_at", "ended_at"}
    assert {
        name for name in mine.__slots__ if getattr(mine, name) != getattr(theirs, name)
    } <= named
    assert (mine.cluster, mine.as_of_at, mine.table_versions, mine.counts) == (
        cluster,
        1_700_000_000_123,
        VERSIONS,
        {},
    )
    stored = [own.read("runs").collect(), by_spark.read("runs").collect()]
    assert [[type(value) for value in row] for row in stored[0]] == [
        [type(value) for value in row] for row in stored[1]
    ]
    tables = [DeltaTable(each.path("runs")) for each in (own, by_spark)]
    (one,), (two,) = (each.to_pyarrow_table().to_pylist() for each in tables)
    assert {name for name in one if one[name] != two[name]} <= named
    folders = [
        {Path(uri).parent.relative_to(each.path("runs")) for uri in _files(each)}
        for each in (own, by_spark)
    ]
    assert folders[0] == folders[1] != set()
    held = [pq.ParquetFile(_files(each)[0]).schema_arrow for each in (own, by_spark)]
    columns = [[(field.name, str(field.type)) for field in each] for each in held]
    assert columns[0] == columns[1]


def _files(warehouse: Warehouse) -> list[Path]:
    return sorted(Path(warehouse.path("runs")).glob("*/*/*.parquet"))


def test_a_file_that_others_took_away_is_looked_for(
    spark: SparkSession, made: Callable[[str, str], Warehouse]
) -> None:
    """Else its row would be there twice. So are those of a night that has rows already."""
    warehouse = made("own", "c")
    ledger = Ledger(warehouse, "c")
    ledger.fail(ledger.acquire(NIGHT, "1.0", "hash", "{}"), "why")
    run = ledger.acquire(NIGHT, "1.0", "hash", "{}")
    run = ledger.advance(run, LANDED)
    spark.sql(f"UPDATE delta.`{warehouse.path('runs')}` SET error = 'told' WHERE state = 'FAILED'")
    ledger.advance(ledger.advance(run, REPLAYED), DONE)
    assert sorted(each.state for each in ledger.of_night(NIGHT)) == ["DONE", "FAILED"]
    assert _by_own_files(warehouse) == [True, True, False, True, False, False, True]


def test_of_two_transactions_of_a_writer_one_is_refused(
    made: Callable[[str, str], Warehouse], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second begins when the first has, and ends before it."""
    warehouse = made("own", "c")
    ledger = Ledger(warehouse, "c")
    run = ledger.acquire(NIGHT, "1.0", "hash", "{}")
    rival = Ledger(warehouse, "c")
    write, began = own_files._written, list[int]()

    def between(*of: Any) -> dict[str, Any]:
        if not began:
            began.append(1)
            with monkeypatch.context() as patched:
                patched.setattr("groupreplay.tables.runs.why_dead", lambda *_: "it is gone")
                rival.acquire(NIGHT, "1.0", "hash", "{}", take_over=True)
        return write(*of)

    monkeypatch.setattr(own_files, "_written", between)
    with pytest.raises(RunHeld, match=f"night {NIGHT}"):
        ledger.advance(run, LANDED)
    rival.release()
    assert [each.state for each in rival.of_night(NIGHT)] == ["PLANNED"]
