"""`group_epochs`: every epoch or generation of a group (measures.md, epochs)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from tests.simulator.compare import AllOf, Between, Key, Wanted
from tests.simulator.expected.causes import Cause, cause_of
from tests.simulator.expected.generations import NO_GENERATION, Generation, generation_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.holdings import Named, is_new_generation, named
from tests.simulator.expected.phases import COMPLETING, PREPARING
from tests.simulator.expected.topics import may_be_there
from tests.simulator.expected.transitions import join_phases_of
from tests.simulator.expected.untold import (
    BIRTH_IS_HIDDEN,
    NOTHING_BEFORE,
    TO_TWO_AT_ONCE,
    start_observed,
)
from tests.simulator.lives import Life, is_conversion
from tests.simulator.tables import Row, elapsed_ms
from tests.simulator.truth import CLASSIC, CONSUMER, STABLE, Operation, Partition

Owners = dict[Partition, str]
"""Partition -> the member that a target gives it to."""


@dataclass(slots=True)
class Epoch:
    """closed: the operation that superseded it or removed the group. converged: the one after which
    all members had it. moved, partitions: None: no target. skipped: generations before it that were never written."""

    epoch: int
    opened: Operation
    cause: Cause
    closed: Operation | None = None
    target_at: int | None = None
    converged: Operation | None = None
    moved: Any = None
    partitions: Any = None
    skipped: int | None = None
    generation: Generation = NO_GENERATION

    @property
    def converged_at(self) -> int | None:
        return None if self.converged is None else self.converged.at

    @property
    def outcome(self) -> str:
        if self.converged_at is not None:
            return "CONVERGED"
        if self.closed is None:
            return "OPEN"
        return "SUPERSEDED" if self.closed.protocol is not None else "GROUP_REMOVED"


class _Epochs:
    """Follows one life and gathers its epochs."""

    def __init__(self, history: History, life: Life) -> None:
        self.found: list[Epoch] = []
        self._history = history
        self._begins_by_conversion = history.begins_by_conversion(life)
        self._target: Owners | None = None
        self._was_contested = False
        self._topics_hash: str | None = None
        self._left_out: dict[Named, str] = {}
        for before, operation in life.steps():
            self._step(before, operation)
        if life.converted_by is not None:
            self._supersede(life.converted_by)

    def _step(self, before: Operation | None, operation: Operation) -> None:
        born = _born(before, operation)
        if born or operation.protocol is None or is_conversion(before, operation):
            self._supersede(operation)
        converts = self._begins_by_conversion and before is None
        for epoch in born:
            self._supersede(operation)
            cause = cause_of(before, operation, converts, self._topics_hash)
            skipped, generation = _skipped(before, operation), generation_of(before, operation)
            self.found.append(
                Epoch(epoch, operation, cause, skipped=skipped, generation=generation)
            )
        self._topics_hash = operation.topics_hash or self._topics_hash
        self._follow_replacements(before, operation)
        if operation.protocol == CONSUMER:
            self._note_targets(before, operation, converts or is_conversion(before, operation))
            self._note_convergence(operation)
        elif operation.protocol == CLASSIC:
            self._note_generation(operation, bool(born), is_conversion(before, operation))

    def _supersede(self, operation: Operation) -> None:
        if self.found and self.found[-1].closed is None:
            self.found[-1].closed = operation

    def _follow_replacements(self, before: Operation | None, operation: Operation) -> None:
        """A static member that returns under another id has what it had: nothing moved."""
        if before is None or self._target is None:
            return
        new = {
            member.instance_id: member_id
            for member_id, member in operation.members.items()
            if member.instance_id and member_id not in before.members
        }
        for partition, owner in self._target.items():
            was = before.members.get(owner)
            if was is not None and owner not in operation.members and was.instance_id in new:
                self._target[partition] = new[was.instance_id]

    def _note_targets(self, before: Operation | None, operation: Operation, converts: bool) -> None:
        made = operation.target_epochs
        if converts and len(made) > 1:
            # A converted group's first target is what the members that it kept had.
            kept, unsure = _kept(self._history, before, operation)
            self._note_target(operation, made.pop(0), kept, True, unsure)
            converts = False
        for epoch in made:
            target = {
                partition: member_id
                for member_id, member in operation.members.items()
                for partition in member.target
            }
            self._note_target(operation, epoch, target, converts)

    def _note_target(
        self, operation: Operation, epoch: int, target: Owners, converts: bool, unsure: int = 0
    ) -> None:
        """unsure: how many of these the target need not have."""
        row = next((each for each in reversed(self.found) if each.epoch == epoch), None)
        moved = self._moved(target, converts)
        if row is not None and row.target_at is None and row.opened.protocol == CONSUMER:
            row.target_at = operation.at
            count = len(target)
            row.moved, row.partitions = moved, Between(count - unsure, count) if unsure else count
        self._target = target

    def _note_convergence(self, operation: Operation) -> None:
        row = self.found[-1] if self.found else None
        members = operation.members.values()
        if row is None or row.converged_at is not None or row.closed is not None or not members:
            return
        if all((each.epoch, each.state) == (row.epoch, STABLE) for each in members):
            row.converged = operation

    def _note_generation(self, operation: Operation, is_new: bool, converts: bool) -> None:
        """A generation has its target, and converges, at its K2; one without members does not."""
        assigned = [
            (partition, member_id)
            for member_id, member in operation.members.items()
            for partition in member.assigned
        ]
        target: Owners = dict(assigned)
        is_contested = len(target) < len(assigned)
        if is_new:
            row, is_told = self.found[-1], not is_contested and not self._was_contested
            row.target_at = operation.at
            row.moved = self._moved(target, converts) if is_told else TO_TWO_AT_ONCE
            row.partitions = Between(len(target), len(assigned))
            row.converged = operation if operation.members else None
        self._target, self._was_contested = target, is_contested

    def _moved(self, target: Owners, converts: bool) -> Any:
        """Partitions that went from one member to another; a first assignment does not count."""
        before = self._target or {}
        if converts:
            return self._moved_over_conversion(before, target)
        moved = sum(1 for each, owner in target.items() if before.get(each, owner) != owner)
        # Whether a conversion's target, which left a partition out, is the target before is open.
        left = sum(
            1
            for each, owner in target.items()
            if each not in before and self._left_out.pop(named(each), owner) != owner
        )
        return Between(moved, moved + left) if left else moved

    def _moved_over_conversion(self, before: Owners, target: Owners) -> Between:
        """The names of deleted topics need not be known over it."""
        now = {named(partition): owner for partition, owner in target.items()}
        was = {named(partition): owner for partition, owner in before.items()}
        self._left_out = {each: owner for each, owner in was.items() if each not in now}
        moved = [each[0] for each, owner in now.items() if was.get(each, owner) != owner]
        return Between(
            sum(1 for topic in moved if topic not in self._history.truth.deleted), len(moved)
        )


def _kept(history: History, before: Operation | None, operation: Operation) -> tuple[Owners, int]:
    """What those had that an upgrade takes over, and how many of these may be of a topic that is
    gone: what it had of those nobody gets (ConsumerGroup.fromClassicGroup). A static member may be
    replaced at once, by the join that upgrades: then the other has it."""
    kept = {
        partition: member_id
        for member_id, member in operation.members.items()
        if member.is_classic
        for partition in member.assigned
    }
    members = operation.members.values()
    known = {named(each): each for member in members for each in member.target | member.held}
    unsure = 0
    if before is None or _is_given_up(history, before, operation):
        return kept, unsure
    for owner, assigned in _replaced_at_once(before, operation):
        for partition in assigned:
            told = known.get(named(partition))
            may_be = may_be_there(history, partition.topic, operation.true_at)
            if told is not None or True in may_be:
                unsure += told is None and False in may_be
                kept.setdefault(told or partition, owner)
    return kept, unsure


def _is_given_up(history: History, before: Operation, upgrade: Operation) -> bool:
    """Whether its members had nothing any more: a rebalance that begins before the leader of the
    last generation synced takes what they had before (ClassicGroup.resetAndPropagateAssignment)."""
    partition, truth = upgrade.offsets_partition, history.truth
    term = truth.leader_epoch(partition, upgrade.true_at)
    phases = [
        each.detail.split()
        for each in truth.injected
        if each.what == "phase"
        and each.group_id == upgrade.group_id
        and each.at < upgrade.true_at
        and truth.leader_epoch(partition, each.at) == term
    ]
    in_rebalance = takewhile(lambda phase: phase[0] in (PREPARING, COMPLETING), reversed(phases))
    return any(
        state == PREPARING and int(generation) > before.epoch for state, generation in in_rebalance
    )


def _replaced_at_once(
    before: Operation, operation: Operation
) -> Iterator[tuple[str, frozenset[Partition]]]:
    """Who has what a static member had that came over. It may be in a K5 alone: it replaced another
    in no K2."""
    instances = {each.instance_id: name for name, each in operation.members.items()}
    was = before.members
    came = {each.removeprefix("K5 ") for each in operation.records if each.startswith("K5 ")}
    is_unwritten = any(
        f"{each} gone" in came and each not in was and each not in operation.members
        for each in came
    )
    for member_id, member in was.items():
        owner = instances.get(member.instance_id) if member.instance_id else None
        if owner is None or member_id in operation.members:
            continue
        if member_id in came or is_unwritten:
            yield owner, member.assigned


def _born(before: Operation | None, operation: Operation) -> list[int]:
    """Epochs that an operation began, in order."""
    if operation.protocol == CLASSIC:
        is_new = operation.epoch > 0 and is_new_generation(before, operation)
        return [operation.epoch] if is_new else []
    if operation.protocol != CONSUMER:
        return []
    born = operation.group_epochs
    # A group of 4.3 is at epoch 1 before its first K3, where a member shows it.
    is_untold = not operation.records and (before is None or before.epoch != operation.epoch)
    if not born and (before is None or is_untold):
        born = [operation.epoch]
    if before is not None and before.protocol == CONSUMER:
        born = [epoch for epoch in born if epoch > before.epoch]
    return born


def _skipped(before: Operation | None, operation: Operation) -> int | None:
    """Join phases of a classic group that never ended in a K2, since the generation before."""
    if operation.protocol != CLASSIC or before is None or before.protocol != CLASSIC:
        return None
    if not before.epoch:  # a group that is there, and had no generation
        return None
    return operation.epoch - before.epoch - 1


def _row(
    life: Life, incarnation: Between, epoch: Epoch, answered_at: int | None
) -> tuple[Key, Wanted]:
    """answered_at: when the joins of a generation were."""
    opened, closed = epoch.opened, epoch.closed
    is_superseded = closed is not None and closed.protocol is not None
    is_seen = life.is_seen_to_begin(opened)
    values: dict[str, Any] = {
        "incarnation": incarnation,
        "offsets_partition": life.offsets_partition,
        "from_offset": Between(opened.first_offset, opened.last_offset),
        "to_offset": Between(closed.first_offset, closed.last_offset) if closed else None,
        "start_observed": start_observed(life, opened),
        "is_final": closed is not None,
        "epoch": epoch.epoch,
        "protocol": opened.protocol,
        "started_at": opened.at,
        "cause": epoch.cause.cause if is_seen else BIRTH_IS_HIDDEN,
        "cause_member_id": epoch.cause.member_id if is_seen else BIRTH_IS_HIDDEN,
        "confidence": epoch.cause.confidence if is_seen else BIRTH_IS_HIDDEN,
        "target_at": epoch.target_at,
        "converged_at": epoch.converged_at,
        "superseded_at": closed.at if closed is not None and is_superseded else None,
        "members": len(opened.members),
        "members_classic": sum(each.is_classic for each in opened.members.values()),
        "partitions_moved": epoch.moved if is_seen else BIRTH_IS_HIDDEN,
        "partitions": epoch.partitions if is_seen else BIRTH_IS_HIDDEN,
        "skipped": epoch.skipped,
        "assign_ms": elapsed_ms(opened.at, epoch.target_at) if is_seen else BIRTH_IS_HIDDEN,
        "converge_ms": elapsed_ms(opened.at, epoch.converged_at) if is_seen else BIRTH_IS_HIDDEN,
        "outcome": epoch.outcome,
        "joined_at": AllOf((epoch.generation.joined_at, answered_at)),
        "sync_ms": AllOf((epoch.generation.sync_ms, elapsed_ms(answered_at, opened.at))),
        "cooperative": epoch.generation.cooperative,
        "stopped": epoch.generation.stopped,
        "leader_member_id": epoch.generation.leader,
    }
    key = (life.group_id, epoch.epoch, opened.protocol, opened.first_offset)
    return key, Wanted(values, (opened.first_offset,))


def epochs_of(history: History, life: Life) -> list[Epoch]:
    """The epochs of a life, in order."""
    found = _Epochs(history, life).found
    if history.begins_unwritten(life) and found:
        found[0].moved = NOTHING_BEFORE
    return found


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        incarnation = history.incarnation(life)
        answered = join_phases_of(history, life)
        for epoch in epochs_of(history, life):
            is_classic = epoch.opened.protocol == CLASSIC
            answered_at = answered.get(epoch.opened.first_offset) if is_classic else None
            key, row = _row(life, incarnation, epoch, answered_at)
            wanted[key] = history.judged(life, row)
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["epoch"], row["protocol"], history.opened_by(row)


CHECK: Final = Check("group_epochs", _wanted, _key_of)
