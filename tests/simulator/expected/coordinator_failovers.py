"""`coordinator_failovers`: the first record of a group under another leader, what the group was
before it, and what came within a minute (measures.md, coordinator_failovers)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.moves import is_taken_over, moves_of
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import (
    CLASSIC,
    CONSUMER,
    STABLE,
    UNRELEASED,
    UNREVOKED,
    Operation,
    Truth,
)
from tests.simulator.truth_log import Written

AFTER_MS: Final = 60_000


class _Record(NamedTuple):
    """One or several records of a group that follow one another. operation: None of a commit."""

    written: Written
    first_offset: int
    last_offset: int
    operation: Operation | None

    @property
    def key(self) -> int:
        """As `History.opened_by`."""
        return -1 - self.first_offset if self.operation is None else self.first_offset

    @property
    def last(self) -> Any:
        """Offset of the last one; an operation may have ended with another group's."""
        is_exact = self.operation is None or self.operation.records
        return self.last_offset if is_exact else Between(self.first_offset, self.last_offset)


def _records(truth: Truth, life: Life) -> list[_Record]:
    """All of the group's while the life lasts, from its first operation on, and the one that turns
    it over to the other protocol while it is empty."""
    log, first, end = truth.logs[life.offsets_partition], life.operations[0], life.end
    converted = [] if life.converted_by is None else [life.converted_by]
    operations = [
        _Record(log.written(each.first_offset), each.first_offset, each.last_offset, each)
        for each in (*life.operations, *converted)
    ]
    ends = log.next_offset if end is None else end.first_offset
    offsets = set(truth.commit_offsets.get(life.group_id, ()))
    for key, tombstones in truth.tombstones.items():
        if key.group_id == life.group_id:
            offsets.update(tombstones)
    for each in life.operations:
        offsets.difference_update(range(each.first_offset, each.last_offset + 1))
    commits = [
        _Record(log.written(offset), offset, offset, None)
        for offset in offsets
        if first.last_offset < offset < ends
    ]
    return sorted([*operations, *commits], key=lambda each: each.first_offset)


class Failover(NamedTuple):
    """A change of the leader that a life saw. last: its last operation before; before: its last
    record before; records: all from the first of the new leader on."""

    life: Life
    last: Operation
    before: _Record
    records: Sequence[_Record]

    @property
    def first(self) -> _Record:
        return self.records[0]

    @property
    def leader_epoch(self) -> int:
        return self.first.written.leader_epoch

    @property
    def key(self) -> Key:
        return self.life.group_id, self.leader_epoch, self.first.key

    @property
    def offsets(self) -> tuple[int, int]:
        return self.last.first_offset, self.first.first_offset


def failovers_of(history: History, life: Life) -> Iterator[Failover]:
    records = _records(history.truth, life)
    last: Operation | None = None
    for place, (before, record) in enumerate(pairwise(records), 1):
        last = before.operation or last
        if before.written.leader_epoch != record.written.leader_epoch and last is not None:
            yield Failover(life, last, before, records[place:])


def place_of(history: History, failover: Failover) -> dict[str, Any]:
    """Columns that say which row it is."""
    first, life = failover.first, failover.life
    return {
        "incarnation": history.incarnation(life),
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(first.first_offset, first.last_offset),
        "leader_epoch": failover.leader_epoch,
        "last_offset": failover.before.last,
    }


def _of_life(history: History, life: Life) -> Iterator[tuple[Key, Wanted]]:
    moved = _moved(history, life)
    opened = [each.opened.first_offset for each in epochs_of(history, life)]
    for failover in failovers_of(history, life):
        before, last = failover.before.written, failover.last
        values = {
            **place_of(history, failover),
            "start_observed": True,
            "leader_epoch_before": before.leader_epoch,
            "last_at": before.at,
            "first_at": failover.first.written.at,
            "protocol": last.protocol,
            **_described(last),
            **_after(failover, opened, moved),
        }
        yield failover.key, Wanted(values, failover.offsets)


def _described(operation: Operation) -> dict[str, Any]:
    members = operation.members.values()
    held = {partition for member in members for partition in member.held}
    target = {
        partition
        for member in members
        for partition in (member.assigned if operation.protocol == CLASSIC else member.target)
    }
    return {
        "phase": phase_of(operation),
        "epoch": operation.epoch or None,
        "target_epoch": operation.target_epoch
        if operation.protocol == CONSUMER
        else operation.epoch or None,
        "members": len(members),
        "at_epoch": sum(member.epoch == operation.epoch for member in members),
        "revoking": sum(member.state == UNREVOKED for member in members),
        "waiting": sum(member.state == UNRELEASED for member in members),
        "away": sum(member.is_away for member in members),
        "partitions_pending": sum(len(member.pending) for member in members),
        "partitions_unowned": len(target - held),
    }


