"""Facts <-> rows of table `replayed`: the facts of one kind, by the thousand, as one Arrow stream.

With each fact as a row of its own, and a column for every field of every kind, the rows are more
than half of what replay costs Spark. A hundred NULLs a row are taken from Python and written, and
every table steps over them. An Arrow stream has the columns of its kind alone, compressed, and
names and types with them, so that a later version, or any reader of Arrow, can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from groupreplay.workers.arrays import bounded_array
from groupreplay.workers.fact_frames import GatheredFacts, UnionSchema
from groupreplay.workers.task import worker_task

DDL: Final = "`kind` STRING, `rows` BIGINT, `frame` BINARY"
"""Columns of table `replayed`, but for cluster and night.

kind: kind of all facts of the row.
rows: how many facts these are.
frame: the Arrow stream, of one batch.
"""

PACKED_ROWS: Final = 2_500
"""Facts of a row, at most. More make it little smaller, and Spark reads some thousands of rows at
once.
"""

_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="zstd")


class PackedFacts(GatheredFacts):
    """Gathers facts of any kind of a schema and gives them back packed."""

    def take(self) -> pd.DataFrame:
        """All that was gathered since the last call, kind by kind: rows with the columns of DDL."""
        packed: list[tuple[str, int, bytes]] = []
        for kind, facts in self.take_facts():
            for start in range(0, len(facts), PACKED_ROWS):
                some = facts[start : start + PACKED_ROWS]
                packed.append((kind.KIND, len(some), self._stream(kind, some)))
        kinds, rows, frames = zip(*packed, strict=True) if packed else ((), (), ())
        return pd.DataFrame(
            {
                "kind": pd.Series(kinds, dtype=pd.ArrowDtype(pa.string())),
                "rows": pd.Series(rows, dtype="int64"),
                "frame": pd.Series(frames, dtype=object),
            }
        )

    def _stream(self, kind: type[Any], facts: Sequence[Any]) -> bytes:
        arrays = {
            name: bounded_array(column, self.schema.columns[name])
            for name, column in self.values(kind, facts).items()
        }
        batch = pa.record_batch(arrays)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as stream:
            stream.write_batch(batch)
        packed: bytes = sink.getvalue().to_pybytes()
        return packed


def unpacking(
    schema: UnionSchema,
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """The function of a map over rows of `replayed`: rows of these kinds -> one row a fact, with
    the columns of the schema; NULL where a kind, or the version that packed it, has no such field.
    """

    def unpack_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task():
            for batch in batches:
                for kind, frame in zip(batch.column("kind"), batch.column("frame"), strict=True):
                    with pa.ipc.open_stream(frame.as_buffer()) as stream:
                        yield _widened(schema, kind, stream.read_next_batch())

    return unpack_rows


def _widened(schema: UnionSchema, kind: pa.Scalar, facts: pa.RecordBatch) -> pa.RecordBatch:
    rows, there = facts.num_rows, set(facts.schema.names)
    columns = {
        name: facts.column(name).cast(column_type) if name in there else pa.nulls(rows, column_type)
        for name, column_type in schema.columns.items()
    }
    return pa.record_batch({**columns, "kind": pa.repeat(kind, rows)})
