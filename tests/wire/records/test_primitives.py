"""Varints at their edges, lengths that lie, and text that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.wire.records import primitives
from groupreplay.wire.records.primitives import (
    BAD_BYTES,
    Malformed,
    array_reader,
    bytes_reader,
    integer_array_reader,
    read_uvarint,
    read_varlong,
    string_reader,
)
from tests.wire import encode


@given(value=st.integers(0, (1 << 32) - 1))
def test_unsigned_varints(value: int) -> None:
    assert read_uvarint(encode.uvarint(value) + b"x", 0) == (value, len(encode.uvarint(value)))


@given(value=st.integers(-(1 << 63), (1 << 63) - 1))
def test_varlongs(value: int) -> None:
    raw = encode.uvarint(((value << 1) ^ (value >> 63)) & 0xFFFFFFFFFFFFFFFF)
    assert read_varlong(raw, 0) == (value, len(raw))


@pytest.mark.parametrize("raw", [b"\xff\xff\xff\xff\x10", b"\x80\x80\x80\x80\x80\x00", b"\xff" * 6])
def test_over_long_varints_are_refused(raw: bytes) -> None:
    with pytest.raises(Malformed, match="over-long"):
        read_uvarint(raw, 0)


@pytest.mark.parametrize("raw", [b"\x80" * 10 + b"\0", b"\xff" * 9 + b"\x02"])
def test_over_long_varlongs_are_refused(raw: bytes) -> None:
    with pytest.raises(Malformed, match="over-long"):
        read_varlong(raw, 0)


def test_numbers_are_big_endian_and_signed() -> None:
    raw = bytes.fromhex("ff01020304050607 08")
    assert primitives.read_int8(raw, 0) == (-1, 1)
    assert primitives.read_int16(raw, 0) == (-255, 2)
    assert primitives.read_uint16(raw, 0) == (0xFF01, 2)
    assert primitives.read_int32(raw, 1) == (0x01020304, 5)
    assert primitives.read_int64(raw, 1) == (0x0102030405060708, 9)
    assert primitives.read_uuid(bytes(range(16)), 0) == ("AAECAwQFBgcICQoLDA0ODw", 16)
    assert primitives.uuid_text(b"\xfb\xff" + bytes(14)) == "-_8AAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize(
    ("read", "raw", "result"),
    [
        (string_reader(True, True), b"\0", None),
        (string_reader(True, False), b"\3hi", "hi"),
        (string_reader(False, True), b"\xff\xff", None),
        (string_reader(False, False), b"\0\2hi", "hi"),
        (bytes_reader(True, True), b"\0", None),
        (bytes_reader(True, False), b"\2x", b"x"),
        (bytes_reader(False, True), b"\xff\xff\xff\xff", None),
        (bytes_reader(False, False), b"\0\0\0\1x", b"x"),
        (integer_array_reader(True, True, "i"), b"\0", None),
        (integer_array_reader(True, False, "i"), b"\2\0\0\0\5", (5,)),
        (integer_array_reader(False, False, "h"), b"\0\0\0\2\0\1\0\2", (1, 2)),
        (integer_array_reader(True, False, "h"), b"\x81\1" + b"\0\7" * 128, (7,) * 128),
        (array_reader(True, True, string_reader(True, False)), b"\0", None),
        (array_reader(True, False, string_reader(True, False)), b"\3\2a\1", ("a", "")),
    ],
)
def test_sized_kinds(read: primitives.Reader, raw: bytes, result: object) -> None:
    assert read(raw, 0) == (result, len(raw))
    for cut in range(len(raw)):
        with pytest.raises(BAD_BYTES):
            read(raw[:cut], 0)


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (string_reader(True, False), b"\0"),
        (string_reader(False, False), b"\xff\xff"),
        (string_reader(False, True), b"\xff\xfe"),
        (bytes_reader(True, False), b"\0"),
        (bytes_reader(False, False), b"\xff\xff\xff\xff"),
        (bytes_reader(False, True), b"\x80\0\0\0"),
        (integer_array_reader(True, False, "i"), b"\0"),
        (integer_array_reader(False, True, "i"), b"\xff\xff\xff\xfe"),
        (array_reader(False, False, primitives.read_int8), b"\x7f\xff\xff\xff"),
    ],
)
def test_nulls_negatives_and_lies_are_refused(read: primitives.Reader, raw: bytes) -> None:
    with pytest.raises(Malformed):
        read(raw, 0)


@given(raw=st.binary(max_size=30))
def test_text_never_holds_a_lone_surrogate(raw: bytes) -> None:
    assert primitives.text(raw).encode().decode() == primitives.text(raw)


def test_bytes_that_are_no_text_stay_visible() -> None:
    assert primitives.text(b"a\xff\xed\xa0\x80") == "a\\xff\\xed\\xa0\\x80"
