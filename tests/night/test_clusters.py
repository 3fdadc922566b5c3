"""The live topic in a night: what is planned, what landing it leaves, and units of which no record
is left.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import Config, KafkaSource, Source
from groupreplay.errors import SourceUnreadable
from groupreplay.night import land_records as land_module
from groupreplay.night.clusters import at_plan_time, live_of, live_tonight
from groupreplay.night.land import new_units
from groupreplay.night.land_records import Live, land
from groupreplay.night.plan import Inputs, Landing, PartitionLanded, Plan, landed
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.tables.warehouse import Warehouse
from groupreplay.wire.segments.read_live import UNKNOWN_MS
from groupreplay.wire.segments.units import Unit
from groupreplay.workers.live_rows import read_live
from groupreplay.workers.read_units import DDL
from tests.workers.test_live_rows import batch

NIGHT = date(2026, 11, 21)
NOW_MS = 1_795_240_000_000
TOPIC = LiveTopic(
    "__consumer_offsets",
    "AAAAAAAAQACAAAAAAAAAAQ",
    NOW_MS + 60_000,
    {0: (0, 10), 1: (0, 10), 2: (5, 5)},
)
INPUTS = Inputs((), (), 0, (), live=TOPIC)
KAFKA = KafkaSource(kind="kafka", bootstrap_servers="b:1")


def test_a_plan_keeps_the_live_topic_and_the_landing_its_id_and_time() -> None:
    plan = Plan(tuple(new_units(INPUTS, Landing())), live=TOPIC)
    assert Plan.from_json(plan.to_json()) == plan
    assert [
        (unit.offsets_partition, unit.start_offset, unit.end_offset) for unit in plan.units
    ] == [(0, 0, 10), (1, 0, 10)]
    landing = at_plan_time(Landing(as_of_ms=NOW_MS), plan)
    assert (landing.as_of_ms, landing.topic_id) == (TOPIC.as_of_ms, TOPIC.topic_id)
    assert at_plan_time(Landing(as_of_ms=NOW_MS), Plan(())) == Landing(as_of_ms=NOW_MS)


OLD = Landing(
    partitions={0: PartitionLanded(4, -1, "", log_incarnation=2), 1: PartitionLanded(30, -1, "")},
    topic_id=TOPIC.topic_id,
)


def test_a_log_that_ends_below_what_was_landed_begins_anew_and_others_go_on() -> None:
    units = new_units(INPUTS, OLD)
    assert [
        (unit.offsets_partition, unit.start_offset, unit.log_incarnation, unit.other_log)
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
        partitions={**OLD.partitions, 2: PartitionLanded(7, -1, "", log_incarnation=1)},
    )
    found = f"the id of its topic is {TOPIC.topic_id}, and was another"
    units = new_units(INPUTS, old)
    assert [
        (
            unit.offsets_partition,
            unit.start_offset,
            unit.end_offset,
            unit.log_incarnation,
            unit.other_log,
        )
        for unit in units
    ] == [
        (0, 0, 10, 3, found),
        (1, 0, 10, 1, found),
        (2, 5, 5, 2, found),
    ]
    assert live_tonight(INPUTS, old) is TOPIC
    assert live_tonight(INPUTS, replace(old, raw_version=3)) is None, (
        "what this night landed is of the old one"
    )
    assert live_tonight(INPUTS, replace(OLD, raw_version=3)) is TOPIC
    empty = {
        "first_offset": 5,
        "next_offset": 5,
        "last_hole": -1,
        "last_ts_ms": -1,
        "open_commits": 0,
        "kept": 0,
        "control": 0,
    }
    after = landed(old, units[2:], [(2, empty)], set())
    assert after.partitions[2] == PartitionLanded(5, -1, "", log_incarnation=2), (
        "that the old log ended is not forgotten"
    )


def test_the_id_of_a_topic_is_forgotten_where_files_hold_another_log() -> None:
    (unit, *_) = new_units(INPUTS, Landing())
    assert at_plan_time(OLD, Plan((unit,))) == OLD
    assert at_plan_time(OLD, Plan((replace(unit, other_log="newer"),))).topic_id == ""


def test_a_run_that_is_taken_over_needs_the_source_that_it_was_planned_from() -> None:
    files = Config(cluster="c", warehouse="/w", sources=(Source(kind="segments", path="/l"),))
    assert live_of(files, Plan(())) is None
    assert live_of(
        Config(cluster="c", warehouse="/w", sources=(KAFKA,)), Plan((), live=TOPIC)
    ) == Live(KAFKA, TOPIC)
    with pytest.raises(SourceUnreadable, match="has no source of this kind any more"):
        live_of(files, Plan((), live=TOPIC))


def two_records(session: SparkSession, _: Any, __: LiveTopic, planned: list[Unit]) -> DataFrame:
    """Stands in for Spark's source: partition 0 gives two records, the others none."""
    found = pa.Table.from_batches(list(read_live(planned, UNKNOWN_MS)([batch(0, 2, 9)])))
    return session.createDataFrame(found.to_pylist(), DDL)


