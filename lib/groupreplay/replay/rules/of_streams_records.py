"""Checks of the order of a streams group's records (KIP-1071): epochs that count, owners that let
go first, tombstones.

They are judged record by record, before an operation is applied. Source: GroupMetadataManager and
CurrentAssignmentBuilder of Kafka 4.1 to 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groupreplay.records.entries import Entry
from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay.causes import LEFT_OR_FENCED
from groupreplay.replay.kept.streams_tasks import GroupTasks, Task, task_text
from groupreplay.replay.life import Life
from groupreplay.replay.operations import Operation
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.streams.groups.group_causes import configs_of, descriptions_of
from groupreplay.replay.streams.groups.group_records import (
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    STREAMS_GROUP_TOPOLOGY,
    tasks_of,
)

K17, K19, K20 = (
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
)
K21, K22, K23 = (
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_TOPOLOGY,
)

FIRST_EPOCHS = (1, 2)
"""4.1; since 4.2."""

_MUST_PRECEDE: Mapping[int, int] = {K21: K22, K19: K21}
"""Tombstone of a member -> the one right before it."""

Found = tuple[Entry, OtherGroupRecord]
_Fields = tuple[tuple[Any, ...], list[int]]


@dataclass(slots=True)
class _Epochs:
    """Group and target epoch as the records so far have them; None, and offsets of -1, before any.

    is_epoch_known: a K17 gave the group epoch.
    last_fields: what that K17 says beside the epoch.
    """

    last_epoch: int | None
    is_epoch_known: bool
    last_epoch_offset: int
    last_fields: _Fields
    last_target: int | None
    last_target_offset: int


def record_order(life: Life, group: GroupTasks, operation: Operation) -> Iterator[Finding]:
    """T1, T3, T4, T15 and T18, before an operation that does not end the group is applied."""
    records = _records(operation)
    yield from _epochs(life, group, operation, records)
    yield from _topologies(group, records)
    yield from _grants(life, records)
    yield from _second_epochs(life, group, records)
    hidden = 0 <= life.last_change_offset < operation.last_hole
    if operation.is_whole and not hidden:
        yield from _member_tombstones(records)


def _records(operation: Operation) -> list[Found]:
    return [(e, e.record) for e in operation.entries if isinstance(e.record, OtherGroupRecord)]


# ------------------------------------------------------------ epochs


def _epochs(
    life: Life, group: GroupTasks, operation: Operation, records: Sequence[Found]
) -> Iterator[Finding]:
    """T1 and T3."""
    row = life.epoch_row
    is_known = row is not None and row.start_observed
    target = life.target_epoch, group.target_epoch_offset
    seen = _Epochs(life.epoch, is_known, life.epoch_offset, _fields_of(group), *target)
    begins = operation.last_hole < operation.offset and any(
        record.key_type == K23 and record.value is not None for _, record in records
    )
    for entry, record in records:
        if record.value is None:
            continue
        if record.key_type == K17:
            yield from _group_epoch(seen, entry, record.value, begins=begins)
        elif record.key_type == K20:
            yield from _target_epoch(seen, entry, record.value["assignment_epoch"])


def _group_epoch(
    seen: _Epochs, entry: Entry, value: Mapping[str, Any], *, begins: bool
) -> Iterator[Finding]:
    """T1.

    begins: the operation has the K23, which comes with the first member alone.
    """
    epoch, fields = value["epoch"], _fields_in(value)
    if seen.last_epoch is None:
        if begins and epoch not in FIRST_EPOCHS:
            params = {"epoch": str(epoch)}
            yield Finding("T1", entry.ts_ms, entry.offset, "FIRST_EPOCH", params)
    elif (
        seen.is_epoch_known
        and entry.last_hole <= seen.last_epoch_offset
        and epoch != seen.last_epoch + 1
        and not (epoch == seen.last_epoch and _describes(seen.last_fields, fields))
    ):
        params = {"epoch": str(epoch), "before": str(seen.last_epoch)}
        yield Finding("T1", entry.ts_ms, entry.offset, "EPOCH_NOT_NEXT", params)
    if epoch != seen.last_epoch or not seen.is_epoch_known:
        seen.last_epoch_offset = entry.offset
    seen.last_epoch, seen.is_epoch_known, seen.last_fields = epoch, True, fields


def _describes(before: _Fields, after: _Fields) -> bool:
    """Whether two K17s of an epoch differ in the topology's description (4.4) and in nothing
    else.
    """
    return before[0] == after[0] and before[1] != after[1]


def _fields_of(group: GroupTasks) -> _Fields:
    """Fields of the last K17: what an epoch is begun for, and what describes its topology (4.4)."""
    return (group.validated_epoch, group.metadata_hash, group.configs), group.descriptions


def _fields_in(value: Mapping[str, Any]) -> _Fields:
    """The same of another K17."""
    reasons = value["validated_topology_epoch"], value["metadata_hash"], configs_of(value)
    return reasons, descriptions_of(value)


def _target_epoch(seen: _Epochs, entry: Entry, target_epoch: int) -> Iterator[Finding]:
    """T3."""
    is_known = seen.is_epoch_known and entry.last_hole <= seen.last_epoch_offset
    if is_known and seen.last_epoch is not None and target_epoch > seen.last_epoch:
        params = {"target_epoch": str(target_epoch), "epoch": str(seen.last_epoch)}
        yield Finding("T3", entry.ts_ms, entry.offset, "TARGET_PAST_EPOCH", params)
    elif (
        seen.last_target is not None
        and entry.last_hole <= seen.last_target_offset
        and target_epoch <= seen.last_target
    ):
        params = {"target_epoch": str(target_epoch), "before": str(seen.last_target)}
        yield Finding("T3", entry.ts_ms, entry.offset, "TARGET_EPOCH_FALLS", params)
    seen.last_target, seen.last_target_offset = target_epoch, entry.offset


def _topologies(group: GroupTasks, records: Sequence[Found]) -> Iterator[Finding]:
    """T4."""
    epoch, offset = group.topology_epoch, group.topology_offset
    for entry, record in records:
        if record.key_type != K23 or record.value is None:
            continue
        if epoch >= 0 and entry.last_hole <= offset:
            params = {"topology_epoch": str(record.value["epoch"]), "before": str(epoch)}
            yield Finding("T4", entry.ts_ms, entry.offset, "TOPOLOGY_AGAIN", params)
        epoch, offset = record.value["epoch"], entry.offset


# ------------------------------------------------------------ owners


def _grants(life: Life, records: Sequence[Found]) -> Iterator[Finding]:
    """T15: who else still has what a member now gets, by the records so far. An operation has one
    K22 with a value; who is removed in it goes before.
    """
    gone: set[str] = set()
    for entry, record in records:
        if record.value is None:
            gone.add(record.member_id)
        elif record.key_type == K22:
            active = tasks_of(record.value["active_tasks"])
            member = life.members.get(record.member_id)
            fresh = active - member.held if member is not None else active
            for task, holder in _holders(life, entry, fresh, gone | {record.member_id}):
                params = {"task": task_text(task), "member": record.member_id, "holder": holder}
                yield Finding("T15", entry.ts_ms, entry.offset, "TASK_GRANTED_WHILE_HELD", params)


def _holders(
    life: Life, entry: Entry, tasks: frozenset[Task], without: set[str]
) -> Iterator[tuple[Task, str]]:
    """(task, member) of those who have tasks active, by a K22 behind the last hole."""
    for task in sorted([task for task in tasks if task in life.holders]):
        for member_id in life.holders[task]:
            member = life.members.get(member_id)
            if (
                member is not None
                and member_id not in without
                and task in member.held
                and entry.last_hole <= member.current_offset
            ):
                yield task, member_id


# ------------------------------------------------------------ tombstones


def _member_tombstones(records: Sequence[Found]) -> Iterator[Finding]:
    """T18, but for a K17 that is missing at the end: whether it was lost is only known at the next
    record.
    """
    for index, (entry, record) in enumerate(records):
        place = entry.ts_ms, entry.offset
        before = records[index - 1][1] if index else None
        if record.value is None and record.key_type in _MUST_PRECEDE:
            other = _MUST_PRECEDE[record.key_type]
            if not _is_tombstone(before, other, record.member_id):
                params = {"key_type": str(record.key_type), "other": str(other)}
                params["member"] = record.member_id
                yield Finding("T18", *place, "TOMBSTONE_BEFORE_MEMBER", params)
        elif _is_tombstone(before, K19) and record.key_type != K17 and not _replaces(record):
            params = {"members": "1", "epochs": "0"}
            yield Finding("T18", *place, "REMOVAL_EPOCHS", params)


def _is_tombstone(
    record: OtherGroupRecord | None, key_type: int, member_id: str | None = None
) -> bool:
    return (
        record is not None
        and record.value is None
        and record.key_type == key_type
        and member_id in (None, record.member_id)
    )


def _replaces(record: OtherGroupRecord) -> bool:
    """Whether a static member takes over from the one whose tombstones stand before (4.4)."""
    value = record.value
    return record.key_type == K19 and value is not None and value["instance_id"] is not None


def _second_epochs(life: Life, group: GroupTasks, records: Sequence[Found]) -> Iterator[Finding]:
    """T18: a K17 behind a removal's, in its batch and millisecond, that says nothing else than that
    one. A heartbeat that begins an epoch right then has a reason, which shows.
    """
    row, removal = life.epoch_row, None
    if (
        row is not None
        and row.cause == LEFT_OR_FENCED
        and row.from_offset == (life.last_change_offset)
    ):
        removal = row.from_offset, row.started_at, _fields_of(group)
    for index, (entry, record) in enumerate(records):
        begun = None
        if record.key_type == K17 and record.value is not None:
            begun = entry.offset, entry.ts_ms, _fields_in(record.value)
            if (
                removal is not None
                and begun[1:] == removal[1:]
                and (max(entry.last_hole, entry.batch_base_offset - 1) < removal[0])
            ):
                params = {"members": "1", "epochs": "2"}
                yield Finding("T18", entry.ts_ms, entry.offset, "REMOVAL_EPOCHS", params)
        removal = begun if index and _is_tombstone(records[index - 1][1], K19) else None


def removal_without_epoch(operation: Operation) -> tuple[int, int, int] | None:
    """(time, offset, members) of a removal whose K17 is missing so far; None where none is."""
    records = _records(operation)
    if not (operation.is_whole and records and _is_tombstone(records[-1][1], K19)):
        return None
    return operation.ts_ms, records[-1][0].offset, 1


def group_tombstones(operation: Operation) -> Iterator[Finding]:
    """T19, of an operation that ends the group. A tombstone that is missing at its end may be lost
    behind it, and nothing of the group comes after: that is not judged.
    """
    if operation.last_hole > operation.offset:
        return
    topology_gone = False
    for index, entry in enumerate(operation.entries):
        record = entry.record
        if not isinstance(record, OtherGroupRecord) or record.value is not None:
            continue
        topology_gone = topology_gone or record.key_type == K23
        if record.key_type != K17:
            continue
        after = [e.record for e in operation.entries[index + 1 : index + 2]]
        place = entry.ts_ms, entry.offset
        params = {"key_type": str(K17), "other": str(K23)}
        if topology_gone:
            yield Finding("T19", *place, "TOMBSTONE_AFTER", params)
        elif after and not (
            isinstance(after[0], OtherGroupRecord) and _is_tombstone(after[0], K23)
        ):
            yield Finding("T19", *place, "TOMBSTONE_BEFORE", params)
