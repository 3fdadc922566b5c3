"""The machine of one group id: records in, facts out, state to bytes and back. The only class of
`replay` that others use.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay import conversion, epochs, hidden_lives, other, snapshot, state
from groupreplay.replay.classic import apply_classic
from groupreplay.replay.commits import apply_commit
from groupreplay.replay.consumer import apply_consumer
from groupreplay.replay.facts import Fact, Stall
from groupreplay.replay.life import CLASSIC, CONSUMER, SIMPLE, Life, Output
from groupreplay.replay.machine import Change, Machine
from groupreplay.replay.operations import Operation, OperationReader


class GroupReplay:
    """Replays one group id in one partition of the offsets topic.

    Feed entries in offset order with `replay`, call `flush` at the end of the input, then take
    facts, open facts and state.

    names: topic id -> name, as given from outside; names that the group's own records teach are
        learnt besides.
    """

    def __init__(self, group_id: str, offsets_partition: int, names: Mapping[str, str]) -> None:
        self._group_id = group_id
        self._offsets_partition = offsets_partition
        self._given_names = names
        self._output = Output()
        self._machine: Machine | None = None
        self._operations = OperationReader()

    @classmethod
    def restore(
        cls, group_id: str, offsets_partition: int, names: Mapping[str, str], data: bytes
    ) -> GroupReplay:
        """The machine as it was when `state` gave those bytes. Raises StateError for bytes that
        cannot be read.
        """
        replay = cls(group_id, offsets_partition, names)
        replay._machine = Machine(state.from_bytes(data), names, replay._output)
        return replay

    def replay(self, entry: Entry) -> None:
        """Takes the next record."""
        record = entry.record
        if isinstance(record, OffsetCommit):
            self.flush()
            self._commit(entry, record)
            return
        for operation in self._operations.feed(entry):
            self._apply(operation)

    def flush(self) -> None:
        """Ends the operation under way. Every batch ends one, so the end of any input does."""
        for operation in self._operations.flush():
            self._apply(operation)

    def take_facts(self) -> list[Fact]:
        """The facts that became final since the last call."""
        taken, self._output.facts = self._output.facts, []
        return taken

    def open_facts(self) -> list[Fact]:
        """The rows that a later record can still change, and the group's snapshot; [] for a group
        that is gone. Changes nothing.
        """
        return snapshot.open_facts(self._machine) if self._machine is not None else []

    def state(self) -> bytes | None:
        """The group as bytes; None for a group that is gone: nothing of it needs to be kept."""
        return state.to_bytes(self._machine.life) if self._machine is not None else None

    def end_log(self) -> None:
        """The log that the group lived in is no more: how its members ended was not seen, and what
        follows is of another log.
        """
        self.flush()
        if self._machine is not None:
            life = self._machine.life
            nothing = OtherGroupRecord(0, self._group_id, "", None)
            self._end_life(
                Operation(
                    [
                        Entry(
                            life.last_offset,
                            life.last_at,
                            life.leader_epoch,
                            -1,
                            life.last_offset,
                            nothing,
                        )
                    ]
                ),
                removed=False,
            )

    # ------------------------------------------------------------ lives

    def _begin_life(
        self, protocol: str, offset: int, birth_seen: bool, inherits: Life | None = None
    ) -> Machine:
        life = Life(
            self._group_id, self._offsets_partition, offset, protocol, birth_seen=birth_seen
        )
        if inherits is not None:
            for name in (
                "conversions",
                "last_direction",
                "upgraded_at",
                "downgraded_at",
                "last_phase",
                "topic_names",
                "commits",
                "leader_epoch",
                "leader_since",
            ):
                setattr(life, name, getattr(inherits, name))
        self._machine = Machine(life, self._given_names, self._output)
        return self._machine

    def _end_life(self, operation: Operation, removed: bool = True) -> None:
        """Ends every row.

        removed: the group is gone; else a conversion, or records that a hole hides, begin another
            life.
        """
        machine = self._machine
        if machine is None:
            return
        life = machine.life
        change = _change(operation)
        change.group_ends, change.hides_ends = True, not removed
        for member_id in list(life.members):
            machine.remove(change, member_id, operation.last_offset)
        machine.settle(change)
        machine.epochs.close(operation.ts_ms, operation.offset, ended=removed)
        self._end_mixed(machine, operation)
        for chain in (*life.loops.values(), *([life.storm] if life.storm is not None else [])):
            epochs.emit_chain(self._output, chain)
        machine.ownership.finish_all()
        self._machine = None

    # ------------------------------------------------------------ operations

    def _apply(self, operation: Operation) -> None:
        machine = self._machine
        if machine is not None:
            self._note_position(machine, operation)
        has_k2 = GroupMetadata in operation.kinds
        direction = conversion.direction_of(operation) if has_k2 else None
        if direction == conversion.UPGRADE and self._was_simple(operation):
            machine = self._consumer(operation)
        elif direction is not None:
            machine = self._convert(operation, direction)
        elif OtherGroupRecord in operation.kinds:
            machine = self._other(operation)
        elif has_k2:
            machine = self._classic(operation)
        else:
            machine = self._consumer(operation)
        if machine is not None:
            self._after(machine, operation)

    def _note_position(self, machine: Machine, operation: Operation) -> None:
        life = machine.life
        if life.unbumped is not None:
            machine.rules.next_record(operation.entries[0].last_hole)
        if operation.leader_epoch != life.leader_epoch and operation.leader_epoch >= 0:
            if life.leader_epoch >= 0:
                machine.ownership.note_new_leader()
                machine.stalls.forget_deadlines()
                life.leader_since = operation.ts_ms
            life.leader_epoch = operation.leader_epoch

    def _after(self, machine: Machine, operation: Operation) -> None:
        life = machine.life
        life.leader_epoch = operation.leader_epoch if life.leader_epoch < 0 else life.leader_epoch
        life.last_change_offset = life.last_offset = operation.last_offset
        life.last_at = operation.ts_ms
        life.hole_seen = life.hole_seen or operation.last_hole > life.incarnation
        life.last_hole = operation.last_hole
        if operation.last_hole > life.epoch_offset >= life.epoch_hole:
            life.epoch_hole = operation.last_hole
        phase = snapshot.phase_of(life)
        if phase == snapshot.MIGRATED and life.last_phase != phase:
            life.upgraded_at = operation.ts_ms
        if phase == snapshot.MIGRATING and life.mixed is None:
            machine.blockers_changed = True
            life.mixed = Stall(
                start_observed=life.birth_seen or life.last_phase is not None,
                group_id=life.group_id,
                incarnation=life.incarnation,
                offsets_partition=life.offsets_partition,
                from_offset=operation.offset,
                reason="MIGRATION_STALLED",
                member_id=None,
                since_at=operation.ts_ms,
                blocked_by=[],
            )
        elif phase != snapshot.MIGRATING and life.mixed is not None:
            self._end_mixed(machine, operation)
        if life.mixed is not None and machine.blockers_changed:
            machine.blockers_changed = False
            life.mixed.blocked_by = sorted(
                m.member_id for m in life.members.values() if m.protocol == CLASSIC
            )
        if phase != snapshot.EMPTY:
            life.last_phase = phase

    def _end_mixed(self, machine: Machine, operation: Operation) -> None:
        if (mixed := machine.life.mixed) is not None:
            machine.life.mixed = None
            epochs.emit_stall(self._output, mixed, operation.ts_ms, operation.last_offset)

    def _was_simple(self, operation: Operation) -> bool:
        """Whether no K2 of the group is known that an upgrade could have begun from.

        A group that exists by commits alone, or in the coordinator's memory alone, has none: its
        first consumer writes a K2 tombstone all the same.
        """
        machine = self._machine
        return (machine is None or machine.life.protocol == SIMPLE) and not self._is_online(
            operation, conversion.UPGRADE
        )

    def _is_online(self, operation: Operation, direction: str) -> bool:
        machine = self._machine
        return conversion.is_online(
            operation, direction, machine is not None and not _is_hidden(machine, operation)
        )

    def _convert(self, operation: Operation, direction: str) -> Machine | None:
        """A conversion online stays in its life; offline, or from a life not seen, begins one."""
        machine = self._machine
        source, to = (CLASSIC, CONSUMER) if direction == conversion.UPGRADE else (CONSUMER, CLASSIC)
        goes_over = machine is not None and machine.life.protocol in (source, SIMPLE)
        online = self._is_online(operation, direction)
        if machine is not None and goes_over and online:
            machine.life.protocol = source
            machine.rules.tombstones(operation)
            change = _change(operation, machine)
            (
                conversion.upgrade_online
                if direction == conversion.UPGRADE
                else conversion.downgrade_online
            )(machine, change, operation)
            machine.settle(change)
            if direction == conversion.UPGRADE:
                machine.rules.consumer_operation(change, operation)
            else:
                machine.life.targets.clear()
            return machine
        known = machine.life if machine is not None and goes_over else None
        epoch_before = conversion.known_epoch(known, operation) if known is not None else None
        self._end_life(operation, removed=False)
        mode = conversion.ONLINE if online else conversion.offline_if_sure(operation, direction)
        offline = mode == conversion.OFFLINE
        machine = self._begin_life(to, operation.offset, birth_seen=offline, inherits=known)
        change = _change(operation)
        is_sure = known is not None or mode != conversion.UNKNOWN
        if direction == conversion.UPGRADE:
            joiner = conversion.joiner_of(operation)
            cause = (epochs.UPGRADE, joiner, epochs.EXACT) if is_sure else None
            apply_consumer(machine, change, operation, cause)
        else:
            entry, value = conversion.k2_of(operation)
            apply_classic(
                machine,
                change,
                entry,
                value,
                (epochs.DOWNGRADE, None, epochs.EXACT) if value.generation > 0 else None,
            )
        if is_sure:  # else it may as well have been a group of commits alone
            conversion.converted(machine, operation, direction, mode, epoch_before)
        machine.settle(change)
        return machine

    def _classic(self, operation: Operation) -> Machine | None:
        k2 = [e for e in operation.entries if isinstance(e.record, GroupMetadata)]
        last = k2[-1]
        value = last.record.value if isinstance(last.record, GroupMetadata) else None
        machine = self._machine
        if value is None:
            if machine is not None and machine.life.protocol == CLASSIC:
                self._end_life(operation)
            return self._machine
        birth = value.generation <= 1 and (value.generation == 0 or bool(value.members))
        if machine is None:
            machine = self._begin_life(CLASSIC, operation.offset, birth)
        elif machine.life.protocol == SIMPLE:
            machine.life.protocol, machine.life.birth_seen = CLASSIC, birth
        elif machine.life.protocol != CLASSIC:
            machine.rules.both_kinds(operation, CLASSIC)
            self._end_life(operation, removed=False)
            machine = self._begin_life(CLASSIC, operation.offset, False)
        elif value.generation < (machine.life.epoch or 0) and _is_hidden(machine, operation):
            self._end_life(operation, removed=False)
            machine = self._begin_life(CLASSIC, operation.offset, birth)
        change = _change(operation)
        apply_classic(machine, change, last, value)
        machine.settle(change)
        return machine

    def _consumer(self, operation: Operation) -> Machine | None:
        machine = self._machine
        tombstones = operation.tombstones
        if tombstones and any(
            isinstance(e.record, ConsumerGroupMetadata) and e.record.value is None
            for e in operation.entries
        ):
            if machine is not None and machine.life.protocol == CONSUMER:
                machine.rules.tombstones(operation)
                self._end_life(operation)
            return self._machine
        if tombstones == len(operation.entries) and (
            machine is None or machine.life.protocol != CONSUMER
        ):
            return machine
        if machine is None:
            machine = self._begin_life(CONSUMER, operation.offset, is_consumer_birth(operation))
        elif machine.life.protocol == SIMPLE:
            machine.life.protocol, machine.life.birth_seen = CONSUMER, is_consumer_birth(operation)
        elif machine.life.protocol != CONSUMER:
            machine.rules.both_kinds(operation, CONSUMER)
            self._end_life(operation, removed=False)
            machine = self._begin_life(CONSUMER, operation.offset, False)
        elif hidden_lives.shows_another_life(machine.life, operation):
            machine = self._live_on(machine.life, operation)
        change = _change(operation, machine)
        machine.rules.tombstones(operation)
        apply_consumer(machine, change, operation)
        machine.settle(change)
        machine.rules.consumer_operation(change, operation)
        return machine

    def _live_on(self, before: Life, operation: Operation) -> Machine:
        """The life that a hole hides the beginning of, with its members that were seen already."""
        newcomers = hidden_lives.take_newcomers(before, operation)
        self._end_life(operation, removed=False)
        if not newcomers:
            return self._begin_life(CONSUMER, operation.offset, is_consumer_birth(operation))
        first = min(member.joined_offset for member in newcomers)
        life = self._begin_life(CONSUMER, first, birth_seen=False).life
        hidden_lives.settle_in(life, before, newcomers)
        self._machine = Machine(life, self._given_names, self._output)
        return self._machine

    def _other(self, operation: Operation) -> Machine | None:
        protocol = other.protocol_of(operation)
        machine = self._machine
        if protocol is not None and (machine is None or machine.life.protocol != protocol):
            if machine is not None and machine.life.protocol == SIMPLE:
                machine.life.protocol, machine.life.birth_seen = protocol, other.is_birth(operation)
            else:
                self._end_life(operation, removed=False)
                machine = self._begin_life(protocol, operation.offset, other.is_birth(operation))
        if machine is None or machine.life.protocol in (CLASSIC, CONSUMER, SIMPLE):
            return machine
        if other.ends_group(operation):
            self._machine = None
            return None
        other.apply_other(machine.life, operation)
        return machine

    def _commit(self, entry: Entry, commit: OffsetCommit) -> None:
        machine = self._machine
        if machine is None:
            if commit.value is None:
                return
            machine = self._begin_life(SIMPLE, entry.offset, False)
        life = machine.life
        if life.unbumped is not None:
            machine.rules.next_record(entry.last_hole)
        apply_commit(machine, entry, commit)
        life.last_offset, life.last_at = entry.offset, entry.ts_ms
        life.hole_seen = life.hole_seen or entry.last_hole > life.incarnation
        life.last_hole = entry.last_hole
        if life.protocol == SIMPLE and not life.commits:
            self._machine = None


def is_consumer_birth(operation: Operation) -> bool:
    """Whether the operation begins a consumer group: its first K3 (1 up to 4.2, 2 from 4.3 on,
    which alone stamps K6) with a joiner's first K8, or a 4.3 member at epoch 1.

    Where a K2 goes in it and the log has a hole before, a classic group may have been there. Not
    where the record before it in its batch is lost: the tombstone of a K2 would make it an upgrade.
    """
    opening = operation.entries[0]
    if opening.offset != opening.batch_base_offset and 0 <= opening.last_hole == opening.offset - 1:
        return False
    epoch = stamped = 0
    joined = first = False
    for entry in operation.entries:
        match entry.record:
            case GroupMetadata() if operation.last_hole >= 0:
                return False
            case ConsumerGroupMetadata(value=group) if group is not None:
                epoch = group.epoch
            case ConsumerGroupTargetAssignmentMetadata(value=target) if target is not None:
                stamped = target.assignment_timestamp_ms
            case ConsumerGroupMemberMetadata(value=metadata):
                joined = joined or metadata is not None
            case ConsumerGroupCurrentMemberAssignment(value=current) if (
                current is not None and current.previous_member_epoch == 0
            ):
                first = True
                epoch = epoch or current.member_epoch
    return joined and first and (epoch == 1 or (epoch == 2 and stamped > 0))


def _is_hidden(machine: Machine, operation: Operation) -> bool:
    """Whether a hole lies before an operation, in which the group may have been deleted: a counter
    that began anew behind it proves that it was.
    """
    return operation.last_hole > machine.life.last_change_offset


def _change(operation: Operation, machine: Machine | None = None) -> Change:
    change = Change(
        operation.ts_ms,
        operation.offset,
        operation.last_offset,
        operation.leader_epoch,
        operation.last_hole,
    )
    change.last_change_offset = machine.life.last_change_offset if machine is not None else -1
    change.is_whole = operation.is_whole
    return change
