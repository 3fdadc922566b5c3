"""Groups of the classic protocol: K2, and what its members embed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(slots=True)
class NamedPartitions:
    """Partitions of one topic, named by name (the classic protocol's embedded messages)."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(slots=True)
class Subscription:
    """ConsumerProtocolSubscription, versions 0 to 3. generation_id is -1 where the version has
    none.
    """

    topics: tuple[str, ...]
    owned_partitions: tuple[NamedPartitions, ...] = ()
    generation_id: int = -1
    rack_id: str | None = None
    user_data: bytes | None = None


@dataclass(slots=True)
class Assignment:
    """ConsumerProtocolAssignment, versions 0 to 3."""

    assigned_partitions: tuple[NamedPartitions, ...]
    user_data: bytes | None = None


@dataclass(slots=True)
class GroupMember:
    """One member in K2.

    subscription, assignment: None unless protocolType is `consumer` and the bytes parse; an empty
        assignment parses to no partitions.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: Subscription | None
    assignment: Assignment | None


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
