"""What a table sees of the tables that it is made of."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.report.table_inputs import StoredTables

BEFORE, NIGHT, AFTER = (date(2026, 11, day) for day in (21, 22, 23))


@pytest.fixture
def stored(spark: SparkSession) -> StoredTables:
    """`facts` as it is when this night has committed it, `snapshots` as it is before that."""
    facts = spark.createDataFrame(
        [
            (BEFORE, True, "final"),
            (NIGHT, True, "tonight"),
            (NIGHT, False, "open"),
            (AFTER, True, "later"),
        ],
        "logical_date DATE, is_final BOOLEAN, row STRING",
    )
    snapshots = spark.createDataFrame(
        [(BEFORE, "before"), (AFTER, "after")], "logical_date DATE, row STRING"
    )
    rows = {"facts": facts, "snapshots": snapshots}
    return StoredTables(NIGHT, rows.__getitem__, ("facts",), ("facts", "snapshots"))


def rows_of(frame: DataFrame) -> set[str]:
    return {row["row"] for row in frame.collect()}


def test_rows_are_of_this_night_of_those_before_or_of_both(stored: StoredTables) -> None:
    assert rows_of(stored.tonight("facts")) == {"tonight", "open"}
    assert rows_of(stored.earlier("facts")) == {"final"}
    assert rows_of(stored.so_far("facts")) == {"final", "tonight", "open"}
    assert rows_of(stored.earlier("snapshots")) == {"before"}


def test_rows_that_this_night_replaces_are_not_of_earlier_nights(spark: SparkSession) -> None:
    """Before this night's commit they are there, after it they are gone: what a table sees may not
    depend on which commit was first.
    """
    open_row = spark.createDataFrame(
        [(BEFORE, False, "open")], "logical_date DATE, is_final BOOLEAN, row STRING"
    )
    stored = StoredTables(NIGHT, lambda _: open_row, (), ("facts",))
    assert rows_of(stored.earlier("facts")) == set()


def test_tables_that_the_spec_does_not_name_cannot_be_read(stored: StoredTables) -> None:
    for read, name in (
        (stored.tonight, "snapshots"),
        (stored.so_far, "snapshots"),
        (stored.earlier, "other"),
    ):
        with pytest.raises(LookupError, match=f"does not name {name} in its"):
            read(name)
