"""schemas/<table>.sql -> what Spark's own parser makes of it. The files are the only definition of
a table.

Needs no Delta and creates nothing: the parser alone turns the text into columns with their comments
and NOT NULL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_SCHEMAS = resources.files("groupreplay").joinpath("_schemas")

TABLES: tuple[str, ...] = tuple(
    sorted(
        file.name.removesuffix(".sql") for file in _SCHEMAS.iterdir() if file.name.endswith(".sql")
    )
)
"""Every table there is, by name."""

PROTOCOL_PROPERTIES = ("delta.minReaderVersion", "delta.minWriterVersion")

OPTIONAL: frozenset[str] = frozenset({"raw_lines", "evidence"})
"""Internal tables of what brokers' logs say: made when the first of these logs is landed, so that
who has none has no empty tables.
"""

INTERNAL: frozenset[str] = frozenset(
    {"raw_records", "raw_lines", "replayed", "evidence", "group_state"}
)
"""Tables of the job alone: what was landed, staged and carried over, with everything in clear."""

STAGING: frozenset[str] = frozenset({"replayed"})
"""Internal tables whose rows the next night makes again. With the columns of another version they
are replaced, where any other table would be refused.
"""

ALWAYS: tuple[str, ...] = tuple(name for name in TABLES if name not in OPTIONAL)
"""Tables of every warehouse."""

PUBLIC: tuple[str, ...] = tuple(name for name in TABLES if name not in INTERNAL)
"""Tables that analysts read."""

READER_VERSION, WRITER_VERSION = 1, 2
"""The Delta protocol of every table, so that many readers can read them (docs/tables.md)."""


_PARSED: dict[str, TableSchema] = {}


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One file: its table's name, columns (comments in their metadata), partition columns in order,
    comment, and properties but for the protocol.
    """

    name: str
    struct: StructType
    partition_columns: tuple[str, ...]
    comment: str
    properties: Mapping[str, str]

    def no_rows(self, spark: SparkSession) -> DataFrame:
        """An empty frame of the table's columns.

        By way of Arrow: Spark then sees that it is empty and plans less. An empty list of Python
        rows is an RDD, of which each partition starts a task of a Python worker.
        """
        return spark.createDataFrame(to_arrow_schema(self.struct).empty_table(), self.struct)


def ddl_text(name: str) -> str:
    """The text of schemas/<name>.sql."""
    return _SCHEMAS.joinpath(f"{name}.sql").read_text(encoding="utf-8")


def table_schema(spark: SparkSession, name: str) -> TableSchema:
    """The schema of the table called so. Raises pyspark's ParseException for a file that is no
    CREATE TABLE.

    A process parses each file once, whatever warehouses it opens.
    """
    if name not in _PARSED:
        _PARSED[name] = parse_ddl(spark, name, ddl_text(name))
    return _PARSED[name]


def parse_ddl(spark: SparkSession, name: str, ddl: str) -> TableSchema:
    """A CREATE TABLE statement as Spark's parser reads it.

    Spark has no public call for this: the logical plan `CreateTable` of 4.x is asked for its
    columns; tests/tables/test_schemas.py pins what comes back.
    """
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(ddl)
    struct = StructType.fromJson(json.loads(plan.tableSchema().json()))
    transforms = plan.partitioning()
    partition_columns = tuple(
        transforms.apply(place).references()[0].fieldNames()[0]
        for place in range(transforms.size())
    )
    spec = plan.tableSpec()
    properties = dict(_pairs(spec.properties()))
    protocol = tuple(int(properties.pop(key)) for key in PROTOCOL_PROPERTIES)
    if protocol != (READER_VERSION, WRITER_VERSION):
        raise ValueError(
            f"schemas/{name}.sql asks for Delta protocol {protocol}, not"
            f" {(READER_VERSION, WRITER_VERSION)}"
        )
    return TableSchema(name, struct, partition_columns, spec.comment().getOrElse(None), properties)


def _pairs(scala_map: Any) -> Iterator[tuple[str, str]]:
    entries = scala_map.iterator()
    while entries.hasNext():
        entry = entries.next()
        yield entry._1(), entry._2()
