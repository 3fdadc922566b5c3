"""Landing of the live topic: units of which no record is left, and runs that are taken over.

Holds night/landing/land_units.py.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.sources import KafkaSource
from groupreplay.night.landing import record_stream as stream_module
from groupreplay.night.landing.land_units import land
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.landing.record_stream import Live, RecordStream
from groupreplay.night.plans.inputs import Inputs
from groupreplay.night.plans.plan import new_units
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.watermark import PartitionWatermark
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


def two_records(session: SparkSession, _: Any, __: LiveTopic, planned: list[Unit]) -> DataFrame:
    """Stands in for Spark's source: partition 0 gives two records, the others none."""
    found = pa.Table.from_batches(list(read_live(planned, UNKNOWN_MS)([batch(0, 2, 9)])))
    return session.createDataFrame(found.to_pylist(), DDL)


def test_a_unit_of_which_no_record_is_left_is_landed_as_a_hole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = RecordStream(tuple(new_units(INPUTS, RecordsLanding())), Live(KAFKA, TOPIC))
    monkeypatch.setattr(stream_module, "live_rows", two_records)
    warehouse = Warehouse(spark, str(tmp_path / "w"), "c")
    warehouse.create_all(["raw_records"])
    landing = land(warehouse, NIGHT, stream, RecordsLanding(), {"run_id": "r"})
    assert dict(landing.watermarks) == {
        0: PartitionWatermark(10, last_hole=8, newest_ms=NOW_MS),
        1: PartitionWatermark(10, last_hole=9),
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
    stream = RecordStream(tuple(new_units(INPUTS, RecordsLanding())), Live(KAFKA, TOPIC))
    warehouse, metadata = (
        Warehouse(spark, str(tmp_path / "w"), "c"),
        {"run_id": "r", "step": "land"},
    )
    warehouse.create_all(["raw_records"])
    monkeypatch.setattr(stream_module, "live_rows", two_records)
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
                land(warehouse, NIGHT, stream, RecordsLanding(), metadata)
        else:
            land(warehouse, NIGHT, stream, RecordsLanding(), metadata)
    monkeypatch.delattr(stream_module, "live_rows")
    landing = land(warehouse, NIGHT, stream, RecordsLanding(), metadata, resumed=True)
    assert dict(landing.watermarks) == {
        0: PartitionWatermark(10, last_hole=8, newest_ms=NOW_MS),
        1: PartitionWatermark(10, last_hole=9),
    }
    assert (landing.rows, landing.kinds, landing.holes, landing.raw_version) == (
        2,
        ("record", "unit"),
        ((0, 8), (1, 9)),
        2,
    )
    assert warehouse.read("raw_records").count() == 4
