"""Segments: bytes of record-batch format v2 to batches, streamed, checked by CRC, and found again
after damage.

    baseOffset int64, batchLength int32 (of what follows), partitionLeaderEpoch int32, magic int8,
    crc uint32 (CRC-32C of what follows),
    attributes int16 (0-2 codec, 3 append time, 4 transactional, 5 control, 6 delete horizon),
    lastOffsetDelta int32, baseTimestamp int64,
    maxTimestamp int64, producerId int64, producerEpoch int16, baseSequence int32, recordsCount
    int32, records

The CRC does not cover base offset, length and leader epoch: a base offset is judged by its
neighbours, a length by whether a header follows. Source:
clients/src/main/java/org/apache/kafka/common/record/DefaultRecordBatch.java, DefaultRecord.java.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from groupreplay.wire.byte_stream import CHUNK_BYTES, ByteStream
from groupreplay.wire.segments.batches import (
    BINARY,
    CODEC_MASK,
    RAW_CAP,
    Batch,
    Damage,
    Late,
)

HEADER_BYTES = 61
LENGTH_AT = 12
"""Bytes before what batchLength counts."""
CRC_END = 21
"""The CRC covers everything from here on."""
RECORDS_IN_BODY = HEADER_BYTES - CRC_END
LENGTH_MIN = HEADER_BYTES - LENGTH_AT
BATCH_BYTES_MAX = 64 << 20
"""A longer batch is taken for a damaged length: the topic's own limit is 1 MB, raised for very
large groups to some tens.
"""
UNPACKED_MAX = 256 << 20
OLD_LENGTH_MIN = 14
"""Smallest message of formats v0 and v1: offset int64, length int32, crc uint32 (CRC-32 of what
follows), magic int8, attributes int8, ..
"""
SEGMENT_OFFSETS = 1 << 31
"""A segment's offsets differ by less: its index keeps them in 32 bits."""

OFFSET_LIMIT = 1 << 48
"""No partition has seen 281 million million records: a greater offset is damage."""

_HEADER = struct.Struct(">qiibIhiqqqhii").unpack_from
_tuple = tuple.__new__
"""Makes a Batch for a third of the price of calling it."""
_PLAUSIBLE = re.compile(rb"\x02[\x00-\xff]{4}\x00[\x00-\x7f]")
"""magic, crc, attributes: enough to find candidates fast; the CRC decides."""
_MAGIC_AT = 16
_OLD_CRC = struct.Struct(">I").unpack_from


class Codecs(Protocol):
    """What the standard library lacks, passed in by the caller."""

    def crc32c(self, data: bytes, /) -> int:
        """CRC-32C (Castagnoli)."""

    def decompress(self, codec_id: int, data: bytes, limit_bytes: int) -> bytes:
        """Unpacks by Kafka's codec id (1 gzip, 2 snappy, 3 lz4, 4 zstd). Raises ValueError on bad
        data, and rather than give more than the limit.
        """


