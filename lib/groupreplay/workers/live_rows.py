"""Records of the live topic, as Spark's Kafka source gives them -> raw rows, on a worker."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa

from groupreplay.wire.segments.batches import LogRecord
from groupreplay.wire.segments.read_live import LiveReader
from groupreplay.wire.segments.units import Unit
from groupreplay.workers.read_units import raw_row_batch
from groupreplay.workers.task import worker_task


def empty_unit_rows(units: Iterable[Unit]) -> pa.Table:
    """The rows of units of which no record is left."""
    return pa.Table.from_batches([raw_row_batch(LiveReader(unit).finish()) for unit in units])


def read_live(
    units: Sequence[Unit], since_ms: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function to map: batches of one task, so of one unit, in offset order -> batches of raw
    rows.

    since_ms: `LiveReader.whole_since_ms`.
    """
    starts: dict[int, list[int]] = {}
    by_start = {(unit.offsets_partition, unit.start_offset): unit for unit in units}
    for partition, start in sorted(by_start):
        starts.setdefault(partition, []).append(start)

    def unit_of(partition: int, offset: int) -> Unit:
        known = starts[partition]
        return by_start[partition, known[bisect_right(known, offset) - 1]]

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader: LiveReader | None = None
        with worker_task():
            for batch in batches:
                partitions, *columns = (column.to_pylist() for column in batch.columns)
                if not partitions:
                    continue
                records = list(map(LogRecord._make, zip(*columns, strict=True)))
                reader = reader or LiveReader(unit_of(partitions[0], records[0].offset), since_ms)
                assert unit_of(partitions[-1], records[-1].offset) is reader.unit, (
                    "a task reads one unit"
                )
                if rows := reader.feed(records):
                    yield raw_row_batch(rows)
            if reader is not None:
                yield raw_row_batch(reader.finish())

    return read
