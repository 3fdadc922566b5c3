"""`member_states` and `members` of streams groups (docs/measures.md, docs/streams.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.streams.history import (
    ACTIVE,
    UNRELEASED,
    Step,
    StreamsHistory,
    StreamsLife,
    Task,
    Thread,
)
from tests.simulator.truth import STREAMS


@dataclass(slots=True)
class _Span:
    opened: Step
    member: Thread
    waiting_on: set[str] = field(default_factory=set)


def waited_for(step: Step, member_id: str) -> dict[Task, set[str]]:
    """Task that a member in UNRELEASED_TASKS is to get -> the others that are in its way: who runs
    it, if it is to run it, and whoever of its own process has it in any role."""
    member = step.members[member_id]
    if member.state != UNRELEASED or member.is_away:
        return {}
    found: dict[Task, set[str]] = {}
    for role, tasks in member.target.items():
        for task in tasks - member.assigned[role]:
            others = {
                other
                for other, thread in step.members.items()
                if other != member_id
                and task in thread.held
                and (thread.process_id == member.process_id or role == thread.held[task] == ACTIVE)
            }
            if others:
                found[task] = others
    return found


def states(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        spans: dict[str, _Span] = {}
        for step in life.steps:
            for member_id, span in list(spans.items()):
                now = step.members.get(member_id)
                last = span.member
                if now is None or (now.epoch, now.state) != (last.epoch, last.state):
                    wanted |= _state(history, life, member_id, spans.pop(member_id), step)
            for member_id, member in step.members.items():
                span = spans.setdefault(member_id, _Span(step, member))
                span.member = member
                span.waiting_on |= {
                    m for others in waited_for(step, member_id).values() for m in others
                }
        for member_id, span in spans.items():
            wanted |= _state(history, life, member_id, span, life.end)
    return wanted


def _state(
    history: StreamsHistory, life: StreamsLife, member_id: str, span: _Span, closed: Step | None
) -> dict[Key, Wanted]:
    opened, member = span.opened, span.member
    values = {
        **history.place(life),
        "from_offset": opened.offsets,
        "to_offset": closed.offsets if closed else None,
        "is_final": closed is not None,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.host,
        "member_protocol": STREAMS,
        "member_epoch": member.epoch,
        "state": member.state,
        "from_at": opened.at,
        "to_at": closed.at if closed else None,
        "partitions_assigned": len(member.assigned[ACTIVE]),
        "partitions_pending": len(member.pending[ACTIVE]),
        "end_observed": True,
        "waiting_on": sorted(span.waiting_on),
    }
    key = (life.group_id, member_id, opened.first_offset)
    return {key: Wanted(values, _offsets(opened, closed))}


def lives(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        joined: dict[str, Step] = {}
        said: dict[str, Step] = {}
        last: dict[str, Thread] = {}
        for step in life.steps:
            for member_id in joined.keys() - step.members.keys():
                told = last[member_id], joined.pop(member_id), said.pop(member_id)
                wanted |= _life(history, life, member_id, *told, step)
            for member_id, member in step.members.items():
                joined.setdefault(member_id, step)
                last[member_id] = member
                if f"K19 {member_id}" in step.records:
                    said[member_id] = step
        for member_id, opened in joined.items():
            told = last[member_id], opened, said[member_id]
            wanted |= _life(history, life, member_id, *told, life.end)
    return wanted


_NOT_SAID: Final[dict[str, Any]] = {
    **dict.fromkeys(("session_timeout_ms", "server_assignor", "embedded_version", "lists_owned")),
    **dict.fromkeys(("topics_subscribed", "subscription_hash", "subscribed_regex")),
    **dict.fromkeys(("subscription_user_data", "assignment_user_data", "silent_ms")),
    "protocols": [],
    "client_inherited": False,
}
"""What no K19 says, and for how long it was silent (docs/measures.md, Members)."""


def _life(
    history: StreamsHistory,
    life: StreamsLife,
    member_id: str,
    member: Thread,
    opened: Step,
    said: Step,
    closed: Step | None,
) -> dict[Key, Wanted]:
    """said: its last K19."""
    reason = "OPEN" if closed is None else "LEFT_OR_FENCED"
    heir = closed.heir_of(member) if closed is not None else None
    if closed is not None and closed.protocol is None:
        reason = "GROUP_REMOVED"
    elif heir is not None:
        reason = "REPLACED"
    values: dict[str, Any] = {
        **history.place(life),
        "from_offset": opened.offsets,
        "to_offset": closed.offsets if closed else None,
        "is_final": closed is not None,
        "instance_id": member.instance_id,
        "process_id": member.process_id,
        "client_id": member.client_id,
        "client_host": member.host,
        "member_protocol": STREAMS,
        "joined_at": opened.at,
        "ended_at": closed.at if closed else None,
        "end_reason": reason,
        "replaced_by": heir,
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
        "rack_id": member.rack_id,
        "profile_offset": said.offsets,
        **_NOT_SAID,
    }
    key = (life.group_id, member_id, opened.first_offset)
    return {key: Wanted(values, _offsets(opened, closed))}


def _offsets(*steps: Step | None) -> tuple[int, ...]:
    return tuple(each.first_offset for each in steps if each is not None)
