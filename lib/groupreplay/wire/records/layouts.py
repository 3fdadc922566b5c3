"""The layouts of every key and value of `__consumer_offsets`, 3.8 to 4.4, as data: the only place
that knows fields, versions, tags and defaults.

One table serves both forms: `consumer_offsets` compiles it to a reader of bytes, `dump_json` to a
reader of kafka-dump-log's JSON. `build` makes what the machines get of the fields, by position. A
value can have several layouts under one version (share groups changed without a new version, 3.7
was an early access): they are tried in order, the first that fits to the last byte is it.

Source: group-coordinator/src/main/resources/common/message/*.json of the release branches 3.7 to
4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadata,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpression,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicMetadata,
    TopicPartitions,
)
from groupreplay.records.offsets import OffsetCommit, OffsetCommitValue
from groupreplay.records.others import OtherGroupRecord
from groupreplay.wire.records import embedded, primitives
from groupreplay.wire.records.group_metadata import group_metadata_value
from groupreplay.wire.records.schema import NEVER_FLEXIBLE, Field, Struct, dict_struct

EARLY_ACCESS = "3.7 early-access layout"


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout of a value. refused: not None for a layout that is recognised only to be named."""

    struct: Struct
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class RecordType:
    """One key type. record: joins the key's values and the built value (None for a tombstone)."""

    key: Struct
    layouts: tuple[Layout, ...]
    record: Callable[..., Any]
    max_version: int = 0


def _key(*fields: Field) -> Struct:
    return Struct(fields, lambda *values: values, flexible_since=NEVER_FLEXIBLE)


def _string(name: str, **more: Any) -> Field:
    return Field(name, "string", **more)


def _int32(name: str, **more: Any) -> Field:
    return Field(name, "int32", **more)


def _int64(name: str, **more: Any) -> Field:
    return Field(name, "int64", **more)


# ---------------------------------------------------------------- keys

_GROUP = _key(_string("group"))
_GROUP_ID = _key(_string("groupId"))
_GROUP_MEMBER = _key(_string("groupId"), _string("memberId"))
_GROUP_TOPIC_PARTITION = _key(_string("group"), _string("topic"), _int32("partition"))
_GROUP_REGEX = _key(_string("groupId"), _string("regularExpression"))

# ---------------------------------------------------------------- K0, K1


def _offset_commit_value(
    offset: int, _epoch: int, _metadata: str, timestamp: int, _expires: int, topic_id: str
) -> OffsetCommitValue:
    return OffsetCommitValue(
        offset, timestamp, None if topic_id == primitives.NO_UUID else topic_id
    )


OFFSET_COMMIT_VALUE = Struct(
    (
        _int64("offset"),
        _int32("leaderEpoch", since=3, default=-1),
        _string("metadata"),
        _int64("commitTimestamp"),
        _int64("expireTimestamp", since=1, until=1, default=-1),
        Field("topicId", "uuid", since=4, tag=0, default=primitives.NO_UUID),
    ),
    _offset_commit_value,
    flexible_since=4,
)

# ---------------------------------------------------------------- K2

GROUP_METADATA_MEMBER = Struct(
    (
        _string("memberId"),
        _string("groupInstanceId", since=3, nullable=True),
        _string("clientId"),
        _string("clientHost"),
        _int32("rebalanceTimeout", since=1, default=-1),
        _int32("sessionTimeout"),
        Field("subscription", "subscription"),
        Field("assignment", "assignment"),
    ),
    lambda *values: values,
    flexible_since=4,
)

GROUP_METADATA_VALUE = Struct(
    (
        _string("protocolType"),
        _int32("generation"),
        _string("protocol", nullable=True),
        _string("leader", nullable=True),
        _int64("currentStateTimestamp", since=2, default=-1),
        Field("members", "[struct]", GROUP_METADATA_MEMBER),
    ),
    group_metadata_value,
    flexible_since=4,
)

# ---------------------------------------------------------------- K3 to K8, K16

EPOCH_VALUE = Struct(
    (_int32("epoch"), _int64("metadataHash", tag=0, default=0)), ConsumerGroupMetadataValue
)

_RACKS = Struct(
    (_int32("partition"), Field("racks", "[string]")), lambda partition, _racks: partition
)


def _topic_metadata(topic_id: str, name: str, partitions: int, _racks: Any) -> TopicMetadata:
    return TopicMetadata(topic_id, name, partitions)