def phase_of(operation: Operation) -> str:
    """By the records alone."""
    members = [member for member in operation.members.values() if not member.is_away]
    if not operation.members:
        return "EMPTY"
    if operation.protocol == CLASSIC:
        return "UNKNOWN"
    if operation.epoch > (operation.target_epoch or 0):
        return "ASSIGNING"
    if any(member.state == UNREVOKED for member in members):
        return "REVOKING"
    there = [member for member in members if member.epoch == operation.epoch]
    if len(there) == len(members) and all(member.state == STABLE for member in members):
        return "STEADY"
    return "PARTLY_THERE" if there else "TARGET_UNTOLD"


class _Moved(NamedTuple):
    """First offset of an operation -> partitions that came to another member in it than had them
    last. A static member that is replaced is no other one.

    unsure: those of topics that were deleted, whose names need not be known over a conversion, and
    those that a leader gave to two members at once: nobody had them last.
    """

    sure: Counter[int]
    unsure: Counter[int]


def _moved(history: History, life: Life) -> _Moved:
    moved = _Moved(Counter(), Counter())
    for each in moves_of(history, life):
        if each.is_last and each.span.member_id != each.heir.member_id and not is_taken_over(each):
            begun, granted = life.operations[each.span.opened], each.granted
            converts = history.is_converted(life.group_id, begun.first_offset, granted.first_offset)
            partition = each.span.partition
            is_unsure = converts and partition.topic in history.truth.deleted
            is_unsure |= history.holdings(life).is_contested(partition)
            (moved.unsure if is_unsure else moved.sure)[granted.first_offset] += 1
    return moved


class _Step(NamedTuple):
    """Who came and went by an operation after a move. last: its last offset. lost: of the removed
    those that were there before the move."""

    operation: Operation
    last: Any
    joined: set[str]
    removed: set[str]
    lost: set[str]


def _steps(failover: Failover) -> Iterator[_Step]:
    """Until a minute is over, or another leader there."""
    first, before = failover.first.written, failover.last
    there = set(before.members)
    for record in failover.records:
        is_late = record.written.at > first.at + AFTER_MS
        if is_late or record.written.leader_epoch != first.leader_epoch:
            break
        operation = record.operation
        if operation is None or operation.protocol is None:
            continue
        if operation is failover.life.converted_by:
            break
        came = operation.members.keys() - before.members.keys()
        gone = before.members.keys() - operation.members.keys()
        taken = {operation.members[each].instance_id for each in came} - {None}
        removed = {each for each in gone if before.members[each].instance_id not in taken}
        left = {before.members[each].instance_id for each in gone} - {None}
        joined = {each for each in came if operation.members[each].instance_id not in left}
        yield _Step(operation, record.last, joined, removed, removed & there)
        there -= gone
        before = operation


def lost_in(failover: Failover) -> Iterator[tuple[str, Operation]]:
    """Members that `lost_after` counts, and the operation without each."""
    for step in _steps(failover):
        for member_id in step.lost:
            yield member_id, step.operation


def _after(failover: Failover, opened: Sequence[int], moved: _Moved) -> dict[str, Any]:
    """opened: first offsets of the operations that began epochs."""
    names = ("epochs_after", "joined_after", "removed_after", "lost_after")
    counts, sure, unsure = dict.fromkeys(names, 0), 0, 0
    first = failover.first
    to_offset: Any = Between(first.first_offset, first.last_offset)
    for step in _steps(failover):
        to_offset = step.last
        counts["epochs_after"] += opened.count(step.operation.first_offset)
        sure += moved.sure[step.operation.first_offset]
        unsure += moved.unsure[step.operation.first_offset]
        counts["joined_after"] += len(step.joined)
        counts["removed_after"] += len(step.removed)
        counts["lost_after"] += len(step.lost)
    return {
        "to_offset": to_offset,
        **counts,
        "moved_after": Between(sure, sure + unsure) if unsure else sure,
    }


def _wanted(history: History) -> dict[Key, Wanted]:
    return dict(each for life in history.lives for each in _of_life(history, life))


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["leader_epoch"], history.opened_by(row)


def _excuse(history: History, row: Row) -> str:
    """Commits of a group without operations are in no truth of groups. A share group has no rows."""
    other = history.truth.other_groups.get(row["group_id"])
    if other is not None and other.protocol == "share" and other.first_offset <= row["last_offset"]:
        return ""
    operations = history.truth.operations.get(row["group_id"], ())
    before = [each for each in operations if each.first_offset <= row["last_offset"]]
    is_gone = not before or before[-1].protocol is None
    return "groups that only commit" if is_gone else ""


CHECK: Final = Check("coordinator_failovers", _wanted, _key_of, _excuse)
