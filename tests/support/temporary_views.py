"""Temporary views that are gone afterwards: in a later test of the session they would hide the
tables and views of a catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from groupreplay.tables.schemas import table_schema


@contextmanager
def empty_tables(spark: SparkSession, names: Iterable[str], prefix: str = "") -> Iterator[None]:
    """Public tables without rows, named by prefix and table, for statements that are tried for
    their names, types and syntax.
    """
    made = []
    try:
        for name in names:
            empty = table_schema(spark, name).no_rows(spark)
            empty.createOrReplaceTempView(f"{prefix}{name}")
            made.append(f"{prefix}{name}")
        yield
    finally:
        _drop(spark, made)


@contextmanager
def views_made_by(spark: SparkSession, *texts: str) -> Iterator[list[str]]:
    """The names of the views that statements make, each of which ends a line with a semicolon."""
    made: list[str] = []
    try:
        for statement in (each for text in texts for each in text.split(";\n") if each.strip()):
            spark.sql(statement)
            made.append(statement.partition("VIEW ")[2].split()[0])
        yield made
    finally:
        _drop(spark, made)


def _drop(spark: SparkSession, views: Iterable[str]) -> None:
    for view in views:
        spark.catalog.dropTempView(view)