_TOPIC_METADATA_FIELDS = (
    Field("topicId", "uuid"),
    _string("topicName"),
    _int32("numPartitions"),
    Field("partitionMetadata", "[struct]", _RACKS),
)
_TOPIC_METADATA = Struct(_TOPIC_METADATA_FIELDS, _topic_metadata)
PARTITION_METADATA_VALUE = Struct(
    (Field("topics", "[struct]", _TOPIC_METADATA),), ConsumerGroupPartitionMetadataValue
)
PARTITION_METADATA_VALUE_3_7 = Struct(
    (_int32("epoch"), Field("topics", "[struct]", _TOPIC_METADATA)), lambda *_values: None
)


CLASSIC_PROTOCOL = Struct(
    (_string("name"), Field("metadata", "subscription")),
    lambda name, metadata: ClassicProtocol(name, embedded.subscription(metadata)),
)
CLASSIC_MEMBER_METADATA = Struct(
    (_int32("sessionTimeoutMs"), Field("supportedProtocols", "[struct]", CLASSIC_PROTOCOL)),
    ClassicMemberMetadata,
)

_MEMBER_METADATA_FIELDS = (
    _string("instanceId", nullable=True),
    _string("rackId", nullable=True),
    _string("clientId"),
    _string("clientHost"),
    Field("subscribedTopicNames", "[string]"),
    _string("subscribedTopicRegex", nullable=True),
    _int32("rebalanceTimeoutMs"),
    _string("serverAssignor", nullable=True),
)
MEMBER_METADATA_VALUE = Struct(
    (
        *_MEMBER_METADATA_FIELDS,
        Field("classicMemberMetadata", "struct", CLASSIC_MEMBER_METADATA, nullable=True, tag=0),
    ),
    ConsumerGroupMemberMetadataValue,
)
_ASSIGNOR_3_7 = Struct(
    (
        _string("name"),
        Field("minimumVersion", "int16"),
        Field("maximumVersion", "int16"),
        Field("reason", "int8"),
        Field("version", "int16"),
        Field("metadata", "bytes"),
    ),
    lambda *_values: None,
)
MEMBER_METADATA_VALUE_3_7 = Struct(
    (*_MEMBER_METADATA_FIELDS, Field("assignors", "[struct]", _ASSIGNOR_3_7)), lambda *_values: None
)

TARGET_ASSIGNMENT_VALUE = Struct(
    (_int32("assignmentEpoch"), _int64("assignmentTimestamp", tag=0, default=0)),
    ConsumerGroupTargetAssignmentMetadataValue,
)

_TOPIC_PARTITIONS = Struct(
    (Field("topicId", "uuid"), Field("partitions", "[int32]")), TopicPartitions
)
TARGET_MEMBER_VALUE = Struct(
    (Field("topicPartitions", "[struct]", _TOPIC_PARTITIONS),),
    ConsumerGroupTargetAssignmentMemberValue,
)
TARGET_MEMBER_VALUE_3_7 = Struct(
    (
        Field("error", "int8"),
        Field("topicPartitions", "[struct]", _TOPIC_PARTITIONS),
        Field("metadataVersion", "int16"),
        Field("metadataBytes", "bytes"),
    ),
    lambda *_values: None,
)

_OWNED_PARTITIONS = Struct(
    (
        Field("topicId", "uuid"),
        Field("partitions", "[int32]"),
        Field("assignmentEpochs", "[int32]", nullable=True, tag=0),
    ),
    TopicPartitions,
)
CURRENT_ASSIGNMENT_VALUE = Struct(
    (
        _int32("memberEpoch"),
        _int32("previousMemberEpoch"),
        Field("state", "int8"),
        Field("assignedPartitions", "[struct]", _OWNED_PARTITIONS),
        Field("partitionsPendingRevocation", "[struct]", _OWNED_PARTITIONS),
    ),
    ConsumerGroupCurrentMemberAssignmentValue,
)
CURRENT_ASSIGNMENT_VALUE_3_7 = Struct(
    (
        _int32("memberEpoch"),
        _int32("previousMemberEpoch"),
        _int32("targetMemberEpoch"),
        Field("assignedPartitions", "[struct]", _TOPIC_PARTITIONS),
        Field("partitionsPendingRevocation", "[struct]", _TOPIC_PARTITIONS),
        Field("partitionsPendingAssignment", "[struct]", _TOPIC_PARTITIONS),
        Field("error", "int8"),
        Field("metadataVersion", "int16"),
        Field("metadataBytes", "bytes"),
    ),
    lambda *_values: None,
)

REGULAR_EXPRESSION_VALUE = Struct(
    (Field("topics", "[string]"), _int64("version"), _int64("timestamp")),
    ConsumerGroupRegularExpressionValue,
)

# ---------------------------------------------------------------- K9 to K15: share groups

