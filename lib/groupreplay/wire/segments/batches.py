"""What readers of files hand on: batches of one log in offset order, stretches of damage, and what
merging found.

All are tuples: a steady log has a batch every few records, and making one must cost next to
nothing.
"""

from __future__ import annotations

from typing import NamedTuple

BINARY = "binary"
JSON = "json"

CODEC_MASK = 0x07
APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20

RAW_CAP = 1024
"""Bytes of a damaged stretch that are kept to be looked at."""


class LogRecord(NamedTuple):
    """One record, parsed. key None: the record has none. value None: a tombstone. The key of
    a control record is `int16 version, int16 type`.
    """

    offset: int
    ts_ms: int
    key: bytes | None
    value: bytes | None


class Batch(NamedTuple):
    """One record batch that passed its checks.

    last_offset: base_offset + lastOffsetDelta, the last one it ever had.
    leader_epoch: -1 where the batch names none.
    attributes: bits of the header, as in format v2.
    base_ts_ms, max_ts_ms: as in the header, base_ts_ms being no record's time where the batch has a
        delete horizon.
    record_count: as it says.
    data: the bytes that hold the records, from `start` on, decompressed; or the records themselves
        (then start is -1).
    encoding: BINARY or JSON.
    path, position: where it stood.
    """

    base_offset: int
    last_offset: int
    leader_epoch: int
    crc: int
    attributes: int
    base_ts_ms: int
    max_ts_ms: int
    producer_id: int
    record_count: int
    data: bytes | list[LogRecord]
    start: int
    encoding: str
    path: str
    position: int


class Damage(NamedTuple):
    """A stretch of a file that cannot be used.

    position: in the file, for a compressed file in what it unpacks to.
    offset: offset of its first record, -1 where that is not known.
    raw: its first RAW_CAP bytes.
    """

    path: str
    position: int
    size: int
    reason: str
    offset: int = -1
    raw: bytes = b""


class Conflict(NamedTuple):
    """Two replicas that hold different bytes at one offset; the higher leader epoch was kept.

    path: the file that lost.
    """

    offset: int
    ts_ms: int
    kept_leader_epoch: int
    dropped_leader_epoch: int
    path: str


class Duplicates(NamedTuple):
    """Records met again in another replica."""

    records: int


class Late(NamedTuple):
    """Records below the unit's start that were passed over."""

    records: int


Item = Batch | Damage | Conflict | Duplicates | Late
