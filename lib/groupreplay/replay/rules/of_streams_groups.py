"""Checks of a streams group's operation (KIP-1071) at its end: topologies, targets, and who
runs what.

Source: GroupMetadataManager, StreamsGroup and StickyTaskAssignor of Kafka 4.1 to 4.4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from groupreplay.records.entries import Entry
from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay.change import Change
from groupreplay.replay.kept.streams_tasks import GroupTasks, TaskRoles, task_text
from groupreplay.replay.life import Life, Member
from groupreplay.replay.operations import Operation
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.rules.of_operations import held_by_several
from groupreplay.replay.rules.of_streams_members import (
    current_assignment,
    members_of_process,
    share_process,
    texts,
)
from groupreplay.replay.streams.groups.group_records import (
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    held_in,
    roles_in,
    tasks_of,
)
from groupreplay.replay.streams.groups.group_rows import STANDBYS


def streams_operation(
    life: Life,
    group: GroupTasks,
    change: Change,
    operation: Operation,
    had: Mapping[str, TaskRoles],
) -> Iterator[Finding]:
    """Every rule of streams groups that one operation can break, but those of record order.

    had: what members with a K22 in the operation held before.
    """
    held = dict(had)
    yield from _one_active(life, change)
    if _ends_with_target_epoch(operation):
        yield from _active_targets(life, change)
        yield from _standby_targets(life, group, operation)
    for entry in operation.entries:
        record = entry.record
        if not isinstance(record, OtherGroupRecord) or record.value is None:
            continue
        if record.key_type == STREAMS_GROUP_METADATA:
            yield from _validated_topology(group, operation, entry, record)
        member = life.members.get(record.member_id)
        if member is None:
            continue
        if record.key_type == STREAMS_GROUP_MEMBER_METADATA:
            yield from _member_metadata(group, operation, entry, record)
        elif record.key_type == STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER:
            yield from _target(group, operation, entry, record)
        elif record.key_type == STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT:
            before = held.get(record.member_id, TaskRoles())
            held[record.member_id] = held_in(record.value)
            yield from current_assignment(life, group, change, entry, member, record.value, before)
            yield from _stateless_replicas(group, operation, entry, record)
            yield from _once_in_process(life, group, change, entry, member)


# ------------------------------------------------------------ topologies


def _knows_topology(group: GroupTasks, operation: Operation) -> bool:
    """Whether the K23 that was seen is that of the group as it is now."""
    seen = min(group.topology_offset, operation.offset)
    return group.topology_epoch >= 0 and operation.last_hole <= seen


def _validated_topology(
    group: GroupTasks, operation: Operation, entry: Entry, record: OtherGroupRecord
) -> Iterator[Finding]:
    """T2."""
    validated = record.value["validated_topology_epoch"] if record.value is not None else -1
    if validated not in (-1, group.topology_epoch) and _knows_topology(group, operation):
        params = {"validated_epoch": str(validated), "topology_epoch": str(group.topology_epoch)}
        yield Finding("T2", entry.ts_ms, entry.offset, "VALIDATED_ANOTHER", params)


def _member_metadata(
    group: GroupTasks, operation: Operation, entry: Entry, record: OtherGroupRecord
) -> Iterator[Finding]:
    """T5."""
    value = record.value or {}
    if value["topology_epoch"] > group.topology_epoch and _knows_topology(group, operation):
        params = {
            "member": record.member_id,
            "member_topology_epoch": str(value["topology_epoch"]),
            "topology_epoch": str(group.topology_epoch),
        }
        yield Finding("T5", entry.ts_ms, entry.offset, "TOPOLOGY_NEWER", params)
    if not value["process_id"]:
        params = {"member": record.member_id}
        yield Finding("T5", entry.ts_ms, entry.offset, "NO_PROCESS", params)


def _stateless_replicas(
    group: GroupTasks, operation: Operation, entry: Entry, record: OtherGroupRecord
) -> Iterator[Finding]:
    """T21, of a K21 or K22."""
    if record.value is None or not _knows_topology(group, operation):
        return
    has_pending = record.key_type == STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT
    roles = held_in(record.value) if has_pending else roles_in(record.value)
    for task in sorted(roles.standby | roles.warmup):
        topics = group.subtopologies.get(task[0])
        if topics is not None and not topics.changelogs:
            params = {"member": record.member_id, "task": task_text(task)}
            yield Finding("T21", entry.ts_ms, entry.offset, "STATELESS_REPLICA", params)


# ------------------------------------------------------------ targets


def _target(
    group: GroupTasks, operation: Operation, entry: Entry, record: OtherGroupRecord
) -> Iterator[Finding]:
    """T6, and T21 of a K21."""
    warmups = tasks_of((record.value or {})["warmup_tasks"])
    if warmups:
        params = {"member": record.member_id, "tasks": texts(warmups)}
        yield Finding("T6", entry.ts_ms, entry.offset, "WARMUPS_IN_TARGET", params)
    yield from _stateless_replicas(group, operation, entry, record)


def _ends_with_target_epoch(operation: Operation) -> bool:
    """Whether a K20 comes after every K21: then no K21 of the operation is missing at its end."""
    targets = (STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER, STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA)
    last = None
    for entry in operation.entries:
        record = entry.record
        if isinstance(record, OtherGroupRecord) and record.value is not None:
            last = record.key_type if record.key_type in targets else last
    return last == STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA


def _active_targets(life: Life, change: Change) -> Iterator[Finding]:
    """T16."""
    for task, before_id, member_id in change.claims:
        first, second = life.members.get(before_id), life.members.get(member_id)
        if first is None or second is None or change.last_hole > first.target_offset:
            continue
        if task in (first.target or ()) and task in (second.target or ()):
            params = {"task": task_text(task), "other_member": before_id, "member": member_id}
            offset = max(first.target_offset, second.target_offset)
            yield Finding("T16", change.at, offset, "TASK_IN_SEVERAL_TARGETS", params)


def _standby_targets(life: Life, group: GroupTasks, operation: Operation) -> Iterator[Finding]:
    """T16R, of the tasks that the K21s of an operation name."""
    known = [
        (member, group.targets.get(member.member_id, TaskRoles()))
        for member in life.members.values()
        if member.target is not None and operation.last_hole <= member.target_offset
    ]
    changed = [roles for member, roles in known if member.target_offset >= operation.offset]
    wanted = _standby_replicas(life, group, operation)
    for task in sorted({task for roles in changed for task in roles.standby | roles.active}):
        standbys = [member for member, roles in known if task in roles.standby]
        if wanted is not None and len(standbys) > wanted:
            params = {"task": task_text(task), "standbys": str(len(standbys))}
            params["replicas"] = str(wanted)
            yield _shown_by(standbys, operation, "TOO_MANY_STANDBYS", params)
        actives = [member for member, roles in known if task in roles.active]
        for one, other in [(a, s) for a in actives for s in standbys]:
            if share_process(one, other, operation.last_hole):
                params = {"process": str(one.process_id), "task": task_text(task)}
                yield _shown_by([one, other], operation, "STANDBY_BESIDE_ACTIVE", params)


def _standby_replicas(life: Life, group: GroupTasks, operation: Operation) -> int | None:
    """num.standby.replicas that a target was made for; None where that is not known (4.1; a K17
    behind a hole; a target behind the group's epoch).
    """
    row, wanted = life.epoch_row, group.configs.get(STANDBYS, "")
    is_known = row is not None and row.start_observed and operation.last_hole <= life.epoch_offset
    is_of_epoch = life.epoch == life.target_epoch
    return int(wanted) if is_known and is_of_epoch and wanted.isdecimal() else None


def _shown_by(
    members: list[Member], operation: Operation, code: str, params: dict[str, str]
) -> Finding:
    """A finding of T16R, which the last K21 of those members shows."""
    offset = max(member.target_offset for member in members)
    return Finding("T16R", operation.ts_ms, offset, code, params)


# ------------------------------------------------------------ who runs what


def _one_active(life: Life, change: Change) -> Iterator[Finding]:
    """T13."""
    for task, offset in held_by_several(life, change).items():
        params = {"task": task_text(task), "holders": json.dumps(sorted(life.holders[task]))}
        yield Finding("T13", change.at, offset, "TASK_HELD_BY_SEVERAL", params)


def _once_in_process(
    life: Life, group: GroupTasks, change: Change, entry: Entry, member: Member
) -> Iterator[Finding]:
    """T14, of the tasks that a K22 names."""
    own = group.held.get(member.member_id)
    if own is None:
        return
    held = {
        other.member_id: group.held.get(other.member_id, TaskRoles())
        for other in members_of_process(life, member)
        if change.last_hole <= other.current_offset
        and share_process(member, other, change.last_hole)
    }
    # From 4.4 on an active task may still be pending while its member has it as a replica.
    held[member.member_id] = TaskRoles(
        own.active - (member.pending & (own.standby | own.warmup)), own.standby, own.warmup
    )
    for task in sorted(own.active | own.standby | own.warmup):
        holders = [
            member_id
            for member_id, roles in sorted(held.items())
            for tasks in (roles.active, roles.standby, roles.warmup)
            if task in tasks
        ]
        if len(holders) > 1:
            params = {"process": str(member.process_id), "task": task_text(task)}
            params["holders"] = json.dumps(holders)
            yield Finding("T14", entry.ts_ms, entry.offset, "TASK_TWICE_IN_PROCESS", params)
