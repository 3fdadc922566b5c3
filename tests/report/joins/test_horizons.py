"""Rows are closed by how far their own partition was read, and written by one night for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Conversion
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.horizons import SETTLE_MS, closed, horizons, with_horizon
from tests.report.conftest import NIGHT, Stage
from tests.report.facts_by_hand import fact
from tests.support.table_inputs import inputs_of

HOUR_MS = 3_600_000
T_MS = 1_700_000_000_000
LATER = NIGHT + timedelta(days=1)


def coverage(spark: SparkSession, *rows: tuple[date, str, int | None]) -> DataFrame:
    """rows: night, input, newest record time in ms."""
    made = [
        (night, name, None if at is None else datetime.fromtimestamp(at / 1000, UTC))
        for night, name, at in rows
    ]
    return spark.createDataFrame(made, "logical_date DATE, input STRING, last_at TIMESTAMP")


@pytest.fixture
def nights(spark: SparkSession) -> DataFrame:
    """Partition 3 was read to T by NIGHT and two hours further by LATER; partition 4 by NIGHT
    alone.
    """
    return coverage(
        spark,
        (NIGHT, "__consumer_offsets-3", T_MS),
        (NIGHT, "__consumer_offsets-4", T_MS),
        (LATER, "__consumer_offsets-3", T_MS + 2 * HOUR_MS),
        (LATER, "__consumer_offsets-4", None),
        (LATER, "/logs/server.log", T_MS + 9 * HOUR_MS),
    )


def rows_of(
    stage: Stage, context: ReportContext, nights: DataFrame, night: date, *ended: tuple[int, int]
) -> dict[int, Any]:
    """from_offset -> row, of stretches that ended so many ms after T, each in a partition."""
    facts = [
        fact(Conversion, from_offset=i, offsets_partition=p, converted_at=T_MS + after)
        for i, (p, after) in enumerate(ended)
    ]
    context = replace(context, logical_date=night)
    inputs = inputs_of(stage(*facts), context, tables={"coverage": nights})
    known = with_horizon(inputs.staged, horizons(inputs))
    return {row.from_offset: row for row in closed(known, sf.col("converted_at")).collect()}


def test_a_stretch_is_final_when_its_partition_was_read_more_than_an_hour_past_it(
    stage: Stage, context: ReportContext, nights: DataFrame
) -> None:
    """At the hour itself a chain goes on, and a record of that millisecond may be unread."""
    ended = ((3, -1 - SETTLE_MS), (3, -SETTLE_MS), (4, -1 - SETTLE_MS), (9, -1 - SETTLE_MS))
    first = rows_of(stage, context, nights, NIGHT, *ended)
    assert {i: row.is_final for i, row in first.items()} == {0: True, 1: False, 2: True, 3: False}
    assert (first[0].before_ms, first[0].now_ms) == (-1, T_MS)
    assert (first[3].before_ms, first[3].now_ms) == (-1, -1), "nobody read its partition"


def test_the_night_that_closed_a_row_is_the_last_to_write_it(
    stage: Stage, context: ReportContext, nights: DataFrame
) -> None:
    past = ((3, -1 - SETTLE_MS), (4, -1 - SETTLE_MS))
    ended = ((3, -SETTLE_MS), (3, 0), (3, HOUR_MS - 1), (3, HOUR_MS), (4, 0), (4, -SETTLE_MS))
    second = rows_of(stage, context, nights, LATER, *ended, *past)
    are_final = {0: True, 1: True, 2: True, 3: False, 4: False, 5: False}
    assert {i: row.is_final for i, row in second.items()} == are_final
    assert (second[4].before_ms, second[4].now_ms) == (T_MS, T_MS), "not read this night"


def test_a_partition_of_a_live_topic_was_read_to_when_its_end_was_taken(
    stage: Stage, context: ReportContext, nights: DataFrame
) -> None:
    """Partition 4 was quiet on the second night and was read to its end on both; partition 3 had an
    open transaction on both.
    """
    context = replace(context, read_until_ms={4: (T_MS + 1, T_MS + 2 * HOUR_MS)})
    ended = ((4, -SETTLE_MS), (4, 1 - SETTLE_MS), (4, HOUR_MS - 1), (4, HOUR_MS), (3, HOUR_MS - 1))
    second = rows_of(stage, context, nights, LATER, *ended)
    assert {i: row.is_final for i, row in second.items()} == {1: True, 2: True, 3: False, 4: True}
    assert (second[1].before_ms, second[1].now_ms) == (T_MS + 1, T_MS + 2 * HOUR_MS)
    assert (second[4].before_ms, second[4].now_ms) == (T_MS, T_MS + 2 * HOUR_MS)


def test_a_stretch_that_has_not_ended_is_never_closed(
    stage: Stage, context: ReportContext, nights: DataFrame
) -> None:
    inputs = inputs_of(
        stage(fact(Conversion, offsets_partition=3)), context, tables={"coverage": nights}
    )
    known = with_horizon(inputs.staged, horizons(inputs))
    (row,) = closed(known, sf.lit(None).cast("bigint")).collect()
    assert not row.is_final
