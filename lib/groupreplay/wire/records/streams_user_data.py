"""User data of classic Kafka Streams groups, metadata versions 1 to 11: what stream threads put
into their subscription and the leader into each assignment.

Nothing is flexible. The subscription is a message of Kafka's generator, the assignment is written
by hand: topology names are int16 + UTF-8 in the one, int32 + UTF-16 in the other. Host maps repeat
the whole group's assignment for every member; their partitions stay bytes.

Source: streams/src/main/resources/common/message/SubscriptionInfoData.json;
streams/src/main/java/org/apache/kafka/streams/processor/internals/assignment/AssignmentInfo.java,
ConsumerProtocolUtils.java.
"""

from __future__ import annotations

import binascii
from functools import lru_cache
from typing import Any, Final, cast

from groupreplay.records.streams import (
    LATEST_OFFSET,
    NEWER_STREAMS_METADATA,
    NO_VERSION,
    UNKNOWN_OFFSET_SUM,
    AssignmentInfo,
    SubscriptionInfo,
    Task,
)
from groupreplay.wire.records.primitives import BAD_BYTES, Malformed, Reader, read_int32, text
from groupreplay.wire.records.schema import NEVER_FLEXIBLE, Field, Struct
from groupreplay.wire.records.struct_reader import struct_reader
from groupreplay.wire.records.undecodable import Undecodable

NEWEST: Final = 11
"""Highest version of 3.2 to 4.4."""

Hosts = tuple[tuple[Any, ...], ...]

_NEVER: Final = (1 << 63) - 1
_SMALL_NUMBERS: Final = tuple(map(str, range(64)))


def _plain(*fields: Field, build: Any = lambda *values: values) -> Struct:
    return Struct(fields, build, NEVER_FLEXIBLE)


def _task(subtopology: int, partition: int, topology: str | None = None) -> Task:
    number = _SMALL_NUMBERS[subtopology] if 0 <= subtopology < 64 else str(subtopology)
    return (f"{topology}__{number}" if topology else number), partition


def _int32(name: str, **more: Any) -> Field:
    return Field(name, "int32", **more)


# ---------------------------------------------------------------- subscription

_TASK_6: Final = _plain(_int32("topicGroupId"), _int32("partition"), build=_task)
_PARTITION_SUM: Final = _plain(_int32("partition"), Field("offsetSum", "int64"))
_TASK_SUM: Final = _plain(
    _int32("topicGroupId"),
    Field("partitionToOffsetSum", "[struct]", _PARTITION_SUM, until=9, default=()),
    _int32("partition", since=10),
    Field("offsetSum", "int64", since=10),
    Field("namedTopology", "string", nullable=True, since=10),
)
_TAG: Final = _plain(Field("key", "bytes"), Field("value", "bytes"))


def _subscription_info(
    version: int,
    latest: int,
    process_id: str,
    active: tuple[Task, ...],
    others: tuple[Task, ...],
    endpoint: bytes,
    sums: tuple[tuple[Any, ...], ...],
    unique_field: int | None,
    error_code: int,
    tags: tuple[tuple[bytes, bytes], ...],
) -> SubscriptionInfo:
    offset_sums = dict.fromkeys(active, LATEST_OFFSET) | dict.fromkeys(others, UNKNOWN_OFFSET_SUM)
    if version >= 10:
        for subtopology, _, partition, offset_sum, topology in sums:
            offset_sums[_task(subtopology, partition, topology)] = offset_sum
    else:
        for subtopology, of_partitions, *_ in sums:
            for partition, offset_sum in of_partitions:
                offset_sums[_task(subtopology, partition)] = offset_sum
    return SubscriptionInfo(
        version,
        latest,
        _java_uuid(process_id),
        offset_sums,
        text(endpoint) or None,
        unique_field,
        error_code,
        {text(key): text(value) for key, value in tags},
    )


@lru_cache(maxsize=1 << 10)
def _java_uuid(process_id: str) -> str:
    """Java's text of a uuid that is in Kafka's."""
    digits = binascii.a2b_base64(process_id.translate(_PLAIN_BASE64) + "==").hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_PLAIN_BASE64: Final = str.maketrans("-_", "+/")

