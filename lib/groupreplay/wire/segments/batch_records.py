"""The records of a batch of format v2. Source: DefaultRecord.java of the clients."""

from __future__ import annotations

from groupreplay.wire.records.primitives import Malformed, read_varlong
from groupreplay.wire.segments.batches import APPEND_TIME, Batch, LogRecord


def parse_records(batch: Batch) -> tuple[list[LogRecord], str | None]:
    """The records of a batch, and what is wrong with the rest of it, if anything is; those before
    the fault are good.
    """
    if not isinstance(batch.data, bytes):
        return batch.data, None
    data, pos = batch.data, batch.start
    parsed: list[LogRecord] = []
    append_time = batch.max_ts_ms if batch.attributes & APPEND_TIME else None
    last = batch.base_offset - 1
    try:
        while pos < len(data):
            record, pos = _parse_record(data, pos, batch, append_time)
            if not last < record.offset <= batch.last_offset:
                raise Malformed(
                    f"offset {record.offset} in a batch of {batch.base_offset} to"
                    f" {batch.last_offset}, after {last}"
                )
            last = record.offset
            parsed.append(record)
    except (Malformed, IndexError) as error:
        return (
            parsed,
            (
                f"record {len(parsed)} of the batch:"
                f" {error if isinstance(error, Malformed) else 'ends early'}"
            ),
        )
    if len(parsed) != batch.record_count:
        return parsed, f"{len(parsed)} records in a batch that says {batch.record_count}"
    return parsed, None


def _parse_record(
    data: bytes, pos: int, batch: Batch, append_time_ms: int | None
) -> tuple[LogRecord, int]:
    """length varint, attributes int8, timestampDelta varlong, offsetDelta varint, key, value
    (varint length, -1 null), headers (passed over).
    """
    length, pos = read_varlong(data, pos)
    end = pos + length
    if length < 0 or end > len(data):
        raise Malformed(f"a length of {length}")
    ts_delta, pos = read_varlong(data, pos + 1)
    offset_delta, pos = read_varlong(data, pos)
    key, pos = _read_field(data, pos, end)
    value, pos = _read_field(data, pos, end)
    ts_ms = batch.base_ts_ms + ts_delta if append_time_ms is None else append_time_ms
    if not -(1 << 63) <= ts_ms < 1 << 63:
        raise Malformed(f"a time of {ts_ms}")
    return LogRecord(batch.base_offset + offset_delta, ts_ms, key, value), end


def _read_field(data: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    length, pos = read_varlong(data, pos)
    if length < 0:
        return None, pos
    if pos + length > end:
        raise Malformed(f"a length of {length} where {end - pos} bytes are left")
    return data[pos : pos + length], pos + length
