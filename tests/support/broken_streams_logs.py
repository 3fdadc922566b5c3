"""Recorded logs of streams groups (KIP-1071) changed to break one rule each, as `broken_logs`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.entries import Record
from groupreplay.records.others import OtherGroupRecord
from tests.support.broken_logs import Broken, Mutation
from tests.support.changed_logs import Log, altered, doubled, dropped, find, swapped

STABLE, UNREVOKED, UNRELEASED = 1, 2, 3
RECORDING = "streams-protocol-4.3"


# ---------------------------------------------------------------- finding records


def said(record: Record, key_type: int) -> dict[str, Any] | None:
    """The value of a record of that type; None of any other, and of a tombstone."""
    is_one = isinstance(record, OtherGroupRecord) and record.key_type == key_type
    value = getattr(record, "value", None)
    return value if is_one and isinstance(value, dict) else None


def where(key_type: int, **fields: Any) -> Callable[[Record], bool]:
    """A value whose fields are so; of a list: whether it has something; of a function: by that."""

    def wanted(record: Record) -> bool:
        value = said(record, key_type)
        return value is not None and all(
            asked(value[name])
            if callable(asked)
            else (bool(value[name]) is asked if isinstance(asked, bool) else value[name] == asked)
            for name, asked in fields.items()
        )

    return wanted


def tombstone(key_type: int) -> Callable[[Record], bool]:
    return lambda record: (
        isinstance(record, OtherGroupRecord)
        and record.key_type == key_type
        and record.value is None
    )


def with_fields(log: Log, index: int, **changes: Any) -> Log:
    """The record's value with other fields."""
    record: Any = log[index].record
    return altered(log, index, replace(record, value={**record.value, **changes}))


def field(log: Log, index: int, name: str) -> Any:
    value: Any = getattr(log[index].record, "value", None)
    return value[name]


def member_of(log: Log, index: int) -> str:
    return str(getattr(log[index].record, "member_id", ""))


def following(log: Log, index: int) -> int:
    """The next K22 value of the same member."""
    return find(
        log,
        lambda r: said(r, 22) is not None and getattr(r, "member_id", "") == member_of(log, index),
        index + 1,
    )


def plus(listed: list[Any], subtopology: str, partition: int, epochs: Any = None) -> list[Any]:
    added = {"subtopology_id": subtopology, "partitions": [partition], "assignment_epochs": epochs}
    return [*listed, added]


def first_task(listed: list[Any]) -> tuple[str, int]:
    return listed[0]["subtopology_id"], listed[0]["partitions"][0]


def at(log: Log, index: int, changed: Log, *, is_hidden: bool = True) -> Broken:
    """Broken at a record; a hole right before it explains that, if one can."""
    return Broken(changed, {log[index].offset}, index if is_hidden else None)


def joins_later(log: Log) -> int:
    """Index of the K19 of the second member."""
    return find(log, where(19), find(log, where(19)) + 1)


# ---------------------------------------------------------------- epochs and topologies


def skipped_epoch(log: Log) -> Broken:
    index = find(log, where(17, epoch=lambda epoch: epoch >= 4))
    return at(log, index, with_fields(log, index, epoch=field(log, index, "epoch") + 1))


def repeated_epoch(log: Log) -> Broken:
    index = find(log, where(17, epoch=4))
    return Broken(doubled(log, index), {10 * log[index].offset + 1}, None)


def first_epoch_seven(log: Log) -> Broken:
    index = find(log, where(17))
    return at(log, index, with_fields(log, index, epoch=7))


def validated_for_another(log: Log) -> Broken:
    index = find(log, where(17, epoch=4))
    return at(log, index, with_fields(log, index, validated_topology_epoch=5))


def target_ahead(log: Log) -> Broken:
    index = find(log, where(20))
    return at(log, index, with_fields(log, index, assignment_epoch=99))


def target_back(log: Log) -> Broken:
    index = find(log, where(20), find(log, where(20)) + 1)
    return at(log, index, with_fields(log, index, assignment_epoch=1))


def target_again(log: Log) -> Broken:
    first = find(log, where(20))
    index = find(log, where(20), first + 1)
    same = field(log, first, "assignment_epoch")
    return at(log, index, with_fields(log, index, assignment_epoch=same))


def second_topology(log: Log) -> Broken:
    """In the place of a later K21."""
    index = find(log, where(21), joins_later(log))
    return at(log, index, altered(log, index, log[find(log, where(23))].record))


