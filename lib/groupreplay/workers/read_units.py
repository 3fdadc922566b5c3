"""Units -> raw rows, on a worker: the function that landing maps over Arrow batches. Needs pyarrow,
knows no Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from groupreplay.wire.segments.read_late_unit import read_late_unit
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.wire.segments.units import Unit
from groupreplay.workers.arrays import exact_array
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file
from groupreplay.workers.task import worker_task

COLUMNS: Final[dict[str, pa.DataType]] = {
    "kind": pa.string(),
    "offsets_partition": pa.int32(),
    "offset": pa.int64(),
    "ts_ms": pa.int64(),
    "leader_epoch": pa.int32(),
    "batch_base_offset": pa.int64(),
    "last_hole": pa.int64(),
    "encoding": pa.string(),
    "group_id": pa.string(),
    "key": pa.binary(),
    "value": pa.binary(),
    "producer_id": pa.int64(),
    "source": pa.string(),
    "input": pa.string(),
    "detail": pa.string(),
}
"""Columns of `raw_records` but for those that say which night it was."""

_SPARK: Final = {
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
}

DDL: Final = ", ".join(
    f"`{name}` {_SPARK[column_type]}{' NOT NULL' if name == 'kind' else ''}"
    for name, column_type in COLUMNS.items()
)
"""The same for Spark, which searches a column that a table is partitioned by for empty texts,
unless it can hold no NULL.
"""

_SCHEMA: Final = pa.schema(list(COLUMNS.items()))


def read_units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches with a column `unit` (JSON) -> batches of raw rows, as they are read: no file and no
    unit is ever held whole.
    """
    with worker_task():
        for batch in batches:
            for text in batch.column("unit").to_pylist():
                unit = Unit.from_json(text)
                read = read_late_unit if unit.holes else read_unit
                for columns in read(unit, open_file, Codecs()):
                    yield raw_row_batch(columns)


def raw_row_batch(columns: dict[str, list[Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [exact_array(columns[name], column_type) for name, column_type in COLUMNS.items()],
        schema=_SCHEMA,
    )
