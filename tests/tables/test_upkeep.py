"""What maintenance counts of a table's files, with the checksum that names them and without."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from groupreplay import shortcuts
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import table_schema
from groupreplay.tables.upkeep import count_files, small_files
from groupreplay.tables.warehouse import Warehouse
from tests.support.filled_rows import filled_rows

CLUSTER = "a b%3A=ü"
TABLE = "topics"
NIGHTS = (date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3))


@pytest.mark.parametrize("on", [shortcuts.ALL, ()], ids=["by checksum", "by the log's state"])
def test_files_of_one_cluster_are_counted_and_piles_found(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: tuple[str, ...]
) -> None:
    """A night has a pile from two small files on; another cluster's files are not counted."""
    warehouse = Warehouse(spark, str(tmp_path), CLUSTER)
    warehouse.create_all([TABLE])
    struct = table_schema(spark, TABLE).struct
    rows = spark.createDataFrame(filled_rows(struct), struct)
    for cluster, night, files in (
        (CLUSTER, NIGHTS[0], 1),
        (CLUSTER, NIGHTS[1], 3),
        (CLUSTER, NIGHTS[2], 2),
        ("another", NIGHTS[0], 4),
    ):
        labelled = rows.withColumns({"cluster": sf.lit(cluster), "logical_date": sf.lit(night)})
        copies = spark.range(files).crossJoin(labelled).drop("id").repartition(files)
        warehouse.replace(TABLE, copies, RowRange(cluster, night), {"run_id": "r"})
    monkeypatch.setenv(shortcuts.VARIABLE, ",".join(on))
    assert count_files(warehouse, TABLE) == (6, 6)
    assert small_files(warehouse, TABLE) == {NIGHTS[1]: 3, NIGHTS[2]: 2}
    monkeypatch.setattr("groupreplay.tables.upkeep.SMALL_BYTES", 1)
    assert count_files(warehouse, TABLE) == (6, 0)
    assert small_files(warehouse, TABLE) == {}
