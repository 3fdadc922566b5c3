"""Checks of what a streams group's K22s may say (KIP-1071), and in which state.

Source: CurrentAssignmentBuilder and StreamsGroupMember of Kafka 4.1 to 4.4.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from groupreplay.records.entries import Entry
from groupreplay.replay.change import Change
from groupreplay.replay.kept.streams_tasks import GroupTasks, Task, TaskRoles, task_text
from groupreplay.replay.life import Life, Member
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.streams.groups.group_records import PENDING, roles_in

STABLE, UNREVOKED_TASKS, UNRELEASED_TASKS = 1, 2, 3


def current_assignment(
    life: Life,
    group: GroupTasks,
    change: Change,
    entry: Entry,
    member: Member,
    value: Mapping[str, Any],
    had: TaskRoles,
) -> Iterator[Finding]:
    """T7 to T12 for the K22 of an operation, at its end.

    had: what the member held before.

    A static member that is away, or just came back, has epoch -2 or 0 (4.4): its K22 is a copy of
    the one before, and does not say what to do.
    """
    if value["member_epoch"] <= 0:
        return
    yield from _against_before(life, group, change, entry, member, value)
    yield from _against_target_epoch(life, group, entry, member, value)
    yield from _pending(entry, member, value)
    if not any(held.warmup for held in group.held.values()):
        yield from _against_target(life, group, entry, member, value, had)
    yield from _assignment_epochs(entry, member, value)


def is_seen_from_birth(life: Life, group: GroupTasks, last_hole: int) -> bool:
    """Whether nothing of the life is lost: what was not seen, was not. A life that a release up to
    0.3.0 kept has no known K23.
    """
    is_whole = life.birth_seen and not life.hole_seen and last_hole <= life.incarnation
    return is_whole and group.topology_offset >= life.incarnation


def members_of_process(life: Life, member: Member) -> list[Member]:
    """The members that run in a member's process by what they said last, itself too."""
    process = life.processes.get(member.process_id or "")
    found = [life.members.get(each) for each in (process.members if process is not None else ())]
    return [m for m in found if m is not None and m.process_id == member.process_id]


def share_process(one: Member, other: Member, last_hole: int) -> bool:
    """Whether two members are known to run in one process, or are the same."""
    return one is other or (
        one.process_id is not None
        and one.process_id == other.process_id
        and last_hole <= min(one.described_offset, other.described_offset)
    )


def texts(tasks: Iterable[Task]) -> str:
    """Tasks as JSON array of their names."""
    return json.dumps([task_text(task) for task in sorted(tasks)])


# ------------------------------------------------------------ epochs


def _against_before(
    life: Life,
    group: GroupTasks,
    change: Change,
    entry: Entry,
    member: Member,
    value: Mapping[str, Any],
) -> Iterator[Finding]:
    """T7, and T8 as far as the epoch may not fall."""
    before = change.before[member.member_id]
    previous, epoch = value["previous_member_epoch"], value["member_epoch"]
    params = {"member": member.member_id}
    if before.epoch is None:
        if previous != 0 and is_seen_from_birth(life, group, change.last_hole):
            params |= {"previous": str(previous)}
            yield Finding("T7", entry.ts_ms, entry.offset, "PREVIOUS_OF_NONE", params)
        return
    if before.epoch <= 0 or change.last_hole > before.current_offset:
        return
    if epoch < before.epoch:
        fall = {"epoch": str(epoch), "before": str(before.epoch)}
        yield Finding("T8", entry.ts_ms, entry.offset, "MEMBER_EPOCH_FALLS", params | fall)
    if previous != before.epoch:
        params |= {"previous": str(previous), "before": str(before.epoch)}
        yield Finding("T7", entry.ts_ms, entry.offset, "PREVIOUS_TASKS_EPOCH", params)


def _against_target_epoch(
    life: Life, group: GroupTasks, entry: Entry, member: Member, value: Mapping[str, Any]
) -> Iterator[Finding]:
    """T8: a member's epoch against the target's. From 4.2 on one that joins before the first target
    is at epoch 1.
    """
    epoch = value["member_epoch"]
    params = {"member": member.member_id, "epoch": str(epoch)}
    if life.target_epoch is None:
        if epoch > 1 and is_seen_from_birth(life, group, entry.last_hole):
            yield Finding("T8", entry.ts_ms, entry.offset, "PAST_NO_TARGET", params)
    elif epoch > life.target_epoch and entry.last_hole <= group.target_epoch_offset:
        params |= {"target_epoch": str(life.target_epoch)}
        yield Finding("T8", entry.ts_ms, entry.offset, "PAST_TARGET", params)


# ------------------------------------------------------------ tasks


