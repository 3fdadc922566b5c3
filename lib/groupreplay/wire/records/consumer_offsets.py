"""Bytes of one `__consumer_offsets` record to a record of `groupreplay.records`: total, pure,
driven by the tables of `layouts`.

A key is int16 type + message, never flexible. A value is int16 version + message; None is a
tombstone. Source:
coordinator-common/src/main/java/org/apache/kafka/coordinator/common/runtime/CoordinatorRecordSerde.java.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct as Format
from typing import Any, cast

from groupreplay.records.entries import Record
from groupreplay.records.offsets import OffsetCommitValue
from groupreplay.wire.records.layouts import RECORD_TYPES, Layout
from groupreplay.wire.records.primitives import BAD_BYTES, NO_UUID, Malformed, Reader, uuid_text
from groupreplay.wire.records.struct_reader import struct_reader
from groupreplay.wire.records.undecodable import Undecodable, UnknownType, undecodable_value

_INT16 = Format(">h").unpack_from


def _value_readers(
    layouts: tuple[Layout, ...], max_version: int
) -> tuple[tuple[tuple[Reader, str | None], ...], ...]:
    return tuple(
        tuple((struct_reader(one.struct, version), one.refused) for one in layouts)
        for version in range(max_version + 1)
    )


_TYPES = {
    key_type: (struct_reader(one.key, 0), _value_readers(one.layouts, one.max_version), one.record)
    for key_type, one in RECORD_TYPES.items()
}


def _decode_key(key: bytes) -> Any:
    """What a key says and how its value is read: (type, readers of the value by version, record,
    fields); or why it is none.
    """
    if len(key) < 2:
        return Undecodable(f"key: {len(key)} bytes, too short for a type")
    key_type = key[0] << 8 | key[1]
    known = _TYPES.get(key_type)
    if known is None:
        return UnknownType(_INT16(key)[0])
    read_key, value_readers, record = known
    try:
        fields, end = read_key(key, 2)
    except BAD_BYTES as error:
        return Undecodable(f"key of type {key_type}: {_reason(error)}")
    if end != len(key):
        return Undecodable(f"key of type {key_type}: {len(key) - end} bytes too many")
    return key_type, value_readers, record, fields


_KEY_BYTES_KEPT = 512
_decode_key_once = lru_cache(maxsize=1 << 11)(_decode_key)
"""Groups are replayed one after another, and a group's keys come again and again: a quarter of all
decoding.
"""


def decode(key: bytes, value: bytes | None) -> Record | UnknownType | Undecodable:
    """One record as 3.8 to 4.4 write it, or why it is none. Never raises; uses a small multiple of
    the bytes' own size.
    """
    known = _decode_key_once(key) if len(key) <= _KEY_BYTES_KEPT else _decode_key(key)
    if type(known) is not tuple:
        return cast("UnknownType | Undecodable", known)
    key_type, value_readers, record, fields = known
    if value is None:
        return cast(Record, record(*fields, None))
    if len(value) < 2:
        reason = f"value of type {key_type}: {len(value)} bytes, too short for a version"
        return undecodable_value(key_type, record, fields, reason)
    if key_type <= 1 and (commit := _plain_commit(value)) is not None:
        decoded: Record = record(*fields, commit)
        return decoded
    version = value[0] << 8 | value[1]
    if version >= len(value_readers):
        reason = f"value of type {key_type}: unknown version {_INT16(value)[0]}"
        return undecodable_value(key_type, record, fields, reason)
    result = _decode_value(value, value_readers[version])
    if type(result) is Undecodable:
        reason = f"value of type {key_type}, version {version}: {result.reason}"
        return undecodable_value(key_type, record, fields, reason)
    decoded = record(*fields, result)
    return decoded


_COMMIT_WITH_TOPIC_ID = Format(">hqiBqBBB16s")
_COMMIT = Format(">hqihq")
_COMMIT_4 = Format(">hqiBqB")


def _plain_commit(value: bytes) -> OffsetCommitValue | None:
    """The value of a commit as nearly all are, without metadata, in versions 3 and 4; None for any
    other, which the tables read.

    Commits are most of what is decoded: this takes 0.6 us where the tables take 2.
    """
    if len(value) == _COMMIT_WITH_TOPIC_ID.size:
        version, offset, _, text_size, at, tags, tag, tag_size, topic_id = (
            _COMMIT_WITH_TOPIC_ID.unpack(value)
        )
        if version == 4 and text_size == 1 and tags == 1 and tag == 0 and tag_size == 16:
            topic = uuid_text(topic_id)
            return OffsetCommitValue(offset, at, None if topic == NO_UUID else topic)
    elif len(value) == _COMMIT.size:
        version, offset, _, text_size, at = _COMMIT.unpack(value)
        if version == 3 and text_size == 0:
            return OffsetCommitValue(offset, at)
        version, offset, _, text_size, at, tags = _COMMIT_4.unpack(value)
        if version == 4 and text_size == 1 and tags == 0:
            return OffsetCommitValue(offset, at)
    return None


def _decode_value(value: bytes, layouts: tuple[tuple[Reader, str | None], ...]) -> Any:
    """The first layout that fits to the last byte; else the reason of the newest one, which the
    others only stand in for.
    """
    reason = ""
    for read, refused in layouts:
        try:
            result, end = read(value, 2)
        except BAD_BYTES as error:
            reason = reason or _reason(error)
            continue
        if end == len(value):
            return result if refused is None else Undecodable(refused)
        reason = reason or f"{len(value) - end} bytes too many"
    return Undecodable(reason)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, Malformed) else "ends early"
