"""The live topic as it is now, and where the nights before stopped -> what a night reads."""

from __future__ import annotations

import pytest

from groupreplay.errors import SourceUnreadable
from groupreplay.sources.live_planning import READ_WITHIN_MS, UNIT_OFFSETS, UNITS_MAX, LiveTopic, plan_live_units, read_at_once, whole_since_ms
from groupreplay.sources.planning import Landed
from groupreplay.wire.read_live import UNKNOWN_MS
from groupreplay.wire.units import KAFKA, Unit

ID, OTHER_ID = "AAAAAAAAQACAAAAAAAAAAQ", "AAAAAAAAQACAAAAAAAAAAg"


def live(offsets: dict[int, tuple[int, int]], compaction_lag_ms: int = 0) -> LiveTopic:
    return LiveTopic("__consumer_offsets", ID, 1_795_240_000_000, offsets, compaction_lag_ms)


def stretches(units: list[Unit]) -> list[tuple[int, int, int]]:
    return [(unit.offsets_partition, unit.start_offset, unit.end_offset) for unit in units]


def test_a_first_night_reads_what_the_log_has_and_a_later_one_what_is_new() -> None:
    now = live({2: (5, 9), 0: (0, 0), 1: (100, 300)})
    assert stretches(plan_live_units("kafka b:1", now, {}, "")) == [(1, 100, 300), (2, 5, 9)]
    landed = {1: Landed(300), 2: Landed(7)}
    units = plan_live_units("kafka b:1", now, landed, ID)
    assert units == [Unit(2, 7, 9, (), KAFKA, "__consumer_offsets-2")]


def test_what_retention_took_since_the_last_night_is_planned_and_so_is_told_as_a_hole() -> None:
    assert stretches(plan_live_units("kafka b:1", live({0: (50, 60)}), {0: Landed(20)}, ID)) == [(0, 20, 60)]


def test_big_partitions_split_and_a_read_takes_one_unit_of_each() -> None:
    units = plan_live_units("kafka b:1", live({0: (10, 10 + 2 * UNIT_OFFSETS + 1), 1: (0, 5)}), {}, "")
    assert stretches(units) == [
        (0, 10, 10 + UNIT_OFFSETS),
        (0, 10 + UNIT_OFFSETS, 10 + 2 * UNIT_OFFSETS),
        (0, 10 + 2 * UNIT_OFFSETS, 11 + 2 * UNIT_OFFSETS),
        (1, 0, 5),
    ]
    assert [stretches(each) for each in read_at_once(units)] == [stretches([units[0], units[3]]), stretches([units[1]]), stretches([units[2]])]
    huge = plan_live_units("kafka b:1", live({0: (0, 10**12)}), {}, "")
    assert len(huge) == UNITS_MAX
    assert huge[-1].end_offset == 10**12


@pytest.mark.parametrize(
    ("offsets", "topic_id", "says"),
    [
        (
            {0: (0, 60)},
            OTHER_ID,
            f"the topic __consumer_offsets was made anew: its id is {ID}, nights before landed {OTHER_ID}; give the configuration",
        ),
        ({0: (0, 19)}, ID, "partition 0 of __consumer_offsets ends at offset 19, nights before landed it up to 20: it was cut or made anew"),
        ({0: (0, 19)}, "", "ends at offset 19, nights before landed it up to 20"),
    ],
)
def test_another_log_under_the_same_name_is_never_merged(offsets: dict[int, tuple[int, int]], topic_id: str, says: str) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        plan_live_units("kafka b:1", live(offsets), {0: Landed(20)}, topic_id)
    assert str(caught.value).startswith("the source kafka b:1 cannot be read: ")
    assert says in str(caught.value)


def test_a_plan_goes_to_json_and_back() -> None:
    now = live({0: (0, 7), 12: (3, 4)}, 5)
    assert LiveTopic.from_json(now.to_json()) == now


def test_young_records_are_out_of_the_cleaners_reach_where_the_topic_says_so() -> None:
    day_ms = 86_400_000
    assert whole_since_ms(live({}), 10 * day_ms) == UNKNOWN_MS
    assert whole_since_ms(live({}, READ_WITHIN_MS), 10 * day_ms) == UNKNOWN_MS
    assert whole_since_ms(live({}, 2 * day_ms), 10 * day_ms) == 8 * day_ms + READ_WITHIN_MS
