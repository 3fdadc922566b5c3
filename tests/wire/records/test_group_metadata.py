"""Members of K2 as bytes and as text of kafka-dump-log: whose user data is read, and what is said
where it cannot be.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest

from groupreplay.records.classic import GroupMember, GroupMetadata
from groupreplay.wire.records import embedded
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.segments.units import Unit
from tests.wire import encode
from tests.wire.reading import of_kind, open_path, recorded_units, recordings, rows_of
from tests.wire.records.test_streams_user_data import GIVEN, PROCESS, REPORTED

SUBSCRIPTION = {
    "topics": ["t"],
    "userData": REPORTED,
    "ownedPartitions": [],
    "generationId": 2,
    "rackId": None,
}
ASSIGNMENT = {"assignedPartitions": [], "userData": GIVEN}
HEAD = {
    "memberId": "m",
    "groupInstanceId": None,
    "clientId": "c",
    "clientHost": "/h",
    "rebalanceTimeout": 1,
    "sessionTimeout": 2,
}


def versioned(layout: Any, values: dict[str, Any] | None) -> bytes:
    return b"" if values is None else struct.pack(">h", 3) + encode.encode_struct(layout, values, 3)


def as_text(values: dict[str, Any] | None) -> Any:
    if values is None:
        return ""
    user_data = values["userData"]
    text = None if user_data is None else base64.b64encode(user_data).decode()
    return values | {"userData": text}


def members(
    protocol: str = "stream",
    protocol_type: str = "consumer",
    subscription: dict[str, Any] | None = SUBSCRIPTION,
    assignment: dict[str, Any] | None = ASSIGNMENT,
) -> tuple[GroupMember, ...]:
    """Of one K2, read both ways, which give the same."""
    group: dict[str, Any] = {"protocolType": protocol_type, "generation": 3, "protocol": protocol}
    group |= {"leader": "m", "currentStateTimestamp": 5}
    raw = HEAD | {
        "subscription": versioned(embedded.SUBSCRIPTION, subscription),
        "assignment": versioned(embedded.ASSIGNMENT, assignment),
    }
    text = HEAD | {"subscription": as_text(subscription), "assignment": as_text(assignment)}
    by_bytes = decode(encode.key(2, "g"), encode.value(2, 3, **group, members=[raw]))
    by_text = decode_json(
        json.dumps({"type": "2", "data": {"group": "g"}}).encode(),
        json.dumps({"version": "3", "data": group | {"members": [text]}}).encode(),
    )
    assert isinstance(by_bytes, GroupMetadata)
    assert by_bytes.value is not None
    assert by_text == by_bytes
    return by_bytes.value.members


def test_user_data_of_stream_threads_is_read() -> None:
    (member,) = members()
    assert member.streams_error is None
    assert member.subscription is not None
    assert member.subscription.streams is not None
    assert member.subscription.streams.process_id == PROCESS
    assert member.subscription.user_data == REPORTED
    assert member.assignment is not None
    assert member.assignment.streams is not None
    assert member.assignment.streams.next_rebalance_ms == 0
    assert member.assignment.user_data == GIVEN


@pytest.mark.parametrize("names", [("range", "consumer"), ("stream", "connect"), ("", "consumer")])
def test_user_data_of_others_is_not(names: tuple[str, str]) -> None:
    """Also where the same bytes were read as those of a stream thread."""
    members()
    (member,) = members(*names)
    assert member.streams_error is None
    assert member.subscription is None or member.subscription.streams is None
    assert member.assignment is None or member.assignment.streams is None


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"subscription": SUBSCRIPTION | {"userData": None}}, "subscription: no user data"),
        ({"assignment": ASSIGNMENT | {"userData": None}}, "assignment: no user data"),
        ({"subscription": SUBSCRIPTION | {"userData": b""}}, "subscription: ends early"),
        (
            {"subscription": SUBSCRIPTION | {"userData": REPORTED + b"\1\2"}},
            "subscription: 2 bytes too many",
        ),
        (
            {"assignment": ASSIGNMENT | {"userData": struct.pack(">ii", 12, 12)}},
            "assignment: NEWER_STREAMS_METADATA: version 12, latest 12",
        ),
    ],
)
def test_what_cannot_be_read_has_a_reason(given: dict[str, Any], error: str) -> None:
    (member,) = members(**given)
    assert member.streams_error == error
    assert member.subscription is not None
    assert member.assignment is not None
    assert (member.subscription.streams is None) == ("subscription" in given)
    assert (member.assignment.streams is None) == ("assignment" in given)


def test_messages_that_do_not_parse_have_a_reason() -> None:
    group: dict[str, Any] = {
        "protocolType": "consumer",
        "generation": 3,
        "protocol": "stream",
        "leader": "m",
    }
    raw = HEAD | {"subscription": b"\0", "assignment": b"\0"}
    record = decode(encode.key(2, "g"), encode.value(2, 3, **group, members=[raw]))
    assert isinstance(record, GroupMetadata)
    assert record.value is not None
    (member,) = record.value.members
    assert (member.subscription, member.assignment) == (None, None)
    assert member.streams_error == "subscription: it does not parse"


def test_user_data_of_real_stream_threads_is_read() -> None:
    """Every one of the recordings, as bytes and as text."""
    read = 0
    for recording in recordings():
        for partition, (segments, dumps) in recorded_units(recording).items():
            for files, decoder in ((segments, decode), (dumps, decode_json)):
                unit = Unit(partition, -1, -1, files, "source", "input")
                for row in of_kind(rows_of(unit, open_path) if files else [], "record"):
                    if b"stream" not in (row["value"] or b""):
                        continue
                    record = decoder(row["key"], row["value"])
                    value = record.value if isinstance(record, GroupMetadata) else None
                    if value is not None and value.protocol == "stream":
                        read += _assert_read(value.members)
    assert read >= 464


def _assert_read(members: tuple[GroupMember, ...]) -> int:
    """How many. A task for each assigned partition, of the partition's number."""
    for member in members:
        assert member.streams_error is None
        assert member.subscription is not None
        assert member.subscription.streams is not None
        assert member.assignment is not None
        assert member.assignment.streams is not None
        assigned = sorted(
            (each.topic, partition)
            for each in member.assignment.assigned_partitions
            for partition in each.partitions
        )
        tasks = [task[1] for task in member.assignment.streams.active]
        assert tasks == [partition for _, partition in assigned]
    return len(members)
