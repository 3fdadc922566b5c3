"""The shuffle before the grouped map: order, slices, holes of earlier units, states.

Holds night/earlier/latest_states.py.
"""

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.night.earlier.latest_states import latest_states
from groupreplay.night.frames import replay
from groupreplay.night.frames.replay import Hole, known_holes, slices_for
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.replay.facts import GroupSnapshot
from groupreplay.report.table_frames import unpacked
from groupreplay.report.table_spec import StagedFacts
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.workers.fact_frames import Counts, GroupState


@pytest.mark.parametrize(
    ("rows", "cores", "slices"),
    [(0, 2, 4), (600_000, 2, 4), (600_001, 2, 5), (10**9, 2, 4096), (10, 200, 400)],
)
def test_slices_follow_the_rows_within_bounds(rows: int, cores: int, slices: int) -> None:
    assert slices_for(rows, cores) == slices


def test_holes_are_known_to_all_rows_above_them() -> None:
    before = RecordsLanding(
        watermarks={1: PartitionWatermark(50, last_hole=10), 2: PartitionWatermark(50)}
    )
    landing = RecordsLanding(holes=((1, 70), (2, 60), (1, 55)))
    assert known_holes(before, landing) == [
        Hole(1, 11, 56, 10),
        Hole(1, 56, 71, 55),
        Hole(1, 71, None, 70),
        Hole(2, 61, None, 60),
    ]
    assert known_holes(RecordsLanding(), RecordsLanding()) == []


RECORDS_DDL = (
    "kind STRING, group_id STRING, offsets_partition INT, offset BIGINT, ts_ms BIGINT, leader_epoch"
    " INT, batch_base_offset BIGINT, last_hole BIGINT, encoding STRING, key BINARY, value BINARY,"
    " own_offset BIGINT"
)


def commit_key(group_id: str, partition: int) -> bytes:
    fields = [group_id.encode(), b"topic"]
    return (
        b"\0\1"
        + b"".join(len(each).to_bytes(2, "big") + each for each in fields)
        + partition.to_bytes(4, "big")
    )


COMMIT_VALUE = (
    b"\0\3" + (5).to_bytes(8, "big") + b"\xff\xff\xff\xff" + b"\0\0" + (9).to_bytes(8, "big")
)


def records(
    spark: SparkSession, rows: list[tuple[str, int, int]], partitions: int = 1
) -> DataFrame:
    """(group, partition of the offsets topic, offset)"""
    values = [
        (
            "record",
            group,
            partition,
            offset,
            offset,
            0,
            offset,
            -1,
            "binary",
            commit_key(group, 0),
            COMMIT_VALUE,
            offset,
        )
        for group, partition, offset in rows
    ]
    return spark.createDataFrame(values, RECORDS_DDL).repartition(partitions, "offset")


def facts(replayed: DataFrame, kind: type[Any], *columns: str) -> list[tuple[Any, ...]]:
    return sorted(
        tuple(row) for row in unpacked(replayed, StagedFacts((kind,))).select(*columns).collect()
    )


def explained(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


@pytest.mark.parametrize("slices", [1, 7])
def test_rows_of_many_files_reach_the_machines_in_order_and_slices_show_nowhere(
    spark: SparkSession, slices: int
) -> None:
    """The grouped map itself refuses rows out of order."""
    groups = [f"group-{number}" for number in range(40)] + ["", "ü\n'\"", "g" * 32_767]
    rows = [
        (group, number % 5, offset * 50 + number)
        for offset in range(60)
        for number, group in enumerate(groups)
    ]
    replayed = replay.replayed(spark, records(spark, rows, 6), None, [], {}, slices)
    assert facts(replayed, GroupSnapshot, "group_id", "offsets_partition") == sorted(
        (group, number % 5) for number, group in enumerate(groups)
    )
    assert sum(decoded for (decoded,) in facts(replayed, Counts, "decoded")) == len(rows)
    plan = [line.lstrip(" +-").split()[0] for line in explained(replayed).splitlines()]
    assert plan[:4] == [
        "FlatMapGroupsInPandas",
        "Project",
        "Sort",
        "Exchange",
    ], "one exchange, one sort, and none of Spark's own"


def test_state_of_the_night_before_comes_before_the_records(spark: SparkSession) -> None:
    first = replay.replayed(spark, records(spark, [("a", 1, 10), ("b", 1, 11)]), None, [], {}, 2)
    states = (
        unpacked(first, StagedFacts((GroupState,)))
        .select("group_id", sf.col("offsets_partition").cast("int"), "state_bytes")
        .localCheckpoint()
    )
    second = replay.replayed(spark, records(spark, [("a", 1, 20)]), states, [], {}, 2)
    snapshots = facts(second, GroupSnapshot, "group_id", "incarnation")
    assert snapshots == [("a", 10), ("b", 11)], "both live on, the one without news too"
    assert [row[0] for row in facts(second, GroupState, "group_id")] == ["a"], (
        "the state of the other did not change"
    )


def test_rows_know_the_holes_that_earlier_units_saw(spark: SparkSession) -> None:
    rows = records(spark, [("a", 1, 5), ("a", 1, 60), ("a", 1, 80), ("b", 2, 90)])
    told = replay._with_earlier_holes(spark, rows, [Hole(1, 11, 71, 10), Hole(1, 71, None, 70)])
    assert sorted((row["offset"], row["last_hole"]) for row in told.collect()) == [
        (5, -1),
        (60, 10),
        (80, 70),
        (90, -1),
    ]


def test_latest_state_of_each_group_alive_counts(spark: SparkSession) -> None:
    nights = [date(2026, 11, day) for day in (18, 19, 20)]
    values = [
        ("a", 1, b"old", nights[0]),
        ("a", 1, b"new", nights[1]),
        ("a", 1, b"later", nights[2]),
    ]
    values += [("b", 1, b"b", nights[0]), ("c", 1, b"c", nights[0])]
    gone = [("c", 1, None, nights[1])]
    table = spark.createDataFrame(
        [*values, *gone],
        "group_id STRING, offsets_partition INT, state_bytes BINARY, logical_date DATE",
    )
    latest = sorted(
        (row["group_id"], bytes(row["state_bytes"]))
        for row in latest_states(table, nights[2]).collect()
    )
    assert latest == [("a", b"new"), ("b", b"b")]


def test_states_of_nights_that_were_superseded_are_not_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    nights = [date(2026, 11, day) for day in (17, 18, 19)]
    values = [(group, 1, group.encode(), night) for group in ("a", "b") for night in nights] + [
        ("idle", 1, b"idle", nights[1])
    ]
    table = spark.createDataFrame(
        values, "group_id STRING, offsets_partition INT, state_bytes BINARY, logical_date DATE"
    )
    table.write.partitionBy("logical_date").parquet(str(tmp_path / "states"))
    latest = latest_states(spark.read.parquet(str(tmp_path / "states")), date(2026, 11, 20))
    shutil.rmtree(tmp_path / "states" / f"logical_date={nights[0]}")
    assert sorted(bytes(row["state_bytes"]) for row in latest.collect()) == [b"a", b"b", b"idle"]
