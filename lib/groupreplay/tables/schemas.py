"""schemas/<table>.sql -> what Spark's own parser makes of it. The files are the only definition of a table.

Needs no Delta and creates nothing: the parser alone turns the text into columns with their comments and NOT NULL.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

_SCHEMAS = resources.files("groupreplay").joinpath("_schemas")
_NAME = re.compile(r"(CREATE\s+TABLE\s+IF\s+NOT\s+EXISTS\s+)`?(\w+)`?", re.IGNORECASE)

TABLES: tuple[str, ...] = tuple(sorted(file.name.removesuffix(".sql") for file in _SCHEMAS.iterdir() if file.name.endswith(".sql")))
"""Every table there is, by name."""

OPTIONAL: frozenset[str] = frozenset({"raw_lines", "evidence"})
"""Internal tables of what brokers' logs say: made when the first of these logs is landed, so that who has none has no empty tables."""

ALWAYS: tuple[str, ...] = tuple(name for name in TABLES if name not in OPTIONAL)
"""Tables of every warehouse."""

READER_VERSION, WRITER_VERSION = 1, 2
"""The Delta protocol of every table, so that many readers can read them (design section 8)."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One file: its table's name, columns (comments in their metadata), partition columns in order, and the statement itself."""

    name: str
    struct: StructType
    partition_columns: tuple[str, ...]
    ddl: str

    def create_statement(self, path: str) -> str:
        """The statement, for the table at this path or URI."""
        location = path.replace("`", "``")
        return _NAME.sub(lambda match: f"{match[1]}delta.`{location}`", self.ddl, count=1)


def ddl_text(name: str) -> str:
    """The text of schemas/<name>.sql."""
    return _SCHEMAS.joinpath(f"{name}.sql").read_text(encoding="utf-8")


def table_schema(spark: SparkSession, name: str) -> TableSchema:
    """The schema of the table called so. Raises pyspark's ParseException for a file that is no CREATE TABLE."""
    return parse_ddl(spark, name, ddl_text(name))


def parse_ddl(spark: SparkSession, name: str, ddl: str) -> TableSchema:
    """A CREATE TABLE statement as Spark's parser reads it.

    Spark has no public call for this: the logical plan `CreateTable` of 4.x is asked for its columns; tests/test_schemas.py pins what comes back.
    """
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(ddl)
    struct = StructType.fromJson(json.loads(plan.tableSchema().json()))
    transforms = plan.partitioning()
    partition_columns = tuple(transforms.apply(place).references()[0].fieldNames()[0] for place in range(transforms.size()))
    return TableSchema(name, struct, partition_columns, ddl)
