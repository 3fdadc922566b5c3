"""Structs of a version as readers of bytes: what each version has, tags, and what is refused.

Source: generator/src/main/java/org/apache/kafka/message/MessageDataGenerator.java.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from groupreplay.wire.records.primitives import Malformed
from groupreplay.wire.records.schema import NEVER_FLEXIBLE, Field, Struct
from groupreplay.wire.records.struct_reader import field_reader, struct_reader
from tests.wire.encode import encode_struct, uvarint


def layout(*fields: Field, flexible_since: int = 0) -> Struct:
    return Struct(fields, lambda *values: values, flexible_since)


PLAIN = layout(
    Field("epoch", "int32"),
    Field("at", "int64", since=1, default=-1),
    Field("partition", "int16"),
    Field("topic", "string"),
    flexible_since=NEVER_FLEXIBLE,
)
TAGGED = layout(
    Field("groupId", "string"),
    Field("rack", "string", nullable=True, tag=0),
    Field("epoch", "int32", tag=1, default=7, since=1),
)


def read(of: Struct, data: bytes, version: int = 1) -> tuple[Any, int]:
    return struct_reader(of, version)(data, 0)


@pytest.mark.parametrize(
    ("version", "data", "values"),
    [
        (1, struct.pack(">iqhh", 3, 9, 2, 1) + b"t", (3, 9, 2, "t")),
        (0, struct.pack(">ihh", 3, 2, 1) + b"t", (3, -1, 2, "t")),
    ],
)
def test_a_version_has_its_own_fields_and_defaults_for_the_others(
    version: int, data: bytes, values: tuple[Any, ...]
) -> None:
    assert read(PLAIN, data + b"rest", version) == (values, len(data))


def test_tagged_fields_are_read_and_default_where_they_are_absent() -> None:
    present = encode_struct(TAGGED, {"groupId": "g", "rack": "r", "epoch": 2}, 1)
    assert read(TAGGED, present) == (("g", "r", 2), len(present))
    absent = encode_struct(TAGGED, {"groupId": "g"}, 1)
    assert read(TAGGED, absent) == (("g", None, 7), len(absent))


@pytest.mark.parametrize("number", [2, 200, 1 << 20])
def test_tags_of_a_later_version_are_passed_over(number: int) -> None:
    for content in (b"", b"x" * 300):
        data = encode_struct(TAGGED, {"groupId": "g", "epoch": 2}, 1, [(number, content)])
        assert read(TAGGED, data) == (("g", None, 2), len(data))


def test_a_tag_that_the_version_lacks_is_passed_over() -> None:
    data = encode_struct(TAGGED, {"groupId": "g", "epoch": 2}, 1)
    assert read(TAGGED, data, version=0) == (("g", None, 7), len(data))


EPOCH = struct.pack(">i", 2)


@pytest.mark.parametrize(
    ("tags", "reason"),
    [
        ([(1, EPOCH), (1, EPOCH)], "tag 1 after tag 1"),
        ([(1, EPOCH), (0, b"\x02r")], "tag 0 after tag 1"),
        ([(1, EPOCH + b"x")], "tag 1 does not fill its size"),
    ],
)
def test_tags_that_no_writer_writes_are_refused(tags: list[tuple[int, bytes]], reason: str) -> None:
    section = uvarint(len(tags))
    for number, content in tags:
        section += uvarint(number) + uvarint(len(content)) + content
    with pytest.raises(Malformed, match=reason):
        read(TAGGED, b"\x02g" + section)


def test_a_tag_cannot_be_longer_than_what_is_left() -> None:
    with pytest.raises(Malformed, match="a tag of 5 bytes where 1 are left"):
        read(TAGGED, b"\x02g\x01\x09\x05x")


def test_a_nullable_struct_has_a_presence_byte_of_another_form_in_a_tag() -> None:
    inner = layout(Field("epoch", "int32"), flexible_since=NEVER_FLEXIBLE)
    for tag, null in ((None, b"\xff"), (0, b"\x00")):
        field = Field("target", "struct", inner, nullable=True, tag=tag)
        reader = field_reader(field, 0, True)
        assert reader(null, 0) == (None, 1)
        assert reader(b"\x01" + EPOCH, 0) == ((2,), 5)
        with pytest.raises(Malformed, match="a presence byte of 2"):
            reader(b"\x02" + EPOCH, 0)


def test_arrays_of_structs_hold_what_the_version_has() -> None:
    inner = layout(Field("id", "int16"), Field("epochs", "[int32]", nullable=True, since=1))
    outer = layout(Field("topics", "[struct]", inner))
    for version in (0, 1):
        data = encode_struct(outer, {"topics": [{"id": 4, "epochs": [1, 2]}, {"id": 5}]}, version)
        epochs = (1, 2) if version else None
        assert read(outer, data, version) == ((((4, epochs), (5, None)),), len(data))
