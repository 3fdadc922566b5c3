"""Stretches of time in which a member or a group is stuck, of one life (measures.md, stuck).

Each watcher is shown every operation of a life and tells what began and ended in it. Thresholds are
those of conf/base.yaml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from tests.simulator.expected.member_states import holders
from tests.simulator.lives import Life
from tests.simulator.truth import CONSUMER, UNRELEASED, UNREVOKED, Member, Operation, Partition

THRESHOLDS_MS: Final = {
    "SLOW_REVOCATION": 10_000,
    "WAITING_ON_HOLDER": 10_000,
    "NOT_RECONCILING": 15_000,
    "STATIC_LIMBO": 10_000,
    "ASSIGNING_STALLED": 16_000,
    "MIGRATION_STALLED": 86_400_000,
}
"""How long a stretch must last to be a row."""


@dataclass(slots=True)
class Stretch:
    """opened: the operation whose record opens the row. since: the one at which the stretch began.

    member: as it was then, None of a group. blocked_by: members to be charged, at any time of it.
    waiting, held: how many partitions it waited for and had, at any time of it. requested_at: when
    it was asked to give some up. detail: of a group.
    """

    reason: str
    member_id: str | None
    member: Member | None
    opened: Operation
    since: Operation
    blocked_by: set[str] = field(default_factory=set)
    waiting: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    requested_at: set[int] = field(default_factory=set)
    detail: str | None = None
    closed: Operation | None = None


class Watcher(Protocol):
    """found: every stretch that began, in order, those that last included."""

    found: list[Stretch]

    def step(self, before: Operation | None, operation: Operation) -> None: ...


def stretches_of(life: Life, elected: Iterable[int], waits: Watcher | None = None) -> list[Stretch]:
    """elected: when new leaders took the life's partition over. waits: the watcher of
    WAITING_ON_HOLDER; a streams group has its own."""
    watchers: tuple[Watcher, ...] = (
        _Revocations(),
        _Limbo(),
        Waits() if waits is None else waits,
        _Silences(sorted(elected)),
        _Assigning(),
        _Mixed(),
    )
    for before, operation in life.steps():
        for watcher in watchers:
            watcher.step(before, operation)
    return [each for watcher in watchers for each in watcher.found]


def _members(operation: Operation | None) -> Mapping[str, Member]:
    """Members of a consumer group; none of any other."""
    if operation is None or operation.protocol != CONSUMER:
        return {}
    return operation.members


class _Watcher:
    """What all watchers of members have. open: by member."""

    reason: str

    def __init__(self) -> None:
        self.found: list[Stretch] = []
        self.open: dict[str, Stretch] = {}

    def begin(
        self,
        member_id: str,
        member: Member,
        operation: Operation,
        opened: Operation | None = None,
    ) -> Stretch:
        """opened: the operation whose record opens the row, where it is an earlier one."""
        stretch = Stretch(self.reason, member_id, member, opened or operation, operation)
        self.open[member_id] = stretch
        self.found.append(stretch)
        return stretch

    def end(self, member_id: str, operation: Operation) -> None:
        self.open.pop(member_id).closed = operation


class _Revocations(_Watcher):
    """From the first request until nothing of it is pending; further requests made in the operation
    that ended the ones before begin another."""

    reason = "SLOW_REVOCATION"

    def step(self, before: Operation | None, operation: Operation) -> None:
        was, now = _members(before), _members(operation)
        for member_id in list(self.open):
            member = now.get(member_id)
            if member is None or not member.pending & was[member_id].pending:
                self.end(member_id, operation)
        for member_id, member in now.items():
            if not member.pending:
                continue
            if member_id not in self.open:
                self.begin(member_id, member, operation).blocked_by.add(member_id)
            asked_before = was[member_id].pending if member_id in was else frozenset[Partition]()
            stretch = self.open[member_id]
            stretch.held.add(len(member.pending))
            if member.pending - asked_before:
                stretch.requested_at.add(operation.at)


class _Limbo(_Watcher):
    """A static member that left for a while and has partitions, until it returns or is removed."""

    reason = "STATIC_LIMBO"

    def step(self, before: Operation | None, operation: Operation) -> None:
        now = _members(operation)
        for member_id in list(self.open):
            if member_id not in now or not now[member_id].is_away:
                self.end(member_id, operation)
        for member_id, member in now.items():
            if member.is_away and member.assigned and member_id not in self.open:
                stretch = self.begin(member_id, member, operation)
                stretch.blocked_by.add(member_id)
                stretch.held.add(len(member.assigned))


class Waits(_Watcher):
    """From its first K8 in an epoch and UNRELEASED_PARTITIONS until nobody has anything of its
    target.

    A new target counts at once, but begins no other wait.
    """

    reason = "WAITING_ON_HOLDER"

    def waited_for(self, operation: Operation) -> dict[str, dict[Partition, set[str]]]:
        """Member that waits -> what for, and who has that."""
        now = _members(operation)
        waiting = [member_id for member_id, member in now.items() if _waits(member)]
        held_by = holders(operation) if waiting else {}
        found: dict[str, dict[Partition, set[str]]] = {}
        for member_id in waiting:
            others = {
                each: held_by.get(each, set()) - {member_id} for each in now[member_id].target
            }
            found[member_id] = {each: having for each, having in others.items() if having}
        return found

    def step(self, before: Operation | None, operation: Operation) -> None:
        was, now = _members(before), _members(operation)
        waiting = self.waited_for(operation)
        for member_id in list(self.open):
            if not waiting.get(member_id):
                self.end(member_id, operation)
        for member_id, member in now.items():
            held_by = waiting.get(member_id)
            if not held_by:
                continue
            if member_id not in self.open and _is_new_wait(was.get(member_id), member):
                self.begin(member_id, member, operation)
            if member_id in self.open:
                stretch = self.open[member_id]
                stretch.blocked_by |= set().union(*held_by.values())
                stretch.held.add(len(member.assigned))
                stretch.waiting.add(len(held_by))


def _is_new_wait(was: Member | None, member: Member) -> bool:
    return was is None or not _waits(was) or was.epoch != member.epoch


def _waits(member: Member) -> bool:
    return member.state == UNRELEASED and not member.is_away


class _Silences(_Watcher):
    """From a K6 past the member's epoch until its next K8 or its tombstone; not while it is asked
    to revoke, nor away.

    The row begins at the member's last K8. After a change of leader it counts from that leader's
    first operation.
    """

    reason = "NOT_RECONCILING"

    def __init__(self, elected: list[int]) -> None:
        super().__init__()
        self._elected = elected
        self._last_said: dict[str, Operation] = {}

    def step(self, before: Operation | None, operation: Operation) -> None:
        self._elect(before, operation)
        now = _members(operation)
        for member_id in list(self.open):
            if member_id not in now or operation.has(f"K8 {member_id} "):
                self.end(member_id, operation)
        for member_id, member in now.items():
            if member_id not in self._last_said or operation.has(f"K8 {member_id} "):
                self._last_said[member_id] = operation
            if member_id not in self.open and self._is_behind(operation, member):
                said = self._last_said[member_id]
                stretch = self.begin(member_id, member, operation, said)
                stretch.held.add(len(member.assigned))

    def _is_behind(self, operation: Operation, member: Member) -> bool:
        target = operation.target_epoch or 0
        return target > member.epoch and member.state != UNREVOKED and not member.is_away

    def _elect(self, before: Operation | None, operation: Operation) -> None:
        if before is not None and any(
            before.true_at < at <= operation.true_at for at in self._elected
        ):
            for stretch in self.open.values():
                stretch.since = operation


class _OfGroup:
    """What watchers of groups have."""

    reason: str

    def __init__(self) -> None:
        self.found: list[Stretch] = []

    def watch(self, is_stuck: bool, operation: Operation, detail: str | None) -> None:
        last = self.found[-1] if self.found else None
        is_open = last is not None and last.closed is None
        if is_stuck and not is_open:
            stretch = Stretch(self.reason, None, None, operation, operation, detail=detail)
            self.found.append(stretch)
        elif last is not None and is_open and not is_stuck:
            last.closed = operation


class _Assigning(_OfGroup):
    """The group epoch is past the target epoch while there are members."""

    reason = "ASSIGNING_STALLED"

    def step(self, before: Operation | None, operation: Operation) -> None:
        target = operation.target_epoch or 0
        is_late = bool(_members(operation)) and operation.epoch > target
        self.watch(is_late, operation, f"group epoch {operation.epoch}, target epoch {target}")


class _Mixed(_OfGroup):
    """Members of both protocols in one group."""

    reason = "MIGRATION_STALLED"

    def step(self, before: Operation | None, operation: Operation) -> None:
        spoken = {each.protocol for each in _members(operation).values()}
        self.watch(len(spoken) > 1, operation, None)