def test_a_unit_of_which_no_record_is_left_is_landed_as_a_hole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = new_units(INPUTS, Landing())
    monkeypatch.setattr(land_module, "live_rows", two_records)
    warehouse = Warehouse(spark, str(tmp_path / "w"), "c")
    warehouse.create_all(["raw_records"])
    landing = land(warehouse, NIGHT, units, Landing(), {"run_id": "r"}, Live(KAFKA, TOPIC))
    assert dict(landing.partitions) == {
        0: PartitionLanded(10, 8, "", newest_ms=NOW_MS),
        1: PartitionLanded(10, 9, ""),
    }
    assert (landing.rows, landing.kinds, landing.holes) == (2, ("record", "unit"), ((0, 8), (1, 9)))
    told = (
        warehouse.read("raw_records", landing.raw_version)
        .orderBy("offsets_partition", "kind", "offset")
        .collect()
    )
    assert [(row["kind"], row["offsets_partition"], row["offset"]) for row in told] == [
        ("record", 0, 2),
        ("record", 0, 9),
        ("unit", 0, 0),
        ("unit", 1, 0),
    ]
    assert [json.loads(row["detail"])["holes"] for row in told if row["kind"] == "unit"] == [8, 10]


@pytest.mark.parametrize("died_after", [1, 2])
def test_a_run_that_is_taken_over_reads_nothing_again_and_lands_what_the_first_commit_lacked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, died_after: int
) -> None:
    """died_after: how many of the two commits, of records and of units without any."""
    units = new_units(INPUTS, Landing())
    warehouse, metadata = (
        Warehouse(spark, str(tmp_path / "w"), "c"),
        {"run_id": "r", "step": "land"},
    )
    warehouse.create_all(["raw_records"])
    monkeypatch.setattr(land_module, "live_rows", two_records)
    commits = 0

    def dying(*arguments: Any) -> int:
        nonlocal commits
        commits += 1
        if commits > died_after:
            raise KeyboardInterrupt
        return Warehouse.replace(warehouse, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(warehouse, "replace", dying)
        if died_after == 1:
            with pytest.raises(KeyboardInterrupt):
                land(warehouse, NIGHT, units, Landing(), metadata, Live(KAFKA, TOPIC))
        else:
            land(warehouse, NIGHT, units, Landing(), metadata, Live(KAFKA, TOPIC))
    monkeypatch.delattr(land_module, "live_rows")
    landing = land(warehouse, NIGHT, units, Landing(), metadata, Live(KAFKA, TOPIC), resumed=True)
    assert dict(landing.partitions) == {
        0: PartitionLanded(10, 8, "", newest_ms=NOW_MS),
        1: PartitionLanded(10, 9, ""),
    }
    assert (landing.rows, landing.kinds, landing.holes, landing.raw_version) == (
        2,
        ("record", "unit"),
        ((0, 8), (1, 9)),
        2,
    )
    assert warehouse.read("raw_records").count() == 4
