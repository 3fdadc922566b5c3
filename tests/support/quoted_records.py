"""Records and rows of a shipped recording, as documents quote them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache
from typing import Final

from groupreplay.config.sources import Source
from groupreplay.records.classic import GroupMember, GroupMetadata
from groupreplay.records.consumer import (
    MEMBER_STATES,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    TopicPartitions,
)
from groupreplay.records.entries import Entry, Record
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay import facts
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.sources.found_files import find_files
from groupreplay.sources.planning import plan_units
from groupreplay.sources.segments import segments
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file
from tests.support.documents import ROOT

RECORDINGS: Final = ROOT / "tests" / "recordings"

NAMED_OF: Final = {"epochs": ("epochs_opened", "epochs_begun"), "partitions": ("partitions_held",)}
"""Columns of tables whose facts call them otherwise."""


@cache
def names(recording: str) -> dict[str, str]:
    return {
        each["topic_id"]: each["topic"]
        for each in json.loads((RECORDINGS / recording / "topics.json").read_text(encoding="utf-8"))
    }


@cache
def entries(recording: str, partition: int) -> list[tuple[str, Entry]]:
    """(group id, record) of what a run lands of one partition of the offsets topic, in order:
    commits are reduced already.
    """
    listing = find_files(Source(kind="segments", path=str(RECORDINGS / recording / "segments")))
    units = [
        unit
        for unit in plan_units([file for each in segments(listing.files) for file in each], {})
        if unit.offsets_partition == partition
    ]
    found, hole = [], -1
    for unit in units:
        for columns in read_unit(unit, open_file, Codecs()):
            for row in [
                dict(zip(columns, values, strict=True))
                for values in zip(*columns.values(), strict=True)
            ]:
                if row["kind"] != "record":
                    continue
                record = decode(row["key"], row["value"])
                assert not isinstance(record, (UnknownType, Undecodable))
                hole = max(hole, row["last_hole"])
                found.append(
                    (
                        row["group_id"],
                        Entry(
                            row["offset"],
                            row["ts_ms"],
                            row["leader_epoch"],
                            row["batch_base_offset"],
                            hole,
                            record,
                        ),
                    )
                )
    return sorted(found, key=lambda each: each[1].offset)


@cache
def replayed(recording: str, partition: int) -> list[facts.Fact]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for group_id, entry in entries(recording, partition):
        groups[group_id].append(entry)
    found: list[facts.Fact] = []
    for group_id, own in groups.items():
        machine = GroupReplay(group_id, partition, names(recording))
        for entry in own:
            machine.replay(entry)
        machine.flush()
        found += [*machine.take_facts(), *machine.open_facts()]
    return found


def clock(ms: int) -> str:
    """The last six digits of the seconds, and the milliseconds."""
    return f"{ms // 1000 % 1_000_000:06d}.{ms % 1000:03d}"


def short(member_id: str) -> str:
    """Eight characters of an id made by the protocol; of the classic protocol's the client's part
    and four digits of the UUID.
    """
    long = re.fullmatch(r"(.+-[0-9a-f]{4})[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", member_id)
    return long[1] if long else member_id[:8]


def partitions(topics: tuple[TopicPartitions, ...], recording: str) -> str:
    told = [
        (names(recording).get(topic.topic_id, topic.topic_id[:6]), sorted(topic.partitions))
        for topic in topics
    ]
    return (
        " ".join(
            f"{name if len(told) > 1 else ''}{{{','.join(map(str, each))}}}"
            for name, each in sorted(told)
        )
        or "{}"
    )


def quoted(entry: Entry, recording: str) -> str:
    return f"{entry.offset:>5}  {clock(entry.ts_ms)}  {said(entry.record, recording)}"


def said(record: Record, recording: str) -> str:
    what = f"K{record.KEY_TYPE}" if not hasattr(record, "key_type") else f"K{record.key_type}"
    if member_id := getattr(record, "member_id", ""):
        what += f" {short(member_id)}"
    match record:
        case OffsetCommit(topic=topic, partition=partition, value=commit):
            return f"{what} {topic}-{partition} " + (
                f"offset {commit.offset}" if commit else "tombstone"
            )
        case GroupMetadata(value=k2) if k2 is not None:
            return f"{what} generation {k2.generation}, " + (
                f"{k2.protocol}: {' '.join(map(listed, k2.members))}"
                if k2.members
                else "no members"
            )
        case ConsumerGroupMetadata(value=k3) if k3 is not None:
            return f"{what} epoch {k3.epoch}" + (
                f", hash {k3.metadata_hash}" if k3.metadata_hash else ""
            )
        case ConsumerGroupMemberMetadata(value=k5) if k5 is not None:
            wanted = (
                f"/{k5.subscribed_topic_regex}/"
                if k5.subscribed_topic_regex
                else ",".join(k5.subscribed_topic_names)
            )
            protocol = "classic" if k5.classic_member_metadata else "consumer"
            instance = f", instance {k5.instance_id}" if k5.instance_id else ""
            return (
                f"{what} {k5.client_id}, {protocol}, subscribes {wanted}, timeout"
                f" {k5.rebalance_timeout_ms}{instance}"
            )
        case ConsumerGroupTargetAssignmentMetadata(value=k6) if k6 is not None:
            return f"{what} target epoch {k6.assignment_epoch}"
        case ConsumerGroupTargetAssignmentMember(value=k7) if k7 is not None:
            return f"{what} {partitions(k7.topic_partitions, recording)}"
        case ConsumerGroupCurrentMemberAssignment(value=k8) if k8 is not None:
            pending = (
                f" pending {partitions(k8.partitions_pending_revocation, recording)}"
                if k8.partitions_pending_revocation
                else ""
            )
            state = MEMBER_STATES[k8.state]
            assigned = partitions(k8.assigned_partitions, recording)
            return (
                f"{what} epoch {k8.member_epoch}, previous {k8.previous_member_epoch}, {state},"
                f" assigned {assigned}{pending}"
            )
        case ConsumerGroupRegularExpression(regular_expression=regex, value=k16) if k16 is not None:
            return f"{what} /{regex}/ is {','.join(k16.topics)}"
    return f"{what} tombstone"


def listed(member: GroupMember) -> str:
    held = (
        [p for topic in member.assignment.assigned_partitions for p in topic.partitions]
        if member.assignment
        else []
    )
    return f"{short(member.member_id)}{{{','.join(map(str, sorted(held)))}}}"


def shown(fact: facts.Fact, column: str) -> str:
    """A column as a block `row` writes it."""
    if column == "stuck_ms":
        return str(getattr(fact, "until_at", 0) - getattr(fact, "since_at", 0))
    if column == "blockers":
        return ",".join(each or "NULL" for each in getattr(fact, "blocker_client_ids", []))
    column = next((each for each in NAMED_OF.get(column, ()) if hasattr(fact, each)), column)
    if not hasattr(fact, column):
        return "no such column"
    value = getattr(fact, column)
    if isinstance(value, list):
        return (
            "["
            + ",".join(clock(each) if isinstance(each, int) else short(each) for each in value)
            + "]"
        )
    if value is None:
        return "NULL"
    if column.endswith("_at"):
        return clock(value)
    return (
        short(value)
        if column.endswith(("member_id", "granted_to"))
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
