"""The rules that every file in schemas/ keeps, as Spark's own parser reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from groupreplay.report.catalog import SPECS
from groupreplay.tables.schemas import PUBLIC, TABLES, ddl_text, table_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

FACT_COLUMNS = {
    "group_id",
    "log_incarnation",
    "incarnation",
    "offsets_partition",
    "from_offset",
    "to_offset",
    "start_observed",
    "is_final",
}


@pytest.mark.parametrize("name", TABLES)
def test_header_names_grain_key_writer_and_retention(name: str) -> None:
    header = [line for line in ddl_text(name).splitlines() if line.startswith("--")]
    for word in ("Grain:", "Key:", "Writer:", "Retention:"):
        assert any(word in line for line in header), word


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_named_typed_and_commented_by_the_rules(
    spark: SparkSession, name: str
) -> None:
    schema = table_schema(spark, name)
    assert re.search(rf"CREATE TABLE IF NOT EXISTS {name} ", ddl_text(name)), (
        "the file is called as its table"
    )
    assert {"cluster", "logical_date"} <= set(schema.struct.names)
    assert not schema.struct["cluster"].nullable
    assert not schema.struct["logical_date"].nullable
    for path, data_type, comment in _columns(schema.struct, ""):
        assert comment is not None, f"{path} has no comment"
        assert comment.strip(), f"{path} has an empty comment"
        name_ends = path.rpartition(".")[2]
        if name not in ("replayed", "evidence") and data_type is not None:
            if name_ends.endswith("_at"):
                assert data_type in ("timestamp", "array<timestamp>"), path
            if name_ends.endswith("_ms"):
                assert data_type == "bigint", path
        assert data_type not in {"timestamp_ntz", "variant"}, path


OF_NO_LAST_RECORD = {"group_days": {"to_offset"}}
"""A day ends at midnight or at the horizon, and not with a record."""


@pytest.mark.parametrize("name", SPECS)
def test_partitions_are_those_of_the_design(spark: SparkSession, name: str) -> None:
    """A night replaces partitions as a whole: its own, and that of the rows which may change."""
    schema = table_schema(spark, name)
    columns = set(schema.struct.names)
    if "is_final" in columns:
        assert schema.partition_columns == ("cluster", "is_final", "logical_date")
        expected = FACT_COLUMNS - OF_NO_LAST_RECORD.get(name, set())
        assert columns >= expected or "incarnation" not in columns
    else:
        assert schema.partition_columns == ("cluster", "logical_date")


@pytest.mark.parametrize("name", [name for name in TABLES if name not in SPECS])
def test_other_tables_are_of_clusters_too(spark: SparkSession, name: str) -> None:
    assert table_schema(spark, name).partition_columns[0] == "cluster"


def test_rows_of_a_group_have_its_team(spark: SparkSession) -> None:
    columns = {name: set(table_schema(spark, name).struct.names) for name in PUBLIC}
    owned = {spec.name for spec in SPECS.values() if spec.is_owned}
    assert {name for name in PUBLIC if "group_id" in columns[name]} == owned
    assert {name for name in PUBLIC if "team" in columns[name]} == owned
    assert {name for name in PUBLIC if "contact" in columns[name]} == owned


def _columns(data_type: DataType, at: str) -> list[tuple[str, str | None, str | None]]:
    """(path, type, comment) of every column and of every field inside it."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(data_type, StructType):
        found: list[tuple[str, str | None, str | None]] = []
        for field in data_type:
            path = f"{at}.{field.name}" if at else field.name
            found.append((path, field.dataType.simpleString(), field.metadata.get("comment")))
            found += _columns(field.dataType, path)
        return found
    if isinstance(data_type, ArrayType):
        return _columns(data_type.elementType, f"{at}.element")
    if isinstance(data_type, MapType):
        return _columns(data_type.valueType, f"{at}.value")
    return []


@pytest.mark.parametrize("name", ["group_epochs", "members", "runs"])
def test_no_rows_have_the_columns_of_the_table_and_need_no_task(
    spark: SparkSession, name: str
) -> None:
    """With comments, and NOT NULL where the file says so."""
    schema = table_schema(spark, name)
    empty = schema.no_rows(spark)
    assert empty.schema.json() == schema.struct.json()
    assert empty.collect() == []
    plan = empty._jdf.queryExecution().executedPlan().toString()
    assert plan.startswith("LocalTableScan <empty>"), plan
