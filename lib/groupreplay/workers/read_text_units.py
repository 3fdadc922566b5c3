"""Units of text logs -> rows of `raw_lines`, on a worker: the function that landing maps over Arrow
batches. Needs pyarrow, knows no Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from groupreplay.wire.text.read_text_unit import read_text_unit
from groupreplay.wire.text.text_rows import COLUMNS as NAMES
from groupreplay.wire.text.text_units import TextUnit
from groupreplay.workers.arrays import exact_array
from groupreplay.workers.files import open_file
from groupreplay.workers.task import worker_task

_NUMBERS: Final = frozenset(
    {
        *(
            "position",
            "at_ms",
            "started_ms",
            "epoch",
            "response_epoch",
            "error_code",
            "count",
            "duration_ms",
        ),
        *("last_ms", "requests", "longest_gap_ms", "last_position"),
        *("session_timeout_ms", "heartbeat_interval_ms", "rebalance_timeout_ms"),
    }
)
_TYPES: Final = {
    "broker": pa.int32(),
    "offsets_partition": pa.int32(),
    "member_ids": pa.list_(pa.string()),
}

COLUMNS: Final[dict[str, pa.DataType]] = {
    name: _TYPES.get(name, pa.int64() if name in _NUMBERS else pa.string()) for name in NAMES
}
"""Columns of `raw_lines` but for those that say which night it was."""

_SPARK: Final = {
    pa.string(): "STRING",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.list_(pa.string()): "ARRAY<STRING>",
}

DDL: Final = ", ".join(f"`{name}` {_SPARK[column_type]}" for name, column_type in COLUMNS.items())

_SCHEMA: Final = pa.schema(list(COLUMNS.items()))


def read_text_units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches with a column `unit` (JSON) -> batches of rows, as they are read: no file is ever
    held whole.
    """
    with worker_task():
        for batch in batches:
            for text in batch.column("unit").to_pylist():
                for columns in read_text_unit(TextUnit.from_json(text), open_file):
                    yield _rows(columns)


def _rows(columns: dict[str, list[Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [_array(columns[name], column_type) for name, column_type in COLUMNS.items()],
        schema=_SCHEMA,
    )


def _array(values: Sequence[Any], column_type: pa.DataType) -> pa.Array:
    """Lines can hold numbers that are no BIGINT and texts that are no Unicode: these become NULL
    and escapes, where pa.array would fail the task.
    """
    try:
        return exact_array(values, column_type)
    except (pa.ArrowException, OverflowError, AttributeError):
        return pa.array([_fitting(value, column_type) for value in values], column_type)


def _fitting(value: Any, column_type: pa.DataType) -> Any:
    if isinstance(value, tuple):
        return [_fitting(each, column_type.value_type) for each in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    limit = 1 << (column_type.bit_width - 1) if pa.types.is_integer(column_type) else 0
    return value if value is not None and -limit <= value < limit else None
