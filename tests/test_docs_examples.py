"""Examples of documents are real.

A fenced block `records` quotes records of a shipped recording, a block `row` says what the replay
of that recording gives: both are derived from the segments again and compared. Queries are run.
"""

from __future__ import annotations

import re

import pytest
from pyspark.sql import SparkSession

from groupreplay.report.catalog import SPECS
from groupreplay.tables.views import VIEWS
from tests.support.documents import blocks, schema_columns
from tests.support.quoted_records import entries, quoted, replayed, shown
from tests.support.temporary_views import empty_tables, views_made_by


@pytest.mark.parametrize(("document", "head", "body"), blocks("records"))
def test_quoted_records_are_real(document: str, head: str, body: str) -> None:
    where = re.fullmatch(r"([\w.-]+) p(\d+)(?: group ([\w.-]+))?", head)
    assert where, head
    own = entries(where[1], int(where[2]))
    by_offset = {entry.offset: entry for group_id, entry in own if where[3] in (None, group_id)}
    for line in body.splitlines():
        assert line == quoted(by_offset[int(line.split()[0])], where[1])


@pytest.mark.parametrize(("document", "head", "body"), blocks("row"))
def test_derived_rows_are_what_replay_gives(document: str, head: str, body: str) -> None:
    """The first line names table, recording, partition and from_offset; `column=value` pairs must be
    columns of the table, and all those of one row.
    """
    where = re.fullmatch(r"(\w+) ([\w.-]+) p(\d+):(\d+)", head)
    assert where, head
    pairs = [pair.split("=", 1) for pair in body.split()]
    rows = [
        row
        for row in replayed(where[2], int(where[3]))
        if isinstance(row, SPECS[where[1]].facts) and row.from_offset == int(where[4])
    ]
    assert rows, f"no row of {where[1]} begins there"
    columns = schema_columns()[where[1]]
    assert [column for column, _ in pairs if column not in columns] == []
    differences = [
        [f"{column}={shown(row, column)}" for column, value in pairs if shown(row, column) != value]
        for row in rows
    ]
    assert [] in differences, min(differences, key=len)


def test_queries_can_be_run(spark: SparkSession) -> None:
    """Over tables that are empty: names, types and syntax."""
    statements = [f"{first}\n{rest}" for _, first, rest in blocks("sql")]
    assert len(statements) > len(schema_columns())
    views = [f"CREATE TEMPORARY VIEW {each.name} AS {each.select};\n" for each in VIEWS.values()]
    with empty_tables(spark, schema_columns()), views_made_by(spark, *views):
        for statement in statements:
            if not statement.startswith("DELETE"):
                assert spark.sql(_over_views(statement)).columns


def _over_views(statement: str) -> str:
    """With the names of tables in place of their paths and versions."""
    return re.sub(r"delta\.`/data/groupreplay/(\w+)`( VERSION AS OF \d+)?", r"\1", statement)
