"""What the rows of one batch share, and the value of a record that was not parsed."""

from __future__ import annotations

from groupreplay.wire.records.primitives import Malformed, read_varlong
from groupreplay.wire.segments.batches import APPEND_TIME, Batch

Origin = tuple[int, int, int, int, int, int, str, bool, int]
"""What rows of one batch share: base time, time scale (0 where the records' own times count for
nothing: LogAppendTime), leader epoch, base offset, last hole, producer id, encoding, is raw (values
are still the bytes that follow the key in the record), own offset (of a commit that stands at its
transaction's marker, else -1). A bare tuple: one is made per batch.
"""


def origin_of(batch: Batch, last_hole: int, is_raw: bool) -> Origin:
    (
        _,
        _,
        leader_epoch,
        _,
        attributes,
        base_ts_ms,
        max_ts_ms,
        producer_id,
        _,
        _,
        _,
        encoding,
        _,
        _,
    ) = batch
    if attributes & APPEND_TIME:
        return max_ts_ms, 0, leader_epoch, batch[0], last_hole, producer_id, encoding, is_raw, -1
    return base_ts_ms, 1, leader_epoch, batch[0], last_hole, producer_id, encoding, is_raw, -1


def value_in(tail: bytes) -> bytes | Malformed | None:
    """The value in the bytes that follow a record's key (headers follow it); None: a tombstone."""
    try:
        length, pos = tail[0], 1
        if length > 0x7F:
            length, pos = read_varlong(tail, 0)
        else:
            length = length >> 1 ^ -(length & 1)
    except (IndexError, Malformed):
        return Malformed("no value")
    if length < 0:
        return None
    if pos + length > len(tail):
        return Malformed("value is cut")
    return tail[pos : pos + length]
