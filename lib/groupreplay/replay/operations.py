"""Where one operation of the coordinator ends and the next begins.

An operation is what one coordinator action wrote: atomic, one timestamp, inside one record batch. A
batch can hold many, so records of one group, one batch and one millisecond are split further by the
shape of what a coordinator writes (`OperationReader`). Rules are judged at operation end alone.

Source: CoordinatorRuntime's append, GroupMetadataManager's write order; the rule was checked
against recordings of 3.9 to 4.3, see tests/scenarios.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.records.entries import Entry, Record
from groupreplay.records.offsets import OffsetCommit
from groupreplay.records.others import OtherGroupRecord

SHARE_METADATA = 11
SHARE_CURRENT_MEMBER_ASSIGNMENT = 14
SHARE_STATE_PARTITION_METADATA = 15
STREAMS_METADATA = 17
STREAMS_MEMBER_METADATA = 19
STREAMS_TARGET_METADATA = 20
STREAMS_TARGET_MEMBER = 21
STREAMS_CURRENT_MEMBER_ASSIGNMENT = 22


@dataclass(slots=True)
class Operation:
    """Records of one coordinator action, in order; never empty, never holding commits.

    The rest is found once from the records, since it is asked for a dozen times.

    kinds: classes of the records.
    tombstones: how many there are.
    """

    entries: list[Entry]
    ts_ms: int = field(init=False)
    offset: int = field(init=False)
    last_offset: int = field(init=False)
    leader_epoch: int = field(init=False)
    last_hole: int = field(init=False)
    kinds: set[type[Record]] = field(init=False)
    tombstones: int = field(init=False)

    def __post_init__(self) -> None:
        self.offset, self.ts_ms, self.leader_epoch, _, _, _ = self.entries[0]
        self.last_offset, _, _, _, self.last_hole, _ = self.entries[-1]
        self.kinds = {type(entry.record) for entry in self.entries}
        self.tombstones = len([1 for entry in self.entries if entry.record.value is None])

    @property
    def is_whole(self) -> bool:
        """Whether no record of it is known to be lost: none inside, none right before it in its
        batch. One that followed its last record may be.
        """
        opening = self.entries[0]
        begins = opening.offset == opening.batch_base_offset
        return self.last_hole < 0 or self.last_hole < opening.offset - (not begins)


def deletion_and_birth(operation: Operation) -> list[Operation]:
    """The tombstones of a group with which an operation begins, and the rest of it; [] where it
    does not begin with them, or nothing follows.
    """
    entries = operation.entries
    if not 0 < operation.tombstones < len(entries):
        return []
    first = next(i for i, entry in enumerate(entries) if entry.record.value is not None)
    ends = any(
        isinstance(entry.record, (GroupMetadata, ConsumerGroupMetadata))
        or getattr(entry.record, "key_type", None) == STREAMS_METADATA
        for entry in entries[:first]
    )
    return [Operation(entries[:first]), Operation(entries[first:])] if ends else []


class OperationReader:
    """Records of one group in, its operations out."""

    def __init__(self) -> None:
        self._pending: list[Entry] = []
        self._held: list[Entry] = []

    def feed(self, entry: Entry) -> list[Operation]:
        """Takes the next record. Returns the operations that it shows to have ended."""
        pending = self._pending
        ended: list[Operation] = []
        if pending and is_seam(pending, entry):
            if not self._held and _may_be_downgraded(pending, entry):
                self._held, self._pending = pending, []
            else:
                ended = self.flush()
            pending = self._pending
        elif pending and _computes_target_of_the_next(pending, entry):
            target = pending.pop()
            ended, pending = self.flush(), [target]
            self._pending = pending
        pending.append(entry)
        return ended

    def flush(self) -> list[Operation]:
        """Ends what is under way: one operation, or two that began alike and are not one."""
        held, pending = self._held, self._pending
        self._held, self._pending = [], []
        if held and pending and _removes_group(pending):
            return [Operation(held + pending)]
        return [Operation(entries) for entries in (held, pending) if entries]


def _may_be_downgraded(operation: Sequence[Entry], following: Entry) -> bool:
    """Whether an operation that replaced a member may go on with the downgrade of its group, which
    begins with the K8s of all members.

    A classic member that takes over the instance of the last consumer member does both at once.
    Source: GroupMetadataManager.classicGroupJoinToConsumerGroup.
    """
    last = operation[-1]
    if last.batch_base_offset != following.batch_base_offset or last.ts_ms != following.ts_ms:
        return False
    record = following.record
    if not isinstance(record, ConsumerGroupCurrentMemberAssignment) or record.value is not None:
        return False
    described = [
        e.record.value for e in operation if isinstance(e.record, ConsumerGroupMemberMetadata)
    ]
    return None in described and any(
        value is not None and value.classic_member_metadata is not None for value in described
    )


def _computes_target_of_the_next(operation: Sequence[Entry], following: Entry) -> bool:
    """Whether the last record so far is the target's epoch of the next operation: it came behind
    the removal of members, as where the last one leaves (4.4), and who is left has a K8 (K22).
    """
    record, after = operation[-1].record, following.record
    if isinstance(after, ConsumerGroupCurrentMemberAssignment):
        is_target = isinstance(record, ConsumerGroupTargetAssignmentMetadata)
    else:
        is_current = _streams_value(after) == STREAMS_CURRENT_MEMBER_ASSIGNMENT
        is_target = is_current and _streams_value(record) == STREAMS_TARGET_METADATA
    return is_target and _only_removes(operation, following.last_hole)


def _removes_group(entries: Sequence[Entry]) -> bool:
    """Whether records end a consumer group and begin a classic one."""
    has_k2 = any(
        isinstance(e.record, GroupMetadata) and e.record.value is not None for e in entries
    )
    return has_k2 and any(
        isinstance(e.record, ConsumerGroupMetadata) and e.record.value is None for e in entries
    )


def is_seam(operation: Sequence[Entry], following: Entry) -> bool:
    """Whether `following` begins another operation than the one whose records so far are
    `operation`.
    """
    last = operation[-1]
    if last.batch_base_offset != following.batch_base_offset or last.ts_ms != following.ts_ms:
        return True
    before, after = last.record, following.record
    match before:
        case ConsumerGroupCurrentMemberAssignment(value=value) if value is not None:
            if value.member_epoch == 0:
                return not (_of_member_or_group(after, before.member_id) or _is_target(after))
            return not (
                value.member_epoch == value.previous_member_epoch
                and _copies_classic_members(operation)
                and _may_follow_copied(after)
            )
        case ConsumerGroupMetadata(value=v3) if v3 is not None:
            # Without a topic that is subscribed to, the last member may have left: from 4.4 on that
            # operation has the empty target too.
            has_target = isinstance(after, ConsumerGroupTargetAssignmentMetadata)
            may_be_last = has_target and v3.metadata_hash == 0
            ends = not may_be_last and _only_removes(operation, following.last_hole)
            return ends or not _may_follow_epoch(after)
        case ConsumerGroupMetadata():
            return after.value is not None and not isinstance(after, GroupMetadata)
        case ConsumerGroupTargetAssignmentMetadata(value=v6) if v6 is not None:
            goes_on = (
                isinstance(after, ConsumerGroupCurrentMemberAssignment) and after.value is not None
            )
            return not (
                goes_on
                or (
                    isinstance(after, ConsumerGroupMemberMetadata)
                    and _copies_classic_members(operation)
                )
            )
        case GroupMetadata(value=v2):
            return v2 is not None or _is_generation(after)
        case OtherGroupRecord(key_type=key_type, value=other) if other is not None:
            if key_type >= STREAMS_METADATA:
                return _ends_streams(operation, following)
            return (
                key_type == SHARE_CURRENT_MEMBER_ASSIGNMENT
                and getattr(after, "key_type", None) != SHARE_STATE_PARTITION_METADATA
            )
        case OtherGroupRecord() if after.value is not None:
            return _is_of_next_life(operation, after)
    return False


def _is_generation(record: Record) -> bool:
    return isinstance(record, GroupMetadata) and record.value is not None


def _is_of_next_life(operation: Sequence[Entry], value: Record) -> bool:
    """Whether a value comes after the tombstones of a share or streams group: of the group that has
    its id next. A K2 there is what a streams group becomes.
    """
    gone = {
        e.record.key_type
        for e in operation
        if isinstance(e.record, OtherGroupRecord) and e.record.value is None
    }
    return SHARE_METADATA in gone or (STREAMS_METADATA in gone and not _is_generation(value))


def _ends_streams(operation: Sequence[Entry], following: Entry) -> bool:
    """Whether the last value of a streams group's operation ends it. It writes in the order of a
    consumer group's: after its K17 targets and one K22 alone, after its K20 a K22 alone.

    A static return (4.4) goes on after its K22 of epoch 0, as after a K8. Source:
    GroupMetadataManager.streamsGroupHeartbeat, streamsGroupFenceMember.
    """
    before, after = operation[-1].record, following.record
    assert isinstance(before, OtherGroupRecord)
    assert before.value is not None
    next_type = _streams_value(after)
    if before.key_type == STREAMS_CURRENT_MEMBER_ASSIGNMENT:
        is_return = before.value["member_epoch"] == 0
        of_it = getattr(after, "member_id", None) in ("", before.member_id)
        return not (is_return and next_type > 0 and (of_it or next_type == STREAMS_TARGET_MEMBER))
    if before.key_type == STREAMS_TARGET_METADATA:
        return next_type != STREAMS_CURRENT_MEMBER_ASSIGNMENT
    if before.key_type == STREAMS_METADATA:
        # The last member that leaves takes the target with it (4.4): a K20 without a time.
        may_be_last = (
            next_type == STREAMS_TARGET_METADATA
            and getattr(after, "value", {})["assignment_timestamp"] == 0
        )
        ends = not may_be_last and _only_removes(operation, following.last_hole)
        return ends or next_type < STREAMS_TARGET_METADATA
    return False


def _streams_value(record: Record) -> int:
    """The key type of a value of a streams group; 0 of anything else."""
    is_value = isinstance(record, OtherGroupRecord) and record.value is not None
    key_type: int = getattr(record, "key_type", 0) if is_value else 0
    return key_type if key_type >= STREAMS_METADATA else 0


def _of_member_or_group(record: Record, member_id: str) -> bool:
    """A static return goes on after its K8 of epoch 0: with records of the new member, or of the
    group alone.
    """
    return (
        not isinstance(record, OffsetCommit)
        and getattr(record, "member_id", member_id) == member_id
    )


def _is_target(record: Record) -> bool:
    """Where the target was behind the group's epoch (4.3+), a static return computes it again:
    others' targets come before the last K8.
    """
    return isinstance(record, ConsumerGroupTargetAssignmentMember) and record.value is not None


def _copies_classic_members(operation: Sequence[Entry]) -> bool:
    """Whether an online upgrade is still writing the classic members it found: it began with K2's
    tombstone, and no K5 of the consumer protocol came.
    """
    first = operation[0].record
    if not (isinstance(first, GroupMetadata) and first.value is None):
        return False
    for index in range(len(operation) - 2, 0, -1):
        record = operation[index].record
        if (
            isinstance(record, ConsumerGroupMemberMetadata)
            and record.value is not None
            and record.value.classic_member_metadata is None
        ):
            return False
        if (
            isinstance(record, ConsumerGroupCurrentMemberAssignment)
            and record.value is not None
            and record.value.member_epoch > 0
        ):
            # The same was asked when the record after it came, and it did not end the operation: no
            # such K5 stands before it.
            return True
    return True


def _may_follow_copied(record: Record) -> bool:
    return isinstance(record, (ConsumerGroupCurrentMemberAssignment, ConsumerGroupMemberMetadata))


def _only_removes(operation: Sequence[Entry], last_hole: int) -> bool:
    """Whether an operation removes members, and none comes in it: its K3 (K17) is the last of it,
    and a target is that of the next heartbeat.

    Not where a hole lies inside of it: one may have come. Source:
    GroupMetadataManager.consumerGroupFenceMembers, streamsGroupFenceMember.
    """
    described = [
        e.record.value
        for e in operation
        if isinstance(e.record, ConsumerGroupMemberMetadata)
        or getattr(e.record, "key_type", None) == STREAMS_MEMBER_METADATA
    ]
    only_gone = bool(described) and all(value is None for value in described)
    return only_gone and last_hole < operation[0].offset


def _may_follow_epoch(record: Record) -> bool:
    """After its K3 an operation writes targets and one member's K8, and nothing else: K5, K16, K4
    and another K3 begin the next one.
    """
    kinds = (
        ConsumerGroupTargetAssignmentMember,
        ConsumerGroupTargetAssignmentMetadata,
        ConsumerGroupCurrentMemberAssignment,
    )
    return isinstance(record, kinds) and record.value is not None
