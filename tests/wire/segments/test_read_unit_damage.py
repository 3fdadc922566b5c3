"""Damage inside files: flipped bytes, nonsense lengths, garbage, old formats. Whole batches are all
found, every other stretch has a row.
"""

from __future__ import annotations

import struct
import zlib

import pytest

from tests.wire import encode
from tests.wire.logs import log
from tests.wire.reading import counts, of_kind, offsets, read, reasons


@pytest.mark.parametrize("number", range(5))
def test_a_flipped_byte_costs_its_batch_at_most(number: int) -> None:
    """Every byte of one batch, flipped every way that matters, changes no other batch. Leader
    epochs are not covered by the checksum.
    """
    batches = log()
    good = read({"a": b"".join(batches)})
    inside = range(number * 3, number * 3 + 3)
    others = [row for row in good[:-1] if row["offset"] not in inside]
    for at in range(len(batches[number])):
        for mask in (0x01, 0x80, 0xFF):
            flipped = bytearray(batches[number])
            flipped[at] ^= mask
            rows = read(
                {"a": b"".join([*batches[:number], bytes(flipped), *batches[number + 1 :]])}
            )
            kept = [{**row, "last_hole": -1} for row in of_kind(rows, "record")]
            lost_silently = number == 4 and at < 12
            if 12 <= at < 16:
                assert [row["offset"] for row in kept] == offsets(good)
                continue
            if not lost_silently:
                assert [row for row in kept if row["offset"] not in inside] == others, (at, mask)
                assert len(of_kind(rows, "damage")) == 1, (at, mask)
                assert counts(rows)["last_hole"] in (
                    (-1,) if number == 4 else (-1, 2) if number == 0 else (inside[-1],)
                )
            else:
                assert kept[: len(others)] == others


def test_damage_says_where_and_keeps_the_first_bytes() -> None:
    batches = [
        encode.batch(0, [encode.epoch("g")]),
        encode.batch(1, [(b"\0\3\0\1g", bytes(2000))]),
        encode.batch(2, [encode.epoch("g")]),
    ]
    broken = bytearray(batches[1])
    broken[-1] ^= 1
    rows = read({"a": batches[0] + bytes(broken) + batches[2]})
    (row,) = of_kind(rows, "damage")
    assert row["detail"] == {
        "reason": "checksum does not match",
        "path": "a",
        "position": len(batches[0]),
        "bytes": len(batches[1]),
    }
    assert (row["offset"], row["value"], row["group_id"], row["encoding"]) == (
        1,
        bytes(broken)[:1024],
        "",
        "",
    )


@pytest.mark.parametrize("length", [0x7FFFFFFF, 0x7FFFFF00, -1, 0, 48, 127 << 20, 100_000])
def test_a_nonsense_length_costs_its_batch(length: int) -> None:
    batches = log()
    broken = batches[1][:8] + struct.pack(">i", length) + batches[1][12:]
    rows = read({"a": b"".join([batches[0], broken, *batches[2:]])})
    assert offsets(rows) == [0, 1, 2, *range(6, 15)]
    (row,) = of_kind(rows, "damage")
    assert (row["detail"]["position"], row["detail"]["bytes"]) == (len(batches[0]), len(batches[1]))


@pytest.mark.parametrize("size", [1, 60, 61, 500, 5 << 20])
def test_garbage_between_batches_is_one_stretch(size: int) -> None:
    batches = log()
    garbage = (b"\x02garbage\x00\x02" * (size // 10 + 1))[:size]
    rows = read({"a": b"".join([*batches[:2], garbage, *batches[2:]])})
    assert offsets(rows) == list(range(15))
    (row,) = of_kind(rows, "damage")
    assert (row["detail"]["position"], row["detail"]["bytes"]) == (
        len(batches[0]) + len(batches[1]),
        size,
    )


def test_a_garbage_file_is_one_row() -> None:
    for content in (
        b"this is no log\n" * 10_000,
        bytes(range(256)) * 100,
        b"\xff" * 1000,
        b"\x02" * 100_000,
    ):
        rows = read({"a": content})
        assert [row["kind"] for row in rows] == ["damage", "unit"]
        assert rows[0]["detail"]["bytes"] == len(content)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats_are_named(magic: int) -> None:
    message = struct.pack(">bb", magic, 0) + b"\0\0\0\1k\0\0\0\1v" + bytes(6)
    old = b"".join(
        struct.pack(">qiI", offset, len(message) + 4, zlib.crc32(message)) + message
        for offset in range(1000)
    )
    rows = read({"a": old + b"".join(log(1, 3, first=1000))})
    (row,) = of_kind(rows, "damage")
    assert row["detail"]["reason"] == f"record format v{magic} (magic {magic}) is not read"
    assert (row["detail"]["bytes"], offsets(rows)) == (len(old), [1000, 1001, 1002])


def test_records_that_do_not_fit_their_batch_are_damage_and_holes() -> None:
    good = encode.record(0, encode.epoch("g"))
    cases = {
        good + b"\x7f": 1,
        good + encode.record(5, encode.epoch("g")): 1,
        good + b"\x01": 1,
        good + b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80": 1,
        good: 1,
        good * 2: 1,
        b"": 0,
    }
    for records, usable in cases.items():
        rows = read(
            {
                "a": encode.seal(0, records, count=2, last_delta=1)
                + encode.batch(2, [encode.epoch("g")])
            }
        )
        assert offsets(rows) == [*range(usable), 2], records
        assert len(reasons(rows)) == 1
        assert (counts(rows)["holes"], counts(rows)["last_hole"]) == (2 - usable, 1)
