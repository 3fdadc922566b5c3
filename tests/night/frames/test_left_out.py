"""What of a night's rows and states is replayed, where groups are or were left out.

Holds night/extent.py.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from pyspark.sql import Observation, SparkSession

from groupreplay.config.model import GroupsConfig
from groupreplay.night.earlier.history import PastNight
from groupreplay.night.earlier.plan_json import from_json, joined_json
from groupreplay.night.extent import deleted_nights
from groupreplay.night.frames.left_out import LeftOut, Nights, nights_without
from groupreplay.night.frames.replay import night_records
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.plans.results import Results
from groupreplay.sources.watermark import PartitionWatermark

ONE, TWO, THREE, FOUR, FIVE, SIX = (date(2026, 11, day) for day in range(1, 7))
TESTS, BACK, BACK_AND_TESTS = (
    GroupsConfig(exclude=patterns) for patterns in (("test-*",), ("back",), ("back", "test-*"))
)


def past(night: date, groups: GroupsConfig, next_offset: int = 20, rows: int = 5) -> PastNight:
    landing = RecordsLanding(watermarks={3: PartitionWatermark(next_offset)}, rows=rows, markers=1)
    return PastNight(night, True, landing, {}, groups=groups)


def test_nights_without_groups_are_those_right_before_by_what_they_left_out() -> None:
    nights = [
        past(ONE, TESTS),
        past(TWO, GroupsConfig()),
        past(THREE, TESTS),
        past(FOUR, BACK),
        past(FIVE, BACK),
    ]
    assert nights_without(nights, SIX, GroupsConfig()) == [
        Nights(BACK, tuple(nights[3:])),
        Nights(TESTS, (nights[2],)),
    ]
    assert nights_without(nights, FOUR, BACK) == [Nights(TESTS, (nights[2],))]
    assert nights_without(nights, FOUR, TESTS) == [], "no group comes back"
    assert nights_without(nights, THREE, BACK) == []
    assert nights_without(nights, ONE, BACK) == []


def test_choice_of_groups_is_kept_with_a_run() -> None:
    results = Results(groups=GroupsConfig(include=("a*",), exclude=("ab", "ac")), left_out=7)
    text = joined_json(results)
    assert from_json(Results, text) == results
    older = text.replace("groups", "other").replace("left_out", "more")
    assert from_json(Results, older) == Results()


RECORDS = (
    "kind STRING, group_id STRING, offsets_partition INT, offset BIGINT, logical_date DATE,"
    " last_hole BIGINT"
)


def test_groups_that_come_back_are_replayed_from_where_they_were_left_out(
    spark: SparkSession,
) -> None:
    nights = [
        past(ONE, TESTS),
        past(TWO, GroupsConfig()),
        past(THREE, TESTS),
        past(FOUR, BACK_AND_TESTS),
    ]
    groups = GroupsConfig(exclude=("test-b",))
    left_out = LeftOut(groups, nights_without(nights, FIVE, groups))
    assert left_out.since == THREE
    assert len(left_out.landings) == 2
    rows: list[tuple[Any, ...]]
    rows = [
        ("record", group, 3, day.day * 10, day, -1)
        for group in ("test-a", "test-b", "back", "other")
        for day in (ONE, TWO, THREE, FOUR, FIVE)
    ]
    rows += [("unit", None, 3, 1, THREE, -1), ("unit", None, 3, 2, FIVE, -1)]
    raw = spark.createDataFrame(rows, RECORDS)
    counted = Observation("left_out")
    records = left_out.kept_records(night_records(raw, FIVE, RecordsLanding(), left_out), counted)
    found = sorted((row.group_id or "", row.logical_date.day) for row in records.collect())
    assert found == [
        ("", 5),
        ("back", 4),
        ("back", 5),
        ("other", 5),
        ("test-a", 3),
        ("test-a", 4),
        ("test-a", 5),
    ]
    assert counted.get["records"] == 1
    states = [("test-a", TWO), ("test-b", TWO), ("back", THREE), ("other", FOUR)]
    kept = left_out.kept_states(spark.createDataFrame(states, "group_id STRING, logical_date DATE"))
    assert sorted(row.group_id for row in kept.collect()) == ["back", "other", "test-a"]


def test_where_their_rows_were_deleted_there_is_a_hole_and_no_old_state(
    spark: SparkSession,
) -> None:
    nights = [
        past(ONE, GroupsConfig()),
        past(TWO, BACK, 20),
        past(THREE, BACK, 30, rows=0),
        past(FOUR, BACK, 40),
    ]
    rows = [
        ("record", "back", 3, 35, FOUR, -1),
        ("record", "back", 3, 45, FIVE, -1),
        ("record", "other", 3, 46, FIVE, -1),
    ]
    raw = spark.createDataFrame(rows, RECORDS)
    without = nights_without(nights, FIVE, GroupsConfig())
    gone = deleted_nights(raw, without)
    assert gone == {TWO}, "the third night landed nothing"
    left_out = LeftOut(GroupsConfig(), without, gone)
    assert left_out.since == THREE
    night = night_records(raw, FIVE, RecordsLanding(), left_out)
    kept = left_out.kept_records(night, Observation("left_out")).select(
        "group_id", "offset", "last_hole"
    )
    assert sorted(map(tuple, kept.collect())) == [
        ("back", 35, 19),
        ("back", 45, 19),
        ("other", 46, -1),
    ]
    states = [("back", ONE), ("other", ONE)]
    assert [
        row.group_id
        for row in left_out.kept_states(
            spark.createDataFrame(states, "group_id STRING, logical_date DATE")
        ).collect()
    ] == ["other"]
    subjects = spark.createDataFrame(
        [("gback", ONE), ("gother", ONE), ("p3", ONE)], "subject STRING, logical_date DATE"
    )
    assert sorted(row.subject for row in left_out.kept_evidence(subjects).collect()) == [
        "gother",
        "p3",
    ]
