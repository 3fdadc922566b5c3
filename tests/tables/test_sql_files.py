"""Statements that read one consistent set of tables, on tables that delta-rs wrote."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from groupreplay.tables.sql_files import sql_files
from tests.support.duckdb_views import WAYS, duckdb_views

NIGHT = date(2026, 11, 21)


def add(table: Path, cluster: str, *offsets: int) -> None:
    rows = pa.table({"cluster": [cluster] * len(offsets), "next_offset": list(offsets)})
    write_deltalake(str(table), rows, mode="append", partition_by=["cluster"])


@pytest.mark.parametrize("way", WAYS)
def test_views_of_duckdb_show_the_versions_and_the_cluster_that_they_name(
    way: str, tmp_path: Path
) -> None:
    root = tmp_path / "it's a warehouse"
    for cluster, offset in (("one", 1), ("other", 2), ("one", 3)):
        add(root / "coverage", cluster, offset)
        add(root / "topics", cluster, 10 * offset)
    text = sql_files(str(root), "one", NIGHT, {"coverage": 1, "topics": 2})["duckdb.sql"]
    views = duckdb_views(text, way)
    assert views.execute("SELECT next_offset FROM coverage").fetchall() == [(1,)]
    topics = views.execute("SELECT next_offset FROM topics ORDER BY ALL").fetchall()
    assert topics == [(10,), (30,)], "of the other cluster there are rows in this version too"


def test_a_file_that_no_test_runs_says_so() -> None:
    files = sql_files("/w", "one", NIGHT, {"topics": 2})
    said = [name for name, text in files.items() if "No test of groupreplay runs" in text]
    assert said == ["trino.sql"]