class _Header(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_delta: int
    base_ts_ms: int
    max_ts_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


def first_header(data: bytes) -> _Header | None:
    """The header that the bytes begin with, None where there is none. Its CRC is not checked."""
    header = _Header._make(_HEADER(data, 0)) if len(data) >= HEADER_BYTES else None
    return (
        header if header is not None and header.magic == 2 and header.length >= LENGTH_MIN else None
    )


class SegmentReader:
    """Reads one segment file. Iterate it once.

    start_offset: batches that end below it are only counted.
    end_offset: reading stops at the first batch that begins at or above it, -1: never.
    first_offset: what the file's name says its first offset is, -1: says nothing.
    """

    def __init__(
        self,
        stream: ByteStream,
        path: str,
        codecs: Codecs,
        start_offset: int,
        end_offset: int,
        first_offset: int = -1,
    ) -> None:
        self._stream = stream
        self._path = path
        self._codecs = codecs
        self._start_offset = start_offset
        self._end_offset = end_offset if end_offset >= 0 else OFFSET_LIMIT
        self._segment_offset = first_offset
        self._expected = max(first_offset, 0)
        self._data = b""
        self._base = 0
        self._ended = False

    def __iter__(self) -> Iterator[Batch | Damage | Late]:
        try:
            yield from self._read()
        finally:
            self._stream.close()
        if self._stream.failure is not None:
            yield Damage(self._path, self._base + len(self._data), 0, self._stream.failure)

    # One loop: a call for each batch is a tenth of the whole cost.
    def _read(self) -> Iterator[Batch | Damage | Late]:  # noqa: C901
        crc32c, path = self._codecs.crc32c, self._path
        start_offset, end_offset = self._start_offset, self._end_offset
        pos = 0
        while True:
            data = self._data
            if pos + HEADER_BYTES > len(data):
                if not self._fill(pos, HEADER_BYTES):
                    return
                pos, data = 0, self._data
            # fmt: off
            (base_offset, length, epoch, magic, crc, attributes, last_delta,
             base_ts, max_ts, producer, _, _, count) = _HEADER(data, pos)
            # fmt: on
            end = pos + LENGTH_AT + length
            if magic != 2 or not LENGTH_MIN <= length <= BATCH_BYTES_MAX:
                damage, pos = self._bad_header(pos)
                if damage is not None:
                    yield damage
                continue
            if end > len(data):
                if not self._fill(pos, LENGTH_AT + length):
                    damage, pos = self._unfinished()
                    if damage is not None:
                        yield damage
                    continue
                pos, data, end = 0, self._data, LENGTH_AT + length
            last_offset = base_offset + last_delta
            if base_offset != self._expected or last_delta < 0:
                if end + HEADER_BYTES > len(data):
                    self._fill(pos, end - pos + HEADER_BYTES)
                    pos, end, data = 0, end - pos, self._data
                if wrong := self._wrong_offset(end, base_offset, last_offset):
                    if crc32c(data[pos + CRC_END : end]) == crc:
                        yield self._damage(pos, end, wrong)
                        pos = end
                    else:
                        damage, pos = self._lost(pos, wrong)
                        if damage is not None:
                            yield damage
                    continue
            if last_offset < start_offset:
                self._expected = last_offset + 1
                pos = end
                yield Late(count)
                continue
            if base_offset >= end_offset:
                return
            body = data[pos + CRC_END : end]
            if crc32c(body) != crc:
                damage, pos = self._lost(pos, "checksum does not match", base_offset)
                if damage is not None:
                    yield damage
                continue
            self._expected = last_offset + 1
            start = RECORDS_IN_BODY
            if attributes & CODEC_MASK:
                unpacked = self._unpack(attributes & CODEC_MASK, body)
                if isinstance(unpacked, str):
                    yield self._damage(pos, end, unpacked, base_offset)
                    pos = end
                    continue
                body, start = unpacked, 0
            # fmt: off
            fields = (base_offset, last_offset, epoch, crc, attributes, base_ts, max_ts,
                      producer, count, body, start, BINARY, path, self._base + pos)
            # fmt: on
            yield _tuple(Batch, fields)
            pos = end

    # ------------------------------------------------------------ the window on the file

    def _fill(self, pos: int, need: int) -> bool:
        """Drops what lies before `pos` and reads on until `need` bytes follow; False: the file ends
        before.
        """
        parts = [self._data[pos:]]
        have = len(parts[0])
        self._base += pos
        while have < need and not self._ended:
            chunk = self._stream.read(CHUNK_BYTES)
            self._ended = not chunk
            parts.append(chunk)
            have += len(chunk)
        self._data = b"".join(parts)
        return have >= need

    def _damage(self, pos: int, end: int, reason: str, offset: int = -1) -> Damage:
        return Damage(
            self._path,
            self._base + pos,
            end - pos,
            reason,
            offset,
            self._data[pos : min(end, pos + RAW_CAP)],
        )

    # ------------------------------------------------------------ judging

    def _plausible(self, header: _Header) -> bool:
        """A v2 header that may be true: what finds the log again after damage. Its CRC is not
        asked.
        """
        ceiling = self._expected + SEGMENT_OFFSETS if self._expected else OFFSET_LIMIT
        return (
            header.magic == 2
            and LENGTH_MIN <= header.length <= BATCH_BYTES_MAX
            and self._expected <= header.base_offset < ceiling
            and header.leader_epoch >= -1
            and 0 <= header.attributes <= 0x7F
            and 0 <= header.record_count <= header.last_delta + 1
        )

    def _header_at(self, pos: int) -> _Header | None:
        """The header at `pos` of the window, None where too few bytes are left (the window is not
        moved).
        """
        return (
            _Header._make(_HEADER(self._data, pos))
            if pos + HEADER_BYTES <= len(self._data)
            else None
        )

    def _wrong_offset(self, end: int, base_offset: int, last_offset: int) -> str | None:
        """Why a batch that does not follow its predecessor cannot stand where it says; None: a gap,
        as compaction leaves them.

        A base offset that leaps and whose successor leaps back is a damaged one: believing it would
        make the rest of the log look old.
        """
        expected = self._expected
        if base_offset < expected or last_offset < base_offset or last_offset >= OFFSET_LIMIT:
            return (
                f"base offset {base_offset}, last offset {last_offset}, where {expected} or more"
                " was due"
            )
        if self._segment_offset >= 0 and last_offset - self._segment_offset >= SEGMENT_OFFSETS:
            return f"base offset {base_offset} in a segment that begins at {self._segment_offset}"
        after = self._header_at(end)
        if (
            after is not None
            and after.magic == 2
            and after.length >= LENGTH_MIN
            and expected <= after.base_offset <= last_offset
        ):
            return f"base offset {base_offset} before a batch at {after.base_offset}"
        return None

    def _unpack(self, codec: int, body: bytes) -> bytes | str:
        """The records of a compressed batch, or why not. Bounded: a batch does not shrink a
        thousandfold by honest means.
        """
        packed = body[RECORDS_IN_BODY:]
        limit = min(UNPACKED_MAX, 1000 * len(packed) + (1 << 20))
        try:
            return self._codecs.decompress(codec, packed, limit)
        except ValueError as error:
            return f"compression codec {codec}: {error}"

    # ------------------------------------------------------------ after damage

    def _bad_header(self, pos: int) -> tuple[Damage | None, int]:
        """A header that cannot be true, a message of an old format, or the zeros of a preallocated
        tail.
        """
        header = _Header._make(_HEADER(self._data, pos))
        if header.magic == 2:
            return self._lost(pos, f"batch length {header.length}")
        size = LENGTH_AT + header.length
        if header.magic in (0, 1) and OLD_LENGTH_MIN <= header.length <= BATCH_BYTES_MAX:
            is_whole, pos = self._fill(pos, size), 0
            (crc,) = _OLD_CRC(self._data, LENGTH_AT)
            if is_whole and zlib.crc32(self._data[_MAGIC_AT:size]) == crc:
                return (
                    self._damage(
                        0,
                        size,
                        f"record format v{header.magic} (magic {header.magic}) is not read",
                        header.base_offset,
                    ),
                    size,
                )
        return self._lost(pos, f"magic {header.magic}" if header.magic else "no record batch")

    def _unfinished(self) -> tuple[Damage | None, int]:
        """The file ends inside this batch: the broker was writing it, unless its header is damaged;
        then batches may follow inside.
        """
        header = _Header._make(_HEADER(self._data, 0))
        if self._search(1) is not None or not self._plausible(header):
            return self._lost(0, f"batch length {header.length} runs past the end of the file")
        self._base += len(self._data)
        self._data = b""
        return None, 0

    def _lost(self, pos: int, reason: str, offset: int = -1) -> tuple[Damage | None, int]:
        """Looks for the next batch that passes its CRC. Zeros to the end of the file are a
        preallocated tail, and no damage.
        """
        self._fill(pos, RAW_CAP)
        began, raw = self._base, self._data[:RAW_CAP]
        only_zeros = True
        at = 1
        while True:
            found = self._search(at)
            if found is not None:
                only_zeros = only_zeros and not self._data[:found].strip(b"\0")
                return (
                    Damage(self._path, began, self._base + found - began, reason, offset, raw),
                    found,
                )
            keep = max(len(self._data) - HEADER_BYTES, 0)
            only_zeros = only_zeros and not self._data[:keep].strip(b"\0")
            if not self._fill(keep, HEADER_BYTES + 1):
                break
            at = 0
        only_zeros = only_zeros and not self._data.strip(b"\0")
        size = self._base + len(self._data) - began
        self._base += len(self._data)
        self._data = b""
        return (None if only_zeros else Damage(self._path, began, size, reason, offset, raw)), 0

    def _search(self, at: int) -> int | None:
        """Where in the window, from `at` on, the next batch begins that is plausible and passes its
        CRC.
        """
        where = at + _MAGIC_AT
        while match := _PLAUSIBLE.search(self._data, where):
            start = match.start() - _MAGIC_AT
            where = match.start() + 1
            header = self._header_at(start)
            if header is None:
                return None
            if not self._plausible(header):
                continue
            end = start + LENGTH_AT + header.length
            if end > len(self._data):
                self._extend(end)
                if end > len(self._data):
                    continue
            if self._codecs.crc32c(self._data[start + CRC_END : end]) == header.crc:
                return start
        return None

    def _extend(self, need: int) -> None:
        """Reads on until the window holds `need` bytes or the file ends, without moving it."""
        parts = [self._data]
        have = len(self._data)
        while have < need and not self._ended:
            chunk = self._stream.read(CHUNK_BYTES)
            self._ended = not chunk
            parts.append(chunk)
            have += len(chunk)
        self._data = b"".join(parts)
