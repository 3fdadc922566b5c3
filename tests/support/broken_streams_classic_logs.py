"""Recorded logs of Kafka Streams on the classic protocol, changed to break one rule each: what a
leader that gives tasks wrongly would write into a K2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from groupreplay.records.classic import (
    Assignment,
    GroupMember,
    GroupMetadata,
    GroupMetadataValue,
    NamedPartitions,
    Subscription,
)
from groupreplay.records.streams import LATEST_OFFSET, AssignmentInfo, SubscriptionInfo, Task
from tests.support.broken_logs import Broken, Mutation
from tests.support.changed_logs import Log, NotFound, value_of, with_value

Found = tuple[int, GroupMember]
Wanted = Callable[[GroupMetadataValue, GroupMember], Any]


def said(member: GroupMember) -> SubscriptionInfo:
    assert member.subscription is not None
    assert member.subscription.streams is not None
    return member.subscription.streams


def given(member: GroupMember) -> AssignmentInfo:
    assert member.assignment is not None
    assert member.assignment.streams is not None
    return member.assignment.streams


def partitions(member: GroupMember) -> list[tuple[str, int]]:
    assert member.assignment is not None
    return [(t.topic, p) for t in member.assignment.assigned_partitions for p in t.partitions]


def generations(log: Log) -> Iterator[tuple[int, GroupMetadataValue]]:
    """Every K2 with members."""
    for index, entry in enumerate(log):
        value = value_of(entry.record, GroupMetadata)
        if value is not None and value.members:
            yield index, value


def first(log: Log, wanted: Wanted) -> Found:
    """The first member that is so, of a group that has several."""
    for index, value in generations(log):
        for member in value.members if len(value.members) > 1 else ():
            if wanted(value, member):
                return index, member
    raise NotFound


def changed(log: Log, index: int, member: GroupMember, **changes: Any) -> Log:
    """A member that said, or was given, something else. Fields of its subscription, assignment and
    of their user data are told apart by their names.
    """
    subscription, assignment = member.subscription, member.assignment
    assert subscription is not None
    assert assignment is not None
    parts: dict[type, dict[str, Any]] = {}
    for name, value in changes.items():
        part = next(each for each in _PARTS if name in each.__dataclass_fields__)
        parts.setdefault(part, {})[name] = value
    told = replace(said(member), **parts.get(SubscriptionInfo, {}))
    got = replace(given(member), **parts.get(AssignmentInfo, {}))
    new = replace(
        member,
        subscription=replace(subscription, streams=told, **parts.get(Subscription, {})),
        assignment=replace(assignment, streams=got, **parts.get(Assignment, {})),
        **parts.get(GroupMember, {}),
    )
    value = value_of(log[index].record, GroupMetadata)
    members = [new if m.member_id == member.member_id else m for m in value.members]
    return with_value(log, index, members=tuple(members))


_PARTS: tuple[Any, ...] = (GroupMember, Assignment, AssignmentInfo, SubscriptionInfo, Subscription)


def broken(log: Log, index: int, changed_log: Log, *, is_hidden: bool = False) -> Broken:
    """is_hidden: a hole before the K2 explains it."""
    return Broken(changed_log, {log[index].offset}, index if is_hidden else None)


def active(_: GroupMetadataValue, member: GroupMember) -> bool:
    return bool(given(member).active)


def others_active(value: GroupMetadataValue, member: GroupMember) -> Iterator[tuple[Task, Any]]:
    """Active tasks of the other members, with their partitions."""
    for other in value.members:
        if other.member_id != member.member_id:
            yield from zip(given(other).active, sorted(partitions(other)), strict=True)


def user_data_that_is_not_read(log: Log) -> Broken:
    index, member = first(log, active)
    return broken(
        log, index, changed(log, index, member, streams_error="assignment: 1 bytes too many")
    )


def entry_that_is_missing(log: Log) -> Broken:
    index, member = first(log, active)
    return broken(log, index, changed(log, index, member, active=given(member).active[1:]))


def task_of_another_number(log: Log) -> Broken:
    index, member = first(log, active)
    tasks = (("0", 99), *given(member).active[1:])
    return broken(log, index, changed(log, index, member, active=tasks))


def _with_task_of_another(log: Log, **changes: Callable[[GroupMember, Task, Any], Any]) -> Broken:
    index, member = first(log, lambda v, m: next(others_active(v, m), None))
    value = value_of(log[index].record, GroupMetadata)
    task, tp = next(others_active(value, member))
    made = {name: make(member, task, tp) for name, make in changes.items()}
    return broken(log, index, changed(log, index, member, **made))


def _plus_partition(member: GroupMember, _: Task, tp: tuple[str, int]) -> Any:
    assert member.assignment is not None
    return (*member.assignment.assigned_partitions, NamedPartitions(tp[0], (tp[1],)))


def partition_of_another(log: Log) -> Broken:
    return _with_task_of_another(log, assigned_partitions=_plus_partition)


def task_of_another(log: Log) -> Broken:
    return _with_task_of_another(log, active=lambda m, task, _: (*given(m).active, task))


def grant_before_release(log: Log) -> Broken:
    """Who is owed a task gets it at once."""
    for index, value in generations(log):
        due = [m for m in value.members if given(m).next_rebalance_ms == 0]
        for owner in value.members:
            assert owner.subscription is not None
            owned = owner.subscription.owned_partitions
            had = {(t.topic, p) for t in owned for p in t.partitions}
            lost = sorted(had - set(partitions(owner)))
            if lost and due and due[0].member_id != owner.member_id:
                made = _plus_partition(due[0], ("", 0), lost[0])
                tasks = (*given(due[0]).active, ("0", lost[0][1]))
                more = changed(log, index, due[0], assigned_partitions=made, active=tasks)
                return broken(log, index, more)
    raise NotFound


def replica_beside_its_active(log: Log) -> Broken:
    index, member = first(log, active)
    task, tp = given(member).active[0], min(partitions(member))
    copies = {**given(member).standby, task: (tp,)}
    return broken(log, index, changed(log, index, member, standby=copies))


def runs_without_a_partition(log: Log) -> Broken:
    index, member = first(log, lambda _, m: m.subscription and m.subscription.owned_partitions)
    sums = {**said(member).offset_sums, ("0", 99): LATEST_OFFSET}
    return broken(log, index, changed(log, index, member, offset_sums=sums))


def _again(log: Log, wanted: Wanted) -> tuple[int, GroupMember, GroupMember]:
    """The first member that is in the next generation too: as it is then, and as it was."""
    before: dict[str, GroupMember] = {}
    epoch = -1
    for index, value in generations(log):
        for member in value.members:
            had = before.get(member.member_id)
            if had is not None and value.generation > epoch and wanted(value, had):
                return index, member, had
        before, epoch = {m.member_id: m for m in value.members}, value.generation
    raise NotFound


def joins_that_are_not_counted(log: Log) -> Broken:
    index, member, had = _again(log, lambda *_: True)
    same = changed(log, index, member, unique_field=said(had).unique_field)
    return broken(log, index, same, is_hidden=True)


def version_above_the_lowest(log: Log) -> Broken:
    index, member, _ = _again(log, lambda *_: True)
    return broken(log, index, changed(log, index, member, version=10), is_hidden=True)


def common_version_below(log: Log) -> Broken:
    index, member, _ = _again(log, lambda *_: True)
    return broken(log, index, changed(log, index, member, common_version=9), is_hidden=True)


def error_for_one(log: Log) -> Broken:
    index, member = first(log, active)
    assert member.assignment is not None
    error = replace(given(member), error_code=3)
    told = replace(member, assignment=replace(member.assignment, streams=error))
    value = value_of(log[index].record, GroupMetadata)
    members = tuple(told if m.member_id == member.member_id else m for m in value.members)
    return broken(log, index, with_value(log, index, members=members))


def probe_of_another_process(log: Log) -> Broken:
    def is_elsewhere(value: GroupMetadataValue, member: GroupMember) -> bool:
        process = said(member).process_id
        times = [given(m).next_rebalance_ms for m in value.members]
        leader = next(m for m in value.members if m.member_id == value.leader)
        return said(leader).process_id != process and any(times)

    index, member = first(log, is_elsewhere)
    at = log[index].ts_ms + 60_000
    return broken(log, index, changed(log, index, member, next_rebalance_ms=at))


def loss_without_followup(log: Log) -> Broken:
    for index, value in generations(log):
        due = [m for m in value.members if given(m).next_rebalance_ms == 0]
        if due:
            nobody = log
            for member in due:
                nobody = changed(nobody, index, member, next_rebalance_ms=None)
            return broken(log, index, nobody, is_hidden=True)
    raise NotFound


def followup_without_loss(log: Log) -> Broken:
    index, member, _ = _again(
        log, lambda v, _: all(given(m).next_rebalance_ms is None for m in v.members)
    )
    return broken(log, index, changed(log, index, member, next_rebalance_ms=0), is_hidden=True)


def other_hosts(log: Log) -> Broken:
    index, member = first(log, active)
    hosts = ((), ((0, "in"),), (("s1", 80, (), b"\0\0\0\0"),), ())
    return broken(log, index, changed(log, index, member, hosts=hosts))


def replica_that_shrinks(log: Log) -> Broken:
    """A replica that reported a sum, and keeps its place, reports less."""
    before: dict[str, GroupMember] = {}
    for index, value in generations(log):
        for member in value.members:
            had = before.get(member.member_id)
            for task in given(had).standby.keys() & given(member).standby.keys() if had else ():
                assert had is not None
                if said(had).offset_sums.get(task, 0) > 0:
                    sums = {**said(member).offset_sums, task: 0}
                    fallen = changed(log, index, member, offset_sums=sums)
                    return broken(log, index, fallen, is_hidden=True)
        before = {m.member_id: m for m in value.members}
    raise NotFound


RECORDING = "streams-classic-4.3"

STREAMS_CLASSIC_MUTATIONS: list[tuple[str, str, str, Mutation]] = [
    ("S1", RECORDING, "streams-scale-up", user_data_that_is_not_read),
    ("S2", RECORDING, "streams-scale-up", entry_that_is_missing),
    ("S3", RECORDING, "streams-scale-up", task_of_another_number),
    ("S4", RECORDING, "streams-scale-up", partition_of_another),
    ("S5", RECORDING, "streams-scale-up", task_of_another),
    ("S6", RECORDING, "streams-scale-up", grant_before_release),
    ("S6", "other-groups-4.2", "streams-classic", grant_before_release),
    ("S7", RECORDING, "streams-scale-up", replica_beside_its_active),
    ("S8", RECORDING, "streams-scale-up", runs_without_a_partition),
    ("S9", RECORDING, "streams-scale-up", joins_that_are_not_counted),
    ("S10", RECORDING, "streams-scale-up", version_above_the_lowest),
    ("S10", RECORDING, "streams-scale-up", common_version_below),
    ("S11", RECORDING, "streams-scale-up", error_for_one),
    ("S12", RECORDING, "streams-scale-up", probe_of_another_process),
    ("S13", RECORDING, "streams-scale-up", loss_without_followup),
    ("S13", RECORDING, "streams-static", followup_without_loss),
    ("S15", RECORDING, "streams-scale-up", other_hosts),
    ("S16", RECORDING, "streams-standby", replica_that_shrinks),
]
"""As `broken_logs.MUTATIONS`."""
