"""Whether an operation begins a consumer group."""

from __future__ import annotations

from groupreplay.records.classic import GroupMetadata
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
    """
    opening = operation.entries[0]
    if opening.offset != opening.batch_base_offset and 0 <= opening.last_hole == opening.offset - 1:
        return False
    epoch = stamped = 0
    joined = first = False
    for entry in operation.entries:
        match entry.record:
            case GroupMetadata() if operation.last_hole >= 0:
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
