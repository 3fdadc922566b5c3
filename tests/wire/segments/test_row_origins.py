"""What rows of a batch share, and values that are taken from the bytes of a record."""

from __future__ import annotations

import pytest

from groupreplay.wire.records.primitives import Malformed
from groupreplay.wire.segments.batches import APPEND_TIME, BINARY, Batch
from groupreplay.wire.segments.row_origins import origin_of, value_in
from tests.wire.encode import zigzag

BATCH = Batch(100, 109, 3, 12345, 0, 1_000, 1_009, 77, 10, b"", 0, BINARY, "a", 50)


def test_records_count_their_times_from_the_batch() -> None:
    assert origin_of(BATCH, 98, True) == (1_000, 1, 3, 100, 98, 77, BINARY, True, -1)


def test_of_log_append_time_their_own_times_count_for_nothing() -> None:
    appended = BATCH._replace(attributes=APPEND_TIME)
    base_ms, scale, *rest = origin_of(appended, -1, False)
    assert (base_ms, scale) == (1_009, 0)
    assert rest == [3, 100, -1, 77, BINARY, False, -1]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 8_191, 8_192])
def test_a_value_is_as_long_as_it_says(size: int) -> None:
    """From 64 bytes on its length takes two bytes, from 8,192 on three; headers follow it."""
    value = b"v" * size
    assert value_in(zigzag(size) + value + zigzag(1) + b"header") == value


def test_a_tombstone_has_no_value() -> None:
    assert value_in(zigzag(-1) + zigzag(0)) is None


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b"", "no value"),
        (b"\x80", "no value"),
        (b"\xff" * 11, "no value"),
        (zigzag(3) + b"vv", "value is cut"),
        (zigzag(200) + b"v" * 199, "value is cut"),
    ],
    ids=["nothing", "length cut", "length over-long", "one missing", "long, one missing"],
)
def test_bytes_that_are_no_value_are_told(tail: bytes, reason: str) -> None:
    found = value_in(tail)
    assert isinstance(found, Malformed)
    assert str(found) == reason
