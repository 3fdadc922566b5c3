"""The records of streams groups (KIP-1071) in an operation, by their key types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay.kept.streams_tasks import Task, TaskRoles
from groupreplay.replay.operations import Operation

STREAMS_GROUP_METADATA: Final = 17
STREAMS_GROUP_MEMBER_METADATA: Final = 19
STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA: Final = 20
STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER: Final = 21
STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final = 22
STREAMS_GROUP_TOPOLOGY: Final = 23

PENDING: Final = "_pending_revocation"
"""Ending of the fields of a K22 with tasks to be given up."""

_KINDS = ("active_tasks", "standby_tasks", "warmup_tasks")


def records_of(operation: Operation, key_type: int) -> list[OtherGroupRecord]:
    """The records of one type in an operation, tombstones too, in order."""
    return [
        entry.record
        for entry in operation.entries
        if isinstance(entry.record, OtherGroupRecord) and entry.record.key_type == key_type
    ]


def values_of(operation: Operation, key_type: int) -> list[dict[str, Any]]:
    """The values of the records of one type, without tombstones."""
    return [r.value for r in records_of(operation, key_type) if r.value is not None]


def has_streams_records(operation: Operation, *, values_alone: bool = False) -> bool:
    """Whether an operation has records of a streams group.

    values_alone: tombstones do not count.
    """
    return any(
        isinstance(entry.record, OtherGroupRecord)
        and entry.record.key_type >= STREAMS_GROUP_METADATA
        and (entry.record.value is not None or not values_alone)
        for entry in operation.entries
    )


def tasks_of(listed: Any) -> frozenset[Task]:
    """The tasks that a K21 or K22 lists of one role."""
    return frozenset((each["subtopology_id"], p) for each in listed for p in each["partitions"])


def roles_in(value: Mapping[str, Any], pending: str = "") -> TaskRoles:
    """The tasks of a K21 or K22 by role.

    pending: PENDING for the tasks to be given up, "" for the others.
    """
    return TaskRoles(*(tasks_of(value[kind + pending]) for kind in _KINDS))


def held_in(value: Mapping[str, Any]) -> TaskRoles:
    """The tasks that a member holds by its K22, assigned or pending, by role."""
    assigned, pending = roles_in(value), roles_in(value, PENDING)
    return TaskRoles(
        assigned.active | pending.active,
        assigned.standby | pending.standby,
        assigned.warmup | pending.warmup,
    )