SUBSCRIPTION_INFO: Final = _plain(
    _int32("version"),
    _int32("latestSupportedVersion", since=3, default=NO_VERSION),
    Field("processId", "uuid"),
    Field("prevTasks", "[struct]", _TASK_6, until=6, default=()),
    Field("standbyTasks", "[struct]", _TASK_6, until=6, default=()),
    Field("userEndPoint", "bytes", since=2, default=b""),
    Field("taskOffsetSums", "[struct]", _TASK_SUM, since=7, default=()),
    Field("uniqueField", "int8", since=8),
    _int32("errorCode", since=9, default=0),
    Field("clientTags", "[struct]", _TAG, since=11, default=()),
    build=_subscription_info,
)

# ---------------------------------------------------------------- assignment

_TASK_ID: Final = _plain(
    _int32("topicGroupId"),
    _int32("partition"),
    Field("topologyName", "utf16", since=10),
    build=_task,
)
_NAMED_PARTITION: Final = _plain(Field("topic", "utf"), _int32("partition"))
_STANDBY_TASK: Final = _plain(
    *_TASK_ID.fields,
    Field("partitions", "[struct]", _NAMED_PARTITION),
    build=lambda subtopology, partition, topology, partitions: (
        _task(subtopology, partition, topology),
        partitions,
    ),
)
_HOST: Final = _plain(
    Field("host", "utf"),
    _int32("port"),
    Field("partitions", "[struct]", _NAMED_PARTITION, until=4, default=()),
    Field("topicIndexesAndPartitions", "[2 int32 raw]", since=5, default=b""),
)
_TOPIC: Final = _plain(_int32("index"), Field("topic", "utf"))


def _assignment_info(
    version: int,
    common: int,
    active: tuple[Task, ...],
    standby: tuple[tuple[Task, tuple[tuple[str, int], ...]], ...],
    old_hosts: Hosts,
    topics: Hosts,
    active_hosts: Hosts,
    standby_hosts: Hosts,
    error_code: int,
    next_ms: int,
) -> AssignmentInfo:
    return AssignmentInfo(
        version,
        common,
        active,
        dict(standby),
        error_code,
        None if next_ms == _NEVER else next_ms,
        (old_hosts, topics, active_hosts, standby_hosts),
    )


ASSIGNMENT_INFO: Final = _plain(
    _int32("usedVersion"),
    _int32("commonlySupportedVersion", since=3, default=NO_VERSION),
    Field("activeTasks", "[struct]", _TASK_ID),
    Field("standbyTasks", "[struct]", _STANDBY_TASK),
    Field("hosts", "[struct]", _HOST, since=2, until=4, default=()),
    Field("topics", "[struct]", _TOPIC, since=5, default=()),
    Field("activeHosts", "[struct]", _HOST, since=5, default=()),
    Field("standbyHosts", "[struct]", _HOST, since=6, default=()),
    _int32("errCode", since=4, default=0),
    Field("nextRebalanceMs", "int64", since=7, default=_NEVER),
    build=_assignment_info,
)

# ---------------------------------------------------------------- any version

_SUBSCRIPTION_READERS: Final = tuple(
    struct_reader(SUBSCRIPTION_INFO, version) for version in range(1, NEWEST + 1)
)
_ASSIGNMENT_READERS: Final = tuple(
    struct_reader(ASSIGNMENT_INFO, version) for version in range(1, NEWEST + 1)
)


def decode_subscription(data: bytes) -> SubscriptionInfo | Undecodable:
    """User data of a subscription, or why it is none. Never raises; uses a small multiple of the
    bytes' own size.
    """
    return cast("SubscriptionInfo | Undecodable", _decode(data, _SUBSCRIPTION_READERS))


def decode_assignment(data: bytes) -> AssignmentInfo | Undecodable:
    """User data of an assignment, as `decode_subscription`."""
    return cast("AssignmentInfo | Undecodable", _decode(data, _ASSIGNMENT_READERS))


def _decode(data: bytes, readers: tuple[Reader, ...]) -> object:
    try:
        version, pos = read_int32(data, 0)
        if version > NEWEST:
            latest, _ = read_int32(data, pos)
            return Undecodable(f"{NEWER_STREAMS_METADATA}: version {version}, latest {latest}")
        if version < 1:
            return Undecodable(f"unknown version {version}")
        info, end = readers[version - 1](data, 0)
    except Malformed as error:
        return Undecodable(str(error))
    except BAD_BYTES:
        return Undecodable("ends early")
    return info if end == len(data) else Undecodable(f"{len(data) - end} bytes too many")
