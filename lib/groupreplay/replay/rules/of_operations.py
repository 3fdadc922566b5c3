"""Checks of a consumer group's operation: epochs that count, owners and targets that are one each,
removals that begin an epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.records.entries import Entry
from groupreplay.replay.change import Change
from groupreplay.replay.life import CLASSIC, Life, Member, TopicPartition
from groupreplay.replay.operations import Operation
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.rules.of_members import current_assignment

# ------------------------------------------------------------ record by record


def epoch_step(life: Life, entry: Entry, epoch: int, upgrading: bool) -> Iterator[Finding]:
    """I4, before the epoch is taken over."""
    row = life.epoch_row
    if (
        life.epoch is None
        or row is None
        or not row.start_observed
        or entry.last_hole > life.epoch_offset
    ):
        return
    if upgrading and row.protocol == CLASSIC and epoch >= life.epoch:
        return
    if epoch != life.epoch + 1:
        params = {"epoch": str(epoch), "before": str(life.epoch)}
        yield Finding("I4", entry.ts_ms, entry.offset, "EPOCH_NOT_NEXT", params)


def target_epoch(life: Life, entry: Entry, epoch: int) -> Iterator[Finding]:
    """I5, before the target epoch is taken over. Of an epoch that no K3 shows, the group may have
    been past it.
    """
    if entry.last_hole > life.epoch_offset:
        return
    row = life.epoch_row
    is_seen = life.birth_seen and row is not None and row.start_observed
    if life.epoch is not None and epoch > life.epoch and is_seen:
        params = {"target_epoch": str(epoch), "epoch": str(life.epoch)}
        yield Finding("I5", entry.ts_ms, entry.offset, "TARGET_PAST_EPOCH", params)
    elif life.target_epoch is not None and epoch < life.target_epoch:
        params = {"target_epoch": str(epoch), "before": str(life.target_epoch)}
        yield Finding("I5", entry.ts_ms, entry.offset, "TARGET_EPOCH_FALLS", params)


def release_before_grant(
    life: Life, entry: Entry, member: Member, fresh: frozenset[TopicPartition]
) -> Iterator[Finding]:
    """I14: who else still has what a member now gets, by the records so far."""
    for tp in fresh:
        for other_id in life.holders.get(tp, ()):
            other = life.members.get(other_id)
            if (
                other is not None
                and other is not member
                and tp in other.held
                and entry.last_hole <= other.current_offset
            ):
                params = {**_partition(tp), "member": member.member_id, "holder": other_id}
                yield Finding("I14", entry.ts_ms, entry.offset, "GRANTED_WHILE_HELD", params)


# ------------------------------------------------------------ at operation end


def consumer_operation(life: Life, change: Change, operation: Operation) -> Iterator[Finding]:
    """Every rule of consumer groups that one operation can break."""
    yield from _owners(life, change)
    if change.claims and _ends_with_target_epoch(operation):
        yield from _targets(life, change)
    if _tells_removals(change):
        yield from _removals(change, operation)
    for entry, member in last_assignments(life, change, operation):
        record = entry.record
        if isinstance(record, ConsumerGroupCurrentMemberAssignment) and record.value is not None:
            yield from current_assignment(life, change, entry, member, record.value)


def last_assignments(
    life: Life, change: Change, operation: Operation
) -> list[tuple[Entry, Member]]:
    """The last K8 of each live member in the operation."""
    found: list[tuple[Entry, Member]] = []
    if ConsumerGroupCurrentMemberAssignment not in operation.kinds:
        return found
    for entry in operation.entries:
        record = entry.record
        if (
            isinstance(record, ConsumerGroupCurrentMemberAssignment)
            and record.value is not None
            and entry.offset == change.offsets.get(record.member_id)
        ):
            member = life.members.get(record.member_id)
            if member is not None:
                found.append((entry, member))
    return found


def _ends_with_target_epoch(operation: Operation) -> bool:
    """Whether a K6 comes after every K7: then no K7 of the operation is missing at its end."""
    targets = (ConsumerGroupTargetAssignmentMember, ConsumerGroupTargetAssignmentMetadata)
    last = next(
        (e.record for e in reversed(operation.entries) if isinstance(e.record, targets)), None
    )
    return isinstance(last, ConsumerGroupTargetAssignmentMetadata)


def held_by_several(life: Life, change: Change) -> dict[TopicPartition, int]:
    """What members of this operation hold and others too, each with the offset that shows it.
    Nothing of a member that a hole has hidden since its last record.
    """
    shared: dict[TopicPartition, int] = {}
    for member_id in change.before:
        member = life.members.get(member_id)
        for tp in member.spans if member is not None else ():
            holders = life.holders.get(tp, ())
            if len(holders) > 1 and all(
                change.last_hole <= life.members[m].current_offset for m in holders
            ):
                offset = change.offsets.get(member_id, change.last_offset)
                shared[tp] = max(shared.get(tp, -1), offset)
    return shared


def _owners(life: Life, change: Change) -> Iterator[Finding]:
    """I1."""
    for tp, offset in held_by_several(life, change).items():
        params = {**_partition(tp), "holders": json.dumps(sorted(life.holders[tp]))}
        yield Finding("I1", change.at, offset, "HELD_BY_SEVERAL", params)


def _targets(life: Life, change: Change) -> Iterator[Finding]:
    """I2, where the K6 shows that no K7 of the operation is missing at its end."""
    for tp, before_id, member_id in change.claims:
        first, second = life.members.get(before_id), life.members.get(member_id)
        if first is None or second is None or change.last_hole > first.target_offset:
            continue
        if tp in (first.target or ()) and tp in (second.target or ()):
            params = {**_partition(tp), "other_member": before_id, "member": member_id}
            yield Finding("I2", change.at, change.last_offset, "IN_SEVERAL_TARGETS", params)


# ------------------------------------------------------------ removals


def _tells_removals(change: Change) -> bool:
    """Whether a removal was seen whole."""
    hidden = change.last_change_offset >= 0 and change.last_hole > change.last_change_offset
    return bool(change.removed) and not hidden and change.last_hole <= change.offset


def _removals(change: Change, operation: Operation) -> Iterator[Finding]:
    """I16: more than one K3. Whether a missing one was lost is only known at the next record."""
    gone, bumps = _gone(change), _epochs_begun(operation)
    if gone and bumps > 1:
        params = {"members": str(gone), "epochs": str(bumps)}
        yield Finding("I16", change.at, change.last_offset, "REMOVAL_EPOCHS", params)


def removal_without_epoch(change: Change, operation: Operation) -> tuple[int, int, int] | None:
    """(time, offset, members) of a removal whose K3 is missing so far; None where none is."""
    gone = _gone(change) if _tells_removals(change) else 0
    return (change.at, change.last_offset, gone) if gone and not _epochs_begun(operation) else None


def missing_epoch(
    unbumped: tuple[int, int, int], last_hole: int, rule: str = "I16"
) -> Iterator[Finding]:
    """I16, or T18 of streams groups, as far as it waits for the record after the removal: one that
    lies behind a hole says nothing.

    unbumped: what `removal_without_epoch` gave: (time, offset, members).
    """
    at, offset, gone = unbumped
    if last_hole <= offset:
        params = {"members": str(gone), "epochs": "0"}
        yield Finding(rule, at, offset, "REMOVAL_EPOCHS", params)


def _gone(change: Change) -> int:
    """Members removed and not replaced, by an operation that removes members alone."""
    if change.converts or change.group_ends:
        return 0
    return sum(m not in change.replaced and change.before[m].existed for m in change.removed)


def _epochs_begun(operation: Operation) -> int:
    return sum(
        isinstance(e.record, ConsumerGroupMetadata) and e.record.value is not None
        for e in operation.entries
    )


def _partition(tp: TopicPartition) -> dict[str, str]:
    return {"topic": tp[0], "partition": str(tp[1])}
