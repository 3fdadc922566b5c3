"""`members`: one life of a member in a group, from joining to leaving, through all epochs and
online conversions (schemas/members.sql)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import Member, Operation


def _of_life(life: Life) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    joined: dict[str, Operation] = {}
    last: Mapping[str, Member] = {}
    for operation in life.operations:
        for member_id in [each for each in joined if each not in operation.members]:
            opened = joined.pop(member_id)
            key = (life.group_id, member_id, opened.first_offset)
            ended = _ended(operation, member_id, last[member_id], last)
            wanted[key] = _row(life, opened, last[member_id], operation, ended)
        for member_id in operation.members:
            joined.setdefault(member_id, operation)
        last = operation.members
    for member_id, opened in joined.items():
        key = (life.group_id, member_id, opened.first_offset)
        wanted[key] = _row(life, opened, last[member_id], None, ("OPEN", None))
    return wanted


def _ended(
    operation: Operation, member_id: str, was: Member, before: Mapping[str, Member]
) -> tuple[str, str | None]:
    """(end_reason, replaced_by): the topic cannot tell a leave from a fence, but a static member's
    heir comes in the operation that removes it."""
    if operation.protocol is None:
        return "GROUP_REMOVED", None
    heirs = [
        name
        for name, member in operation.members.items()
        if name not in before and member.instance_id == was.instance_id is not None
    ]
    return ("REPLACED", heirs[0]) if heirs else ("LEFT_OR_FENCED", None)


def _row(
    life: Life,
    opened: Operation,
    member: Member,
    closed: Operation | None,
    ended: tuple[str, str | None],
) -> Wanted:
    """member: as it was last."""
    values: dict[str, Any] = {
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(opened.first_offset, opened.last_offset),
        "to_offset": Between(closed.first_offset, closed.last_offset) if closed else None,
        "start_observed": True,
        "is_final": closed is not None,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "member_protocol": member.protocol,
        "joined_at": opened.at,
        "ended_at": closed.at if closed else None,
        "end_reason": ended[0],
        "replaced_by": ended[1],
    }
    return Wanted(values, tuple(each.first_offset for each in (opened, closed) if each))


def _wanted(history: History) -> dict[Key, Wanted]:
    return {key: row for life in history.lives for key, row in _of_life(life).items()}


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], history.opened_by(row)


CHECK: Final = Check("members", _wanted, _key_of)
