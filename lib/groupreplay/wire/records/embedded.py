"""The classic protocol's embedded messages: what members put into JoinGroup and what leaders put
into SyncGroup, kept in K2 and K5.

int16 version, then a message that is never flexible. A version above 3 is read as 3, bytes after
the message are ignored: both as Kafka does. Source:
clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerProtocol.java;
ConsumerProtocolSubscription.json, -Assignment.json.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from groupreplay.records.classic import Assignment, NamedPartitions, Subscription
from groupreplay.wire.records.primitives import BAD_BYTES, Reader, read_int16
from groupreplay.wire.records.schema import NEVER_FLEXIBLE, Field, Struct
from groupreplay.wire.records.struct_reader import struct_reader

CONSUMER = "consumer"
"""Protocol type whose members embed these messages; Kafka Connect and others embed their own."""

NEWEST = 3

_NAMED_PARTITIONS = Struct(
    (Field("topic", "string"), Field("partitions", "[int32]")), NamedPartitions, NEVER_FLEXIBLE
)

SUBSCRIPTION = Struct(
    (
        Field("topics", "[string]"),
        Field("userData", "bytes", nullable=True),
        Field("ownedPartitions", "[struct]", _NAMED_PARTITIONS, since=1, default=()),
        Field("generationId", "int32", since=2, default=-1),
        Field("rackId", "string", nullable=True, since=3),
    ),
    lambda topics, user_data, owned, generation_id, rack_id: Subscription(
        topics, owned, generation_id, rack_id, user_data
    ),
    NEVER_FLEXIBLE,
)

ASSIGNMENT = Struct(
    (
        Field("assignedPartitions", "[struct]", _NAMED_PARTITIONS),
        Field("userData", "bytes", nullable=True),
    ),
    Assignment,
    NEVER_FLEXIBLE,
)

_SUBSCRIPTION_READERS = tuple(struct_reader(SUBSCRIPTION, version) for version in range(NEWEST + 1))
_ASSIGNMENT_READERS = (struct_reader(ASSIGNMENT, NEWEST),)

_BYTES_KEPT: Final = 512


def _versioned(raw: bytes, readers: tuple[Reader, ...]) -> object:
    try:
        version, pos = read_int16(raw, 0)
        if version < 0:
            return None
        message = readers[min(version, len(readers) - 1)](raw, pos)[0]
    except BAD_BYTES:
        return None
    if isinstance(message, Subscription):
        message.version = version
    return message


_versioned_once = lru_cache(maxsize=1 << 10)(_versioned)
"""Every generation of a group writes what all its members sent, and most of them sent it before."""


def _parsed(raw: bytes, readers: tuple[Reader, ...]) -> object:
    return (_versioned_once if len(raw) <= _BYTES_KEPT else _versioned)(raw, readers)


def subscription(raw: bytes | Subscription) -> Subscription | None:
    """None where the bytes do not parse. What the dump tool had parsed already passes through."""
    parsed = _parsed(raw, _SUBSCRIPTION_READERS) if isinstance(raw, bytes) else raw
    return parsed if isinstance(parsed, Subscription) else None


def assignment(raw: bytes | Assignment) -> Assignment | None:
    """None where the bytes do not parse. No bytes at all: a member that joined and never synced
    (KAFKA-17733), assigned nothing.
    """
    if raw == b"":
        return Assignment(())
    parsed = _parsed(raw, _ASSIGNMENT_READERS) if isinstance(raw, bytes) else raw
    return parsed if isinstance(parsed, Assignment) else None
