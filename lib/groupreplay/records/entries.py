"""The records of `__consumer_offsets` that the machines replay: what one key/value pair says, and
where it stood.

One class a record type, named like Kafka's own message without its `Key`/`Value` ending; fields are
Kafka's in snake_case. `value is None` is a tombstone everywhere. Sets of partitions keep the order
of the bytes; their order means nothing (Kafka writes them from hash maps). No record is ever
changed once it is made, though none is frozen: a frozen one costs three times as much to make, and
there is one a log entry.

Source: group-coordinator/src/main/resources/common/message/*.json, 3.8 to 4.4. Decoding lives in
`wire`; nothing here knows bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.records.offsets import OffsetCommit
from groupreplay.records.others import OtherGroupRecord

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

    offset: offset in its partition of the offsets topic; a commit of a transaction stands at its
        marker's offset, where it began to count.
    ts_ms: coordinator's clock at append, UTC.
    leader_epoch: leader epoch that its batch names, -1 where the batch names none.
    batch_base_offset: every batch boundary ends an operation.
    last_hole: greatest offset below this one that compaction or loss took from this partition's log
        as far as it was read, -1 for none.
    """

    offset: int
    ts_ms: int
    leader_epoch: int
    batch_base_offset: int
    last_hole: int
    record: Record
