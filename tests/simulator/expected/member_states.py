"""`member_states`: spans of a member in one epoch and state (docs/measures.md, Who holds what)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.untold import start_observed
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import UNRELEASED, Member, Operation, Partition


@dataclass(slots=True)
class _Span:
    """first, member: as it was when it began, and last. waiting_on: holders of what it waited for, at any time."""

    opened: Operation
    first: Member
    member: Member
    waiting_on: set[str] = field(default_factory=set)


def holders(operation: Operation) -> Mapping[Partition, set[str]]:
    """Who holds each partition after an operation."""
    found: dict[Partition, set[str]] = defaultdict(set)
    for member_id, member in operation.members.items():
        for partition in member.held:
            found[partition].add(member_id)
    return found


def waits_on(member_id: str, member: Member, held_by: Mapping[Partition, set[str]]) -> set[str]:
    """The other members that hold what a member in UNRELEASED_PARTITIONS waits for; a static member
    that is away waits for nothing."""
    if member.state != UNRELEASED or member.is_away:
        return set()
    return {holder for each in member.target for holder in held_by.get(each, ())} - {member_id}


def _of_life(life: Life, incarnation: Between) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    spans: dict[str, _Span] = {}

    def close(member_id: str, closed: Operation | None) -> None:
        span = spans.pop(member_id)
        key = (life.group_id, member_id, span.opened.first_offset)
        wanted[key] = _row(life, incarnation, span, closed)

    for operation in life.operations:
        for member_id, span in list(spans.items()):
            now = operation.members.get(member_id)
            last = span.member
            if now is None or (now.epoch, now.state) != (last.epoch, last.state):
                close(member_id, operation)
        held_by = holders(operation)
        for member_id, member in operation.members.items():
            span = spans.setdefault(member_id, _Span(operation, member, member))
            span.member = member
            span.waiting_on |= waits_on(member_id, member, held_by)
    for member_id in list(spans):
        close(member_id, life.converted_by)
    return wanted


def _row(life: Life, incarnation: Between, span: _Span, closed: Operation | None) -> Wanted:
    opened, member = span.opened, span.member
    values = {
        "incarnation": incarnation,
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(opened.first_offset, opened.last_offset),
        "to_offset": Between(closed.first_offset, closed.last_offset) if closed else None,
        "start_observed": start_observed(life, opened),
        "is_final": closed is not None,
        "instance_id": member.instance_id,
        "client_id": span.first.client_id,
        "client_host": span.first.host,
        "member_protocol": member.protocol,
        "member_epoch": member.epoch,
        "state": member.state,
        "from_at": opened.at,
        "to_at": closed.at if closed else None,
        "partitions_assigned": len(member.assigned),
        "partitions_pending": len(member.pending),
        "end_observed": True,
        "waiting_on": sorted(span.waiting_on),
    }
    return Wanted(values, tuple(each.first_offset for each in (opened, closed) if each))


def _wanted(history: History) -> dict[Key, Wanted]:
    return {
        key: row
        for life in history.lives
        for key, row in _of_life(life, history.incarnation(life)).items()
    }


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], history.opened_by(row)


CHECK: Final = Check("member_states", _wanted, _key_of)
