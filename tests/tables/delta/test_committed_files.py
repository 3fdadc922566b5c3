"""What a commit added reads the same from its files as through Delta, or is not read so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay import shortcuts
from groupreplay.tables.delta.delta_log import DeltaLog
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import table_schema
from groupreplay.tables.warehouse import Warehouse

OWN = {"run_id": "own", "step": "publish"}
NIGHT = date(2026, 11, 21)
CLUSTER = "a b%3A=ü"
"""Folders of partitions are named after it, escaped, and the log escapes their names once more."""


def _topics(spark: SparkSession, cluster: str, *names: str) -> DataFrame:
    rows = [
        (cluster, NIGHT, f"id-{name}", name, datetime(2026, 11, 21, tzinfo=UTC), 1, "given")
        for name in names
    ]
    return spark.createDataFrame(rows, table_schema(spark, "topics").struct)


def _night_of(cluster: str) -> RowRange:
    return RowRange(cluster, NIGHT)


@pytest.fixture(scope="module")
def committed(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Warehouse, int]:
    """A table in which three commits are, and the version of that of OWN, the second."""
    warehouse = Warehouse(spark, str(tmp_path_factory.mktemp("committed")), CLUSTER)
    warehouse.create_all(["topics"])
    versions = []
    for run_id, cluster, names in (
        ("first", CLUSTER, ("before",)),
        ("own", CLUSTER, ("x", "y", "é")),
        ("other", "other", ("z",)),
    ):
        rows, metadata = _topics(spark, cluster, *names), {**OWN, "run_id": run_id}
        versions.append(warehouse.replace("topics", rows, _night_of(cluster), metadata))
    return warehouse, versions[1]


def test_the_rows_are_those_that_delta_gives(committed: tuple[Warehouse, int]) -> None:
    warehouse, version = committed
    found = warehouse.committed("topics", version, OWN)
    assert found is not None
    assert "Delta" not in found._jdf.queryExecution().toString()
    through_delta = warehouse.read("topics").where(sf.col("cluster") == CLUSTER)
    assert found.dtypes == through_delta.dtypes
    rows = sorted(found.collect())
    assert rows == sorted(through_delta.collect())
    assert [row["topic"] for row in rows] == ["x", "y", "é"]


def test_another_runs_commit_is_not_read(committed: tuple[Warehouse, int]) -> None:
    warehouse, version = committed
    assert warehouse.committed("topics", version + 1, OWN) is None
    assert warehouse.committed("topics", version, {**OWN, "step": "land"}) is None
    assert warehouse.committed("topics", version + 9, OWN) is None, "no such version"


def test_a_commit_that_adds_nothing_is_left_to_delta(committed: tuple[Warehouse, int]) -> None:
    warehouse, _ = committed
    own, nobody = {**OWN, "run_id": "last"}, _topics(warehouse.spark, "third")
    version = warehouse.replace("topics", nobody, _night_of("other"), own)
    assert warehouse.committed("topics", version, own) is None


def test_rows_that_are_marked_as_deleted_are_left_to_delta(
    committed: tuple[Warehouse, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, version = committed
    actions = list(warehouse.log("topics").commit_actions(version) or ())

    def marked(_: DeltaLog, __: int) -> Iterator[dict[str, Any]]:
        for action in json.loads(json.dumps(actions)):
            if "add" in action:
                action["add"]["deletionVector"] = {"storageType": "u", "cardinality": 1}
            yield action

    monkeypatch.setattr(DeltaLog, "commit_actions", marked)
    assert warehouse.committed("topics", version, OWN) is None


def test_a_path_that_spark_takes_for_a_pattern_is_left_to_delta(
    committed: tuple[Warehouse, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, version = committed
    assert warehouse.committed("topics", version, OWN) is not None
    monkeypatch.setattr(warehouse.log("topics"), "path", "/logs/a[b]c/topics")
    assert warehouse.committed("topics", version, OWN) is None


def test_it_can_be_turned_off(
    committed: tuple[Warehouse, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, version = committed
    monkeypatch.setenv(shortcuts.VARIABLE, "first-version")
    assert warehouse.committed("topics", version, OWN) is None
