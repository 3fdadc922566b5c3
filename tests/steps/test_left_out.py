"""What of a night's rows and states is replayed, where groups are or were left out."""

from __future__ import annotations

from datetime import date

import pytest
from pyspark.sql import SparkSession

from groupreplay.config import GroupsConfig
from groupreplay.steps.history import PastNight
from groupreplay.steps.left_out import EarlierNights, LeftOut, earlier_nights
from groupreplay.steps.plan import Landing, PartitionLanded, Plan

ONE, TWO, THREE, FOUR = (date(2026, 11, day) for day in (1, 2, 3, 4))
TESTS = GroupsConfig(exclude=("test-*",))


def past(night: date, groups: GroupsConfig, next_offset: int) -> PastNight:
    return PastNight(night, True, Landing(partitions={3: PartitionLanded(next_offset, -1, "")}), {}, groups=groups)


def test_of_earlier_nights_the_newest_of_each_choice_counts() -> None:
    nights = [past(ONE, TESTS, 10), past(TWO, TESTS, 20), past(THREE, GroupsConfig(), 30), past(FOUR, TESTS, 40)]
    assert earlier_nights(nights, FOUR) == [EarlierNights(TESTS, TWO, {3: 20})]
    assert earlier_nights(nights, ONE) == []


def test_choice_of_groups_is_part_of_a_plan() -> None:
    plan = Plan((), groups=GroupsConfig(include=("a*",), exclude=("ab", "ac")), left_out=7)
    assert Plan.from_json(plan.to_json()) == plan
    assert Plan.from_json(plan.to_json().replace("groups", "other").replace("left_out", "more")).groups == GroupsConfig()


@pytest.mark.spark
def test_rows_and_states_of_groups_that_are_left_out_or_were(spark: SparkSession) -> None:
    rows = [("record", "test-a", 3, -1), ("record", "new", 3, -1), ("record", "back-a", 3, -1), ("record", "back-a", 4, 99), ("unit", None, 3, -1)]
    records = spark.createDataFrame(rows, "kind STRING, group_id STRING, offsets_partition INT, last_hole BIGINT")
    left_out = LeftOut(TESTS, [EarlierNights(GroupsConfig(exclude=("back-*",)), TWO, {3: 20})])
    kept = [tuple(row) for row in left_out.kept_records(records).select("group_id", "offsets_partition", "last_hole").collect()]
    assert sorted(kept, key=str) == [("back-a", 3, 19), ("back-a", 4, 99), ("new", 3, -1), (None, 3, -1)]
    assert left_out.records == 1
    states = [("test-a", THREE), ("new", ONE), ("back-a", ONE), ("back-b", THREE)]
    found = left_out.kept_states(spark.createDataFrame(states, "group_id STRING, logical_date DATE"))
    assert sorted(row.group_id for row in found.collect()) == ["back-b", "new"]
    subjects = spark.createDataFrame([(f"g{group}", night) for group, night in states] + [("p3", ONE)], "subject STRING, logical_date DATE")
    assert sorted(row.subject for row in left_out.kept_evidence(subjects).collect()) == ["gback-b", "gnew", "p3"]
    assert LeftOut(GroupsConfig(), []).records == 0
