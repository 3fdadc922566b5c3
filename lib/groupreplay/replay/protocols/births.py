"""Whether an operation begins a group."""

from __future__ import annotations

from groupreplay.records.classic import GroupMetadata, GroupMetadataValue
from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.replay.operations import Operation


def is_consumer_birth(operation: Operation) -> bool:
    """Whether the operation begins a consumer group: its first K3 (1 up to 4.2, 2 from 4.3 on,
    which alone stamps K6) with a joiner's first K8, or a 4.3 member at epoch 1.

    Where a K2 goes in it and the log has a hole before, a classic group may have been there. Not
    where the record before it in its batch is lost: the tombstone of a K2 would make it an upgrade.
    Nor where a member goes: a static one is replaced, and its first K3 is lost.
    """
    if _may_lack_its_beginning(operation):
        return False
    epoch = stamped = 0
    joined = first = False
    for entry in operation.entries:
        match entry.record:
            case GroupMetadata() if operation.last_hole >= 0:
                return False
            case ConsumerGroupCurrentMemberAssignment(value=None):
                return False
            case ConsumerGroupMetadata(value=group) if group is not None:
                epoch = group.epoch
            case ConsumerGroupTargetAssignmentMetadata(value=target) if target is not None:
                stamped = target.assignment_timestamp_ms
            case ConsumerGroupMemberMetadata(value=metadata):
                joined = joined or metadata is not None
            case ConsumerGroupCurrentMemberAssignment(value=current) if (
                current is not None and current.previous_member_epoch == 0
            ):
                first = True
                epoch = epoch or current.member_epoch
    return joined and first and (epoch == 1 or (epoch == 2 and stamped > 0))


def is_classic_birth(operation: Operation, value: GroupMetadataValue) -> bool:
    """Whether a K2 is the first of its group: the empty one that a group may begin with, or that of
    the first generation, whose members may all be gone by then.

    The empty one may stand in one operation with the tombstones of a consumer group. That of
    generation 1 does not show it behind a hole, which may have both. And a static member that
    comes back repeats the generation, so the K2 before may be lost, unless this is the log's very
    first record.
    """
    if value.generation == 0:
        return not _may_lack_its_beginning(operation)
    is_static = any(member.group_instance_id is not None for member in value.members)
    repeats = is_static and operation.offset > 0
    return value.generation == 1 and not repeats and operation.last_hole < 0


def is_whole_upgrade(operation: Operation) -> bool:
    """Whether no record of an upgrade is lost: the last one is the joiner's K8."""
    last = operation.entries[-1].record
    ends = isinstance(last, ConsumerGroupCurrentMemberAssignment) and last.value is not None
    return ends and operation.is_whole


def _may_lack_its_beginning(operation: Operation) -> bool:
    """Whether the record right before it, in its batch, is lost."""
    opening = operation.entries[0]
    return (
        opening.offset != opening.batch_base_offset and 0 <= opening.last_hole == opening.offset - 1
    )