def member_with_newer_topology(log: Log) -> Broken:
    index = joins_later(log)
    return at(log, index, with_fields(log, index, topology_epoch=3))


def member_without_process(log: Log) -> Broken:
    index = joins_later(log)
    return at(log, index, with_fields(log, index, process_id=""), is_hidden=False)


# ---------------------------------------------------------------- members


def previous_of_another(log: Log) -> Broken:
    index = following(log, find(log, where(22, state=STABLE)))
    return at(log, index, with_fields(log, index, previous_member_epoch=77))


def previous_of_a_newcomer(log: Log) -> Broken:
    index = find(log, where(22, previous_member_epoch=0), joins_later(log))
    return at(log, index, with_fields(log, index, previous_member_epoch=2))


def member_ahead(log: Log) -> Broken:
    index = find(log, where(22, state=STABLE, active_tasks=True))
    return at(log, index, with_fields(log, index, member_epoch=99))


def member_back(log: Log) -> Broken:
    index = following(log, find(log, where(22, state=STABLE, active_tasks=True)))
    return at(log, index, with_fields(log, index, member_epoch=1))


def member_ahead_of_the_first_target(log: Log) -> Broken:
    index = find(log, where(22, member_epoch=1))
    return at(log, index, with_fields(log, index, member_epoch=2))


def nothing_pending(log: Log) -> Broken:
    index = find(log, where(22, state=UNREVOKED))
    changed = with_fields(
        log, index, active_tasks_pending_revocation=[], standby_tasks_pending_revocation=[]
    )
    return at(log, index, changed, is_hidden=False)


def pending_when_stable(log: Log) -> Broken:
    index = find(log, where(22, state=STABLE, active_tasks=True))
    pending = plus([], "0", 9, [1])
    changed = with_fields(log, index, active_tasks_pending_revocation=pending)
    return at(log, index, changed, is_hidden=False)


def incomplete_when_stable(log: Log) -> Broken:
    index = find(log, where(22, state=STABLE, active_tasks=True))
    return at(log, index, with_fields(log, index, active_tasks=[]))


def without_its_standbys_when_stable(log: Log) -> Broken:
    index = find(log, where(22, state=STABLE, standby_tasks=True))
    return at(log, index, with_fields(log, index, standby_tasks=[]))


def complete_and_waiting(log: Log) -> Broken:
    index = find(log, where(22, state=STABLE, active_tasks=True))
    return at(log, index, with_fields(log, index, state=UNRELEASED))


def waiting_with_other_tasks(log: Log) -> Broken:
    index = find(log, where(22, state=UNRELEASED))
    return at(log, index, with_fields(log, index, active_tasks=plus([], "0", 9, [1])))


def waiting_for_nobody(log: Log) -> Broken:
    """The first member, which is alone."""
    index = find(log, where(22, state=STABLE, active_tasks=True))
    return at(log, index, with_fields(log, index, active_tasks=[], state=UNRELEASED))


def with_epochs(log: Log, index: int, epochs: Callable[[int], list[int]]) -> Log:
    """The active tasks of a K22 with other assignment epochs. epochs: of a number of tasks."""
    listed = field(log, index, "active_tasks")
    changed = [{**each, "assignment_epochs": epochs(len(each["partitions"]))} for each in listed]
    return with_fields(log, index, active_tasks=changed)


def assignment_epoch_ahead(log: Log) -> Broken:
    index = find(log, where(22, active_tasks=True))
    return at(log, index, with_epochs(log, index, lambda n: [99] * n), is_hidden=False)


def assignment_epoch_zero(log: Log) -> Broken:
    index = find(log, where(22, active_tasks=True))
    return at(log, index, with_epochs(log, index, lambda n: [0] * n), is_hidden=False)


def assignment_epoch_too_many(log: Log) -> Broken:
    index = find(log, where(22, active_tasks=True))
    return at(log, index, with_epochs(log, index, lambda n: [1] * (n + 1)), is_hidden=False)


def assignment_epoch_of_a_standby(log: Log) -> Broken:
    index = find(log, where(22, standby_tasks=True))
    listed = field(log, index, "standby_tasks")
    changed = [{**each, "assignment_epochs": [1] * len(each["partitions"])} for each in listed]
    return at(log, index, with_fields(log, index, standby_tasks=changed), is_hidden=False)


# ---------------------------------------------------------------- who runs what