def _pending(entry: Entry, member: Member, value: Mapping[str, Any]) -> Iterator[Finding]:
    """T9."""
    pending = roles_in(value, PENDING)
    tasks = pending.active | pending.standby | pending.warmup
    revokes = value["state"] == UNREVOKED_TASKS
    params = {"member": member.member_id}
    if revokes and not tasks:
        yield Finding("T9", entry.ts_ms, entry.offset, "NO_TASKS_PENDING", params)
    elif tasks and not revokes:
        params["tasks"] = texts(tasks)
        yield Finding("T9", entry.ts_ms, entry.offset, "TASKS_PENDING", params)


def _against_target(
    life: Life,
    group: GroupTasks,
    entry: Entry,
    member: Member,
    value: Mapping[str, Any],
    had: TaskRoles,
) -> Iterator[Finding]:
    """T10 and T11: what a member has at the target epoch, against its K21."""
    at_target = value["member_epoch"] == life.target_epoch
    if not at_target or entry.last_hole > group.target_epoch_offset:
        return
    is_known = (
        entry.last_hole <= member.target_offset
        if member.target is not None
        else is_seen_from_birth(life, group, entry.last_hole)
    )
    if not is_known:
        return
    held, target = roles_in(value), group.targets.get(member.member_id, TaskRoles())
    missing, extra = _without(target, held), _without(held, target)
    params = {
        "member": member.member_id,
        "epoch": str(value["member_epoch"]),
        "missing": str(_count(missing)),
        "extra": str(_count(extra)),
    }
    if value["state"] == STABLE and (_count(missing) or _count(extra)):
        yield Finding("T10", entry.ts_ms, entry.offset, "TASKS_NOT_ITS_TARGET", params)
    if value["state"] != UNRELEASED_TASKS:
        return
    # From 4.4 on a replica stays until its member runs the task.
    replicas = (extra.standby | extra.warmup) - target.active
    if extra.active or replicas or not _count(missing):
        yield Finding("T11", entry.ts_ms, entry.offset, "NO_PART_OF_TARGET", params)
    elif is_seen_from_birth(life, group, entry.last_hole) and not _waits(
        life, group, member, missing, had
    ):
        params = {name: params[name] for name in ("member", "epoch")}
        yield Finding("T11", entry.ts_ms, entry.offset, "TASKS_WAIT_FOR_NOBODY", params)


def _without(roles: TaskRoles, others: TaskRoles) -> TaskRoles:
    return TaskRoles(
        roles.active - others.active,
        roles.standby - others.standby,
        roles.warmup - others.warmup,
    )


def _count(roles: TaskRoles) -> int:
    return len(roles.active) + len(roles.standby) + len(roles.warmup)


def _all(roles: TaskRoles) -> frozenset[Task]:
    return roles.active | roles.standby | roles.warmup


def _waits(
    life: Life, group: GroupTasks, member: Member, missing: TaskRoles, had: TaskRoles
) -> bool:
    """Whether some missing task is not free: active in any process, for one that is to run; held in
    any role by the member's own process, for every one. What the member itself gives up with this
    K22 still counts as held.
    """
    own = set(_all(had))
    for each in members_of_process(life, member):
        own |= _all(group.held.get(each.member_id, TaskRoles()))
    is_run = had.active.union(life.holders)
    return bool(missing.active & is_run or _all(missing) & own)


# ------------------------------------------------------------ assignment epochs

_ACTIVE: Final = ("active_tasks", "active_tasks" + PENDING)
_REPLICAS: Final = tuple(
    kind + ending for kind in ("standby_tasks", "warmup_tasks") for ending in ("", PENDING)
)


def _assignment_epochs(entry: Entry, member: Member, value: Mapping[str, Any]) -> Iterator[Finding]:
    """T12. Brokers of 4.1 write none."""
    for each in [each for kind in _REPLICAS for each in value[kind]]:
        if each.get("assignment_epochs"):
            params = {"member": member.member_id, "subtopology": each["subtopology_id"]}
            yield Finding("T12", entry.ts_ms, entry.offset, "REPLICA_EPOCHS", params)
    for each in [each for kind in _ACTIVE for each in value[kind]]:
        epochs, partitions = each.get("assignment_epochs"), each["partitions"]
        if epochs is None:
            continue
        if len(epochs) != len(partitions):
            params = {"member": member.member_id, "epochs": str(len(epochs))}
            params |= {"partitions": str(len(partitions)), "subtopology": each["subtopology_id"]}
            yield Finding("T12", entry.ts_ms, entry.offset, "TASK_EPOCHS_COUNT", params)
            continue
        for partition, epoch in zip(partitions, epochs, strict=True):
            if not _least_epoch(member) <= epoch <= value["member_epoch"]:
                params = {"task": task_text((each["subtopology_id"], partition))}
                params |= {"member": member.member_id, "assignment_epoch": str(epoch)}
                params["epoch"] = str(value["member_epoch"])
                yield Finding("T12", entry.ts_ms, entry.offset, "TASK_EPOCH_OUT_OF_RANGE", params)


def _least_epoch(member: Member) -> int:
    """0 of a static member that came back (4.4), or of one that is not known not to be static."""
    return 1 if member.described_offset >= 0 and member.instance_id is None else 0
