"""What Kafka's log cleaner leaves of a partition's log.

Of everything below the end of the clean section the newest record of each key stays (LogCleaner:
the offset map is built up to that end, so a newer record above it saves nobody); tombstones go once
delete.retention.ms has passed; aborted records go, and a marker goes with the last record of its
transaction. Batches keep their offsets, and one that has lost every record is gone. The end never
lies above a transaction that is still open (the last stable offset).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import CONTROL, TRANSACTIONAL, Batch, LogRecord
from groupreplay.wire.segments.record_batch import SegmentReader
from groupreplay.workers.codecs import Codecs
from tests.simulator.growing import PartitionLog
from tests.wire import encode

_CODEC: Final = 0x07


@dataclass(frozen=True, slots=True)
class Cleaning:
    """One pass of the cleaner, by offsets of one log.

    end: the clean section is below it. read_until: what lies below was read before the cleaner came
    (an earlier night), so it is whole. tombstones_until: tombstones below it are gone.
    """

    end: int
    read_until: int = 0
    tombstones_until: int = 0

    def __str__(self) -> str:
        gone = self.tombstones_until
        return f"read to {self.read_until}, clean to {self.end}, no tombstones to {gone}"


@dataclass(slots=True)
class _Parsed:
    """A log's batches with their records. keys: newest offset below the end, of every key."""

    batches: list[tuple[Batch, list[LogRecord]]]
    aborted: set[int] = field(default_factory=set)
    markers: dict[int, list[int]] = field(default_factory=dict)


@lru_cache(maxsize=128)
def _parse(log: PartitionLog) -> _Parsed:
    """With the offsets of aborted records, and of each marker those of its transaction."""
    stream = ByteStream("log", len(log.data), lambda _: io.BytesIO(log.data))
    parsed, pending = _Parsed([]), dict[int, list[int]]()
    for batch in SegmentReader(stream, "log", Codecs(), -1, -1):
        assert isinstance(batch, Batch), batch
        records, fault = parse_records(batch)
        assert fault is None, fault
        parsed.batches.append((batch, list(records)))
        offsets = [record.offset for record in records]
        if batch.attributes & CONTROL:
            ended = pending.pop(batch.producer_id, [])
            parsed.markers[batch.base_offset] = ended
            if (records[0].key or b"")[2:4] == b"\0\0":
                parsed.aborted.update(ended)
        elif batch.attributes & TRANSACTIONAL:
            pending.setdefault(batch.producer_id, []).extend(offsets)
    return parsed


def batch_offsets(log: PartitionLog) -> list[int]:
    """Base offsets of a log's batches, and one past its last offset: where a clean section ends."""
    batches = _parse(log).batches
    return [*(batch.base_offset for batch, _ in batches), batches[-1][0].last_offset + 1]


def stable_end(log: PartitionLog, end: int) -> int:
    """`end`, or the first offset of a transaction that is open there."""
    opened = [
        min(offsets)
        for marker, offsets in _parse(log).markers.items()
        if offsets and min(offsets) < end <= marker
    ]
    return min([end, *opened])


def cleaned(log: PartitionLog, cleaning: Cleaning) -> PartitionLog:
    """The log as the cleaner leaves it."""
    parsed = _parse(log)
    newest = _newest(parsed, cleaning.end)
    kept: set[int] = set()
    for batch, records in parsed.batches:
        if not batch.attributes & CONTROL:
            kept.update(_kept(records, parsed.aborted, newest, cleaning))
    data = [
        _encoded(batch, [record for record in records if record.offset in kept])
        if not batch.attributes & CONTROL
        else _marker(log, batch, parsed, kept, cleaning)
        for batch, records in parsed.batches
    ]
    return PartitionLog(log.replica, log.partition, b"".join(data))


def _newest(parsed: _Parsed, end: int) -> dict[bytes, int]:
    return {
        record.key or b"": record.offset
        for batch, records in parsed.batches
        for record in records
        if record.offset < end
        and not batch.attributes & CONTROL
        and record.offset not in parsed.aborted
    }


def _kept(
    records: Iterable[LogRecord], aborted: set[int], newest: dict[bytes, int], cleaning: Cleaning
) -> Iterable[int]:
    for record in records:
        offset = record.offset
        if offset < cleaning.read_until or offset >= cleaning.end:
            yield offset
            continue
        is_newest = newest.get(record.key or b"") == offset and offset not in aborted
        if is_newest and (record.value is not None or offset >= cleaning.tombstones_until):
            yield offset


def _marker(
    log: PartitionLog, batch: Batch, parsed: _Parsed, kept: set[int], cleaning: Cleaning
) -> bytes:
    """A marker as it stands; nothing where it went with its transaction."""
    is_needed = any(offset in kept for offset in parsed.markers[batch.base_offset])
    if is_needed or not cleaning.read_until <= batch.base_offset < cleaning.tombstones_until:
        size = int.from_bytes(log.data[batch.position + 8 : batch.position + 12], "big") + 12
        return log.data[batch.position : batch.position + size]
    return b""


def _encoded(batch: Batch, records: Sequence[LogRecord]) -> bytes:
    """The batch with these records: its own base offset, last offset and times."""
    if not records:
        return b""
    return encode.batch(
        batch.base_offset,
        {record.offset - batch.base_offset: (record.key, record.value) for record in records},
        ts=batch.base_ts_ms,
        attributes=batch.attributes & ~_CODEC,
        leader_epoch=batch.leader_epoch,
        producer_id=batch.producer_id,
        last_delta=batch.last_offset - batch.base_offset,
        ts_deltas=[record.ts_ms - batch.base_ts_ms for record in records],
    )
