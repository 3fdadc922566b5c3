"""`migration_progress`: every group as it stands at the end (measures.md, phase and progress)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from tests.simulator.compare import Between, Key, Untold, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.lives import Life, is_conversion, is_unwritten
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, CONSUMER, STREAMS, Member, Operation, Truth
from tests.simulator.truth_log import OtherGroup


@dataclass(frozen=True, slots=True)
class _Blockers:
    """Members that keep a group from the consumer protocol, in any order."""

    members: frozenset[tuple[str | None, ...]]

    def admits(self, value: Any) -> bool:
        told = [
            (each["member_id"], each["instance_id"], each["client_id"], each["client_host"])
            for each in value
            if isinstance(each, dict)
        ]
        if len(told) < len(value):
            return False
        return len(told) == len(self.members) and set(told) == self.members


@dataclass(slots=True)
class Course:
    """What a group has been through since it was last deleted or expired.

    directions: of its conversions, in order. phase: now; before_empty: the last one with members.
    is_upgraded: since the last upgrade, or since one came back, no classic member is left.
    downgraded_by: the last operation that went back.
    """

    directions: list[str] = field(default_factory=list)
    phase: str = ""
    before_empty: str | None = None
    mixed_since_at: int | None = None
    is_upgraded: bool = False
    is_foreign: bool = False
    downgraded_by: Operation | None = None
    upgraded_at: int | None = None
    downgraded_at: int | None = None

    def step(self, before: Operation | None, operation: Operation) -> None:
        if is_conversion(before, operation):
            self._convert(operation)
        phase = self._phase(operation)
        if phase == "MIGRATED" and not self.is_upgraded:
            self.is_upgraded = True
            self.upgraded_at = operation.at
        if phase != "EMPTY":
            self.before_empty = phase
        if phase == "MIGRATING":
            self.is_upgraded = False
            self.mixed_since_at = self.mixed_since_at or operation.at
        else:
            self.mixed_since_at = None
        self.phase = phase

    def _is_foreign(self, operation: Operation) -> bool:
        """Whether no consumers are in it (Connect, Streams); an empty one is what it was last."""
        if not operation.members:
            return self.is_foreign
        protocol_type, protocol = operation.protocol_type or "", operation.protocol_name
        return protocol_type not in ("", "consumer") or protocol == "stream"

    def _convert(self, operation: Operation) -> None:
        if operation.protocol == CONSUMER:
            self.directions.append("UPGRADE")
            self.is_upgraded = False
        else:
            self.directions.append("DOWNGRADE")
            self.downgraded_at, self.downgraded_by = operation.at, operation

    def _phase(self, operation: Operation) -> str:
        """The first that applies."""
        members = operation.members.values()
        if operation.protocol == CLASSIC:
            self.is_foreign = self._is_foreign(operation)
            if self.is_foreign:
                return "NOT_APPLICABLE"
        if not members:
            return "EMPTY"
        if operation.protocol == CLASSIC:
            return "ROLLED_BACK" if self.directions[-1:] == ["DOWNGRADE"] else "CLASSIC"
        if any(each.is_classic for each in members):
            return "MIGRATING"
        return "MIGRATED" if "UPGRADE" in self.directions else "NATIVE"


def course_of(operations: Sequence[Operation]) -> Course:
    course = Course()
    before: Operation | None = None
    for operation in operations:
        if operation.protocol is None or is_unwritten(before, operation):
            course = Course()
        if operation.protocol == STREAMS:
            # No figure of the migration counts what it was before, nor what it was then.
            course, before = Course(), None
            continue
        if operation.protocol is not None:
            course.step(before, operation)
        before = operation
    return course


def _blocker(member_id: str, member: Member) -> tuple[str | None, ...]:
    return member_id, member.instance_id, member.client_id, member.host


def _row(history: History, life: Life, course: Course) -> Wanted:
    last = life.operations[-1]
    classic = {name: each for name, each in last.members.items() if each.is_classic}
    total = len(last.members)
    consumers = total - len(classic)
    applies = course.phase != "NOT_APPLICABLE"
    incarnation: Between = history.incarnation(life)
    there = (
        (each.at, {member.instance_id for member in each.members.values()})
        for each in life.operations
    )
    values: dict[str, Any] = {
        "incarnation": incarnation,
        "offsets_partition": life.offsets_partition,
        "from_offset": incarnation,
        "as_of_at": history.truth.as_of_ms,
        "protocol": last.protocol,
        "phase": course.phase,
        "last_phase": course.before_empty if course.phase == "EMPTY" else None,
        "history_complete": is_complete(history, life),
        "members_total": total,
        "members_consumer": consumers,
        "members_classic": len(classic),
        "members_static": sum(each.instance_id is not None for each in last.members.values()),
        "instances_gone": instances_gone(history.truth, life.group_id, there),
        "progress_pct": round(100.0 * consumers / total, 1) if total and applies else None,
        "mixed_since_at": course.mixed_since_at,
        "upgraded_at": course.upgraded_at,
        "streams_protocol": None,
        "downgraded_at": course.downgraded_at,
        "conversions": len(course.directions),
        "blockers": _Blockers(frozenset(_blocker(*each) for each in classic.items() if applies)),
        "group_epoch": last.epoch,
    }
    return Wanted(values, (last.first_offset,))


HOUR_MS: Final = 3_600_000

InstanceIds = AbstractSet[str | None]


def instances_gone(truth: Truth, group_id: str, there: Iterable[tuple[int, InstanceIds]]) -> int:
    """Instance ids that lost their member within the last hour of the group, and have none. there:
    when each of its operations was, and instance ids of its members then."""
    gone: dict[str | None, int] = {}
    was: InstanceIds = frozenset()
    last_at = 0
    for last_at, now in there:
        gone |= dict.fromkeys(was - now, last_at)
        for instance_id in now:
            gone.pop(instance_id, None)
        was = now
    gone.pop(None, None)
    commits = [
        each.at
        for key, found in truth.commits.items()
        for each in found
        if key.group_id == group_id
    ]
    last_at = max([*commits, last_at])
    return sum(at >= last_at - HOUR_MS for at in gone.values())


def is_complete(history: History, life: Life) -> bool:
    """Whether the log shows that nothing came before."""
    is_seen = life.is_seen_to_begin(life.operations[0]) or history.begins_by_conversion(life)
    return is_seen and not history.begins_unwritten(life)


def not_applicable(truth: Truth, protocol: str) -> dict[str, Any]:
    """What is alike in groups that cannot migrate."""
    return {
        "as_of_at": truth.as_of_ms,
        "protocol": protocol,
        "phase": "NOT_APPLICABLE",
        "last_phase": None,
        "members_consumer": 0,
        "members_classic": 0,
        "progress_pct": None,
        "mixed_since_at": None,
        "upgraded_at": None,
        "streams_protocol": None,
        "downgraded_at": None,
        "conversions": 0,
        "blockers": [],
        "members_static": 0,
        "instances_gone": 0,
    }


def simple_row(history: History, group_id: str) -> Wanted:
    """A group that only commits: it has no birth."""
    first = history.truth.commit_offsets[group_id][0]
    values = not_applicable(history.truth, "simple") | {
        "incarnation": _WHICH_COMMIT,
        "offsets_partition": _WHICH_COMMIT,
        "from_offset": _WHICH_COMMIT,
        "history_complete": False,
        "members_total": 0,
        "group_epoch": None,
    }
    return Wanted(values, (first,))


def _other(history: History, group: OtherGroup) -> Wanted:
    """A share or streams group."""
    first = Between(group.first_offset, group.last_offset)
    values = not_applicable(history.truth, group.protocol) | {
        "incarnation": first,
        "offsets_partition": group.offsets_partition,
        "from_offset": first,
        "history_complete": True,
        "members_total": group.members,
        "group_epoch": group.epoch,
    }
    return Wanted(values, (group.first_offset,))


_WHICH_COMMIT: Final = Untold("which of its commits is the first of this life")


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    last_lives = {life.group_id: life for life in history.lives}
    others = history.truth.other_groups
    for group_id in sorted(set(chain(last_lives, others, history.truth.live_offsets))):
        life = last_lives.get(group_id)
        if life is not None and not life.is_removed:
            course = course_of(history.truth.operations[group_id])
            wanted[group_id,] = history.judged(life, _row(history, life, course))
        elif group_id in others:
            wanted[group_id,] = _other(history, others[group_id])
        elif history.truth.live_offsets.get(group_id):
            wanted[group_id,] = simple_row(history, group_id)
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return (row["group_id"],)


CHECK: Final = Check("migration_progress", _wanted, _key_of)
