"""Every type and version, there and back; and any bytes at all.

Holds wire/records/layouts.py.
"""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from groupreplay.records.consumer import ConsumerGroupMetadata, ConsumerGroupTargetAssignmentMember
from groupreplay.records.entries import Record
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.layouts import RECORD_TYPES
from groupreplay.wire.records.primitives import uuid_text
from groupreplay.wire.records.schema import Field, Struct
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from tests.wire import encode
from tests.wire.built import built

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
INTEGERS = {
    "int8": st.integers(-(1 << 7), (1 << 7) - 1),
    "int16": st.integers(-(1 << 15), (1 << 15) - 1),
    "uint16": st.integers(0, (1 << 16) - 1),
    "int32": st.integers(-(1 << 31), (1 << 31) - 1),
    "int64": st.integers(-(1 << 63), (1 << 63) - 1),
}


def field_values(field: Field, version: int) -> st.SearchStrategy[Any]:
    kind = field.kind
    element = kind.strip("[]")
    values: st.SearchStrategy[Any]
    if element in INTEGERS:
        values = INTEGERS[element]
    elif element == "struct":
        assert field.struct is not None
        values = struct_values(field.struct, version)
    elif element in ("subscription", "assignment", "bytes"):
        values = st.binary(max_size=20)
    elif element == "uuid":
        values = st.binary(min_size=16, max_size=16).map(uuid_text)
    else:
        values = TEXT
    if kind != element:
        values = st.lists(values, max_size=3)
    return st.none() | values if field.nullable else values


def struct_values(layout: Struct, version: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            field.name: field_values(field, version)
            for field in layout.fields
            if field.is_in(version)
        }
    )


VERSIONS = [
    (key_type, version)
    for key_type, one in RECORD_TYPES.items()
    for version in range(one.max_version + 1)
]


@pytest.mark.long
@pytest.mark.parametrize(("key_type", "version"), VERSIONS)
@settings(max_examples=25)
@given(data=st.data())
def test_encoded_record_decodes_to_itself(key_type: int, version: int, data: st.DataObject) -> None:
    record_type = RECORD_TYPES[key_type]
    layouts = [one for one in record_type.layouts if one.refused is None]
    layout = data.draw(st.sampled_from(layouts)).struct
    key_values = data.draw(struct_values(record_type.key, 0))
    values = data.draw(struct_values(layout, version))
    tags = data.draw(
        st.lists(
            st.tuples(st.integers(100, 1 << 20), st.binary(max_size=5)),
            # Of two layouts one may read the unknown tags of the other as its own fields.
            max_size=2 if len(layouts) == 1 else 0,
            unique_by=lambda tag: tag[0],
        )
    )
    key = struct.pack(">h", key_type) + encode.encode_struct(record_type.key, key_values, 0)
    value = struct.pack(">h", version) + encode.encode_struct(layout, values, version, tags)
    names = [key_values[field.name] for field in record_type.key.fields]
    assert decode(key, value) == record_type.record(*names, built(layout, values, version))
    assert decode(key, None) == record_type.record(*names, None)


@settings(max_examples=400)
@given(key=st.binary(max_size=60), value=st.none() | st.binary(max_size=200))
@example(key=b"\x00\x08\x00\x00\x00\x00", value=b"\x00\x00" + b"\xff" * 40)
def test_any_bytes_are_a_record_or_a_reason(key: bytes, value: bytes | None) -> None:
    result = decode(key, value)
    assert isinstance(result, Record | UnknownType | Undecodable)
    if isinstance(result, Undecodable):
        assert result.reason


@pytest.mark.parametrize(("key_type", "version"), VERSIONS)
@settings(max_examples=25)
@given(value=st.binary(max_size=120), cut=st.integers(0, 120))
def test_any_value_of_a_known_type_is_a_record_or_a_reason(
    key_type: int, version: int, value: bytes, cut: int
) -> None:
    names = {"partition": 0}
    key = encode.key(
        key_type, *(names.get(field.name, "x") for field in RECORD_TYPES[key_type].key.fields)
    )
    assert isinstance(decode(key, struct.pack(">h", version) + value), Record | Undecodable)
    assert isinstance(decode(key[:cut], value), Record | UnknownType | Undecodable)


@settings(max_examples=150)
@given(data=st.data())
def test_no_text_holds_a_lone_surrogate(data: st.DataObject) -> None:
    raw = data.draw(st.binary(max_size=20))
    result = decode(struct.pack(">hh", 3, len(raw)) + raw, None)
    assert isinstance(result, ConsumerGroupMetadata)
    assert result.group_id.encode("utf-8").decode("utf-8") == result.group_id


def test_claimed_counts_and_lengths_allocate_nothing() -> None:
    """2 thousand million elements, in 15 bytes."""
    many = encode.uvarint(0x7FFFFFFF)
    liars = [
        (encode.key(8, "g", "m"), b"\0\0" + bytes(9) + many),
        (encode.key(7, "g", "m"), b"\0\0" + many),
        (
            encode.key(2, "g"),
            b"\0\3\0\x08consumer\0\0\0\1\xff\xff\xff\xff" + bytes(8) + b"\x7f\xff\xff\xff",
        ),
        (encode.key(5, "g", "m"), b"\0\0" + b"\0\0" + many),
        (encode.key(17, "g"), b"\0\0" + bytes(12) + b"\1\1" + many + many),
        (encode.key(8, "g", "m"), b"\0\0" + bytes(9) + b"\1\1\xff\xff\xff\xff\x0f"),
    ]
    tracemalloc.start()
    try:
        for key, value in liars:
            result = decode(key, value)
            assert isinstance(result, Undecodable), (key, result)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_memory_is_a_small_multiple_of_the_bytes() -> None:
    value = encode.value(
        7, topicPartitions=[{"topicId": "A" * 22, "partitions": [0] * 50_000} for _ in range(4)]
    )
    tracemalloc.start()
    try:
        assert isinstance(
            decode(encode.key(7, "g", "m"), value), ConsumerGroupTargetAssignmentMember
        )
        assert tracemalloc.get_traced_memory()[1] < 8 * len(value)
    finally:
        tracemalloc.stop()


def test_a_group_id_of_32767_bytes_with_quotes_newlines_and_unicode_passes() -> None:
    group = ('"\n\\ü€😀' * 4000).encode()[:32765].decode(errors="ignore")
    assert decode(encode.key(3, group), None) == ConsumerGroupMetadata(group, None)
    assert decode(encode.key(3, ""), None) == ConsumerGroupMetadata("", None)
