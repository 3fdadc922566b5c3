"""The live topic as it is now, and where the nights before stopped -> what a night reads."""

from __future__ import annotations

import pytest

from groupreplay.night.plans.plan import in_words
from groupreplay.sources.live_planning import (
    READ_WITHIN_MS,
    UNIT_OFFSETS,
    UNITS_MAX,
    LiveTopic,
    other_live_logs,
    plan_live_units,
    read_at_once,
    whole_since_ms,
)
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.wire.segments.read_live import UNKNOWN_MS
from groupreplay.wire.segments.units import KAFKA, Unit

ID, OTHER_ID = "AAAAAAAAQACAAAAAAAAAAQ", "AAAAAAAAQACAAAAAAAAAAg"


def live(offsets: dict[int, tuple[int, int]], compaction_lag_ms: int = 0) -> LiveTopic:
    return LiveTopic("__consumer_offsets", ID, 1_795_240_000_000, offsets, compaction_lag_ms)


def stretches(units: list[Unit]) -> list[tuple[int, int, int]]:
    return [(unit.offsets_partition, unit.start_offset, unit.end_offset) for unit in units]


def test_a_first_night_reads_what_the_log_has_and_a_later_one_what_is_new() -> None:
    now = live({2: (5, 9), 0: (0, 0), 1: (100, 300)})
    assert stretches(plan_live_units(now, {})) == [(1, 100, 300), (2, 5, 9)]
    landed = {1: PartitionWatermark(300), 2: PartitionWatermark(7)}
    units = plan_live_units(now, landed)
    assert units == [Unit(2, 7, 9, (), KAFKA, "__consumer_offsets-2")]


def test_what_retention_took_since_the_last_night_is_planned_and_so_is_told_as_a_hole() -> None:
    assert stretches(plan_live_units(live({0: (50, 60)}), {0: PartitionWatermark(20)})) == [
        (0, 20, 60)
    ]


def test_big_partitions_split_and_a_read_takes_one_unit_of_each() -> None:
    units = plan_live_units(live({0: (10, 10 + 2 * UNIT_OFFSETS + 1), 1: (0, 5)}), {})
    assert stretches(units) == [
        (0, 10, 10 + UNIT_OFFSETS),
        (0, 10 + UNIT_OFFSETS, 10 + 2 * UNIT_OFFSETS),
        (0, 10 + 2 * UNIT_OFFSETS, 11 + 2 * UNIT_OFFSETS),
        (1, 0, 5),
    ]
    assert [stretches(each) for each in read_at_once(units)] == [
        stretches([units[0], units[3]]),
        stretches([units[1]]),
        stretches([units[2]]),
    ]
    huge = plan_live_units(live({0: (0, 10**12)}), {})
    assert len(huge) == UNITS_MAX
    assert huge[-1].end_offset == 10**12


@pytest.mark.parametrize(
    ("offsets", "topic_id", "found"),
    [
        (
            {0: (0, 60), 1: (0, 60)},
            OTHER_ID,
            {0: f"the id of its topic is {ID}, and was {OTHER_ID}"},
        ),
        ({0: (0, 19), 1: (0, 60)}, ID, {0: "it ends at offset 19, and was read up to 20"}),
        ({0: (0, 19)}, "", {0: "it ends at offset 19, and was read up to 20"}),
        ({0: (0, 20), 1: (0, 60)}, ID, {}),
        ({0: (30, 60)}, "", {}),
    ],
)
def test_another_log_is_known_by_the_id_of_its_topic_or_by_where_it_ends(
    offsets: dict[int, tuple[int, int]], topic_id: str, found: dict[int, str]
) -> None:
    others = other_live_logs(
        live(offsets), {0: PartitionWatermark(20), 5: PartitionWatermark(7)}, topic_id
    )
    assert {partition: in_words(each) for partition, each in others.items()} == found


def test_another_log_is_read_from_where_it_begins_and_told_where_it_is_empty() -> None:
    now = live({0: (3, 60), 1: (0, 0), 2: (0, 60), 3: (0, 0)})
    landed = {0: PartitionWatermark(20), 1: PartitionWatermark(20), 2: PartitionWatermark(20)}
    assert stretches(plan_live_units(now, landed, {0, 1})) == [(0, 3, 60), (1, 0, 0), (2, 20, 60)]


def test_young_records_are_out_of_the_cleaners_reach_where_the_topic_says_so() -> None:
    day_ms = 86_400_000
    assert whole_since_ms(live({}), 10 * day_ms) == UNKNOWN_MS
    assert whole_since_ms(live({}, READ_WITHIN_MS), 10 * day_ms) == UNKNOWN_MS
    assert whole_since_ms(live({}, 2 * day_ms), 10 * day_ms) == 8 * day_ms + READ_WITHIN_MS
