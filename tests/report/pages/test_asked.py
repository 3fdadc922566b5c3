"""What pages ask the tables: every query fits the schemas, and times fall into the right night.

Holds report/pages/decision_frames.py, report/pages/fleet_frames.py, report/pages/group_frames.py.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

from pyspark.sql import DataFrame, SparkSession

from groupreplay.page.model.read import LEFT_OUT, read_fleet
from groupreplay.page.model.streams_apps import Streams
from groupreplay.report.pages.asked import PageNights
from groupreplay.report.pages.fleet_frames import (
    FLEET_TABLES,
    HISTORY_TABLES,
    fleet_frame,
    fleet_queries,
)
from groupreplay.report.pages.group_frames import GROUP_TABLES, group_frame, most_telling
from groupreplay.tables.schemas import table_schema

NIGHTS = [date(2026, 11, day) for day in (19, 20, 21)]
OF = PageNights({NIGHTS[0]: 1_000, NIGHTS[1]: 2_000, NIGHTS[2]: 3_000})


def _empty(spark: SparkSession) -> dict[str, DataFrame]:
    names = {*FLEET_TABLES, *GROUP_TABLES}
    return {name: table_schema(spark, name).no_rows(spark) for name in names}


def test_empty_tables_give_an_empty_page(spark: SparkSession) -> None:
    tables = _empty(spark)
    rows = fleet_frame(fleet_queries((), 10), tables, tables, OF).collect()
    sums = {row["kind"]: json.loads(row["row"]) for row in rows}
    assert sums.keys() == {"seen", "learners_total"}
    assert (sums["seen"]["inputs"], sums["learners_total"]["learners"]) == (0, 0)
    fleet = read_fleet(
        {row["kind"]: [json.loads(row["row"])] for row in rows},
        cluster="c",
        logical_date=NIGHTS[2],
        as_of_ms=3_000,
        since_at_ms=OF.since_ms,
        version="0",
    )
    assert (fleet.groups, fleet.seen.holes, fleet.streams) == ((), 0, Streams())
    # Spark looks for every column before it runs anything; nights draw pages of real rows.
    assert group_frame(tables, OF, OF.since_ms, {}, 5).columns == ["kind", "group_id", "row"]


def test_what_asks_empty_tables_alone_is_left_out(spark: SparkSession) -> None:
    tables = _empty(spark)
    assert fleet_frame(fleet_queries(FLEET_TABLES, 10), tables, tables, OF).collect() == []


def test_only_some_tables_are_asked_for_more_than_this_night(spark: SparkSession) -> None:
    tables = _empty(spark)
    history = {name: tables[name] for name in HISTORY_TABLES}
    assert fleet_frame(fleet_queries((), 10), tables, history, OF).columns == ["kind", "row"]


def test_a_time_is_of_the_first_night_that_reaches_it(spark: SparkSession) -> None:
    times = [(datetime.fromtimestamp(ms / 1000, UTC),) for ms in (1, 1_000, 1_001, 3_000, 3_001)]
    frame = spark.createDataFrame(times, "at TIMESTAMP")
    nights = [row[0] for row in frame.select(OF.night_of("at")).collect()]
    assert nights == ["2026-11-19", "2026-11-19", "2026-11-20", "2026-11-21", None]
    later = PageNights({NIGHTS[1]: 2_000, NIGHTS[2]: 3_000}, before_ms=1_000)
    nights = [row[0] for row in frame.select(later.night_of("at")).collect()]
    assert nights == [None, None, "2026-11-20", "2026-11-21", None]
    assert [row[0] for row in frame.select(later.is_of_last("at")).collect()] == [
        *[False] * 3,
        *[True] * 2,
    ]


def test_what_lasts_stays_and_the_same_rows_are_left_out(spark: SparkSession) -> None:
    rows = [
        *[("g", True, 100 + place // 2, f"over-{place}") for place in range(6)],
        ("g", False, 1, "longest"),
        ("g", False, 90, "later"),
        ("h", True, 5, "alone"),
    ]
    schema = "group_id STRING, _is_over BOOLEAN, _begin_ms BIGINT, member_id STRING"
    for given in (rows, rows[::-1]):
        kept = most_telling(spark.createDataFrame(given, schema).repartition(2), 4).collect()
        found = {row["member_id"]: row[LEFT_OUT] for row in kept}
        assert found == {
            "longest": 4,
            "later": None,
            "over-4": None,
            "over-5": None,
            "alone": None,
        }
