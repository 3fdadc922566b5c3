"""The records of one batch: their offsets, times, keys and values, and how far a bad one is read.

Source: DefaultRecord.java of the clients.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import APPEND_TIME, BINARY, Batch, LogRecord
from tests.wire.encode import record, zigzag

TS_MS = 1_700_000_000_000
GOOD = record(0, (b"k", b"v"))


def batch(*records: bytes, count: int | None = None, **more: Any) -> Batch:
    data = b"header" + b"".join(records)
    made = Batch(
        *(100, 109, 3, 0, 0, TS_MS, TS_MS + 9, -1, len(records) if count is None else count),
        *(data, len(b"header"), BINARY, "a", 0),
    )
    return made._replace(**more)


def test_offsets_and_times_are_counted_from_those_of_the_batch() -> None:
    records, fault = parse_records(batch(GOOD, record(9, (b"", None), ts_delta=-5)))
    assert records == [
        LogRecord(100, TS_MS, b"k", b"v"),
        LogRecord(109, TS_MS - 5, b"", None),
    ]
    assert fault is None


def test_a_record_without_a_key_has_none() -> None:
    records, _ = parse_records(batch(record(0, (None, b""))))
    assert [(each.key, each.value) for each in records] == [(None, b"")]


def test_of_log_append_time_every_record_has_the_time_of_the_batch() -> None:
    records, _ = parse_records(
        batch(GOOD, record(1, (b"k", b"v"), ts_delta=7), attributes=APPEND_TIME)
    )
    assert [each.ts_ms for each in records] == [TS_MS + 9] * 2


def test_records_that_were_parsed_before_are_given_on() -> None:
    """Batches of a text of kafka-dump-log."""
    parsed = [LogRecord(100, TS_MS, b"k", b"v")]
    records, fault = parse_records(batch()._replace(data=parsed, start=-1))
    assert records is parsed
    assert fault is None


def cut_value() -> bytes:
    body = b"\0" + zigzag(0) + zigzag(1) + zigzag(1) + b"k" + zigzag(9) + b"v"
    return zigzag(len(body)) + body


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (record(0, (b"k", b"v")), "offset 100 in a batch of 100 to 109, after 100"),
        (record(10, (b"k", b"v")), "offset 110 in a batch of 100 to 109, after 100"),
        (record(-1, (b"k", b"v")), "offset 99 in a batch of 100 to 109, after 100"),
        (zigzag(-1), "a length of -1"),
        (zigzag(50) + b"short", "a length of 50"),
        (record(1, (b"k", b"v"), ts_delta=(1 << 63) - 1), "a time of"),
        (cut_value(), "a length of 9 where 1 bytes are left"),
        (b"\xff" * 11, "a varint is over-long"),
        (b"\xff", "ends early"),
    ],
    ids=["twice", "above", "below", "negative", "cut", "time", "value", "varint", "end"],
)
def test_what_stands_before_a_bad_record_is_kept(bad: bytes, reason: str) -> None:
    records, fault = parse_records(batch(GOOD, bad))
    assert [each.offset for each in records] == [100]
    assert fault is not None
    assert fault.startswith(f"record 1 of the batch: {reason}")


@pytest.mark.parametrize("count", [1, 3])
def test_a_batch_that_holds_another_number_of_records_says_so(count: int) -> None:
    records, fault = parse_records(batch(GOOD, record(1, (b"k", b"v")), count=count))
    assert len(records) == 2
    assert fault == f"2 records in a batch that says {count}"
