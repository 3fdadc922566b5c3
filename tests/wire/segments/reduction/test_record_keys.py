"""Of which group a key is, in bytes and in text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.wire.records.layouts import RECORD_TYPES
from groupreplay.wire.segments.batches import BINARY, JSON
from groupreplay.wire.segments.reduction.record_keys import group_of, is_commit_key
from tests.wire import encode
from tests.wire.reading import counts, of_kind, read


@pytest.mark.parametrize("key_type", RECORD_TYPES)
def test_every_key_begins_with_its_group(key_type: int) -> None:
    names = {"partition": 3}
    values = [names.get(field.name, "ö" * 300) for field in RECORD_TYPES[key_type].key.fields]
    assert group_of(encode.key(key_type, *values), BINARY) == "ö" * 300
    assert is_commit_key(encode.key(key_type, *values), BINARY) == (key_type <= 1)
    name = RECORD_TYPES[key_type].key.fields[0].name
    text = b'{"type":"%d","data":{"%s":"a b"}}' % (key_type, name.encode())
    assert group_of(text, JSON) == "a b"
    assert is_commit_key(text, JSON) == (key_type <= 1)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"x",
        b"[]",
        b'{"data":5}',
        b'{"data":{}}',
        b'{"data":{"group":7}}',
        b"Unknown record type 9",
    ],
)
def test_text_that_names_no_group(key: bytes) -> None:
    assert group_of(key, JSON) is None


@given(key=st.binary(max_size=40))
def test_any_bytes_are_no_failure(key: bytes) -> None:
    assert isinstance(group_of(key, BINARY), str | None)
    assert isinstance(group_of(key, JSON), str | None)
    assert is_commit_key(key, BINARY) == (key[:2] in (b"\0\0", b"\0\1"))


@pytest.mark.parametrize(
    ("key", "hole"),
    [
        (b"\0\x05\0\x09g", 1),
        (b"\0", 1),
        (b"\0\x63\0\x09g", -1),
    ],
    ids=["a member's", "half a type", "of a type that no release writes"],
)
def test_a_record_of_some_group_is_a_hole_for_all(key: bytes, hole: int) -> None:
    """Its key is broken, so nobody knows which group it was of."""
    pairs = [encode.epoch("g"), (key, b"\0\0"), encode.epoch("h")]
    rows = read({"a": encode.batch(0, pairs) + encode.batch(3, [encode.epoch("g")])})
    found = [(row["group_id"], row["last_hole"]) for row in of_kind(rows, "record")]
    assert found == [("g", -1), ("", -1), ("h", hole), ("g", hole)]
    assert (counts(rows)["last_hole"], counts(rows)["holes"]) == (hole, 0)
