"""What an operation of a streams group is by its records, and the rows of its conversions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.facts import Conversion
from groupreplay.replay.kept.streams_tasks import SubtopologyTopics
from groupreplay.replay.life import STREAMS, Life
from groupreplay.replay.machine import GroupMachine
from groupreplay.replay.operations import Operation
from groupreplay.replay.streams.groups.group_records import (
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    records_of,
    values_of,
)

TO_STREAMS = "TO_STREAMS"

FROM_STREAMS = "FROM_STREAMS"

OFFLINE = "OFFLINE"


def tell_conversion(
    machine: GroupMachine,
    operation: Operation,
    direction: str,
    epoch_before: int | None,
    joined: str | None,
) -> None:
    """An empty group became one of the other protocol."""
    values = values_of(operation, STREAMS_GROUP_METADATA)
    machine.home.output.emit(
        Conversion(
            **machine.life.place,
            from_offset=operation.offset,
            to_offset=operation.last_offset,
            converted_at=operation.ts_ms,
            direction=direction,
            mode=OFFLINE,
            trigger_member_id=joined,
            epoch_before=epoch_before,
            epoch_after=values[-1]["epoch"] if values else machine.life.epoch,
        )
    )


def members_in(operation: Operation) -> list[str]:
    """Members that join, or say something else of themselves."""
    records = records_of(operation, STREAMS_GROUP_MEMBER_METADATA)
    return [record.member_id for record in records if record.value is not None]


def is_birth(operation: Operation) -> bool:
    """Whether it begins a group: its first epoch (1 in 4.1, 2 since) with its first member."""
    values = values_of(operation, STREAMS_GROUP_METADATA)
    return any(value["epoch"] in (1, 2) for value in values) and bool(members_in(operation))


def removes_group(operation: Operation) -> bool:
    return any(r.value is None for r in records_of(operation, STREAMS_GROUP_METADATA))


def go_on_counted(life: Life, membership: Membership) -> None:
    """Releases up to 0.3.0 only counted the members of streams groups: when they joined, and what
    they held, is not known. Such a life goes on as one that is seen from here.
    """
    if life.members:
        membership.go_on_counted()
        life.become(STREAMS, birth_seen=False)


def topics_of(subtopology: Mapping[str, Any]) -> SubtopologyTopics:
    """Topics of a subtopology of a K23."""
    repartition = (topic["name"] for topic in subtopology["repartition_source_topics"])
    changelogs = (topic["name"] for topic in subtopology["state_changelog_topics"])
    return SubtopologyTopics(
        sorted({*subtopology["source_topics"], *repartition}), sorted(changelogs)
    )
