"""A unit of what came late: files that appeared, or grew, where earlier nights had met holes. Only
what lies in those holes is landed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groupreplay.wire.segments.batches import Batch, Damage
from groupreplay.wire.segments.holes import widest
from groupreplay.wire.segments.raw_rows import (
    BYTES_MAX,
    LATE,
    LATE_KINDS,
    ROWS_MAX,
    UNIT,
    RowBuffer,
)
from groupreplay.wire.segments.read_unit import Clock, OpenFile, unit_logs
from groupreplay.wire.segments.record_batch import Codecs
from groupreplay.wire.segments.reduction.commit_reduction import CommitReducer
from groupreplay.wire.segments.replicas import merge
from groupreplay.wire.segments.units import Unit


def read_late_unit(
    unit: Unit, open_file: OpenFile, codecs: Codecs
) -> Iterator[dict[str, list[Any]]]:
    """As `read_unit`, for a unit with holes: rows have the kinds of `LATE_KINDS`, and one of kind
    `late` says what was found, if anything was.
    """
    buffer = RowBuffer(unit)
    holes = [_Hole(buffer, first, end, RowBuffer(unit)) for first, end in unit.holes]
    newest_ms = -1
    for item in merge(unit_logs(unit, open_file, codecs)):
        if isinstance(item, Batch):
            for hole in holes:
                if hole.meets(item):
                    hole.feed(item)
                    newest_ms = max(newest_ms, item.max_ts_ms)
        elif isinstance(item, Damage):
            buffer.add_damage(item, -1)
        if len(buffer.rows) >= ROWS_MAX or buffer.size >= BYTES_MAX:
            yield _renamed(buffer.take())
    for hole in holes:
        hole.finish()
    found = [hole for hole in holes if hole.records]
    detail = _detail(unit, holes)
    if found:
        filled = [list(stretch) for hole in found for stretch in hole.filled()]
        buffer.add(
            LATE, filled[0][0], {"records": detail["late"], "filled": filled}, ts_ms=newest_ms
        )
    buffer.add(UNIT, unit.start_offset, detail)
    yield _renamed(buffer.take())


class _Hole:
    """A stretch that was missed, and what reduces the records that turn up in it. One from offset 0
    on lies below the log's beginning: what is still missing of it is no hole for the rows above it.

    aside: for rows on clocks, which late units do not give.
    """

    def __init__(self, buffer: RowBuffer, first: int, end: int, aside: RowBuffer) -> None:
        self.first, self.end, self._begins = first, end, end
        self.reducer = CommitReducer(buffer, first or -1, end)
        self._clock = Clock(aside)

    def feed(self, batch: Batch) -> None:
        self._begins = min(self._begins, batch.base_offset)
        self._clock.feed(batch)
        self.reducer.feed(batch)

    def finish(self) -> None:
        """After the last batch."""
        self._clock.finish()
        self.reducer.finish()

    @property
    def greatest_ms(self) -> int:
        """Greatest time of a batch in it, without those of a clock that jumped."""
        return self._clock.greatest_ms

    @property
    def missing(self) -> list[tuple[int, int]]:
        """The part of it that is still missing."""
        return widest(
            [
                *self.reducer.missing,
                *([(0, self._begins)] if self.first == 0 < self._begins else []),
            ]
        )

    def meets(self, batch: Batch) -> bool:
        return batch.base_offset < self.end and batch.last_offset >= self.first

    @property
    def records(self) -> int:
        return self.reducer.records + self.reducer.control

    def filled(self) -> Iterator[tuple[int, int]]:
        """What is no hole any more, but for holes too narrow to be remembered."""
        at = self.first
        for first, end in (*self.missing, (self.end, self.end)):
            if first > at:
                yield at, first
            at = end


def _detail(unit: Unit, holes: list[_Hole]) -> dict[str, Any]:
    """Counts of the `unit` row: nothing of it was replayed, so it counts as late and as nothing
    else.
    """
    counts = [hole.reducer.counts() for hole in holes]
    nothing: dict[str, Any] = dict.fromkeys(counts[0], 0)
    return {
        "first_offset": unit.start_offset,
        "next_offset": unit.start_offset,
        "first_ts_ms": -1,
        "last_ts_ms": -1,
        **nothing,
        "last_hole": -1,
        "duplicates": 0,
        "batch_crc": 0,
        "missing": widest(stretch for hole in holes for stretch in hole.missing),
        "late": sum(hole.records for hole in holes),
        "filled": [stretch for hole in holes if hole.records for stretch in hole.filled()],
        "filled_ms": [hole.greatest_ms for hole in holes if hole.records for _ in hole.filled()],
        "late_open_commits": sum(each["open_commits"] for each in counts),
    }


def _renamed(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    return {**columns, "kind": [LATE_KINDS.get(kind, kind) for kind in columns["kind"]]}