def two_active(log: Log) -> Broken:
    first = find(log, where(22, state=STABLE, active_tasks=True))
    taken = first_task(field(log, first, "active_tasks"))
    index = find(
        log,
        lambda r: (
            where(22, state=STABLE)(r) and getattr(r, "member_id", "") != member_of(log, first)
        ),
        first + 1,
    )
    listed = plus(field(log, index, "active_tasks"), *taken, [1])
    return at(log, index, with_fields(log, index, active_tasks=listed))


def active_and_standby_in_one_member(log: Log) -> Broken:
    index = find(log, where(22, state=STABLE, standby_tasks=True, active_tasks=True))
    listed = plus(
        field(log, index, "standby_tasks"), *first_task(field(log, index, "active_tasks"))
    )
    return at(log, index, with_fields(log, index, standby_tasks=listed), is_hidden=False)


def active_and_standby_in_one_process(log: Log) -> Broken:
    """The last K22 of a thread has as standby what the one before it has, of another thread."""
    process = {
        getattr(e.record, "member_id", ""): value["process_id"]
        for e in log
        if (value := said(e.record, 19)) is not None
    }
    last: dict[str, int] = {}
    for index, entry in enumerate(log):
        if where(22, state=STABLE, active_tasks=True)(entry.record):
            own = member_of(log, index)
            for other, before in last.items():
                if other != own and process[other] == process[own]:
                    task = first_task(field(log, before, "active_tasks"))
                    listed = plus(field(log, index, "standby_tasks"), *task)
                    return at(log, index, with_fields(log, index, standby_tasks=listed))
            last[own] = index
    raise AssertionError("no two threads of one process")


def grant_before_release(log: Log) -> Broken:
    request = find(log, where(22, state=UNREVOKED, active_tasks_pending_revocation=True))
    task = first_task(field(log, request, "active_tasks_pending_revocation"))
    release = following(log, request)

    def is_grant(record: Record) -> bool:
        value = said(record, 22)
        return value is not None and any(
            task[0] == each["subtopology_id"] and task[1] in each["partitions"]
            for each in value["active_tasks"]
        )

    grant = find(log, is_grant, release + 1)
    return Broken(swapped(log, release, grant), {log[release].offset}, release)


# ---------------------------------------------------------------- targets


def warmups_in_target(log: Log) -> Broken:
    index = find(log, where(21))
    return at(log, index, with_fields(log, index, warmup_tasks=plus([], "0", 0)), is_hidden=False)


def two_targets(log: Log) -> Broken:
    index = find(log, where(21, active_tasks=True))
    while not where(21)(log[index + 1].record):
        index = find(log, where(21, active_tasks=True), index + 1)
    taken = first_task(field(log, index, "active_tasks"))
    listed = plus(field(log, index + 1, "active_tasks"), *taken)
    return at(log, index + 1, with_fields(log, index + 1, active_tasks=listed))


def a_standby_too_many(log: Log) -> Broken:
    """The last K21 of an operation gets a standby that the K21 before it has, and does not run."""
    index = find(log, where(21, standby_tasks=True))
    while not where(20)(log[index + 1].record):
        index += 1
    taken = first_task(field(log, index - 1, "standby_tasks"))
    listed = plus(field(log, index, "standby_tasks"), *taken)
    return at(log, index, with_fields(log, index, standby_tasks=listed))


def standby_beside_its_active(log: Log) -> Broken:
    index = find(log, where(21, standby_tasks=True))
    listed = plus([], *first_task(field(log, index, "active_tasks")))
    return at(log, index, with_fields(log, index, standby_tasks=listed), is_hidden=False)


def replicas_without_state(log: Log) -> Broken:
    topology = find(log, where(23))
    listed = field(log, topology, "subtopologies")
    bare = [{**each, "state_changelog_topics": []} for each in listed]
    index = find(log, where(21, standby_tasks=True))
    return at(log, index, with_fields(log, topology, subtopologies=bare))


# ---------------------------------------------------------------- tombstones and kinds


def leave(log: Log) -> int:
    """Index of the K22 tombstone with which a leave begins: K22, K21, K19, K17."""
    return find(log, tombstone(22))


def tombstones_of_a_member_out_of_order(log: Log) -> Broken:
    index = leave(log)
    return at(log, index, swapped(log, index, index + 1), is_hidden=False)


def member_gone_before_its_assignment(log: Log) -> Broken:
    index = leave(log)
    return Broken(dropped(log, index), {log[index + 1].offset}, index)


