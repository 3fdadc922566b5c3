"""Checks of what any group does: one kind at a time, generations that rise and give each
partition once, timers that end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from groupreplay.records.classic import GroupMetadataValue
from groupreplay.records.entries import Entry
from groupreplay.replay.life import CLASSIC, CONSUMER, STREAMS, Life, Member, TopicPartition
from groupreplay.replay.operations import Operation
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.streams.classic.generation import is_streams

CONSUMERS: Final = "consumer"
"""Protocol type of a classic group whose assignments are partitions (ConsumerProtocol)."""

REVOCATION_SLACK_MS: Final = 5_000
"""A busy broker writes a fence late; on healthy ones 3 ms were seen."""

SESSION_LIMIT_MS: Final = 65_000
"""group.consumer.max.session.timeout.ms (60 s) and slack: a consumer-protocol member that stays
behind longer should have been fenced.
"""


def one_kind(life: Life, operation: Operation, kind: str) -> Iterator[Finding]:
    """I18, and T20 where a streams group is one of them: records of a kind that the group is not,
    without a conversion. A streams group lives as far as its last K17 shows: later records may be
    tombstones of one that a hole hides the end of.
    """
    kinds = (CLASSIC, CONSUMER, STREAMS)
    shown = life.epoch_offset if life.protocol == STREAMS else life.last_change_offset
    if life.protocol in kinds and operation.last_hole <= shown:
        params = {"kind": kind, "protocol": life.protocol}
        rule = "T20" if STREAMS in (kind, life.protocol) else "I18"
        yield Finding(rule, operation.ts_ms, operation.offset, "OTHER_KIND", params)


def generation(
    life: Life, entry: Entry, value: GroupMetadataValue, converts: bool
) -> Iterator[Finding]:
    """I19 and I20, before a K2 is taken over; the K2 of a downgrade repeats the group epoch."""
    if (
        not converts
        and life.epoch is not None
        and life.protocol == CLASSIC
        and entry.last_hole <= life.last_change_offset
    ):
        yield from _rises(life, life.epoch, entry, value)
    ids = {m.member_id for m in value.members}
    if value.members and (value.protocol is None or value.leader not in ids):
        params = {
            "assignor": str(value.protocol),
            "member": str(value.leader),
            "members": str(len(value.members)),
        }
        yield Finding("I20", entry.ts_ms, entry.offset, "SYNC_INCOMPLETE", params)


def _rises(life: Life, before: int, entry: Entry, value: GroupMetadataValue) -> Iterator[Finding]:
    came = [m for m in value.members if m.member_id not in life.members]
    replaced = [m for m in came if m.group_instance_id is not None]
    params = {"epoch": str(value.generation), "before": str(before)}
    if value.generation < before:
        yield Finding("I19", entry.ts_ms, entry.offset, "GENERATION_FALLS", params)
    elif (
        value.generation == before
        and value.generation > 0
        and (len(came) != len(replaced) or len(value.members) != len(life.members))
    ):
        yield Finding("I19", entry.ts_ms, entry.offset, "GENERATION_REPEATS", params)


def given_once(life: Life, entry: Entry, value: GroupMetadataValue) -> Iterator[Finding]:
    """I24, when the members have what the K2 of a new generation gives: it alone shows that, so no
    hole explains it. Of all partitions that several got, the first is named.
    """
    if value.protocol_type != CONSUMERS or is_streams(value.protocol):
        return
    given = {member_id: m.target or frozenset() for member_id, m in life.members.items()}
    all_given = frozenset[TopicPartition]().union(*given.values())
    if sum(map(len, given.values())) == len(all_given):
        return
    holders: dict[TopicPartition, list[str]] = {}
    for member_id, partitions in given.items():
        for tp in partitions:
            holders.setdefault(tp, []).append(member_id)
    shared = [tp for tp, several in holders.items() if len(several) > 1]
    first = min(shared)
    params = {
        "epoch": str(value.generation),
        "partitions": str(len(shared)),
        "topic": first[0],
        "partition": str(first[1]),
        "holders": json.dumps(sorted(holders[first])),
    }
    yield Finding("I24", entry.ts_ms, entry.offset, "GENERATION_GIVES_TWICE", params)


def revocation_in_time(member: Member, at: int, offset: int) -> Iterator[Finding]:
    """I21, when a member's open requests end; after a change of leader they have no timeout."""
    timeouts = [r.timeout_ms for r in member.requests.values() if r.timeout_ms is not None]
    if timeouts and at - member.revoking_since > timeouts[0] + REVOCATION_SLACK_MS:
        took = {"ms": str(at - member.revoking_since), "timeout_ms": str(timeouts[0])}
        params = {"member": member.member_id, **took}
        yield Finding("I21", at, offset, "REVOKED_TOO_LONG", params)


def reaches_target(member: Member, since: int, at: int, offset: int) -> Iterator[Finding]:
    """I22, when a member that was behind the target shows itself again or is removed."""
    if member.protocol == CONSUMER and at - since > SESSION_LIMIT_MS:
        params = {"member": member.member_id, "ms": str(at - since)}
        yield Finding("I22", at, offset, "BEHIND_TOO_LONG", params)
