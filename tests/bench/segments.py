"""Copies of stories to segments: one partition at a time, all its groups merged by time, filled in
as arrays of bytes.

A record is copied from its template and overwritten where copies differ; a batch is a header and
its records; a segment ends at 100 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import google_crc32c
import numpy as np
import numpy.typing as npt

from tests.bench.plans import DELTA_MAX, Ints, Plan, Templates
from tests.bench.stories import DIGITS, HEADER_BYTES

SEGMENT_BYTES = 100 << 20
SHARED_MIN, SHARED_MAX = 10, 30
"""Commits in a batch of a busy partition (group.coordinator.append.linger.ms is 5 to 10)."""
CHUNK_RECORDS = 50_000
"""As many records are made at once: what the processor's cache and our memory like."""

_CRC_FROM = 21
_HEADER = np.dtype(
    [
        ("base_offset", ">i8"), ("length", ">i4"), ("leader_epoch", ">i4"), ("magic", "i1"), ("crc", ">u4"), ("attributes", ">i2"),
        ("last_delta", ">i4"), ("base_ts", ">i8"), ("max_ts", ">i8"), ("producer_id", ">i8"), ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"), ("count", ">i4"),
    ]
)  # fmt: skip


class SegmentWriter:
    """Writes batches of one partition to segments named as Kafka names them."""

    def __init__(self, folder: Path, partition: int) -> None:
        self._folder = folder / f"__consumer_offsets-{partition}"
        self._file: BinaryIO | None = None
        self._size = 0

    def write(self, data: memoryview, starts: Sequence[int], base_offsets: Sequence[int]) -> None:
        """starts: where in `data` its batches begin."""
        ends = [*starts[1:], len(data)]
        first = 0
        for index, end in enumerate(ends):
            if self._file is None or self._size + end - starts[first] > SEGMENT_BYTES:
                if index > first:
                    self._append(data[starts[first] : starts[index]])
                first = index
                self._roll(base_offsets[index])
        self._append(data[starts[first] :])

    def _append(self, data: memoryview) -> None:
        assert self._file is not None
        self._file.write(data)
        self._size += len(data)

    def _roll(self, offset: int) -> None:
        self.close()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = (self._folder / f"{offset:020}.log").open("wb")
        self._size = 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@dataclass(slots=True)
class Copy:
    """One group: a plan, when it began, and its number."""

    plan: Plan
    began_ms: int
    number: int


@dataclass(slots=True)
class _Log:
    """A partition's records in order of its log.

    batch: of each record.
    position: in its batch; at: time of each batch.
    """

    template: Ints
    time_shift: Ints
    repeat: Ints
    number: Ints
    batch: Ints
    position: Ints
    shares: npt.NDArray[np.bool_]
    batch_at: Ints
    batch_first: Ints


def write_partition(
    folder: Path,
    partition: int,
    copies: Sequence[Copy],
    templates: Templates,
    random: np.random.Generator,
    first_offset: int = 0,
) -> int:
    """Writes all copies as one partition's log, or the part of it from first_offset on; returns its
    number of batches.
    """
    log = _merge(copies, random)
    writer = SegmentWriter(folder, partition)
    count = np.diff(log.batch_first)
    first_batch = 0
    batches = len(count)
    while first_batch < batches:
        last_batch = (
            int(
                np.searchsorted(
                    log.batch_first, log.batch_first[first_batch] + CHUNK_RECORDS, side="right"
                )
            )
            - 1
        )
        last_batch = max(last_batch, first_batch + 1)
        _write_chunk(writer, log, templates, first_batch, last_batch, first_offset)
        first_batch = last_batch
    writer.close()
    return batches


def _merge(copies: Sequence[Copy], random: np.random.Generator) -> _Log:
    """Units of all groups by time; runs of commits that may share batches are cut into some of
    SHARED_MIN to SHARED_MAX.
    """
    plans = [copy.plan for copy in copies]
    unit_at = np.concatenate([copy.plan.unit_at + copy.began_ms for copy in copies])
    unit_count = np.concatenate([plan.unit_count for plan in plans])
    unit_shares = np.concatenate([plan.unit_shares for plan in plans])
    unit_first = np.cumsum(unit_count) - unit_count
    order = np.argsort(unit_at, kind="stable")
    unit_at, unit_count, unit_shares, unit_first = (
        unit_at[order],
        unit_count[order],
        unit_shares[order],
        unit_first[order],
    )
    batch_of_unit = _batches(unit_shares, random)
    position_of_unit = _positions(batch_of_unit, unit_count)
    records = _ranges(unit_first, unit_count)
    batch = np.repeat(batch_of_unit, unit_count)
    position = np.repeat(position_of_unit, unit_count) + _ranges(
        np.zeros_like(unit_count), unit_count
    )
    last_unit = np.append(np.flatnonzero(np.diff(batch_of_unit)), len(batch_of_unit) - 1)
    sizes = [plan.records for plan in plans]
    began = np.repeat(np.array([copy.began_ms for copy in copies]), sizes)[records]
    return _Log(
        template=np.concatenate([plan.template for plan in plans])[records],
        time_shift=np.concatenate([plan.shift_ms for plan in plans])[records] + began,
        repeat=np.concatenate([plan.repeat for plan in plans])[records],
        number=np.repeat(np.array([copy.number for copy in copies]), sizes)[records],
        batch=batch,
        position=position,
        shares=np.repeat(unit_shares, unit_count),
        batch_at=unit_at[last_unit],
        batch_first=np.append(0, np.cumsum(np.bincount(batch))),
    )


