"""Table `group_days`: days go on to the horizon of their partition, and become final by it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from groupreplay.limits import DAY_MS
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import row_hash
from groupreplay.report.tables.group_days import group_days
from groupreplay.workers.fact_frames import REPLAYED
from tests.report.conftest import NIGHT
from tests.support.fact_frames import frame_of
from tests.support.recordings import group
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of

DAY = 19_700
START_MS = DAY * DAY_MS
HOUR_MS = 3_600_000

_RATES = {
    "rate_members": 2,
    "rate_partitions": 6,
    "rate_unowned": 1,
    "rate_away": 0,
    "is_rebalancing": True,
    "mode": "consumer",
    "is_watched": True,
}


def a_day(**fields: Any) -> GroupDay:
    usual: dict[str, Any] = {
        "group_id": "g",
        "incarnation": 0,
        "offsets_partition": 3,
        "from_offset": 7,
        "day": DAY,
        "from_at": START_MS + HOUR_MS,
        "to_at": START_MS + 20 * HOUR_MS,
    }
    return GroupDay(**(usual | fields))


def rows_of(
    spark: SparkSession,
    context: ReportContext,
    read_to: dict[date, int],
    *facts: GroupDay,
    night: date = NIGHT,
) -> list[Any]:
    """The rows of a night, by day. read_to: night -> how far partition 3 was read."""
    coverage = spark.createDataFrame(
        [
            (night, "__consumer_offsets-3", datetime.fromtimestamp(at / 1000, UTC))
            for night, at in read_to.items()
        ],
        "logical_date DATE, input STRING, last_at TIMESTAMP",
    )
    context = replace(context, logical_date=night)
    inputs = inputs_of(frame_of(spark, REPLAYED, facts), context, tables={"coverage": coverage})
    frame = group_days(inputs)
    assert {*frame.columns, "team", "contact"} >= {"day", "handover_hist", "flap_score"}
    return sorted(frame.withColumn("hash", row_hash(SPECS["group_days"])).collect(), key=_day)


def _day(row: Any) -> Any:
    return row.day


@pytest.fixture
def newest() -> GroupDay:
    """Of a group that lives: its last operation was at 20:00."""
    return a_day(
        members_ms=1000,
        partitions_ms=6000,
        unowned_ms=50,
        longer_ms=100,
        epochs_begun=3,
        causes=["JOIN", "ASSIGNOR"],
        cause_counts=[2, 1],
        handovers=2,
        handover_upper_ms=[31, 1023],
        handover_counts=[1, 1],
        moved=2,
        returned=2,
        joins=2,
        departures=2,
        cycles=1,
        members_max=5,
        **_RATES,
    )


def test_a_silent_day_begins_with_the_last_record_before_it(
    spark: SparkSession, context: ReportContext, newest: GroupDay
) -> None:
    """The first day, with the last one before the group's records of that day."""
    told = replace(newest, rate_offset=newest.from_offset + 9)
    now = START_MS + 2 * DAY_MS + 30 * 60_000
    rows = rows_of(spark, context, {NIGHT: now}, told)
    assert [row.from_offset - newest.from_offset for row in rows] == [0, 9, 9]


def test_a_silent_group_has_its_days_up_to_the_horizon(
    spark: SparkSession, context: ReportContext, newest: GroupDay
) -> None:
    now = START_MS + 2 * DAY_MS + 30 * 60_000
    first, second, third = rows_of(spark, context, {NIGHT: now}, newest)
    assert [row.day for row in (first, second, third)] == [
        date(1970, 1, 1) + timedelta(days=DAY + n) for n in range(3)
    ]
    assert first.members_ms == 1000 + 2 * 4 * HOUR_MS
    assert (second.members_ms, second.partitions_ms) == (2 * DAY_MS, 6 * DAY_MS)
    assert (second.low_ms, second.high_ms, second.consumer_ms) == (DAY_MS, DAY_MS, DAY_MS)
    assert third.rebalancing_ms == 30 * 60_000
    assert (first.low_ms, first.high_ms) == (50 + 4 * HOUR_MS, 150 + 4 * HOUR_MS)
    assert (first.epochs, second.epochs, second.joins) == (3, 0, 0), "once"
    assert (first.members_max, second.members_max) == (5, 2)
    assert (first.causes, second.causes) == ({"ASSIGNOR": 1, "JOIN": 2}, {})
    assert [tuple(bucket) for bucket in first.handover_hist] == [(31, 1), (1023, 1)]
    assert second.handover_hist == []
    assert (first.flap_score, second.flap_score) == (67, None)
    assert [row.is_final for row in (first, second, third)] == [True, False, False]
    assert first.availability_most_pct == pytest.approx(
        100 * (1 - first.low_ms / first.partitions_ms)
    )


def test_what_a_fence_loop_did_was_nearly_all_undone(
    spark: SparkSession, context: ReportContext
) -> None:
    """14 of 16 moves went back, and the four members that went came back: 22 of 26."""
    recorded = group("consumer-4.3", "fence-loop")
    facts = replayed(
        recorded.entries, recorded.names, (), recorded.group_id, recorded.offsets_partition
    )
    (day,) = [replace(each, offsets_partition=3) for each in facts if isinstance(each, GroupDay)]
    (row,) = rows_of(spark, context, {NIGHT: recorded.entries[-1].ts_ms}, day)
    assert (row.moved, row.returned, row.joins, row.departures) == (16, 14, 6, 4)
    assert row.flap_score == 85


def test_a_day_is_written_for_good_once(
    spark: SparkSession, context: ReportContext, newest: GroupDay
) -> None:
    """The second night reads further, and the machine still has the same day open."""
    read_to = {NIGHT: START_MS + DAY_MS + 2 * HOUR_MS, NIGHT + timedelta(1): START_MS + 3 * DAY_MS}
    first = rows_of(spark, context, {NIGHT: read_to[NIGHT]}, newest)
    second = rows_of(spark, context, read_to, newest, night=NIGHT + timedelta(1))
    one_night = rows_of(spark, context, {NIGHT: read_to[NIGHT + timedelta(1)]}, newest, night=NIGHT)
    kept = [row for row in first if row.is_final]
    assert [row.day for row in [*kept, *second]] == [row.day for row in one_night]
    assert [row.hash for row in [*kept, *second]] == [row.hash for row in one_night]


def test_what_is_not_known_is_not_told(
    spark: SparkSession, context: ReportContext, newest: GroupDay
) -> None:
    """Behind a hole nothing goes on; an upper bound without commits is none; nobody is missed
    where nothing was to be read.
    """
    now = START_MS + 21 * HOUR_MS
    hidden = replace(newest, is_watched=False, high_unknown=1)
    (row,) = rows_of(spark, context, {NIGHT: now}, hidden)
    assert (row.unobserved_ms, row.members_ms, row.partitions_ms) == (HOUR_MS, 1000, 6000)
    assert row.availability_most_pct == pytest.approx(100 * (1 - 50 / 6000))
    assert row.availability_least_pct is None
    ended = a_day(is_final=True, to_at=START_MS + 2 * HOUR_MS)
    (row,) = rows_of(spark, context, {NIGHT: now}, ended)
    assert row.is_final
    assert (row.availability_most_pct, row.availability_least_pct) == (None, None)
    assert row.to_at == datetime.fromtimestamp(START_MS / 1000 + 7200, UTC).replace(tzinfo=None)
