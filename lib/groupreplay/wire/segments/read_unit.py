"""One unit of work: files of one partition's log to columns of `raw_records`, whatever the files
hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from groupreplay.limits import DAY_MS
from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import Batch, Conflict, Damage, Duplicates, Item, Late
from groupreplay.wire.segments.dump_log import DumpReader
from groupreplay.wire.segments.dump_sections import runs, scan_sections
from groupreplay.wire.segments.holes import widest
from groupreplay.wire.segments.other_logs import detail_of
from groupreplay.wire.segments.raw_rows import (
    BYTES_MAX,
    CLOCK,
    OTHER_LOG,
    ROWS_MAX,
    UNIT,
    RowBuffer,
)
from groupreplay.wire.segments.record_batch import Codecs, SegmentReader
from groupreplay.wire.segments.reduction.commit_reduction import CommitReducer
from groupreplay.wire.segments.replicas import Log, merge
from groupreplay.wire.segments.units import DUMP_LOG, Unit, UnitFile

_SEGMENT_NAME = re.compile(r"(?:^|[/\\])(\d{20})\.log(?:\.gz)?(?:\?.*)?$")

OpenFile = Callable[[str], BinaryIO]


def read_unit(unit: Unit, open_file: OpenFile, codecs: Codecs) -> Iterator[dict[str, list[Any]]]:
    """The rows of one unit, as column lists (`raw_rows.COLUMNS`) of bounded size, the `unit` row
    last.

    open_file: opens a path of the unit for reading bytes. Never raises for what the files hold or
        lack: that is `damage` rows.
    """
    buffer = RowBuffer(unit)
    reducer = CommitReducer(buffer, unit.start_offset, unit.end_offset)
    clock = Clock(buffer)
    duplicates, crc, first_ts, first_offset = 0, 0, -1, unit.start_offset
    feed_clock, feed_reducer = clock.feed, reducer.feed
    for item in merge(unit_logs(unit, open_file, codecs)):
        if type(item) is Batch:
            if first_ts < 0:
                first_ts = _first_ts(item)
                first_offset = item.base_offset if first_offset < 0 else first_offset
            feed_clock(item)
            feed_reducer(item)
            crc = item.crc
        elif isinstance(item, Duplicates):
            duplicates += item.records
        elif isinstance(item, Late):
            reducer.below += item.records
        elif isinstance(item, Conflict):
            buffer.add_conflict(item, reducer.last_hole)
        elif isinstance(item, Damage):
            if item.offset >= 0 > reducer.next_offset:
                reducer.next_offset = first_offset = item.offset
            buffer.add_damage(item, reducer.last_hole)
        if len(buffer.rows) >= ROWS_MAX or buffer.size >= BYTES_MAX:
            yield buffer.take()
    clock.finish()
    reducer.finish()
    first_offset = max(first_offset, 0)
    detail = {
        "first_offset": first_offset,
        "next_offset": max(reducer.next_offset, first_offset),
        "first_ts_ms": first_ts,
        "last_ts_ms": clock.greatest_ms,
        **reducer.counts(),
        "missing": widest(reducer.missing),
        "late": 0,
        "duplicates": duplicates,
        "batch_crc": crc,
    }
    if unit.other_log:
        buffer.add(OTHER_LOG, first_offset, detail_of(unit.other_log), ts_ms=first_ts)
    buffer.add(UNIT, first_offset, detail)
    yield buffer.take()


def _first_ts(batch: Batch) -> int:
    records, _ = parse_records(batch)
    return records[0].ts_ms if records else -1


class Clock:
    """Finds batches whose greatest time is a day off from both neighbours', and the greatest time
    without them.

    It is off from both in the same direction: a pause of days before and after it is no fault of a
    clock.
    """

    def __init__(self, buffer: RowBuffer) -> None:
        self._buffer = buffer
        self._before: int | None = None
        self._suspect: tuple[int, int] | None = None
        self.greatest_ms = -1

    def feed(self, batch: Batch) -> None:
        """Takes the next batch."""
        ts_ms = batch.max_ts_ms
        before = self._before
        if before is not None and -DAY_MS < ts_ms - before < DAY_MS and self._suspect is None:
            self._before = ts_ms
            if ts_ms > self.greatest_ms:
                self.greatest_ms = ts_ms
        elif batch.record_count:
            self._feed_jump(batch.base_offset, ts_ms)

    def _feed_jump(self, offset: int, ts_ms: int) -> None:
        self._judge(ts_ms)
        if self._before is None or -DAY_MS < ts_ms - self._before < DAY_MS:
            self._accept(ts_ms)
        else:
            self._suspect = (offset, ts_ms)

    def _judge(self, after_ms: int) -> None:
        if self._suspect is None or self._before is None:
            return
        offset, ts_ms = self._suspect
        self._suspect = None
        off_before, off_after = ts_ms - self._before, ts_ms - after_ms
        if abs(off_after) >= DAY_MS and (off_before > 0) == (off_after > 0):
            self._buffer.add(CLOCK, offset, {"ts_ms": ts_ms}, ts_ms=ts_ms)
        else:
            self._accept(ts_ms)

    def _accept(self, ts_ms: int) -> None:
        self._before = ts_ms
        self.greatest_ms = max(self.greatest_ms, ts_ms)

    def finish(self) -> None:
        """The last batch has one neighbour: a pause before it is no fault of its clock."""
        if self._suspect is not None:
            self._accept(self._suspect[1])
            self._suspect = None


# ---------------------------------------------------------------- files


def unit_logs(unit: Unit, open_file: OpenFile, codecs: Codecs) -> list[Log]:
    """The files of a unit, to be merged."""
    logs: list[Log] = []
    for file in sorted(unit.files, key=lambda one: (one.kind == DUMP_LOG, one.replica, one.path)):
        logs.extend(
            _dump_logs(unit, file, open_file)
            if file.kind == DUMP_LOG
            else [_segment_log(unit, file, open_file, codecs)]
        )
    return logs


def _segment_log(unit: Unit, file: UnitFile, open_file: OpenFile, codecs: Codecs) -> Log:
    """A segment is opened when the log has come to the first offset, which its name is."""
    named = _SEGMENT_NAME.search(file.path)
    first_offset = int(named[1]) if named else -1

    def read() -> Iterator[Item]:
        stream = ByteStream(file.path, file.size, open_file)
        return iter(
            SegmentReader(
                stream, file.path, codecs, unit.start_offset, unit.end_offset, first_offset
            )
        )

    return Log(("0", file.replica, file.path), max(first_offset, 0), read)


def _dump_logs(unit: Unit, file: UnitFile, open_file: OpenFile) -> list[Log]:
    """A text can hold several dumps, of several partitions and replicas: each rising run of this
    partition's is a log of its own.
    """

    def open_stream() -> ByteStream:
        return ByteStream(file.path, file.size, open_file)

    scanned = open_stream()
    sections = scan_sections(scanned)
    scanned.close()
    logs = []
    if scanned.failure is not None:
        damage = Damage(file.path, sections[-1].end, 0, scanned.failure)
        logs.append(Log(("1", file.replica, file.path), 0, lambda: iter((damage,))))
    for number, run in enumerate(runs(sections, unit.offsets_partition)):
        reader = DumpReader(open_stream, file.path, run, unit.start_offset, unit.end_offset)
        first_offset = min((one.first_offset for one in run if one.first_offset >= 0), default=0)
        logs.append(
            Log(("1", file.replica, file.path, f"{number:06}"), first_offset, reader.__iter__)
        )
    return logs
