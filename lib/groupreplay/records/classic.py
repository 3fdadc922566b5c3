"""Groups of the classic protocol: K2, and what its members embed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupreplay.records.streams import AssignmentInfo, SubscriptionInfo


@dataclass(slots=True)
class NamedPartitions:
    """Partitions of one topic, named by name (the classic protocol's embedded messages)."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(slots=True)
class Subscription:
    """ConsumerProtocolSubscription, versions 0 to 3.

    generation_id: -1 where the version has none.
    version: as the bytes say, which may be a later one; -1 where no bytes did.
    streams: user_data of a member of Kafka Streams; None for any other, and where it is no such.
    """

    topics: tuple[str, ...]
    owned_partitions: tuple[NamedPartitions, ...] = ()
    generation_id: int = -1
    rack_id: str | None = None
    user_data: bytes | None = None
    streams: SubscriptionInfo | None = None
    version: int = -1


@dataclass(slots=True)
class Assignment:
    """ConsumerProtocolAssignment, versions 0 to 3.

    streams: user_data of a member of Kafka Streams; None as in `Subscription`.
    """

    assigned_partitions: tuple[NamedPartitions, ...]
    user_data: bytes | None = None
    streams: AssignmentInfo | None = None


@dataclass(slots=True)
class GroupMember:
    """One member in K2.

    subscription, assignment: None unless protocolType is `consumer` and the bytes parse; an empty
        assignment parses to no partitions.
    streams_error: why user data of a member of Kafka Streams (protocol `stream`) could not be
        decoded; None where it was, and for other members.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: Subscription | None
    assignment: Assignment | None
    streams_error: str | None = None


@dataclass(slots=True)
class GroupMetadataValue:
    """current_state_timestamp_ms: last state transition, -1 where the version has none."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp_ms: int
    members: tuple[GroupMember, ...]


@dataclass(slots=True)
class GroupMetadata:
    """K2."""

    KEY_TYPE: ClassVar[int] = 2
    group_id: str
    value: GroupMetadataValue | None
