"""What a task makes of the batches that Spark's Kafka source gives it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from groupreplay.wire.segments.read_live import UNKNOWN_MS
from groupreplay.wire.segments.units import KAFKA, Unit
from groupreplay.workers.live_rows import empty_unit_rows, read_live
from groupreplay.workers.read_units import COLUMNS
from tests.wire.encode import commit

UNITS = [
    Unit(partition, first, first + 10, (), KAFKA, f"__consumer_offsets-{partition}")
    for partition in (0, 3)
    for first in (0, 10)
]


def batch(partition: int, *offsets: int) -> pa.RecordBatch:
    key, value = commit("g")
    columns = {
        "partition": pa.array([partition] * len(offsets), pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "ts_ms": pa.array([1_795_240_000_000] * len(offsets), pa.int64()),
        "key": pa.array([key] * len(offsets), pa.binary()),
        "value": pa.array([value] * len(offsets), pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def test_a_task_finds_its_unit_by_its_first_record_and_ends_with_it() -> None:
    rows = pa.Table.from_batches(
        list(read_live(UNITS, UNKNOWN_MS)([batch(3), batch(3, 12, 13), batch(3, 19)]))
    )
    assert rows.column_names == list(COLUMNS)
    assert rows.column("offset").to_pylist() == [12, 19, 10]
    assert rows.column("kind").to_pylist() == ["record", "record", "unit"]
    assert set(rows.column("offsets_partition").to_pylist()) == {3}
    detail = json.loads(rows.column("detail").to_pylist()[-1])
    assert (
        detail["first_offset"],
        detail["next_offset"],
        detail["records"],
        detail["reduced"],
        detail["holes"],
    ) == (10, 20, 3, 1, 7)


def test_a_task_without_records_gives_nothing_and_its_unit_is_told_afterwards() -> None:
    assert list(read_live(UNITS, UNKNOWN_MS)([batch(3)])) == []
    rows = empty_unit_rows(UNITS[2:]).to_pylist()
    assert [(row["kind"], row["offsets_partition"], row["offset"]) for row in rows] == [
        ("unit", 3, 0),
        ("unit", 3, 10),
    ]
    assert [json.loads(row["detail"])["holes"] for row in rows] == [10, 10]


def test_records_of_two_units_in_one_task_are_no_log() -> None:
    with pytest.raises(AssertionError, match="a task reads one unit"):
        list(read_live(UNITS, UNKNOWN_MS)([batch(3, 5), batch(3, 12)]))
