"""Segments: streamed in bounded memory, and never an exception, whatever is done to the bytes."""

from __future__ import annotations

import io
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.wire import byte_stream
from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments import record_batch
from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import Batch, Damage, Late
from groupreplay.wire.segments.record_batch import SegmentReader
from tests.wire import encode
from tests.wire.reading import (
    CODECS,
    counts,
    of_kind,
    open_path,
    packed,
    read,
    recorded_units,
    recordings,
)


def segment(
    content: bytes, *, start: int = -1, end: int = -1, first: int = -1
) -> list[Batch | Damage | Late]:
    stream = ByteStream("a", -1, lambda _path: io.BytesIO(content))
    return list(SegmentReader(stream, "a", CODECS, start, end, first))


def real_segment() -> bytes:
    """The first 20 kB of the recording with the longest segments."""
    files = [
        file
        for recording in recordings()
        for segments, _ in recorded_units(recording).values()
        for file in segments
    ]
    with open_path(max(files, key=lambda file: (file.size, file.path)).path) as stream:
        return stream.read(20_000)


REAL = real_segment()


@pytest.fixture(params=[4096, 1 << 20], ids=["small chunks", "one chunk"])
def _chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with batches that lie across the ends of chunks."""
    monkeypatch.setattr(record_batch, "CHUNK_BYTES", request.param)
    monkeypatch.setattr(byte_stream, "CHUNK_BYTES", request.param)


def batches_of(items: list[Batch | Damage | Late]) -> list[Batch]:
    return [item for item in items if isinstance(item, Batch)]


@pytest.mark.usefixtures("_chunks")
def test_a_batch_has_its_header_and_records() -> None:
    key, value = encode.epoch("g", 7)
    content = encode.batch(
        40, [(key, value), (key, None)], ts=1000, ts_deltas=[0, 6], leader_epoch=3, producer_id=9
    )
    (batch,) = batches_of(segment(content))
    assert (
        batch.base_offset,
        batch.last_offset,
        batch.leader_epoch,
        batch.base_ts_ms,
        batch.max_ts_ms,
    ) == (40, 41, 3, 1000, 1006)
    assert (batch.producer_id, batch.record_count, batch.position, batch.encoding) == (
        9,
        2,
        0,
        "binary",
    )
    assert parse_records(batch) == ([(40, 1000, key, value), (41, 1006, key, None)], None)


@pytest.mark.usefixtures("_chunks")
def test_positions_are_those_of_the_file_also_of_what_gzip_unpacks_to() -> None:
    positions = [item.position for item in batches_of(segment(REAL))]
    assert positions[0] == 0
    for position in positions:
        assert struct.unpack_from(">qiib", REAL, position)[3] == 2
    assert [item.position for item in batches_of(segment(packed(REAL)))] == positions


@pytest.mark.usefixtures("_chunks")
def test_below_the_start_headers_alone_are_read() -> None:
    """Not even a checksum: what was landed once needs no second judgement."""
    flipped = bytearray(REAL)
    flipped[70] ^= 1
    items = segment(bytes(flipped), start=20)
    late = sum(item.records for item in items if isinstance(item, Late))
    assert not [item for item in items if isinstance(item, Damage)]
    first = batches_of(items)[0]
    assert first.base_offset == late <= 20 <= first.last_offset


def test_reading_stops_at_the_end() -> None:
    assert max(batch.base_offset for batch in batches_of(segment(REAL, end=20))) < 20
    leap = encode.batch(1 << 40, [encode.epoch("g")]) + encode.batch(1, [encode.epoch("g")])
    items = segment(encode.batch(0, [encode.epoch("g")]) + leap, end=20, first=0)
    assert [batch.base_offset for batch in batches_of(items)] == [0, 1]


def test_a_base_offset_that_the_segment_cannot_hold_is_damage() -> None:
    items = segment(encode.batch(100 + (1 << 31), [encode.epoch("g")]), first=100)
    assert [item.reason for item in items if isinstance(item, Damage)] == [
        "base offset 2147483748 in a segment that begins at 100"
    ]


def test_offsets_above_two_thousand_million_are_found_again_after_damage() -> None:
    base = 5 << 32
    content = (
        b"garbage" * 20
        + encode.batch(base, [encode.epoch("g")])
        + b"garbage" * 20
        + encode.batch(base + 1, [encode.epoch("g")])
    )
    assert [batch.base_offset for batch in batches_of(segment(content))] == [base, base + 1]


@settings(max_examples=300)
@given(data=st.data())
def test_mutations_of_a_real_segment_never_raise_and_change_no_other_batch(
    data: st.DataObject,
) -> None:
    """A stretch overwritten, cut out, or put in: batches before it are untouched, those after the
    next whole batch are all found.
    """
    at = data.draw(st.integers(0, len(REAL)))
    size = data.draw(st.integers(0, 200))
    junk = data.draw(st.binary(max_size=200))
    mutated = REAL[:at] + junk + REAL[at + size :]
    good = batches_of(segment(REAL))
    found = batches_of(segment(mutated))
    shift = len(junk) - size
    before = [batch for batch in good if batch.position + batch_size(batch) <= at]
    after = [
        batch._replace(position=batch.position + shift)
        for batch in good
        if batch.position >= at + size
    ]
    assert found[: len(before)] == before
    assert [
        batch for batch in found if batch.position >= at + len(junk)
    ] == after or mutates_an_offset(good, at, size)


def batch_size(batch: Batch) -> int:
    assert isinstance(batch.data, bytes)
    return len(batch.data) + record_batch.CRC_END


def mutates_an_offset(good: list[Batch], at: int, size: int) -> bool:
    """The base offset is under no checksum: one that was overwritten may read as a gap, and hide
    what follows it at the end.
    """
    return any(at < batch.position + 12 and at + size + 1 > batch.position for batch in good)


@settings(max_examples=200)
@given(
    content=st.binary(max_size=400),
    first=st.sampled_from([-1, 0, 7]),
    pieces=st.lists(st.integers(0, 3), max_size=6),
)
def test_any_bytes_are_no_failure(content: bytes, first: int, pieces: list[int]) -> None:
    segment(content, first=first)
    mixed = b"".join([REAL[:500], content, REAL[500:1500], bytes(70)][piece] for piece in pieces)
    segment(mixed, first=first, start=3)
    counts(read({"a": content, "b": mixed}))


@settings(max_examples=200)
@given(
    records=st.binary(max_size=120),
    attributes=st.integers(0, 0x7F),
    count=st.integers(0, 5),
    ts=st.integers(-(1 << 63), (1 << 63) - 1),
)
def test_any_records_under_a_good_checksum_are_no_failure(
    records: bytes, attributes: int, count: int, ts: int
) -> None:
    content = encode.seal(
        0, records, count=count, last_delta=4, attributes=attributes, base_ts=ts, max_ts=ts
    )
    rows = read({"a": content + encode.batch(5, [encode.epoch("g")])})
    assert counts(rows)["next_offset"] == 6
    for row in rows:
        assert -(1 << 63) <= row["ts_ms"] < 1 << 63


def test_a_file_is_never_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_batch, "CHUNK_BYTES", 16 << 10)
    content = b"".join(
        encode.batch(offset, [encode.commit("g", offset=offset)]) for offset in range(8000)
    )
    stream = ByteStream("a", -1, lambda _path: io.BytesIO(content))
    tracemalloc.start()
    try:
        found = sum(isinstance(item, Batch) for item in SegmentReader(stream, "a", CODECS, -1, -1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == 8000
    assert peak < 100_000 < len(content) // 8


def test_garbage_and_claims_of_size_are_bounded_in_memory() -> None:
    """A 2 GB length, and 100 MB lengths that nothing follows: no more than the file itself and a
    chunk is held.
    """
    for length in (0x7FFFFFFF, 100 << 20):
        content = (
            struct.pack(">qiibIhiqqqhii", 0, length, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0)
            + bytes(range(1, 255)) * 4000
        )
        tracemalloc.start()
        try:
            segment(content)
            assert tracemalloc.get_traced_memory()[1] < 6 << 20
        finally:
            tracemalloc.stop()


def test_compressed_batches_unpack_no_further_than_allowed() -> None:
    bomb = encode.seal(0, encode.compress(4, bytes(64 << 20)), count=1, last_delta=0, attributes=4)
    tracemalloc.start()
    try:
        rows = read({"a": bomb})
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    assert len(of_kind(rows, "damage")) == 1
