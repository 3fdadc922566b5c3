"""Why a streams group (KIP-1071) began an epoch.

| cause | what the operation shows |
|---|---|
| STATIC_REPLACED | a member of the same instance came and went (4.4) |
| JOIN | a K19 of a new member |
| LEFT_OR_FENCED | the tombstones of a member |
| TOPOLOGY_VALIDATED | the K17 is validated for another topology than the one before |
| TOPIC_METADATA | another metadata hash |
| CONFIG | other assignment configs (4.2+) |
| MEMBER_METADATA | a K19 of a known member |
| REFINED | a K20 without any K21, and nothing else changed (4.4) |

The first that applies is the cause, the others stand in `also`.

Brokers of 4.1 write hash 0 when a member leaves, and keep it: there a hash that becomes 0 shows
nothing. Where nobody leaves it is that of no topics: all of the topology are deleted.
Source: GroupMetadataManager.streamsGroupHeartbeat, streamsGroupFenceMember; Utils.computeGroupHash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groupreplay.replay.causes import (
    EXACT,
    JOIN,
    LEFT_OR_FENCED,
    NONE,
    STATIC_REPLACED,
    TOPIC_METADATA,
    UNKNOWN_CAUSE,
    only,
)
from groupreplay.replay.kept.streams_tasks import GroupTasks
from groupreplay.replay.life import Life
from groupreplay.replay.operations import Operation
from groupreplay.replay.streams.groups.group_records import (
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    records_of,
    values_of,
)

Cause = tuple[str, str | None, str]


def find_group_causes(
    life: Life, tasks: GroupTasks, operation: Operation
) -> tuple[Cause, list[str]]:
    """(cause, member, confidence) of the epoch that an operation begins, and the further causes
    that apply, in order.

    life: the group as it was before the operation.
    """
    came, described, gone = _members(life, operation)
    back = _replaced(life, came, gone)
    left = [i for i in gone if i not in back.values()]
    found: list[tuple[str, str | None]] = []
    for cause, member_ids in (
        (STATIC_REPLACED, list(back)),
        (JOIN, [i for i in came if i not in back]),
        (LEFT_OR_FENCED, left),
    ):
        if member_ids:
            found.append((cause, only(member_ids)))
    values = values_of(operation, STREAMS_GROUP_METADATA) if tasks.is_known else []
    found += [(cause, None) for value in values[:1] for cause in _changed(tasks, value, left)]
    if described:
        found.append(("MEMBER_METADATA", only(described)))
    if values and not found and _is_refined(operation):
        found.append(("REFINED", None))
    if not found:
        return (UNKNOWN_CAUSE, None, NONE), []
    return (*found[0], EXACT), [cause for cause, _ in found[1:]]


def _replaced(life: Life, came: dict[str, str | None], gone: list[str]) -> dict[str, str]:
    """New member -> the member that had its instance and went."""
    instances = {life.members[i].instance_id: i for i in gone if i in life.members}
    return {
        member_id: instances[instance]
        for member_id, instance in came.items()
        if instance is not None and instance in instances
    }


def _changed(tasks: GroupTasks, value: Mapping[str, Any], left: Sequence[str]) -> list[str]:
    """What a K17 says that the one before did not. left: members that left with it."""
    no_hash = (tasks.metadata_hash, 0) if left else (tasks.metadata_hash,)
    changed = {
        "TOPOLOGY_VALIDATED": value["validated_topology_epoch"] != tasks.validated_epoch,
        TOPIC_METADATA: value["metadata_hash"] not in no_hash,
        "CONFIG": configs_of(value) != tasks.configs,
    }
    return [cause for cause, is_so in changed.items() if is_so]


def configs_of(value: Mapping[str, Any]) -> dict[str, str]:
    """lastAssignmentConfigs of a K17; {} where it has none."""
    return {each["key"]: each["value"] for each in value.get("last_assignment_configs") or ()}


def descriptions_of(value: Mapping[str, Any]) -> list[int]:
    """Topology epochs of a K17 whose description is stored, and could not be (4.4)."""
    names = ("stored_description_topology_epoch", "failed_description_topology_epoch")
    return [value.get(name, -1) for name in names]


def _members(
    life: Life, operation: Operation
) -> tuple[dict[str, str | None], list[str], list[str]]:
    """Members that came (and their instances), that were described again, and that went."""
    came: dict[str, str | None] = {}
    described: list[str] = []
    gone: list[str] = []
    for record in records_of(operation, STREAMS_GROUP_MEMBER_METADATA):
        if record.value is None:
            gone.append(record.member_id)
        elif record.member_id in life.members and record.member_id not in gone:
            described.append(record.member_id)
        else:
            came[record.member_id] = record.value.get("instance_id")
    return came, described, gone


def _is_refined(operation: Operation) -> bool:
    has_target = bool(values_of(operation, STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA))
    return has_target and not records_of(operation, STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER)
