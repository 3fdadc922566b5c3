"""The records of `__consumer_offsets` that the machines replay: what one key/value pair says, and where it stood.

One class a record type, named like Kafka's own message without its `Key`/`Value` ending; fields are Kafka's in snake_case. `value is None` is a
tombstone everywhere. Sets of partitions keep the order of the bytes; their order means nothing (Kafka writes them from hash maps).
No record is ever changed once it is made, though none is frozen: a frozen one costs three times as much to make, and there is one a log entry.

Source: group-coordinator/src/main/resources/common/message/*.json, 3.8 to 4.4. Decoding lives in `wire`; nothing here knows bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

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

    assignment_epochs: one member epoch a partition (4.3+, KIP-1251); None where the writer did not keep them; 0 means "not known".
    """

    topic_id: str
    partitions: tuple[int, ...]
    assignment_epochs: tuple[int, ...] | None = None


@dataclass(slots=True)
class NamedPartitions:
    """Partitions of one topic, named by name (the classic protocol's embedded messages)."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(slots=True)
class Subscription:
    """ConsumerProtocolSubscription, versions 0 to 3. generation_id is -1 where the version has none."""

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


# ---------------------------------------------------------------- K0, K1: offsets


@dataclass(slots=True)
class OffsetCommitValue:
    """offset: committed position. topic_id: only in version 4 (4.1+), and not always there."""

    offset: int
    commit_timestamp_ms: int
    topic_id: str | None = None


@dataclass(slots=True)
class OffsetCommit:
    """K0 and K1. A tombstone: the offset expired, or it, its topic or its group was deleted."""

    KEY_TYPE: ClassVar[int] = 1
    group_id: str
    topic: str
    partition: int
    value: OffsetCommitValue | None


# ---------------------------------------------------------------- K2: a classic group


@dataclass(slots=True)
class GroupMember:
    """One member in K2. subscription, assignment: None unless protocolType is `consumer` and the bytes parse; an empty assignment parses to no
    partitions.
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


# ---------------------------------------------------------------- K3 to K8, K16: a consumer group


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
    """classic_member_metadata: there for a member that speaks the classic protocol, else None. subscribed_topic_regex: None and "" both mean none."""

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
    """version: of the metadata image it was resolved at."""

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


# ---------------------------------------------------------------- K9 to K15, K17 to K23: share and streams groups


@dataclass(slots=True)
class OtherGroupRecord:
    """A record of a share or streams group, decoded whole but replayed only for its group's kind and its members.

    key_type: 9 to 15 (share) or 17 to 23 (streams). member_id: "" where the key has none. value: Kafka's field names in snake_case.
    """

    key_type: int
    group_id: str
    member_id: str
    value: dict[str, Any] | None


SHARE_KEY_TYPES = frozenset(range(9, 16))
STREAMS_KEY_TYPES = frozenset(range(17, 24))
SHARE_MEMBER_METADATA = 10
STREAMS_MEMBER_METADATA = 19
STREAMS_CURRENT_MEMBER_ASSIGNMENT = 22

Record = (
    OffsetCommit
    | GroupMetadata
    | ConsumerGroupMetadata
    | ConsumerGroupPartitionMetadata
    | ConsumerGroupMemberMetadata
    | ConsumerGroupTargetAssignmentMetadata
    | ConsumerGroupTargetAssignmentMember
    | ConsumerGroupCurrentMemberAssignment
    | ConsumerGroupRegularExpression
    | OtherGroupRecord
)


class Entry(NamedTuple):
    """One record and where it stood.

    offset: in its partition of the offsets topic; a commit of a transaction stands at its marker's offset, where it began to count.
    ts_ms: coordinator's clock at append, UTC. leader_epoch: of its batch, -1 unknown. batch_base_offset: every batch boundary ends an operation.
    last_hole: greatest offset below this one that compaction or loss took from this partition's log as far as it was read, -1 for none.
    """

    offset: int
    ts_ms: int
    leader_epoch: int
    batch_base_offset: int
    last_hole: int
    record: Record
