"""Records as a consumer gives them -> columns of `raw_records`: what `read_unit` does for files.

A consumer that reads committed sees neither batches nor leader epochs nor producers:
`leader_epoch`, `batch_base_offset` and `producer_id` are -1. A commit of a transaction stands at
its own offset. Control records and aborted ones are missing offsets, as are records that compaction
or retention took. Where the cleaner cannot have been yet, a missing offset counts as a control
record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groupreplay.limits import DAY_MS
from groupreplay.wire.segments.batches import BINARY, Batch, LogRecord
from groupreplay.wire.segments.other_logs import detail_of
from groupreplay.wire.segments.raw_rows import BYTES_MAX, OTHER_LOG, ROWS_MAX, UNIT, RowBuffer
from groupreplay.wire.segments.read_unit import Clock
from groupreplay.wire.segments.reduction.commit_reduction import CommitReducer
from groupreplay.wire.segments.units import Unit

UNKNOWN_MS = 1 << 62


class LiveReader:
    """The rows of one unit, whose both ends are known. `feed` it all records of the unit in offset
    order, in stretches of any length.

    whole_since_ms: the cleaner has not reached segments with a record of this time or later;
        UNKNOWN_MS: it may have reached any.
    """

    def __init__(self, unit: Unit, whole_since_ms: int = UNKNOWN_MS) -> None:
        self.unit = unit
        self._whole_since_ms = whole_since_ms
        self._buffer = RowBuffer(unit)
        self._reducer = CommitReducer(self._buffer, unit.start_offset, unit.end_offset)
        self._clock = Clock(self._buffer)
        self._first_ts_ms = self._last_ts_ms = -1

    def feed(self, records: Sequence[LogRecord]) -> dict[str, list[Any]] | None:
        """Takes records; gives rows when there are enough of them."""
        if self._first_ts_ms < 0:
            self._first_ts_ms = records[0].ts_ms
        begin, expected = 0, self._reducer.next_offset
        if records[-1].offset + 1 - expected != len(records):
            for index, (offset, ts_ms, _, _) in enumerate(records):
                if (
                    offset > expected
                    and self._last_ts_ms >= self._whole_since_ms
                    and ts_ms >= self._whole_since_ms
                ):
                    self._feed_stretch(records[begin:index])
                    self._pass_unseen(offset)
                    begin = index
                expected, self._last_ts_ms = offset + 1, ts_ms
        self._last_ts_ms = records[-1].ts_ms
        self._feed_stretch(records[begin:])
        return (
            self._take()
            if len(self._buffer.rows) >= ROWS_MAX or self._buffer.size >= BYTES_MAX
            else None
        )

    def _feed_stretch(self, records: Sequence[LogRecord]) -> None:
        if not records:
            return
        times = [record.ts_ms for record in records]
        stretch = _as_batch(records, max(times))
        # A log has a time a batch for the clock to look at. These records are many batches: where
        # they are within a day none of them is off.
        for each in (
            [stretch]
            if stretch.max_ts_ms - min(times) < DAY_MS
            else [_as_batch([record], record.ts_ms) for record in records]
        ):
            self._clock.feed(each)
        self._reducer.feed(stretch)

    def _pass_unseen(self, offset: int) -> None:
        """What a consumer is not shown, up to `offset`: it is no hole."""
        self._reducer.control += offset - self._reducer.next_offset
        self._reducer.next_offset = offset

    def finish(self) -> dict[str, list[Any]]:
        """The rest of the rows, the `unit` row last. Everything up to the end of the unit was there
        to be read, whatever is missing of it.
        """
        if self._last_ts_ms >= self._whole_since_ms:
            self._pass_unseen(self.unit.end_offset)
        self._clock.finish()
        self._reducer.finish()
        detail = {
            "first_offset": self.unit.start_offset,
            "next_offset": self.unit.end_offset,
            "first_ts_ms": self._first_ts_ms,
            "last_ts_ms": self._clock.greatest_ms,
            **self._reducer.counts(),
            "duplicates": 0,
            "batch_crc": 0,
        }
        if self.unit.other_log:
            self._buffer.add(
                OTHER_LOG,
                self.unit.start_offset,
                detail_of(self.unit.other_log),
                ts_ms=self._first_ts_ms,
            )
        self._buffer.add(UNIT, self.unit.start_offset, detail)
        return self._take()

    def _take(self) -> dict[str, list[Any]]:
        columns = self._buffer.take()
        columns["batch_base_offset"] = [-1] * len(columns["kind"])
        return columns


def _as_batch(records: Sequence[LogRecord], max_ts_ms: int) -> Batch:
    return Batch(
        records[0].offset,
        records[-1].offset,
        -1,
        0,
        0,
        0,
        max_ts_ms,
        -1,
        len(records),
        list(records),
        -1,
        BINARY,
        "",
        -1,
    )
