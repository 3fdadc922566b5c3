"""The JSON of the dump tool: equal to the bytes (on recordings: test_recordings), total, and free
of lone surrogates.
"""

from __future__ import annotations

import base64
import json
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.records.classic import (
    Assignment,
    GroupMember,
    GroupMetadata,
    NamedPartitions,
    Subscription,
)
from groupreplay.records.consumer import ConsumerGroupMetadata
from groupreplay.records.entries import Record
from groupreplay.records.others import OtherGroupRecord
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.records.layouts import RECORD_TYPES
from groupreplay.wire.records.schema import Field, Struct
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from tests.wire import encode
from tests.wire.records.test_consumer_offsets import VERSIONS, struct_values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
)


def as_printed(layout: Struct, values: dict[str, object], version: int) -> dict[str, object]:
    """What the tool prints: bytes in base64, tags that are their default left out."""
    return {
        field.name: _printed(field, values[field.name], version)
        for field in layout.fields
        if field.is_in(version) and (field.tag is None or values[field.name] != field.default)
    }


def _printed(field: Field, value: object, version: int) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [
            as_printed(field.struct, one, version) if field.struct is not None else one
            for one in value
        ]
    return (
        as_printed(field.struct, value, version)
        if field.struct is not None and isinstance(value, dict)
        else value
    )


@pytest.mark.long
@pytest.mark.parametrize(("key_type", "version"), VERSIONS)
@settings(max_examples=15)
@given(data=st.data())
def test_text_and_bytes_give_equal_records(
    key_type: int, version: int, data: st.DataObject
) -> None:
    record_type = RECORD_TYPES[key_type]
    layout = data.draw(
        st.sampled_from([one for one in record_type.layouts if one.refused is None])
    ).struct
    key_values, values = (
        data.draw(struct_values(record_type.key, 0)),
        data.draw(struct_values(layout, version)),
    )
    key = struct.pack(">h", key_type) + encode.encode_struct(record_type.key, key_values, 0)
    value = struct.pack(">h", version) + encode.encode_struct(layout, values, version)
    key_text = json.dumps(
        {"type": str(key_type), "data": as_printed(record_type.key, key_values, 0)}
    )
    value_text = json.dumps(
        {"version": str(version), "data": as_printed(layout, values, version)}, ensure_ascii=False
    )
    by_text, by_bytes = decode_json(key_text.encode(), value_text.encode()), decode(key, value)
    assert by_text == by_bytes
    assert decode_json(key_text.encode(), None) == decode(key, None)


K2 = b'{"type":"2","data":{"group":"g"}}'


def group(members: str, protocol_type: str = "consumer") -> bytes:
    rest = '"generation":1,"protocol":"range","leader":"m","currentStateTimestamp":5'
    return f'{{"version":"3","data":{{"protocolType":"{protocol_type}",{rest},"members":[{members}]}}}}'.encode()


MEMBER = (
    '{"memberId":"m","groupInstanceId":null,"clientId":"c","clientHost":"/h","rebalanceTimeout":1,"sessionTimeout":2,'
    '"subscription":%s,"assignment":%s}'
)


def members_of(result: object) -> tuple[GroupMember, ...]:
    assert isinstance(result, GroupMetadata)
    assert result.value is not None
    return result.value.members


def test_embedded_messages_are_expanded_or_base64() -> None:
    expanded = '{"topics":["t"],"userData":"AQI=","ownedPartitions":[{"topic":"t","partitions":[1]}],"generationId":4,"rackId":"r"}'
    (member,) = members_of(
        decode_json(K2, group(MEMBER % (expanded, '{"assignedPartitions":[],"userData":null}')))
    )
    assert member.subscription == Subscription(
        ("t",), (NamedPartitions("t", (1,)),), 4, "r", b"\1\2", version=3
    )
    assert member.assignment == Assignment(())
    (member,) = members_of(
        decode_json(K2, group(MEMBER % ('{"topics":["t"],"userData":null}', '""')))
    )
    assert member.subscription == Subscription(("t",), version=0)
    assert member.assignment == Assignment(())
    (member,) = members_of(decode_json(K2, group(MEMBER % ('"AAE="', '"/w=="'))))
    assert (member.subscription, member.assignment) == (None, None)
    (member,) = members_of(decode_json(K2, group(MEMBER % ('"AAAAAAAAAAAAAA=="', '""'), "connect")))
    assert (member.subscription, member.assignment) == (None, None)


