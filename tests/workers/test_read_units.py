"""Units become batches of raw rows, with the columns that Spark is told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from groupreplay.workers.read_units import COLUMNS, DDL, raw_row_batch, read_units
from tests.wire import encode


def unit(path: Path) -> str:
    content = encode.batch(0, [encode.commit("g"), encode.epoch("g")])
    path.write_bytes(content)
    file = UnitFile(SEGMENTS, str(path), len(content), "1")
    return Unit(0, -1, -1, (file,), "segments", "__consumer_offsets-0").to_json()


def test_each_unit_of_a_batch_is_read(tmp_path: Path) -> None:
    units = [unit(tmp_path / f"{number}.log") for number in range(2)]
    batches = list(read_units([pa.RecordBatch.from_pydict({"unit": units})]))
    assert {tuple(each.schema.names) for each in batches} == {tuple(COLUMNS)}
    kinds = [kind for each in batches for kind in each.column("kind").to_pylist()]
    assert kinds.count("unit") == 2
    assert kinds.count("record") == 4


def test_spark_is_told_the_same_columns() -> None:
    assert re.findall(r"`(\w+)` ", DDL) == list(COLUMNS)
    assert re.findall(r"`(\w+)` \w+ NOT NULL", DDL) == ["kind"]


def test_rows_keep_nulls_and_bytes() -> None:
    row: dict[str, list[Any]] = {name: [None] for name in COLUMNS}
    row |= {"kind": ["record"], "key": [b"\xff\x00"]}
    batch = raw_row_batch(row)
    assert [str(each.type) for each in batch.schema] == [str(each) for each in COLUMNS.values()]
    assert batch.column("key").to_pylist() == [b"\xff\x00"]
    assert batch.column("offset").to_pylist() == [None]