_OTHER_TOPIC_METADATA = dict_struct(
    *_TOPIC_METADATA_FIELDS[:3],
    Field(
        "partitionMetadata",
        "[struct]",
        dict_struct(_int32("partition"), Field("racks", "[string]")),
    ),
)
OTHER_PARTITION_METADATA_VALUE = dict_struct(Field("topics", "[struct]", _OTHER_TOPIC_METADATA))
SHARE_MEMBER_VALUE = dict_struct(
    _string("rackId", nullable=True),
    _string("clientId"),
    _string("clientHost"),
    Field("subscribedTopicNames", "[string]"),
)
SHARE_EPOCH_VALUE = dict_struct(_int32("epoch"), _int64("metadataHash"))
SHARE_EPOCH_VALUE_4_0 = dict_struct(_int32("epoch"))
OTHER_TARGET_ASSIGNMENT_VALUE = dict_struct(
    _int32("assignmentEpoch"), _int64("assignmentTimestamp", tag=0, default=0)
)
_OTHER_TOPIC_PARTITIONS = dict_struct(Field("topicId", "uuid"), Field("partitions", "[int32]"))
SHARE_TARGET_MEMBER_VALUE = dict_struct(
    Field("topicPartitions", "[struct]", _OTHER_TOPIC_PARTITIONS)
)
SHARE_CURRENT_ASSIGNMENT_VALUE = dict_struct(
    _int32("memberEpoch"),
    _int32("previousMemberEpoch"),
    Field("state", "int8"),
    Field("assignedPartitions", "[struct]", _OTHER_TOPIC_PARTITIONS),
)
_SHARE_STATE_TOPIC = dict_struct(
    Field("topicId", "uuid"), _string("topicName"), Field("partitions", "[int32]")
)
_SHARE_STATE_FIELDS = (
    Field("initializingTopics", "[struct]", _SHARE_STATE_TOPIC),
    Field("initializedTopics", "[struct]", _SHARE_STATE_TOPIC),
    Field(
        "deletingTopics", "[struct]", dict_struct(Field("topicId", "uuid"), _string("topicName"))
    ),
)
SHARE_STATE_VALUE = dict_struct(*_SHARE_STATE_FIELDS)
SHARE_STATE_VALUE_4_0 = dict_struct(*_SHARE_STATE_FIELDS[1:])

# ---------------------------------------------------------------- K17 to K23: streams groups

_KEY_VALUE = dict_struct(_string("key"), _string("value"))
STREAMS_EPOCH_VALUE = dict_struct(
    _int32("epoch"),
    _int64("metadataHash"),
    _int32("validatedTopologyEpoch", tag=0, default=-1),
    Field("lastAssignmentConfigs", "[struct]", _KEY_VALUE, nullable=True, tag=1),
    _int32("storedDescriptionTopologyEpoch", tag=2, default=-1),
    _int32("failedDescriptionTopologyEpoch", tag=3, default=-1),
)
STREAMS_MEMBER_VALUE = dict_struct(
    _string("instanceId", nullable=True),
    _string("rackId", nullable=True),
    _string("clientId"),
    _string("clientHost"),
    _int32("rebalanceTimeoutMs"),
    _int32("topologyEpoch"),
    _string("processId"),
    Field(
        "userEndpoint",
        "struct",
        dict_struct(_string("host"), Field("port", "uint16")),
        nullable=True,
    ),
    Field("clientTags", "[struct]", _KEY_VALUE),
)
_TASKS = dict_struct(_string("subtopologyId"), Field("partitions", "[int32]"))
STREAMS_TARGET_MEMBER_VALUE = dict_struct(
    *(Field(name, "[struct]", _TASKS) for name in ("activeTasks", "standbyTasks", "warmupTasks"))
)
_OWNED_TASKS = dict_struct(
    _string("subtopologyId"),
    Field("partitions", "[int32]"),
    Field("assignmentEpochs", "[int32]", nullable=True, tag=0),
)
STREAMS_CURRENT_ASSIGNMENT_VALUE = dict_struct(
    _int32("memberEpoch"),
    _int32("previousMemberEpoch"),
    Field("state", "int8"),
    *(
        Field(kind + end, "[struct]", _OWNED_TASKS)
        for end in ("", "PendingRevocation")
        for kind in ("activeTasks", "standbyTasks", "warmupTasks")
    ),
)
_TOPIC_INFO = dict_struct(
    _string("name"),
    _int32("partitions"),
    Field("replicationFactor", "int16"),
    Field("topicConfigs", "[struct]", _KEY_VALUE),
)
_SUBTOPOLOGY = dict_struct(
    _string("subtopologyId"),
    Field("sourceTopics", "[string]"),
    Field("sourceTopicRegex", "[string]"),
    Field("stateChangelogTopics", "[struct]", _TOPIC_INFO),
    Field("repartitionSinkTopics", "[string]"),
    Field("repartitionSourceTopics", "[struct]", _TOPIC_INFO),
    Field(
        "copartitionGroups",
        "[struct]",
        dict_struct(
            *(
                Field(name, "[int16]")
                for name in ("sourceTopics", "sourceTopicRegex", "repartitionSourceTopics")
            )
        ),
    ),
)
STREAMS_TOPOLOGY_VALUE = dict_struct(
    _int32("epoch"), Field("subtopologies", "[struct]", _SUBTOPOLOGY)
)

