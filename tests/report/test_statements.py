"""Statements that a person decides by, run by DuckDB over views as `_sql/duckdb.sql` makes them."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from groupreplay.config.model import BrokersConfig, WavesConfig
from groupreplay.report.catalog import SPECS
from groupreplay.report.statements import FLIP_TONIGHT, statements
from tests.support.temporary_views import empty_tables

STATEMENTS = statements(WavesConfig(), BrokersConfig())
ROW = (
    "(DATE '{night}', TIMESTAMP '{night} 23:00:00', {tier}, 'team', NULL, '{group}', '{verdict}', 'c', 'range', NULL, {partitions},"
    " ['R7: why'])"
)
COLUMNS = (
    "logical_date, as_of_at, flip_tier, team, contact, group_id, verdict, cohort, suggested_assignor,"
    " suggested_session_timeout_ms, partitions, checks"
)


def row(group: str, tier: str, verdict: str, partitions: int, night: str = "2026-11-21") -> str:
    return ROW.format(group=group, tier=tier, verdict=verdict, partitions=partitions, night=night)


PRICE = "('{group}', '{scenario}', {is_actual}, {refused}, TIMESTAMP '{at}', {actual}, {mid})"
PRICES = "group_id, scenario, is_actual, refused, started_at, actual_ms, mid_ms"


def cost(
    group: str,
    saved_ms: int,
    scenario: str = "CONSUMER",
    is_actual: str = "false",
    refused: str = "NULL",
    at: str = "2026-11-15 00:00:00",
) -> str:
    told = {"scenario": scenario, "is_actual": is_actual, "refused": refused, "at": at}
    return PRICE.format(group=group, actual=100_000 + saved_ms, mid=100_000, **told)


def flips(readiness: list[str], what_if: list[str]) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    for name, columns, rows in (
        ("readiness", COLUMNS, readiness),
        ("what_if", PRICES, what_if),
    ):
        connection.execute(f"CREATE TABLE {name} AS FROM (VALUES {', '.join(rows)}) t({columns})")
    return connection.execute(FLIP_TONIGHT).fetchall()


def test_among_equals_what_saves_most_comes_first() -> None:
    """Of the last seven days, and of what can be compared; a loss stands before what is not
    known.
    """
    groups = ("loses", "saves", "unknown", "waits", "saves-more")
    found = flips(
        [row(group, "3" if group == "waits" else "1", "READY", 1) for group in groups],
        [
            *(cost("saves", 1_000), cost("saves", 2_500), cost("saves-more", 4_000)),
            *(cost("waits", 90_000), cost("loses", -500)),
            *(cost("saves", 90_000, scenario="EAGER"), cost("saves", 90_000, is_actual="true")),
            cost("saves", 90_000, at="2026-11-14 22:59:59"),
            cost("unknown", 90_000, refused="'NO_ACTUAL'"),
        ],
    )
    assert [(each[3], each[9]) for each in found] == [
        ("saves-more", 4.0),
        ("saves", 3.5),
        ("loses", -0.5),
        ("unknown", None),
        ("waits", 90.0),
    ]


def test_what_is_proven_comes_first_and_nights_before_do_not_count() -> None:
    rows = [
        row("waits", "3", "READY", 1),
        row("idle", "0", "READY_OFFLINE", 1),
        row("canary", "2", "WARN", 1),
        row("proven-b", "1", "READY", 2),
        row("proven-a", "1", "READY", 2),
        row("proven-small", "1", "READY", 1),
        row("proven-warn", "1", "WARN", 1),
        row("not", "NULL", "BLOCKED", 1),
        row("old", "1", "READY", 1, night="2026-11-20"),
    ]
    found = flips(rows, [cost("another", 1)])
    order = ["proven-small", "proven-a", "proven-b", "proven-warn", "canary", "idle", "waits"]
    assert [each[3] for each in found] == order
    assert {tuple(each[-2]) for each in found} == {("R7: why",)}
    assert [each[-1] for each in found][3:] == [
        *("c is proven", "canary of c", "nothing to roll", "waits for the canary of c")
    ]


@pytest.mark.parametrize("name", STATEMENTS)
def test_spark_finds_what_they_name_in_the_tables(spark: SparkSession, name: str) -> None:
    tables, text = STATEMENTS[name]
    assert set(tables) <= SPECS.keys()
    with empty_tables(spark, tables):
        assert spark.sql(text.rstrip().removesuffix(";")).columns, "what is wrong is told here"