def _batches(shares: npt.NDArray[np.bool_], random: np.random.Generator) -> Ints:
    """Number of the batch that each unit goes into."""
    cuts = np.cumsum(random.integers(SHARED_MIN, SHARED_MAX + 1, len(shares) // SHARED_MIN + 2))
    assert SHARED_MAX <= DELTA_MAX
    begins = np.zeros(len(shares), bool)
    begins[cuts[cuts < len(shares)]] = True
    begins |= ~shares
    begins[1:] |= ~shares[:-1]
    begins[0] = True
    return np.cumsum(begins) - 1


def _positions(batch_of_unit: Ints, unit_count: Ints) -> Ints:
    """How many records of its batch stand before each unit."""
    before = np.cumsum(unit_count) - unit_count
    first = np.append(0, np.flatnonzero(np.diff(batch_of_unit)) + 1)
    offsets: Ints = before - np.repeat(before[first], np.diff(np.append(first, len(before))))
    return offsets


def _ranges(first: Ints, count: Ints) -> Ints:
    """first[0], first[0] + 1, .. of count[0], then first[1], .."""
    ends = np.cumsum(count)
    return np.arange(ends[-1]) + np.repeat(first - ends + count, count)


def _write_chunk(
    writer: SegmentWriter,
    log: _Log,
    templates: Templates,
    first_batch: int,
    last_batch: int,
    first_offset: int,
) -> None:
    """The batches from first_batch to last_batch (exclusive), as bytes."""
    first, last = int(log.batch_first[first_batch]), int(log.batch_first[last_batch])
    rows = slice(first, last)
    template = log.template[rows]
    size = templates.size[template]
    count = np.diff(log.batch_first[first_batch : last_batch + 1])
    in_batch = log.batch[rows] - first_batch
    record_at = np.cumsum(size) - size + (in_batch + 1) * HEADER_BYTES
    batch_size = np.bincount(in_batch, size).astype(np.int64) + HEADER_BYTES
    batch_at = np.cumsum(batch_size) - batch_size
    out = _joined(templates.bytes, template, log.position[rows] == 0)
    _fill_in(out, record_at, log, rows, templates, template)
    headers = np.zeros(last_batch - first_batch, _HEADER)
    headers["base_offset"] = log.batch_first[first_batch:last_batch] + first_offset
    headers["length"] = batch_size - 12
    headers["magic"] = 2
    headers["last_delta"] = count - 1
    headers["base_ts"] = log.batch_at[first_batch:last_batch]
    headers["max_ts"] = headers["base_ts"] + np.maximum.reduceat(
        templates.ts_delta[template], log.batch_first[first_batch:last_batch] - first
    )
    headers["producer_id"] = headers["producer_epoch"] = headers["base_sequence"] = -1
    headers["count"] = count
    places = batch_at[:, None] + np.arange(HEADER_BYTES)
    out[places] = headers.view(np.uint8).reshape(-1, HEADER_BYTES)
    whole = out.tobytes()
    starts = batch_at.tolist()
    crc32c = google_crc32c.value
    crcs = [
        crc32c(whole[start + _CRC_FROM : start + length])
        for start, length in zip(starts, batch_size.tolist(), strict=True)
    ]
    out[places[:, 17:_CRC_FROM]] = np.array(crcs, ">u4").view(np.uint8).reshape(-1, 4)
    writer.write(memoryview(out.data), starts, headers["base_offset"].tolist())


def _joined(
    pieces: list[bytes], template: Ints, begins: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """All records, with room for a header before each that begins a batch. Joining bytes is five
    times as fast as gathering them by index.
    """
    which = template + begins * (len(pieces) // 2)
    return np.frombuffer(bytearray(b"".join(map(pieces.__getitem__, which.tolist()))), np.uint8)


def _fill_in(
    out: npt.NDArray[np.uint8],
    record_at: Ints,
    log: _Log,
    rows: slice,
    templates: Templates,
    template: Ints,
) -> None:
    """Overwrites what differs from the story: digits of the group, times, committed offsets, offset
    deltas in shared batches.
    """
    digits_at = record_at + templates.digits_at[template]
    number = log.number[rows]
    for digit in range(DIGITS):
        out[digits_at + digit] = number // 10 ** (DIGITS - 1 - digit) % 10 + ord("0")
    for time_at, time in zip(templates.time_at, templates.time, strict=True):
        has = np.flatnonzero(time_at[template] >= 0)
        _put_int64(
            out,
            record_at[has] + time_at[template[has]],
            time[template[has]] + log.time_shift[rows][has],
        )
    repeated = np.flatnonzero((log.repeat[rows] > 0) & (templates.offset_at[template] >= 0))
    if len(repeated):
        which = template[repeated]
        _put_int64(
            out,
            record_at[repeated] + templates.offset_at[which],
            templates.offset[which] + log.repeat[rows][repeated],
        )
    shared = np.flatnonzero(log.shares[rows])
    if len(shared):
        out[record_at[shared] + templates.delta_at[template[shared]]] = (
            log.position[rows][shared] * 2
        )


def _put_int64(out: npt.NDArray[np.uint8], at: Ints, values: Ints) -> None:
    out[at[:, None] + np.arange(8)] = values.astype(">i8").view(np.uint8).reshape(-1, 8)