# ---------------------------------------------------------------- the types


def _other(key_type: int, layouts: tuple[Struct, ...], member: bool = False) -> RecordType:
    def of_group(group_id: str, value: Any) -> OtherGroupRecord:
        return OtherGroupRecord(key_type, group_id, "", value)

    def of_member(group_id: str, member_id: str, value: Any) -> OtherGroupRecord:
        return OtherGroupRecord(key_type, group_id, member_id, value)

    return RecordType(
        _GROUP_MEMBER if member else _GROUP_ID,
        tuple(map(Layout, layouts)),
        of_member if member else of_group,
    )


_COMMIT = RecordType(
    _GROUP_TOPIC_PARTITION, (Layout(OFFSET_COMMIT_VALUE),), OffsetCommit, max_version=4
)

RECORD_TYPES: dict[int, RecordType] = {
    0: _COMMIT,
    1: _COMMIT,
    2: RecordType(_GROUP, (Layout(GROUP_METADATA_VALUE),), GroupMetadata, max_version=4),
    3: RecordType(_GROUP_ID, (Layout(EPOCH_VALUE),), ConsumerGroupMetadata),
    4: RecordType(
        _GROUP_ID,
        (Layout(PARTITION_METADATA_VALUE), Layout(PARTITION_METADATA_VALUE_3_7, EARLY_ACCESS)),
        ConsumerGroupPartitionMetadata,
    ),
    5: RecordType(
        _GROUP_MEMBER,
        (Layout(MEMBER_METADATA_VALUE), Layout(MEMBER_METADATA_VALUE_3_7, EARLY_ACCESS)),
        ConsumerGroupMemberMetadata,
    ),
    6: RecordType(
        _GROUP_ID, (Layout(TARGET_ASSIGNMENT_VALUE),), ConsumerGroupTargetAssignmentMetadata
    ),
    7: RecordType(
        _GROUP_MEMBER,
        (Layout(TARGET_MEMBER_VALUE), Layout(TARGET_MEMBER_VALUE_3_7, EARLY_ACCESS)),
        ConsumerGroupTargetAssignmentMember,
    ),
    8: RecordType(
        _GROUP_MEMBER,
        (Layout(CURRENT_ASSIGNMENT_VALUE), Layout(CURRENT_ASSIGNMENT_VALUE_3_7, EARLY_ACCESS)),
        ConsumerGroupCurrentMemberAssignment,
    ),
    9: _other(9, (OTHER_PARTITION_METADATA_VALUE,)),
    10: _other(10, (SHARE_MEMBER_VALUE,), member=True),
    11: _other(11, (SHARE_EPOCH_VALUE, SHARE_EPOCH_VALUE_4_0)),
    12: _other(12, (OTHER_TARGET_ASSIGNMENT_VALUE,)),
    13: _other(13, (SHARE_TARGET_MEMBER_VALUE,), member=True),
    14: _other(14, (SHARE_CURRENT_ASSIGNMENT_VALUE,), member=True),
    15: _other(15, (SHARE_STATE_VALUE, SHARE_STATE_VALUE_4_0)),
    16: RecordType(
        _GROUP_REGEX, (Layout(REGULAR_EXPRESSION_VALUE),), ConsumerGroupRegularExpression
    ),
    17: _other(17, (STREAMS_EPOCH_VALUE,)),
    18: _other(18, (OTHER_PARTITION_METADATA_VALUE,)),
    19: _other(19, (STREAMS_MEMBER_VALUE,), member=True),
    20: _other(20, (OTHER_TARGET_ASSIGNMENT_VALUE,)),
    21: _other(21, (STREAMS_TARGET_MEMBER_VALUE,), member=True),
    22: _other(22, (STREAMS_CURRENT_ASSIGNMENT_VALUE,), member=True),
    23: _other(23, (STREAMS_TOPOLOGY_VALUE,)),
}
