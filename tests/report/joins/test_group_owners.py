"""Which team a group's rows name."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from groupreplay.config.model import Owner
from groupreplay.report.joins.group_owners import first_match, owners, with_owners

RULES = (
    Owner(pattern="orders.eu", team="eu"),
    Owner(pattern="orders.*", team="orders", contact="#orders"),
    Owner(pattern="orders.us", team="never"),
    Owner(pattern="late", team="late"),
    Owner(pattern="lat?", team="never"),
    Owner(pattern="late", team="never"),
)


@pytest.mark.parametrize(
    ("group_id", "team"),
    [
        ("orders.eu", "eu"),
        ("orders.us", "orders"),
        ("orders", None),
        ("late", "late"),
        ("lats", "never"),
        ("", None),
    ],
)
def test_first_pattern_that_matches_wins(group_id: str, team: str | None) -> None:
    rule = first_match(RULES)(group_id)
    assert (rule.team if rule else None) == team
    assert first_match(())(group_id) is None


def test_every_row_gets_the_team_of_its_group(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [("orders.us", 1), ("orders.us", 2), ("else", 3), (None, 4)], "group_id STRING, row INT"
    )
    known = owners(frame.select("group_id"), RULES)
    assert [tuple(row) for row in known.collect()] == [("orders.us", "orders", "#orders")]
    told = with_owners(frame, known)
    assert sorted(tuple(row) for row in told.select("row", "team", "contact").collect()) == [
        (1, "orders", "#orders"),
        (2, "orders", "#orders"),
        (3, None, None),
        (4, None, None),
    ]
    assert (
        with_owners(frame, None).columns == told.columns == ["group_id", "row", "team", "contact"]
    )
