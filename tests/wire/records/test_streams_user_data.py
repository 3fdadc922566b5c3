"""User data of Kafka Streams: worked bytes, every version there and back, and any bytes at all."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.records.streams import (
    LATEST_OFFSET,
    NEWER_STREAMS_METADATA,
    NO_VERSION,
    UNKNOWN_OFFSET_SUM,
    AssignmentInfo,
    SubscriptionInfo,
    Task,
)
from groupreplay.wire.records.streams_user_data import (
    ASSIGNMENT_INFO,
    NEWEST,
    SUBSCRIPTION_INFO,
    decode_assignment,
    decode_subscription,
)
from groupreplay.wire.records.undecodable import Undecodable
from tests.wire import encode

PROCESS = "ad39ec0e-ea15-4cca-b711-a5c6a6198c9c"
KAFKA_PROCESS = "rTnsDuoVTMq3EaXGphmMnA"
TOPIC = "000f" + b"streams-classic".hex()
NEVER = (1 << 63) - 1

# other-groups-4.2 p34:209, the member that reports its warm-ups.
REPORTED = bytes.fromhex(
    "0000000b 0000000b ad39ec0eea154ccab711a5c6a6198c9c 00000000 00000002"
    "00000000 00000002 000000000000005f ffff"
    "00000000 00000000 0000000000000059 ffff"
    "03 00000000 00000000"
)
GIVEN = bytes.fromhex(
    "0000000b 0000000b 00000000 00000002"
    f"00000000 00000002 00000000 00000001 {TOPIC} 00000002"
    f"00000000 00000000 00000000 00000001 {TOPIC} 00000000"
    "00000000 00000000 00000000 00000000 0000000000000000"
)


def test_worked_bytes() -> None:
    assert decode_subscription(REPORTED) == SubscriptionInfo(
        11, 11, PROCESS, {("0", 2): 95, ("0", 0): 89}, None, 3, 0, {}
    )
    inputs: dict[Task, tuple[tuple[str, int], ...]] = {
        ("0", each): (("streams-classic", each),) for each in (2, 0)
    }
    assert decode_assignment(GIVEN) == AssignmentInfo(11, 11, (), inputs, 0, 0, ((), (), (), ()))


# ---------------------------------------------------------------- there and back

VERSIONS = range(1, NEWEST + 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMED_PARTITIONS = st.lists(st.tuples(TEXT, INT32), max_size=3)
PAIRS = st.lists(st.tuples(INT32, INT32), max_size=3)


def pairs(values: list[tuple[Any, Any]], first: str, second: str) -> list[dict[str, Any]]:
    return [{first: one, second: other} for one, other in values]


def named(topology: str | None, subtopology: int, partition: int) -> Task:
    return (f"{topology}__{subtopology}" if topology else str(subtopology)), partition


@st.composite
def subscriptions(draw: st.DrawFn, version: int) -> tuple[bytes, SubscriptionInfo]:
    tasks, others = draw(PAIRS), draw(PAIRS)
    sums = draw(st.lists(st.tuples(INT32, INT32, INT64, st.none() | TEXT), max_size=4))
    by_subtopology = draw(st.dictionaries(INT32, st.dictionaries(INT32, INT64, max_size=3)))
    latest, endpoint, unique = draw(INT32), draw(TEXT), draw(st.integers(-128, 127))
    error, tags = draw(INT32), draw(st.dictionaries(TEXT, TEXT, max_size=3))
    values = {
        "version": version,
        "latestSupportedVersion": latest,
        "processId": KAFKA_PROCESS,
        "prevTasks": pairs(tasks, "topicGroupId", "partition"),
        "standbyTasks": pairs(others, "topicGroupId", "partition"),
        "userEndPoint": endpoint.encode(),
        "taskOffsetSums": [
            {"topicGroupId": one, "partition": two, "offsetSum": total, "namedTopology": name}
            for one, two, total, name in sums
        ]
        if version >= 10
        else [
            {
                "topicGroupId": one,
                "partitionToOffsetSum": pairs([*each.items()], "partition", "offsetSum"),
            }
            for one, each in by_subtopology.items()
        ],
        "uniqueField": unique,
        "errorCode": error,
        "clientTags": [{"key": k.encode(), "value": v.encode()} for k, v in tags.items()],
    }
    if version >= 10:
        expected = {named(name, one, two): total for one, two, total, name in sums}
    elif version >= 7:
        expected = {
            named(None, one, two): total
            for one, each in by_subtopology.items()
            for two, total in each.items()
        }
    else:
        expected = {named(None, *each): LATEST_OFFSET for each in tasks}
        expected |= {named(None, *each): UNKNOWN_OFFSET_SUM for each in others}
    return encode.encode_struct(SUBSCRIPTION_INFO, values, version), SubscriptionInfo(
        version,
        latest if version >= 3 else NO_VERSION,
        PROCESS,
        expected,
        (endpoint or None) if version >= 2 else None,
        unique if version >= 8 else None,
        error if version >= 9 else 0,
        tags if version >= 11 else {},
    )


@st.composite
def assignments(draw: st.DrawFn, version: int) -> tuple[bytes, AssignmentInfo]:
    names = st.just("") | TEXT if version >= 10 else st.just("")
    active = draw(st.lists(st.tuples(INT32, INT32, names), max_size=4))
    standby = draw(
        st.lists(st.tuples(INT32, INT32, names, NAMED_PARTITIONS), max_size=4, unique_by=repr)
    )
    common, error, next_ms = draw(INT32), draw(INT32), draw(INT64 | st.just(NEVER) | st.just(0))
    hosts = draw(st.lists(st.tuples(TEXT, INT32, PAIRS, NAMED_PARTITIONS), max_size=2))
    topics = draw(st.lists(st.tuples(INT32, TEXT), max_size=3))
    named_hosts = tuple((host, port, tuple(by_name), b"") for host, port, _, by_name in hosts)
    numbered_hosts = tuple((host, port, (), packed(by_index)) for host, port, by_index, _ in hosts)
    host_map = [
        {
            "host": host,
            "port": port,
            "partitions": pairs(by_name, "topic", "partition"),
            "topicIndexesAndPartitions": by_index,
        }
        for host, port, by_index, by_name in hosts
    ]

    def task(subtopology: int, partition: int, topology: str) -> dict[str, Any]:
        names = ("topicGroupId", "partition", "topologyName")
        return dict(zip(names, (subtopology, partition, topology), strict=True))

    values = {
        "usedVersion": version,
        "commonlySupportedVersion": common,
        "activeTasks": [task(*each) for each in active],
        "standbyTasks": [
            task(one, two, name) | {"partitions": pairs(inputs, "topic", "partition")}
            for one, two, name, inputs in standby
        ],
        "hosts": host_map,
        "topics": pairs(topics, "index", "topic"),
        "activeHosts": host_map,
        "standbyHosts": host_map,
        "errCode": error,
        "nextRebalanceMs": next_ms,
    }
    return encode.encode_struct(ASSIGNMENT_INFO, values, version), AssignmentInfo(
        version,
        common if version >= 3 else NO_VERSION,
        tuple(named(topology, one, two) for one, two, topology in active),
        {named(name, one, two): tuple(inputs) for one, two, name, inputs in standby},
        error if version >= 4 else 0,
        next_ms if version >= 7 and next_ms != NEVER else None,
        (
            named_hosts if 2 <= version <= 4 else (),
            tuple(topics) if version >= 5 else (),
            numbered_hosts if version >= 5 else (),
            numbered_hosts if version >= 6 else (),
        ),
    )


def packed(by_index: list[tuple[int, int]]) -> bytes:
    """An array of two int32 each."""
    numbers = [number for pair in by_index for number in pair]
    return struct.pack(f">{1 + len(numbers)}i", len(by_index), *numbers)


MESSAGES: dict[str, tuple[Callable[[int], Any], Callable[[bytes], object]]] = {
    "subscription": (subscriptions, decode_subscription),
    "assignment": (assignments, decode_assignment),
}


@pytest.mark.long
@pytest.mark.parametrize("what", MESSAGES)
@pytest.mark.parametrize("version", VERSIONS)
@settings(max_examples=40)
@given(data=st.data())
def test_every_version_decodes_to_itself(what: str, version: int, data: st.DataObject) -> None:
    messages, decode = MESSAGES[what]
    raw, expected = data.draw(messages(version))
    assert decode(raw) == expected
    assert decode(raw + b"\0") == Undecodable("1 bytes too many")


@pytest.mark.long
@pytest.mark.parametrize("what", MESSAGES)
@settings(max_examples=100)
@given(data=st.data(), version=st.sampled_from(VERSIONS))
def test_whatever_is_cut_is_refused(what: str, data: st.DataObject, version: int) -> None:
    messages, decode = MESSAGES[what]
    raw, _ = data.draw(messages(version))
    assert [
        size for size in range(len(raw)) if not isinstance(decode(raw[:size]), Undecodable)
    ] == []


# ---------------------------------------------------------------- anything else

DECODERS: dict[str, Callable[[bytes], object]] = {
    what: decode for what, (_, decode) in MESSAGES.items()
}


def sound(result: Any) -> bool:
    """A value or a reason, and no text with a lone surrogate."""
    if isinstance(result, Undecodable):
        return bool(result.reason)
    return repr(result).encode() != b"" and isinstance(result, SubscriptionInfo | AssignmentInfo)


@pytest.mark.long
@pytest.mark.parametrize("what", DECODERS)
@settings(max_examples=1000)
@given(version=st.integers(0, 12), garbage=st.binary(max_size=90))
def test_any_bytes_are_user_data_or_a_reason(what: str, version: int, garbage: bytes) -> None:
    assert sound(DECODERS[what](garbage))
    assert sound(DECODERS[what](struct.pack(">i", version) + garbage))


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "worked"), [("subscription", REPORTED), ("assignment", GIVEN)], ids=["sub", "assign"]
)
@settings(max_examples=1000)
@given(place=st.integers(0, 113), byte=st.integers(0, 255))
def test_any_changed_byte_is_user_data_or_a_reason(
    what: str, worked: bytes, place: int, byte: int
) -> None:
    changed = bytearray(worked)
    changed[place % len(worked)] = byte
    assert sound(DECODERS[what](bytes(changed)))


@pytest.mark.parametrize("decode", DECODERS.values())
def test_of_a_newer_version_two_numbers_are_read(decode: Any) -> None:
    newer = f"{NEWER_STREAMS_METADATA}: version 12, latest 13"
    for tail in (b"", b"anything"):
        assert decode(struct.pack(">ii", 12, 13) + tail) == Undecodable(newer)
    assert decode(struct.pack(">i", 12)) == Undecodable("ends early")
    assert decode(struct.pack(">ii", 0, 11)) == Undecodable("unknown version 0")
    assert decode(struct.pack(">ii", -1, 11)) == Undecodable("unknown version -1")


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack(">iii", 11, 11, 0x7FFFFFFF) + bytes(64),
        struct.pack(">iiii", 11, 11, 0, 0x7FFFFFFF) + bytes(64),
        struct.pack(">iiiiii", 11, 11, 1, 0, 0, 0x7FFFFFFF) + bytes(64),
        struct.pack(">iiiiiiH", 5, 5, 0, 0, 0, 1, 0) + struct.pack(">ii", 1, 0x7FFFFFFF),
        struct.pack(">iii", 11, 11, -1) + bytes(64),
        struct.pack(">iiiiiiH", 5, 5, 0, 0, 0, 1, 0) + struct.pack(">ii", 1, -1) + bytes(4),
        struct.pack(">iiiiii", 11, 11, 1, 0, 0, -1) + bytes(64),
    ],
)
def test_a_count_that_lies_costs_nothing(raw: bytes) -> None:
    tracemalloc.start()
    result = decode_assignment(raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(result, Undecodable)
    assert peak < 20_000


def test_memory_is_a_small_multiple_of_the_bytes() -> None:
    count = 20_000
    raw = struct.pack(">ii", 11, 11) + bytes(16) + struct.pack(">ii", 0, count)
    raw += b"".join(struct.pack(">iiqh", 0, each, each, -1) for each in range(count)) + bytes(9)
    tracemalloc.start()
    result = decode_subscription(raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(result, SubscriptionInfo)
    assert len(result.offset_sums) == count
    assert peak < 40 * len(raw)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"abc", "abc"),
        (b"\xc0\x80", "\0"),
        (b"\0", "\0"),
        ("é€".encode(), "é€"),
        (b"\xed\xa0\xbd\xed\xb8\x80", "\N{GRINNING FACE}"),
        (b"\xed\xa0\xbd", "\\xd8\\x3d"),
        (b"\xf0\x9f\x98\x80", None),
        (b"\xff", None),
        (b"\x80", None),
        (b"\xc3", None),
        (b"\xc3a", None),
    ],
)
def test_topics_are_in_javas_utf(raw: bytes, expected: str | None) -> None:
    data = struct.pack(">iiiiii", 1, 0, 1, 0, 7, 1)
    data += struct.pack(">H", len(raw)) + raw + struct.pack(">i", 7)
    result = decode_assignment(data)
    if expected is None:
        assert result == Undecodable("a text is no modified UTF-8")
    else:
        assert isinstance(result, AssignmentInfo)
        assert result.standby == {("0", 7): ((expected, 7),)}