@pytest.mark.parametrize(
    ("names", "version"),
    [
        ('"ownedPartitions":[],"generationId":-1,"rackId":null', 3),
        ('"ownedPartitions":[],"generationId":-1', 2),
        ('"ownedPartitions":[]', 1),
    ],
)
def test_fields_of_an_expanded_subscription_tell_its_version(names: str, version: int) -> None:
    expanded = f'{{"topics":["t"],"userData":null,{names}}}'
    (member,) = members_of(decode_json(K2, group(MEMBER % (expanded, '""'))))
    assert member.subscription == Subscription(("t",), version=version)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Unknown record type 99 at offset 7, skipping.", UnknownType(99)),
        ("Unknown record type -3 at offset 7, skipping.", UnknownType(-3)),
        (
            "Error at offset 7, skipping. null",
            Undecodable("kafka-dump-log could not decode it: null"),
        ),
        (
            "offset_commit::group=g,partition=t-0",
            Undecodable("text of kafka-dump-log 3.7 or older"),
        ),
        ("", Undecodable("key: not JSON")),
        ("[]", Undecodable("key: not an object with data")),
        ('{"type":"x","data":{}}', Undecodable("key: no type")),
        ('{"type":"99","data":{}}', UnknownType(99)),
        ('{"type":true,"data":{}}', Undecodable("key: no type")),
        ('{"type":"3","data":{}}', Undecodable("key of type 3: no groupId")),
        ('{"type":"3","data":{"groupId":5}}', Undecodable("key of type 3: '5' is no text")),
        ('{"type":3,"data":{"groupId":"g"}}', ConsumerGroupMetadata("g", None)),
    ],
)
def test_keys(text: str, result: object) -> None:
    assert decode_json(text.encode(), None) == result


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "value of type 3: not JSON"),
        ('{"version":"1","data":{"epoch":1}}', "value of type 3: unknown version 1"),
        ('{"version":"-1","data":{"epoch":1}}', "value of type 3: unknown version -1"),
        ('{"version":"0","data":{}}', "value of type 3, version 0: no epoch"),
        (
            '{"version":"0","data":{"epoch":2147483648}}',
            "value of type 3, version 0: '2147483648' is no number of -2147483648 to 2147483647",
        ),
        (
            '{"version":"0","data":{"epoch":1.5}}',
            "value of type 3, version 0: '1.5' is no number of -2147483648 to 2147483647",
        ),
        ('{"version":"0","data":[]}', "value of type 3, version 0: '[]' is no object"),
    ],
)
def test_values(text: str, reason: str) -> None:
    assert decode_json(b'{"type":"3","data":{"groupId":"g"}}', text.encode()) == Undecodable(reason)


@settings(max_examples=200)
@given(key_type=st.integers(-1, 25), data=JSON, value=st.none() | JSON, raw=st.binary(max_size=40))
def test_any_text_is_a_record_or_a_reason(
    key_type: int, data: object, value: object, raw: bytes
) -> None:
    kinds = Record | UnknownType | Undecodable
    names = (
        [field.name for field in RECORD_TYPES[key_type].key.fields]
        if key_type in RECORD_TYPES
        else ["x"]
    )
    key = json.dumps({"type": str(key_type), "data": dict.fromkeys(names, data)}).encode()
    assert isinstance(decode_json(key, json.dumps({"version": "0", "data": value}).encode()), kinds)
    assert isinstance(decode_json(raw, raw), kinds)
    good = json.dumps({"type": str(key_type), "data": dict.fromkeys(names, "g")}).encode()
    assert isinstance(decode_json(good, raw), kinds)


def test_deep_and_endless_texts_are_refused() -> None:
    for text in (b"[" * 100_000, b'{"data":' * 100_000, b"9" * 100_000):
        tracemalloc.start()
        try:
            assert isinstance(decode_json(text, None), Undecodable)
            assert tracemalloc.get_traced_memory()[1] < 60 * len(text)
        finally:
            tracemalloc.stop()


def test_lone_surrogates_become_text_everywhere() -> None:
    result = decode_json(
        b'{"type":"10","data":{"groupId":"a\\uDFFFb","memberId":"\\ud83d\\ude00"}}',
        b'{"version":"0","data":{"rackId":"\\udc00","clientId":"\\\\ud800","clientHost":"h","subscribedTopicNames":["\\ud800"]}}',
    )
    assert result == OtherGroupRecord(
        10,
        "a\\udfffb",
        "😀",
        {
            "rack_id": "\\udc00",
            "client_id": "\\ud800",
            "client_host": "h",
            "subscribed_topic_names": ("\\ud800",),
        },
    )
