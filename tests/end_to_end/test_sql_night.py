"""What a whole night leaves, read by the statements that it wrote: every table, in the version that
`runs` names.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable
from pyspark.sql import Row, SparkSession

from groupreplay.report.catalog import SPECS
from groupreplay.tables.finished_night import FinishedNight
from tests.support.duckdb_views import WAYS, duckdb_views
from tests.support.temporary_views import views_made_by


@pytest.fixture(scope="module")
def run(demo: FinishedNight) -> Row:
    """The night as its row of `runs` says it."""
    (found,) = demo.read("runs").collect()
    return found


def test_every_table_has_the_rows_that_runs_counts(demo: FinishedNight, run: Row) -> None:
    assert (run["state"], run["error"]) == ("DONE", None)
    assert set(run["digest"]) == {spec.name for spec in SPECS.values() if spec.digest}
    assert set(run["table_versions"]) > {name for name in SPECS if run["counts"][name]}
    for name, version in run["table_versions"].items():
        held = DeltaTable(demo.warehouse.path(name), version=version).to_pyarrow_dataset()
        rows = held.count_rows(filter=ds.field("logical_date") == demo.logical_date)
        assert rows == run["counts"][name], name


def test_statements_name_every_table(spark: SparkSession, demo: FinishedNight, run: Row) -> None:
    folder = Path(demo.warehouse.root, "_sql")
    for engine in ("spark", "duckdb", "trino"):
        text = (folder / f"{engine}.sql").read_text()
        assert all(f"{name} " in text or f"/{name}'" in text for name in demo.versions)
    with views_made_by(spark, (folder / "spark.sql").read_text()):
        assert spark.table("group_epochs").count() == run["counts"]["group_epochs"] > 0


@pytest.mark.parametrize("way", WAYS)
def test_duckdb_reads_what_its_statements_name(way: str, demo: FinishedNight, run: Row) -> None:
    text = Path(demo.warehouse.root, "_sql", "duckdb.sql").read_text()
    views = duckdb_views(text, way)
    for name in demo.versions:
        found = views.execute(
            f"SELECT count(*) FROM {name} WHERE logical_date = DATE '{demo.logical_date}'"
        ).fetchone()
        assert found == (run["counts"][name],), name
        views.execute(f"SELECT * FROM {name}").to_arrow_table()
