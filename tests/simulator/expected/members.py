"""`members`: each life of a member, from joining to leaving, through all epochs and conversions."""

from __future__ import annotations

from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.untold import start_observed
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import Member, Operation


def _of_life(history: History, life: Life) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    joined: dict[str, Operation] = {}
    for before, operation in life.steps():
        was = before.members if before is not None else {}
        for member_id in was.keys() - operation.members.keys():
            opened = joined.pop(member_id)
            key = (life.group_id, member_id, opened.first_offset)
            end = _end(was[member_id], operation)
            wanted[key] = _row(history, life, opened, was[member_id], end)
        for member_id in operation.members.keys() - was.keys():
            joined[member_id] = operation
    for member_id, opened in joined.items():
        member = life.operations[-1].members[member_id]
        key = (life.group_id, member_id, opened.first_offset)
        wanted[key] = _row(history, life, opened, member, _OPEN)
    return wanted


_OPEN: Final[dict[str, Any]] = {
    "to_offset": None,
    "is_final": False,
    "ended_at": None,
    "end_reason": "OPEN",
    "replaced_by": None,
}


def _end(was: Member, operation: Operation) -> dict[str, Any]:
    instance = was.instance_id
    heirs = [
        member_id
        for member_id, member in operation.members.items()
        if instance is not None and member.instance_id == instance
    ]
    if operation.protocol is None:
        reason = "GROUP_REMOVED"
    else:
        reason = "REPLACED" if heirs else "LEFT_OR_FENCED"
    return {
        "to_offset": Between(operation.first_offset, operation.last_offset),
        "is_final": True,
        "ended_at": operation.at,
        "end_reason": reason,
        "replaced_by": OneOf(tuple(heirs)) if heirs else None,
    }


def _row(
    history: History, life: Life, opened: Operation, member: Member, end: dict[str, Any]
) -> Wanted:
    """member: as it was last."""
    values: dict[str, Any] = {
        "incarnation": history.incarnation(life),
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(opened.first_offset, opened.last_offset),
        "start_observed": start_observed(life, opened),
        "instance_id": member.instance_id,
        "process_id": None,
        "client_id": member.client_id,
        "client_host": member.host,
        "member_protocol": member.protocol,
        "joined_at": opened.at,
    }
    return Wanted(values | end, (opened.first_offset,))


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        wanted |= _of_life(history, life)
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], history.opened_by(row)


CHECK: Final = Check("members", _wanted, _key_of)
