"""Why a classic Streams group began a generation.

| cause | what shows it |
|---|---|
| SHUTDOWN | a subscription with error code 4 |
| STATIC_REPLACED, LEFT_OR_FENCED, JOIN | member ids that went or came |
| VERSION | a member was told a lower metadata version, or a higher common one, and took it |
| FOLLOWUP | somebody was owed a task, or had to give one up |
| PROBING | a probing time that had come |
| TASKS_CHANGED | partitions of known topics came or went |
| SUBSCRIPTION | topics of a member changed |
| MEMBER_METADATA | a member's endpoint or tags changed, or it alone joined for no other cause |

The first that applies is the cause, the others stand in `also`. Nobody's reason is in a record, so
all of it is INFERRED; a line of the broker's log may prove it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from groupreplay.replay.causes import INFERRED, NONE, UNKNOWN_CAUSE, only
from groupreplay.replay.kept.streams_tasks import Generation, MemberTasks, Task

SHUTDOWN_CODE = 4
PROBING = "PROBING"
FOLLOWUP = "FOLLOWUP"
CLOCK_SLACK_MS = 1_000
"""The client's clock says when to probe, the broker's when the join phase ended."""


class RebalanceCause(NamedTuple):
    """also: further causes, in order."""

    cause: str
    member_id: str | None
    confidence: str
    also: list[str]


class _Step(NamedTuple):
    """From one generation to the next.

    changed_tasks: tasks came or went, or their input partitions did.
    """

    before: Generation
    now: Generation
    changed_tasks: bool

    @property
    def same(self) -> list[tuple[MemberTasks, MemberTasks]]:
        members = self.before.members
        return [(members[i], m) for i, m in self.now.members.items() if i in members]


def find_rebalance_cause(
    before: Generation | None, now: Generation, changed_tasks: bool
) -> RebalanceCause:
    """before: None where the generation before is not known.

    changed_tasks: tasks came or went, or their input partitions did.
    """
    asked = [m.member_id for m in now.members.values() if m.error_code == SHUTDOWN_CODE]
    found: list[tuple[str, str | None]] = [("SHUTDOWN", only(asked))] if asked else []
    if before is not None:
        step = _Step(before, now, changed_tasks)
        for cause, shown_by in _CAUSES.items():
            members = shown_by(step)
            if members is not None and not (cause == "MEMBER_METADATA" and found):
                found.append((cause, only(members)))
    if not found:
        return RebalanceCause(UNKNOWN_CAUSE, None, NONE, [])
    return RebalanceCause(*found[0], INFERRED, [cause for cause, _ in found[1:]])


def _replaced(step: _Step) -> list[str] | None:
    gone = {m.instance_id for i, m in step.before.members.items() if i not in step.now.members}
    return [
        i
        for i, m in step.now.members.items()
        if i not in step.before.members and m.instance_id is not None and m.instance_id in gone
    ] or None


def _left(step: _Step) -> list[str] | None:
    back = {step.now.members[i].instance_id for i in _replaced(step) or ()}
    return [
        i
        for i, m in step.before.members.items()
        if i not in step.now.members and (m.instance_id is None or m.instance_id not in back)
    ] or None


def _joined(step: _Step) -> list[str] | None:
    back = _replaced(step) or ()
    return [i for i in step.now.members if i not in step.before.members and i not in back] or None


def _version(step: _Step) -> list[str] | None:
    return [
        now.member_id
        for before, now in step.same
        if now.version != before.version
        and before.used_version
        and now.version == before.usable_version
    ] or None


def _followup(step: _Step) -> list[str] | None:
    due = [m.member_id for m in step.before.due()]
    losers = [m.member_id for m in step.before.members.values() if m.owned - m.given]
    return due or losers or None


def _probing(step: _Step) -> list[str] | None:
    at = step.before.next_at
    ended = step.now.join_ended_at if step.now.join_ended_at >= 0 else step.now.at
    if at is None or at > ended + CLOCK_SLACK_MS:
        return None
    return [m.member_id for m in step.before.members.values() if m.next_ms == at]


def _tasks_changed(step: _Step) -> list[str] | None:
    return [] if step.changed_tasks else None


def _subscription(step: _Step) -> list[str] | None:
    return [
        now.member_id for before, now in step.same if set(before.topics) != set(now.topics)
    ] or None


def _metadata(step: _Step) -> list[str] | None:
    return [
        now.member_id
        for before, now in step.same
        if (before.endpoint, before.tags) != (now.endpoint, now.tags)
    ] or None


_CAUSES: Final[dict[str, Callable[[_Step], list[str] | None]]] = {
    "STATIC_REPLACED": _replaced,
    "LEFT_OR_FENCED": _left,
    "JOIN": _joined,
    "VERSION": _version,
    FOLLOWUP: _followup,
    PROBING: _probing,
    "TASKS_CHANGED": _tasks_changed,
    "SUBSCRIPTION": _subscription,
    "MEMBER_METADATA": _metadata,
}
"""In order. Each gives the members that show it, none of them where nobody does, None where it does
not apply.
"""


def joins_between(before: Generation | None, now: Generation) -> int | None:
    """How many joins the members sent for this generation, by their unique fields, which grow by
    one a join, modulo 256 (StreamsPartitionAssignor.subscriptionUserData). None where one does not
    say.
    """
    total = 0
    for member_id, member in now.members.items():
        if member.unique_field is None:
            return None
        known = before.members.get(member_id) if before is not None else None
        since = known.unique_field if known is not None else 0
        total += (member.unique_field - (since or 0)) % 256
    return total


def changed_inputs(
    before: dict[Task, frozenset[tuple[str, int]]], now: dict[Task, frozenset[tuple[str, int]]]
) -> bool:
    """Whether tasks of topics that were known came, or their input partitions changed."""
    topics = {topic for tps in before.values() for topic, _ in tps}
    return any(
        before.get(task) != tps and any(topic in topics for topic, _ in tps)
        for task, tps in now.items()
    )
