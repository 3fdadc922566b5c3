"""The machine of a group: what every one can do, whatever protocol the group speaks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay import snapshot
from groupreplay.replay.assignment.commits import apply_commit
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Change
from groupreplay.replay.decisions.profiles import note_unbroken
from groupreplay.replay.facts import Fact
from groupreplay.replay.life import SIMPLE, Life
from groupreplay.replay.operations import Operation
from groupreplay.replay.output import Output


@dataclass(frozen=True, slots=True)
class Home:
    """Where a group lives, and what its machines share.

    names: topic id -> name, as given from outside.
    output: where facts go.
    """

    group_id: str
    offsets_partition: int
    names: Mapping[str, str]
    output: Output

    def life(self, incarnation: int, protocol: str, *, birth_seen: bool) -> Life:
        """A life of which nothing is known yet.

        incarnation: offset of its first record.
        """
        return Life(
            self.group_id, self.offsets_partition, incarnation, protocol, birth_seen=birth_seen
        )


class GroupMachine(ABC):
    """One life of a group. Another machine takes over where the next life begins, or where the
    group becomes one of another kind.
    """

    def __init__(self, life: Life, home: Home) -> None:
        self.life = life
        self.home = home
        self.membership = Membership(life, home.names, home.output)

    # ------------------------------------------------------------ of each kind

    @classmethod
    @abstractmethod
    def begins(cls, operation: Operation) -> bool:
        """Whether an operation of this kind can begin a life: tombstones alone do not."""

    @classmethod
    @abstractmethod
    def begin(
        cls, operation: Operation, home: Home, before: GroupMachine | None
    ) -> GroupMachine | None:
        """Begins a life with an operation, and applies it. Returns as `apply`.

        before: the machine of another kind whose life ends with it; None where nothing of the group
            was known.
        """

    @abstractmethod
    def takes(self, operation: Operation) -> bool:
        """Whether an operation of this kind belongs to this life."""

    @abstractmethod
    def apply(self, operation: Operation) -> GroupMachine | None:
        """Applies an operation. Returns the machine that goes on: this one, that of the next life,
        or None where the group is gone.
        """

    # ------------------------------------------------------------ of all

    def is_being_deleted(self, operation: Operation) -> bool:
        """Whether the tombstones of an empty group, with which an operation begins, delete it: an
        offline conversion writes the same. Who deletes a group deletes its offsets right before,
        and a conversion keeps them.

        Source: GroupCoordinatorShard.deleteGroups, cleanupExpiredOffsets;
        GroupMetadataManager.maybeDeleteEmptyClassicGroup, maybeDeleteEmptyConsumerGroup.
        """
        life = self.life
        is_next = life.last_at == operation.ts_ms and life.last_offset == operation.offset - 1
        was_tombstone = life.last_offset > life.last_change_offset and not life.commits
        return is_next and was_tombstone and not life.members

    def advance(self, operation: Operation) -> None:
        """Before anything is made of an operation: time has passed."""
        self.membership.advance(operation.ts_ms, operation.entries[0].last_hole)

    def note_position(self, operation: Operation) -> None:
        """Before an operation is applied: whether another leader wrote it."""
        life = self.life
        self._note_hole(operation.last_hole)
        if life.failovers.open is not None or life.failovers.written_by != operation.leader_epoch:
            self.membership.failovers.before_record(operation.entries[0])
        if operation.leader_epoch != life.leader_epoch and operation.leader_epoch >= 0:
            if life.leader_epoch >= 0:
                self.membership.owners.note_new_leader()
                self.membership.stalls.forget_deadlines()
                life.leader_since, life.leader_since_offset = operation.ts_ms, operation.offset
            life.leader_epoch = operation.leader_epoch

    def note_applied(self, operation: Operation) -> None:
        """After an operation was applied: where it stands, and which phase the group is in."""
        life = self.life
        self.membership.failovers.begun_by(operation.leader_epoch)
        life.leader_epoch = operation.leader_epoch if life.leader_epoch < 0 else life.leader_epoch
        is_next = operation.last_hole <= life.last_change_offset or life.last_change_offset < 0
        life.last_change_offset = life.last_offset = operation.last_offset
        life.last_at = operation.ts_ms
        if operation.last_hole > life.last_hole or life.unbroken_since_at < 0:
            note_unbroken(life, operation.ts_ms)
        life.hole_seen = life.hole_seen or operation.last_hole > life.incarnation
        life.last_hole = operation.last_hole
        if operation.last_hole > life.epoch_offset >= life.epoch_hole:
            life.epoch_hole = operation.last_hole
        phase = snapshot.migration_phase(life)
        self.note_phase(operation, phase, is_next)
        if phase != snapshot.EMPTY:
            life.last_phase = phase

    def forget_phase(self) -> None:
        """The group before a hole may have been another one."""
        self.life.last_phase = None

    def note_phase(self, operation: Operation, phase: str, is_next: bool) -> None:  # noqa: B027
        """For machines of groups that migrate. life.last_phase is still that before.

        is_next: no hole lies between the operation before and this one.
        """

    def commit(self, entry: Entry, commit: OffsetCommit) -> GroupMachine | None:
        """Applies a commit. Returns as `apply`."""
        life = self.life
        self._note_hole(entry.last_hole)
        if life.failovers.open is not None or life.failovers.written_by != entry.leader_epoch:
            self.membership.failovers.before_record(entry)
        apply_commit(self.membership, entry, commit)
        life.last_offset, life.last_at = entry.offset, entry.ts_ms
        if entry.last_hole > life.last_hole or life.unbroken_since_at < 0:
            note_unbroken(life, entry.ts_ms)
        life.hole_seen = life.hole_seen or entry.last_hole > life.incarnation
        life.last_hole = entry.last_hole
        if life.protocol == SIMPLE and not life.commits:
            self.membership.failovers.close()
            return None
        return self

    def _note_hole(self, last_hole: int) -> None:
        """Before a record: whether a hole lies behind the one before, in which a mixed group may
        have been something else.
        """
        life = self.life
        if life.mixed is not None and last_hole > life.last_offset:
            self.membership.stalls.end_mixed(life.last_at, life.last_offset)

    def end(self, change: Change, *, removed: bool) -> None:
        """Ends every row of the life.

        removed: the group is gone; else a conversion, another kind of group, or records that a hole
            hides begin another life.
        """
        membership, life = self.membership, self.life
        change.group_ends, change.hides_ends = True, not removed
        for member_id in list(life.members):
            membership.members.remove(change, member_id, change.last_offset)
        membership.settle(change)
        membership.epochs.close(change.at, change.offset, ended=removed)
        membership.stalls.end_mixed(change.at, change.last_offset)
        for chain in (*life.loops.values(), *([life.storm] if life.storm is not None else [])):
            self.home.output.emit_chain(chain)
        membership.owners.finish_all()
        membership.failovers.close()
        membership.absences.finish()
        membership.churn.finish()
        membership.days.end()

    def open_facts(self) -> list[Fact]:
        """Every row that a later record can still change, as it stands. Changes nothing."""
        return snapshot.open_facts(self.membership)
