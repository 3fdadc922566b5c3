"""Names of topics that no night before knew."""

from __future__ import annotations

from datetime import timedelta

from chispa import assert_df_equality
from pyspark.sql import SparkSession

from groupreplay.replay.facts import TopicSeen
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.topics import topics
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.table_inputs import TOPICS_DDL, inputs_of, topics_of


def test_topics_are_what_no_night_before_knew(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    staged = stage(
        fact(TopicSeen, topic_id="a", topic="alpha", seen_at=AT + 9),
        fact(TopicSeen, topic_id="a", topic="alpha", seen_at=AT, source="K4", partitions=6),
        fact(TopicSeen, topic_id="b", topic="beta"),
        fact(TopicSeen, topic_id="old", topic="old-name"),
    )
    given_rows = [("b", "Beta", 7), ("b", "Beta", 7), ("c", "gamma", None), ("old", "old-name", 1)]
    given = spark.createDataFrame(given_rows, f"{TOPICS_DDL}, partitions INT")
    before, after = (context.logical_date + timedelta(days) for days in (-1, 1))
    known = topics_of(spark, before, ("old", "old-name")).unionByName(
        topics_of(spark, after, ("a", "alpha"))
    )
    new = topics(inputs_of(staged, context, given_topics=given, tables={"topics": known}))
    expected = spark.createDataFrame(
        [
            ("a", "alpha", AT, 6, "K4"),
            ("b", "Beta", AT, 7, "given"),
            ("c", "gamma", context.as_of_ms, None, "given"),
        ],
        "topic_id STRING, topic STRING, seen_ms BIGINT, partitions INT, source STRING",
    )
    found = new.selectExpr(
        "topic_id", "topic", "unix_millis(first_seen_at) AS seen_ms", "partitions", "source"
    )
    assert_df_equality(found, expected, ignore_row_order=True, ignore_nullable=True)
