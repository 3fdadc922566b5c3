"""The queries of `query_tables`."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import NullType

from groupreplay.cli.outcome import JSON, TEXT
from groupreplay.cli.queries import QUERIES, queries, show_answer
from groupreplay.report.summary.frames import SUMMARY_TABLES
from tests.support.temporary_views import empty_tables


def test_queries_run_on_tables_as_they_are(spark: SparkSession) -> None:
    with empty_tables(spark, SUMMARY_TABLES, "summary_"):
        for _, statement in queries("/w", "it's"):
            for name in SUMMARY_TABLES:
                statement = statement.replace(f"delta.`/w/{name}`", f"summary_{name}")
            result = spark.sql(statement)
            assert result.collect() == []
            assert not any(isinstance(field.dataType, NullType) for field in result.schema)


def test_queries_quote_the_path_and_the_cluster() -> None:
    assert len(QUERIES) == 3
    for _, statement in queries("s3a://b/it`s/", "it's"):
        assert "delta.`s3a://b/it``s/" in statement
        assert "cluster = 'it\\'s'" in statement
        assert "{" not in statement


ANSWER = (
    "SELECT 'g' AS group_id, TIMESTAMP'2026-11-21 02:00:00.5' AS since_at, CAST(NULL AS INT) AS n"
)


@pytest.mark.spark
def test_an_answer_as_json_has_an_object_for_the_statement_and_one_a_row(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = spark.sql(f"{ANSWER} UNION ALL SELECT 'h\n', NULL, 2 ORDER BY group_id")
    show_answer("Who waits", ANSWER, answer, JSON)
    asked, *rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (asked["message"], asked["statement"], asked["level"]) == ("Who waits", ANSWER, "INFO")
    assert [row["message"] for row in rows] == ["Who waits", "Who waits"]
    assert [row["row"] for row in rows] == [
        {"group_id": "g", "since_at": "2026-11-21T02:00:00.500Z", "n": None},
        {"group_id": "h\n", "since_at": None, "n": 2},
    ]


@pytest.mark.spark
def test_an_answer_as_text_is_the_statement_and_a_table(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    show_answer("Who waits", ANSWER, spark.sql(ANSWER), TEXT)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["-- Who waits", f"{ANSWER};", ""]
    assert any(line.startswith("|group_id|") for line in lines)
