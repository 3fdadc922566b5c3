"""`members`: each life of a member, from joining to leaving, through all epochs and conversions."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Untold, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.inherited import Inherited
from tests.simulator.expected.last_commits import LastCommits
from tests.simulator.expected.said_again import SaidAgain, said_again
from tests.simulator.expected.untold import start_observed
from tests.simulator.lives import Life
from tests.simulator.said import Said
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER, Member, Operation


def _of_life(history: History, life: Life) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    joined: dict[str, Operation] = {}
    described: dict[str, Operation] = {}
    last_commits, inherited = LastCommits(history, life), Inherited(life)
    for before, operation in life.steps():
        was = before.members if before is not None else {}
        for member_id in was.keys() - operation.members.keys():
            opened = joined.pop(member_id)
            key = (life.group_id, member_id, opened.first_offset)
            end = _end(was[member_id], operation)
            assert before is not None
            said = _said(before, member_id, described[member_id])
            if before.protocol != CONSUMER and f"K5 {member_id}" in operation.records:
                said |= _upgraded(operation, said_again(history, member_id, before, operation))
            said["client_inherited"] = inherited.of(member_id, was[member_id])
            is_replaced = end["end_reason"] == "REPLACED"
            silent_ms = last_commits.silent_ms(member_id, opened, operation)
            said["silent_ms"] = None if is_replaced else silent_ms
            wanted[key] = _row(history, life, opened, was[member_id], end | said)
        for member_id in operation.members.keys() - was.keys():
            joined[member_id] = described[member_id] = operation
        inherited.step(before, operation)
        for member_id in operation.members:
            if operation.protocol != CONSUMER or f"K5 {member_id}" in operation.records:
                described[member_id] = operation
    for member_id, opened in joined.items():
        last = life.operations[-1]
        key = (life.group_id, member_id, opened.first_offset)
        told = _OPEN | _said(last, member_id, described[member_id])
        told["client_inherited"] = inherited.of(member_id, last.members[member_id])
        wanted[key] = _row(history, life, opened, last.members[member_id], told)
    return wanted


_OPEN: Final[dict[str, Any]] = {
    "to_offset": None,
    "is_final": False,
    "ended_at": None,
    "end_reason": "OPEN",
    "replaced_by": None,
    "silent_ms": None,
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


def _said(last: Operation, member_id: str, described: Operation) -> dict[str, Any]:
    """What a member said when it joined, as the last operation that has it holds it (measures.md,
    Members). described: the last one that wrote its K5, or a K2."""
    member = last.members[member_id]
    return {
        "profile_offset": Between(described.first_offset, described.last_offset),
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "server_assignor": member.assignor,
        "subscribed_regex": member.regex,
        **(_OF_CONSUMERS if member.said is None else _of_classic(last, member.said)),
        **_subscribed(last, member),
    }


def _upgraded(operation: Operation, again: SaidAgain | None) -> dict[str, Any]:
    """Of a member that an upgrade took over, and replaced in the same operation. again: what it had
    said since the last K2."""
    told: dict[str, Any] = {
        "profile_offset": Between(operation.first_offset, operation.last_offset),
        "protocols": Untold("what an upgrade wrote of who is gone at its end"),
        "assignment_user_data": None,
    }
    if again is None:
        return told
    told["lists_owned"] = again.lists_owned
    return told if again.topics is None else told | _topics(again.topics, None)


def _topics(topics: Collection[str], regex: str | None) -> dict[str, Any]:
    return {"topics_subscribed": len(topics), "subscription_hash": _hash_of(topics, regex)}


_OF_CONSUMERS: Final[Mapping[str, Any]] = {
    "session_timeout_ms": None,
    "protocols": [],
    "embedded_version": None,
    "subscription_user_data": None,
    "assignment_user_data": None,
    "lists_owned": None,
}


def _of_classic(last: Operation, said: Said) -> dict[str, Any]:
    """A classic group selects an assignor; all that are offered are in no K2."""
    selected = [last.protocol_name] if said.assignors is None else list(said.assignors)
    return {
        "session_timeout_ms": said.session_timeout_ms,
        "protocols": selected,
        "embedded_version": said.version,
        "subscription_user_data": said.user_data,
        "assignment_user_data": said.assignment_user_data,
        "lists_owned": True if said.owned else None if said.generation is None else False,
    }


def _subscribed(last: Operation, member: Member) -> dict[str, Any]:
    """In a consumer group the coordinator's own reading; in a classic one it reads nothing."""
    topics: Collection[str] | None = member.subscription
    if last.protocol != CONSUMER:
        topics = None if member.said is None else member.said.topics
    unread = {"topics_subscribed": None, "subscription_hash": None}
    return {
        "rack_id": rack_of(last, member),
        **(unread if topics is None else _topics(topics, member.regex)),
    }


def rack_of(last: Operation, member: Member) -> str | None:
    """A coordinator keeps that of the process before where a static member returns without one."""
    if last.protocol == CONSUMER or member.said is None:
        return member.rack_id
    return member.said.rack_id


def _hash_of(topics: Collection[str], regex: str | None) -> int:
    text = "\n".join(sorted(topics)) + "\0" + (regex or "")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


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
