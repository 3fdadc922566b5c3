"""What a run reads of the live topic and of logs that took the place of others, and what landing
that leaves.
"""

from __future__ import annotations

from dataclasses import replace

from groupreplay.night.earlier.plan_json import from_json, joined_json
from groupreplay.night.land import at_plan_time
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.landing.landed_records import after_units
from groupreplay.night.plans.inputs import Inputs
from groupreplay.night.plans.plan import Plan, in_words, live_tonight, new_units
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.watermark import PartitionWatermark

NOW_MS = 1_795_240_000_000
TOPIC = LiveTopic(
    "__consumer_offsets",
    "AAAAAAAAQACAAAAAAAAAAQ",
    NOW_MS + 60_000,
    {0: (0, 10), 1: (0, 10), 2: (5, 5)},
)
INPUTS = Inputs((), (), 0, (), live=TOPIC)


def test_a_plan_keeps_the_live_topic_and_the_landing_its_id_and_time() -> None:
    plan = Plan(tuple(new_units(INPUTS, RecordsLanding())), live=TOPIC)
    assert from_json(Plan, joined_json(plan)) == plan
    assert [
        (unit.offsets_partition, unit.start_offset, unit.end_offset) for unit in plan.units
    ] == [(0, 0, 10), (1, 0, 10)]
    landing = at_plan_time(RecordsLanding(as_of_ms=NOW_MS), plan)
    assert (landing.as_of_ms, landing.topic_id) == (TOPIC.as_of_ms, TOPIC.topic_id)
    of_cluster = replace(TOPIC, cluster_id="own")
    assert at_plan_time(landing, Plan((), live=of_cluster)).cluster_id == "own"
    known = replace(landing, cluster_id="own")
    assert at_plan_time(known, plan).cluster_id == "own", "one that states none changes nothing"
    assert at_plan_time(RecordsLanding(as_of_ms=NOW_MS), Plan(())) == RecordsLanding(
        as_of_ms=NOW_MS
    )


def test_a_partition_of_the_live_topic_that_was_read_to_its_end_is_known_until_then() -> None:
    before = RecordsLanding(
        watermarks={partition: PartitionWatermark(10) for partition in (0, 1, 3)}
        | {2: PartitionWatermark(5, read_until_ms=NOW_MS)}
    )
    assert at_plan_time(before, Plan((), live=TOPIC)).watermarks == before.watermarks, (
        "whether anything lies behind the ends is not known"
    )
    ends = {0: (0, 10), 1: (0, 11), 2: (5, 5), 3: (0, 10)}
    whole = replace(TOPIC, offsets=ends, whole=(0, 1, 2))
    assert from_json(Plan, joined_json(Plan((), live=whole))).live == whole
    after = at_plan_time(before, Plan((), live=whole))
    known = {partition: each.read_until_ms for partition, each in after.watermarks.items()}
    assert known == {0: TOPIC.as_of_ms, 1: -1, 2: TOPIC.as_of_ms, 3: -1}
    now_ms = TOPIC.as_of_ms
    assert after.read_until_ms(before) == {0: (-1, now_ms), 2: (NOW_MS, now_ms)}
    assert after.read_until_ms(None) == {0: (-1, now_ms), 2: (-1, now_ms)}
    assert after.next_night().read_until_ms(after)[0] == (now_ms, now_ms), "nothing new was landed"


OLD = RecordsLanding(
    watermarks={0: PartitionWatermark(4, log_incarnation=2), 1: PartitionWatermark(30)},
    topic_id=TOPIC.topic_id,
)


def test_a_log_that_ends_below_what_was_landed_begins_anew_and_others_go_on() -> None:
    units = new_units(INPUTS, OLD)
    assert [
        (unit.offsets_partition, unit.start_offset, unit.log_incarnation, in_words(unit.other_log))
        for unit in units
    ] == [
        (0, 4, 0, ""),
        (1, 0, 1, "it ends at offset 10, and was read up to 30"),
    ]
    assert [unit.offsets_partition for unit in new_units(INPUTS, replace(OLD, raw_version=3))] == [
        0
    ], "a night reads one log of a partition"


def test_a_topic_of_another_id_begins_anew_in_all_partitions_that_were_landed() -> None:
    old = replace(
        OLD,
        topic_id="another",
        watermarks={**OLD.watermarks, 2: PartitionWatermark(7, log_incarnation=1)},
    )
    found = f"the id of its topic is {TOPIC.topic_id}, and was another"
    units = new_units(INPUTS, old)
    assert [
        (
            unit.offsets_partition,
            unit.start_offset,
            unit.end_offset,
            unit.log_incarnation,
            in_words(unit.other_log),
        )
        for unit in units
    ] == [
        (0, 0, 10, 3, found),
        (1, 0, 10, 1, found),
        (2, 5, 5, 2, found),
    ]
    assert live_tonight(TOPIC, old) is TOPIC
    assert live_tonight(TOPIC, replace(old, raw_version=3)) is None, (
        "what this night landed is of the old one"
    )
    assert live_tonight(TOPIC, replace(OLD, raw_version=3)) is TOPIC
    empty = {
        "first_offset": 5,
        "next_offset": 5,
        "last_hole": -1,
        "last_ts_ms": -1,
        "open_commits": 0,
        "kept": 0,
        "control": 0,
    }
    after = after_units(old, units[2:], [(2, empty)], set())
    assert after.watermarks[2] == PartitionWatermark(5, log_incarnation=2), (
        "that the old log ended is not forgotten"
    )


def test_the_id_of_a_topic_is_forgotten_where_files_hold_another_log() -> None:
    (unit, *_) = new_units(INPUTS, RecordsLanding())
    assert at_plan_time(OLD, Plan((unit,))) == OLD
    assert at_plan_time(OLD, Plan((replace(unit, other_log="newer"),))).topic_id == ""
