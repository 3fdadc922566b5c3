"""Groups of the consumer protocol (KIP-848): K3 to K8, and K16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupreplay.records.classic import Subscription

STABLE = 0
UNREVOKED_PARTITIONS = 1
UNRELEASED_PARTITIONS = 2

MEMBER_STATES: dict[int, str] = {
    STABLE: "STABLE",
    UNREVOKED_PARTITIONS: "UNREVOKED_PARTITIONS",
    UNRELEASED_PARTITIONS: "UNRELEASED_PARTITIONS",
    127: "UNKNOWN",
}

STATIC_LEAVE_EPOCH = -2
"""memberEpoch of a static member that left for a while (KIP-848)."""


@dataclass(slots=True)
class TopicPartitions:
    """Partitions of one topic, named by id.

    assignment_epochs: one member epoch a partition (4.3+, KIP-1251); None where the writer did not
        keep them; 0 means "not known".
    """

    topic_id: str
    partitions: tuple[int, ...]
    assignment_epochs: tuple[int, ...] | None = None


@dataclass(slots=True)
class ConsumerGroupMetadataValue:
    """metadata_hash: 0 where absent (<= 4.0, or nothing to hash)."""

    epoch: int
    metadata_hash: int = 0


@dataclass(slots=True)
class ConsumerGroupMetadata:
    """K3."""

    KEY_TYPE: ClassVar[int] = 3
    group_id: str
    value: ConsumerGroupMetadataValue | None


@dataclass(slots=True)
class TopicMetadata:
    """One topic of K4; partitions is their number."""

    topic_id: str
    topic: str
    partitions: int


@dataclass(slots=True)
class ConsumerGroupPartitionMetadataValue:
    topics: tuple[TopicMetadata, ...]


@dataclass(slots=True)
class ConsumerGroupPartitionMetadata:
    """K4: values from brokers <= 4.0 alone."""

    KEY_TYPE: ClassVar[int] = 4
    group_id: str
    value: ConsumerGroupPartitionMetadataValue | None


@dataclass(slots=True)
class ClassicProtocol:
    """One protocol a classic member offers. subscription is None where its bytes do not parse."""

    name: str
    subscription: Subscription | None


@dataclass(slots=True)
class ClassicMemberMetadata:
    session_timeout_ms: int
    supported_protocols: tuple[ClassicProtocol, ...]


@dataclass(slots=True)
class ConsumerGroupMemberMetadataValue:
    """classic_member_metadata: there for a member that speaks the classic protocol, else None.
    subscribed_topic_regex: None and "" both mean none.
    """

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None = None


@dataclass(slots=True)
class ConsumerGroupMemberMetadata:
    """K5."""

    KEY_TYPE: ClassVar[int] = 5
    group_id: str
    member_id: str
    value: ConsumerGroupMemberMetadataValue | None


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMetadataValue:
    """assignment_timestamp_ms: when the assignor finished (4.3+, KIP-1263), 0 where absent."""

    assignment_epoch: int
    assignment_timestamp_ms: int = 0


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMetadata:
    """K6."""

    KEY_TYPE: ClassVar[int] = 6
    group_id: str
    value: ConsumerGroupTargetAssignmentMetadataValue | None


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMemberValue:
    topic_partitions: tuple[TopicPartitions, ...]


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMember:
    """K7."""

    KEY_TYPE: ClassVar[int] = 7
    group_id: str
    member_id: str
    value: ConsumerGroupTargetAssignmentMemberValue | None


@dataclass(slots=True)
class ConsumerGroupCurrentMemberAssignmentValue:
    """state: STABLE, UNREVOKED_PARTITIONS, UNRELEASED_PARTITIONS, or 127 (unknown)."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: tuple[TopicPartitions, ...]
    partitions_pending_revocation: tuple[TopicPartitions, ...]


@dataclass(slots=True)
class ConsumerGroupCurrentMemberAssignment:
    """K8."""

    KEY_TYPE: ClassVar[int] = 8
    group_id: str
    member_id: str
    value: ConsumerGroupCurrentMemberAssignmentValue | None


@dataclass(slots=True)
class ConsumerGroupRegularExpressionValue:
    """version: version of the metadata image that the expression was resolved at."""

    topics: tuple[str, ...]
    version: int
    timestamp_ms: int


@dataclass(slots=True)
class ConsumerGroupRegularExpression:
    """K16."""

    KEY_TYPE: ClassVar[int] = 16
    group_id: str
    regular_expression: str
    value: ConsumerGroupRegularExpressionValue | None
