"""The other direction, for tests alone: values to keys, values, batches and segments, by the same
tables that the decoder compiles.
"""

from __future__ import annotations

import base64
import gzip
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import google_crc32c
import pyarrow as pa

from groupreplay.wire.records.layouts import RECORD_TYPES
from groupreplay.wire.records.schema import Field, Struct

FIXED = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q"}
TRANSACTIONAL, CONTROL, APPEND_TIME = 0x10, 0x20, 0x08
XERIAL = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> bytes:
    return uvarint((value << 1) ^ (value >> 63))


# ---------------------------------------------------------------- keys and values


def sized(raw: bytes | None, flexible: bool, prefix: str) -> bytes:
    if flexible:
        return uvarint(0) if raw is None else uvarint(len(raw) + 1) + raw
    return struct.pack(prefix, -1) if raw is None else struct.pack(prefix, len(raw)) + raw


def encode_field(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    kind = field.kind
    if kind in FIXED:
        return struct.pack(">" + FIXED[kind], value)
    if kind == "uuid":
        return base64.urlsafe_b64decode(value + "==")
    if kind == "string":
        return sized(None if value is None else value.encode(), flexible, ">h")
    if kind in ("utf", "utf16"):
        return java_text(value, kind)
    if kind == "[2 int32 raw]":
        return struct.pack(f">i{2 * len(value)}i", len(value), *(n for pair in value for n in pair))
    if kind in ("bytes", "subscription", "assignment"):
        return sized(value, flexible, ">i")
    if kind == "struct":
        assert field.struct is not None
        absent = b"\x00" if field.tag is not None else b"\xff"
        return absent if value is None else b"\x01" + encode_struct(field.struct, value, version)
    if value is None:
        return uvarint(0) if flexible else struct.pack(">i", -1)
    element = Field(field.name, kind[1:-1], field.struct)
    encoded = [
        encode_struct(field.struct, one, version)
        if field.struct is not None
        else encode_field(element, one, version, flexible)
        for one in value
    ]
    return (uvarint(len(encoded) + 1) if flexible else struct.pack(">i", len(encoded))) + b"".join(
        encoded
    )


def java_text(value: str, kind: str) -> bytes:
    """utf: each UTF-16 unit in one to three bytes, NUL in two (DataOutput.writeUTF)."""
    utf16 = value.encode("utf-16-be")
    if kind == "utf16":
        return struct.pack(">i", len(utf16) // 2) + utf16
    units = struct.unpack(f">{len(utf16) // 2}H", utf16)
    raw = b"".join(
        b"\xc0\x80" if unit == 0 else chr(unit).encode("utf-8", "surrogatepass") for unit in units
    )
    return struct.pack(">H", len(raw)) + raw


def encode_struct(
    layout: Struct,
    values: Mapping[str, Any],
    version: int,
    extra_tags: Sequence[tuple[int, bytes]] = (),
) -> bytes:
    """extra_tags: unknown ones, to be skipped by a reader."""
    flexible = version >= layout.flexible_since
    out, tags = b"", list(extra_tags)
    for field in layout.fields:
        value = values.get(field.name, field.default)
        if not field.is_in(version):
            continue
        if field.tag is None:
            out += encode_field(field, value, version, flexible)
        elif value != field.default:
            tags.append((field.tag, encode_field(field, value, version, flexible)))
    if flexible:
        out += uvarint(len(tags)) + b"".join(
            uvarint(tag) + uvarint(len(content)) + content for tag, content in sorted(tags)
        )
    return out


def key(key_type: int, *values: Any) -> bytes:
    fields = RECORD_TYPES[key_type].key
    return struct.pack(">h", key_type) + encode_struct(
        fields, dict(zip((one.name for one in fields.fields), values, strict=True)), 0
    )


def value(key_type: int, version: int = 0, layout: int = 0, **values: Any) -> bytes:
    """layout: index into the type's layouts, the newest first."""
    return struct.pack(">h", version) + encode_struct(
        RECORD_TYPES[key_type].layouts[layout].struct, values, version
    )


def commit(
    group: str,
    topic: str = "t",
    partition: int = 0,
    offset: int = 0,
    ts_ms: int = 0,
    metadata: str = "",
) -> tuple[bytes, bytes]:
    return key(1, group, topic, partition), value(
        1, 3, offset=offset, leaderEpoch=0, metadata=metadata, commitTimestamp=ts_ms
    )


def uncommit(group: str, topic: str = "t", partition: int = 0) -> tuple[bytes, None]:
    return key(1, group, topic, partition), None


def epoch(group: str, number: int = 1) -> tuple[bytes, bytes]:
    return key(3, group), value(3, epoch=number)


# ---------------------------------------------------------------- batches

Pair = tuple[bytes | None, bytes | None]


def compress(codec: int, data: bytes, xerial: bool = True) -> bytes:
    if codec == 0:
        return data
    if codec == 1:
        return gzip.compress(data)
    if codec == 2 and xerial:
        blocks = [
            pa.compress(data[at : at + 32768], codec="snappy", asbytes=True)
            for at in range(0, len(data), 32768)
        ]
        return XERIAL + b"".join(struct.pack(">i", len(block)) + block for block in blocks)
    packed: bytes = pa.compress(data, codec={2: "snappy", 3: "lz4", 4: "zstd"}[codec], asbytes=True)
    return packed


def record(offset_delta: int, pair: Pair, ts_delta: int = 0) -> bytes:
    def field(raw: bytes | None) -> bytes:
        return zigzag(-1) if raw is None else zigzag(len(raw)) + raw

    body = (
        b"\0"
        + zigzag(ts_delta)
        + zigzag(offset_delta)
        + field(pair[0])
        + field(pair[1])
        + zigzag(0)
    )
    return zigzag(len(body)) + body


def seal(
    base_offset: int,
    records: bytes,
    *,
    count: int,
    last_delta: int,
    attributes: int = 0,
    leader_epoch: int = 0,
    base_ts: int = 0,
    max_ts: int = 0,
    producer_id: int = -1,
) -> bytes:
    """Header and CRC around records that are compressed already."""
    checked = (
        struct.pack(
            ">hiqqqhii", attributes, last_delta, base_ts, max_ts, producer_id, -1, -1, count
        )
        + records
    )
    return (
        struct.pack(
            ">qiibI", base_offset, len(checked) + 9, leader_epoch, 2, google_crc32c.value(checked)
        )
        + checked
    )


def batch(
    base_offset: int,
    pairs: Sequence[Pair] | Mapping[int, Pair],
    *,
    ts: int = 1_700_000_000_000,
    codec: int = 0,
    attributes: int = 0,
    leader_epoch: int = 0,
    producer_id: int = -1,
    last_delta: int | None = None,
    xerial: bool = True,
    ts_deltas: Sequence[int] | None = None,
) -> bytes:
    """pairs: records in order, or by offset delta where a cleaner left holes."""
    items = sorted(pairs.items()) if isinstance(pairs, Mapping) else list(enumerate(pairs))
    deltas = ts_deltas or [0] * len(items)
    records = b"".join(
        record(delta, pair, ts_delta) for (delta, pair), ts_delta in zip(items, deltas, strict=True)
    )
    return seal(
        base_offset,
        compress(codec, records, xerial),
        count=len(items),
        last_delta=last_delta if last_delta is not None else (items[-1][0] if items else 0),
        attributes=attributes | codec,
        leader_epoch=leader_epoch,
        base_ts=ts,
        max_ts=ts + max(deltas, default=0),
        producer_id=producer_id,
    )


def transaction(base: int, groups: Sequence[str], producer: int, *, ts: int) -> bytes:
    """A batch of commits of a transaction: one of each group."""
    pairs = [commit(group, offset=base + number) for number, group in enumerate(groups)]
    return batch(base, pairs, attributes=TRANSACTIONAL, producer_id=producer, ts=ts + base)


def marker(offset: int, producer_id: int, committed: bool, **more: Any) -> bytes:
    pair = (struct.pack(">hh", 0, 1 if committed else 0), struct.pack(">hi", 0, 0))
    return batch(
        offset, [pair], attributes=TRANSACTIONAL | CONTROL, producer_id=producer_id, **more
    )
