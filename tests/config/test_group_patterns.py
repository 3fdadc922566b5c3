"""Patterns of group ids mean the same to Python and to Spark.

Holds report/joins/group_choice.py.
"""

from __future__ import annotations

import re

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.group_patterns import pattern_regex
from groupreplay.config.model import GroupsConfig
from groupreplay.report.joins.group_choice import is_left_out, matches_any

GROUPS = [
    "orders",
    "orders.eu",
    "ordersXeu",
    "orders-1",
    "orders-12",
    "a\nb",
    "a\n",
    "",
    "(a|b)",
    "a\\E",
    "[x]",
    "größe",
    "#&~ -",
]

MATCHES = {
    "*": GROUPS,
    "?": [],
    "orders": ["orders"],
    "orders.eu": ["orders.eu"],
    "orders*": ["orders", "orders.eu", "ordersXeu", "orders-1", "orders-12"],
    "orders-?": ["orders-1"],
    "a?": ["a\n"],
    "a?b": ["a\nb"],
    "(a|b)": ["(a|b)"],
    "a\\E": ["a\\E"],
    "[x]": ["[x]"],
    "gr??e": ["größe"],
    "#&~ -": ["#&~ -"],
    "": [""],
}


@pytest.mark.parametrize("pattern", MATCHES)
def test_whole_ids_match(pattern: str) -> None:
    assert [each for each in GROUPS if re.fullmatch(pattern_regex(pattern), each)] == MATCHES[
        pattern
    ]


def test_spark_matches_as_python_does(spark: SparkSession) -> None:
    groups = spark.createDataFrame([(each,) for each in [*GROUPS, None]], "group_id STRING")
    group_id = sf.col("group_id")
    found = {
        pattern: sf.collect_list(sf.when(matches_any(group_id, (pattern,)), group_id))
        for pattern in MATCHES
    }
    chosen = {
        "excluded": GroupsConfig(exclude=("orders", "a*")),
        "not included": GroupsConfig(include=("orders", "a*")),
        "both": GroupsConfig(include=("orders*",), exclude=("*-*",)),
        "none": GroupsConfig(),
    }
    left_out = {
        name: sf.collect_list(
            sf.when(is_left_out(group_id, each), sf.coalesce(group_id, sf.lit("NULL")))
        )
        for name, each in chosen.items()
    }
    row = (
        groups.coalesce(1)
        .agg(*[column.alias(name) for name, column in (found | left_out).items()])
        .first()
    )
    assert row is not None
    assert {pattern: row[pattern] for pattern in MATCHES} == MATCHES
    begins = [each for each in GROUPS if each == "orders" or each.startswith("a")]
    assert row["excluded"] == begins
    assert row["not included"] == [each for each in GROUPS if each not in begins]
    assert row["both"] == [each for each in GROUPS if not each.startswith("orders") or "-" in each]
    assert row["none"] == []
