"""I15: the order of tombstones in one operation."""

from __future__ import annotations

from collections.abc import Iterator

from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.replay.life import Life
from groupreplay.replay.operations import Operation
from groupreplay.replay.rules.finding import Finding

_MUST_FOLLOW: dict[type, tuple[int, ...]] = {
    ConsumerGroupCurrentMemberAssignment: (7, 5, 3),
    ConsumerGroupTargetAssignmentMember: (5, 6, 3),
    ConsumerGroupTargetAssignmentMetadata: (3,),
    ConsumerGroupMemberMetadata: (3,),
}
"""Record type -> key types whose tombstone must not stand before its own, in one operation (of the
same member, where both have one).
"""


def tombstone_order(life: Life, operation: Operation) -> Iterator[Finding]:
    """I15, before the operation is applied: positions of its tombstones."""
    if (
        not operation.tombstones
        or operation.last_hole > operation.offset
        or 0 <= life.last_change_offset < operation.last_hole
    ):
        return
    seen: set[tuple[int, str]] = set()
    for entry in operation.entries:
        record = entry.record
        if getattr(record, "value", record) is not None:
            continue
        key_type, member_id = str(_key_type(record)), getattr(record, "member_id", "")
        for later in _MUST_FOLLOW.get(type(record), ()):
            if (later, member_id) in seen or (later, "") in seen:
                params = {"key_type": key_type, "other": str(later)}
                yield Finding("I15", entry.ts_ms, entry.offset, "TOMBSTONE_AFTER", params)
                return
        seen.add((_key_type(record), member_id))
        if left := _left_behind(life, record, seen, operation.last_hole):
            params = {"key_type": key_type, "other": str(left[0])}
            code = "TOMBSTONE_BEFORE"
            if left[1]:
                code, params["member"] = "TOMBSTONE_BEFORE_MEMBER", left[1]
            yield Finding("I15", entry.ts_ms, entry.offset, code, params)
            return


def _left_behind(
    life: Life, record: object, seen: set[tuple[int, str]], last_hole: int
) -> tuple[int, str] | None:
    """(key type, member) that a tombstone leaves behind and that must be gone by then: a removed
    member's K8, a removed target's K7s, a removed group's members.
    """
    members = life.members
    if isinstance(record, ConsumerGroupMemberMetadata):
        member = members.get(record.member_id)
        has_current = (
            member is not None and member.epoch is not None and last_hole <= member.current_offset
        )
        return (8, record.member_id) if has_current and (8, record.member_id) not in seen else None
    kind = (
        7
        if isinstance(record, ConsumerGroupTargetAssignmentMetadata)
        else 5
        if isinstance(record, ConsumerGroupMetadata)
        else 0
    )
    for member_id, member in members.items() if kind else ():
        is_there = kind == 5 or member.target is not None
        if (
            is_there
            and (kind, member_id) not in seen
            and last_hole <= max(member.current_offset, member.target_offset)
        ):
            return kind, member_id
    return None


def _key_type(record: object) -> int:
    return int(getattr(record, "KEY_TYPE", -1))