def removal_without_epoch(log: Log) -> Broken:
    index = leave(log)
    return Broken(dropped(log, index + 3), {log[index + 2].offset}, index + 3)


def removal_with_two_epochs(log: Log) -> Broken:
    index = leave(log) + 3
    changed = doubled(log, index)
    again = field(changed, index + 1, "epoch") + 1
    return Broken(with_fields(changed, index + 1, epoch=again), {10 * log[index].offset + 1}, None)


def tombstones_of_a_group_out_of_order(log: Log) -> Broken:
    first, last = find(log, tombstone(17)), find(log, tombstone(23))
    return at(log, last, swapped(log, first, last), is_hidden=False)


def topology_that_stays(log: Log) -> Broken:
    index = find(log, tombstone(23))
    return Broken(dropped(log, index), {log[index - 1].offset}, index)


def streams_without_end_of_the_classic_group(log: Log) -> Broken:
    index = find(log, where(19)) - 1
    assert isinstance(log[index].record, GroupMetadata)
    return Broken(dropped(log, index), {log[index + 1].offset}, index)


def classic_without_end_of_the_streams_group(log: Log) -> Broken:
    index = find(log, tombstone(20))
    changed = dropped(dropped(dropped(log, index), index), index)
    return Broken(changed, {log[index + 3].offset}, index)


_MUTATIONS: list[tuple[str, str, Mutation]] = [
    ("T1", "kstreams-churn", skipped_epoch),
    ("T1", "kstreams-churn", repeated_epoch),
    ("T1", "kstreams-churn", first_epoch_seven),
    ("T2", "kstreams-churn", validated_for_another),
    ("T3", "kstreams-churn", target_ahead),
    ("T3", "kstreams-churn", target_back),
    ("T3", "kstreams-churn", target_again),
    ("T4", "kstreams-churn", second_topology),
    ("T5", "kstreams-churn", member_with_newer_topology),
    ("T5", "kstreams-churn", member_without_process),
    ("T6", "kstreams-churn", warmups_in_target),
    ("T7", "kstreams-churn", previous_of_another),
    ("T7", "kstreams-churn", previous_of_a_newcomer),
    ("T8", "kstreams-churn", member_ahead),
    ("T8", "kstreams-churn", member_back),
    ("T8", "kstreams-churn", member_ahead_of_the_first_target),
    ("T9", "kstreams-churn", nothing_pending),
    ("T9", "kstreams-churn", pending_when_stable),
    ("T10", "kstreams-churn", incomplete_when_stable),
    ("T10", "kstreams-standby", without_its_standbys_when_stable),
    ("T11", "kstreams-standby", complete_and_waiting),
    ("T11", "kstreams-standby", waiting_with_other_tasks),
    ("T11", "kstreams-standby", waiting_for_nobody),
    ("T12", "kstreams-churn", assignment_epoch_ahead),
    ("T12", "kstreams-churn", assignment_epoch_zero),
    ("T12", "kstreams-churn", assignment_epoch_too_many),
    ("T12", "kstreams-standby", assignment_epoch_of_a_standby),
    ("T13", "kstreams-churn", two_active),
    ("T14", "kstreams-standby", active_and_standby_in_one_member),
    ("T14", "kstreams-threads", active_and_standby_in_one_process),
    ("T15", "kstreams-standby", grant_before_release),
    ("T16", "kstreams-churn", two_targets),
    ("T16R", "kstreams-standby", a_standby_too_many),
    ("T16R", "kstreams-standby", standby_beside_its_active),
    ("T18", "kstreams-standby", tombstones_of_a_member_out_of_order),
    ("T18", "kstreams-standby", member_gone_before_its_assignment),
    ("T18", "kstreams-standby", removal_without_epoch),
    ("T18", "kstreams-standby", removal_with_two_epochs),
    ("T19", "kstreams-deleted", tombstones_of_a_group_out_of_order),
    ("T19", "streams-offline", topology_that_stays),
    ("T20", "streams-offline", streams_without_end_of_the_classic_group),
    ("T20", "streams-offline", classic_without_end_of_the_streams_group),
    ("T21", "kstreams-standby", replicas_without_state),
]

STREAMS_MUTATIONS: list[tuple[str, str, str, Mutation]] = [
    (rule_id, RECORDING, group_id, mutation) for rule_id, group_id, mutation in _MUTATIONS
]
"""(rule, recording, group, what is done to its log)"""
