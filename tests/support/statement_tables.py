"""Small tables for statements that people run: the columns that these read, in DuckDB and in Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import duckdb
from pyspark.sql import SparkSession

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Table -> its rows, by column; columns that are left out are NULL."""

_TYPED: Final = {
    "coverage": "source VARCHAR, last_at TIMESTAMPTZ",
    "departure_waves": (
        "group_id VARCHAR, from_offset BIGINT, class VARCHAR, team VARCHAR, started_at TIMESTAMPTZ,"
        " ended_at TIMESTAMPTZ, hosts_out VARCHAR[], departed INTEGER, joined INTEGER,"
        " low_ms BIGINT, est_ms BIGINT, high_ms BIGINT, est_is_partial BOOLEAN,"
        " high_unknown INTEGER"
    ),
    "group_conversions": (
        "group_id VARCHAR, converted_at TIMESTAMPTZ, direction VARCHAR, mode VARCHAR, team VARCHAR,"
        " contact VARCHAR"
    ),
    "group_days": (
        "group_id VARCHAR, from_at TIMESTAMPTZ, to_at TIMESTAMPTZ, low_ms BIGINT, high_ms BIGINT,"
        " high_unknown INTEGER, partitions_ms BIGINT, handover_p95_ms BIGINT"
    ),
    "group_epochs": "group_id VARCHAR, started_at TIMESTAMPTZ, cooperative BOOLEAN",
    "members": (
        "group_id VARCHAR, instance_id VARCHAR, joined_at TIMESTAMPTZ, ended_at TIMESTAMPTZ,"
        " end_detail VARCHAR, session_timeout_ms BIGINT"
    ),
    "migration_progress": (
        "group_id VARCHAR, logical_date DATE, as_of_at TIMESTAMPTZ, phase VARCHAR,"
        " mixed_since_at TIMESTAMPTZ"
    ),
    "rebalances": "group_id VARCHAR, started_at TIMESTAMPTZ, join_ms BIGINT",
    "refusals": (
        "group_id VARCHAR, api VARCHAR, error_code INTEGER, last_at TIMESTAMPTZ, attempts BIGINT"
    ),
    "static_accounting": (
        "group_id VARCHAR, instance_id VARCHAR, from_offset BIGINT, outcome VARCHAR,"
        " removed_at TIMESTAMPTZ, gap_high_ms BIGINT"
    ),
    "stuck_members": "group_id VARCHAR, reason VARCHAR, is_open BOOLEAN",
}

COLUMNS: Final = {
    table: tuple(column.split()[0] for column in typed.split(","))
    for table, typed in _TYPED.items()
}
"""Table -> the columns that statements read."""


def in_duckdb(tables: Sequence[str], rows: Rows) -> duckdb.DuckDBPyConnection:
    """A connection with these tables."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for table in tables:
        columns = COLUMNS[table]
        connection.execute(f"CREATE TABLE {table} ({_TYPED[table]})")
        values = [[row.get(name) for name in columns] for row in rows.get(table, ())]
        unknown = {name for row in rows.get(table, ()) for name in row} - set(columns)
        assert not unknown, f"{table} has no {unknown} here"
        if values:
            marks = ", ".join("?" for _ in columns)
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    return connection


def asked(connection: duckdb.DuckDBPyConnection, text: str) -> list[dict[str, Any]]:
    """The rows of a statement, by column."""
    result = connection.execute(text)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def asked_of_spark(
    spark: SparkSession, connection: duckdb.DuckDBPyConnection, tables: Sequence[str], text: str
) -> list[dict[str, Any]]:
    """The same by Spark, of the same tables."""
    for table in tables:
        arrow = connection.execute(f"SELECT * FROM {table}").to_arrow_table()
        spark.createDataFrame(arrow).createOrReplaceTempView(table)
    try:
        found = spark.sql(text.rstrip().removesuffix(";")).toArrow().to_pylist()
        return [
            {
                name: value.astimezone(UTC) if isinstance(value, datetime) else value
                for name, value in row.items()
            }
            for row in found
        ]
    finally:
        for table in tables:
            spark.catalog.dropTempView(table)
