"""Embedded messages of the classic protocol: versions 0 to 3, later ones, and what is none."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.records.classic import Assignment, NamedPartitions, Subscription
from groupreplay.wire.records import embedded
from tests.wire import encode
from tests.wire.records.test_consumer_offsets import struct_values

OWNED = [{"topic": "t", "partitions": [0, 2]}]
VALUES = {
    "topics": ["t", "u"],
    "userData": b"\1",
    "ownedPartitions": OWNED,
    "generationId": 5,
    "rackId": "r",
}
PARTS = (NamedPartitions("t", (0, 2)),)


def subscription(
    version: int, as_version: int | None = None, tail: bytes = b""
) -> Subscription | None:
    raw = struct.pack(">h", version) + encode.encode_struct(
        embedded.SUBSCRIPTION, VALUES, version if as_version is None else as_version
    )
    return embedded.subscription(raw + tail)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (0, Subscription(("t", "u"), user_data=b"\1", version=0)),
        (1, Subscription(("t", "u"), PARTS, user_data=b"\1", version=1)),
        (2, Subscription(("t", "u"), PARTS, 5, user_data=b"\1", version=2)),
        (3, Subscription(("t", "u"), PARTS, 5, "r", b"\1", version=3)),
    ],
)
def test_each_version_has_its_fields(version: int, expected: Subscription) -> None:
    assert subscription(version) == expected
    assert subscription(version, tail=b"ignored") == expected


def test_later_versions_are_read_as_the_newest() -> None:
    newest, later = subscription(3), subscription(9, 3, b"more")
    assert newest is not None
    assert later == replace(newest, version=9)
    raw = struct.pack(">h", 9) + encode.encode_struct(
        embedded.ASSIGNMENT, {"assignedPartitions": OWNED, "userData": None}, 3
    )
    assert embedded.assignment(raw + b"more") == Assignment(PARTS)


def test_no_bytes_are_no_partitions_but_no_subscription() -> None:
    assert embedded.assignment(b"") == Assignment(())
    assert embedded.subscription(b"") is None


@pytest.mark.parametrize(
    "raw",
    [
        b"\0",
        b"\0\0",
        b"\xff\xff" + bytes(20),
        b"\0\1\x7f\xff\xff\xff",
        b"\0\0\0\0\0\1\xff\xff\0\0\0\0",
    ],
)
def test_what_does_not_parse_is_none(raw: bytes) -> None:
    assert embedded.subscription(raw) is None
    assert embedded.assignment(raw) is None


@given(raw=st.binary(max_size=80))
def test_any_bytes_are_no_failure(raw: bytes) -> None:
    assert isinstance(embedded.subscription(raw), Subscription | None)
    assert isinstance(embedded.assignment(raw), Assignment | None)


@given(values=struct_values(embedded.SUBSCRIPTION, 3))
def test_encoded_subscriptions_decode_to_themselves(values: dict[str, object]) -> None:
    found = embedded.subscription(b"\0\3" + encode.encode_struct(embedded.SUBSCRIPTION, values, 3))
    assert isinstance(found, Subscription)
    assert (list(found.topics), found.user_data, found.generation_id) == (
        values["topics"],
        values["userData"],
        values["generationId"],
    )
