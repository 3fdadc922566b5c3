"""Tables of which recordings have few rows or none, as other engines read them: rows in which every
column has a value, in the tables that the warehouse makes.
"""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import table_schema
from groupreplay.tables.warehouse import Warehouse
from tests.support.engines import ENGINES, Engine, rows, types
from tests.support.filled_rows import filled_rows

NAMES = (
    "coordinator_failovers",
    "streams_processes",
    "streams_rebalances",
    "streams_subtopologies",
    "task_assignments",
    "task_handovers",
)


@pytest.fixture(scope="module")
def filled(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[str, Any, Any]]:
    """Table -> its path, and its types and rows as Spark reads them."""
    warehouse = Warehouse(spark, str(tmp_path_factory.mktemp("filled")), "c")
    warehouse.create_all(NAMES)
    found = {}
    for name in NAMES:
        struct = table_schema(spark, name).struct
        given = filled_rows(struct)
        warehouse.replace(
            name, spark.createDataFrame(given, struct), RowRange("c"), {"run_id": "r"}
        )
        read = warehouse.read(name).toArrow()
        assert read.num_rows == len(given), name
        assert all(read[column].null_count < read.num_rows for column in read.column_names), name
        found[name] = (warehouse.path(name), types(read), rows(read))
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_reads_rows_with_all_columns_filled(
    filled: dict[str, tuple[str, Any, Any]], engine: str
) -> None:
    """Values, NULLs, types and time zones."""
    if engine == "polars":
        pytest.importorskip("polars")
    reader: Engine = ENGINES[engine]()
    for name, (path, of_columns, of_rows) in filled.items():
        table = reader.read(path)
        assert types(table) == of_columns, name
        assert rows(table) == of_rows, name
