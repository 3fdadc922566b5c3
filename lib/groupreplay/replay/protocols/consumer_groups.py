"""The machine of classic and consumer groups, and of those that exist by commits alone.

One machine replays both protocols, because a group changes between them with its members and keeps
its life (KIP-848). What the records of an operation show decides what it is:

| records of the operation | life before | what it is |
|---|---|---|
| K2 goes, K3 comes | classic | upgrade, online where members are taken over |
| K2 goes, K3 comes | none, or commits alone, no member taken over | birth of a consumer group |
| K3 goes, K2 comes | consumer | downgrade |
| K2 | classic | another generation |
| K2 goes | classic | the group is gone |
| K3 to K8, K16 | consumer | what the coordinator did |
| K3 goes | consumer | the group is gone |
| of one kind | of the other | rule I18 is broken; another life begins |
| an epoch that began again, behind a hole | the same | it was gone meanwhile; another life |
"""

from __future__ import annotations

from groupreplay.records.classic import GroupMetadata, GroupMetadataValue
from groupreplay.records.consumer import ConsumerGroupMemberMetadata, ConsumerGroupMetadata
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay import causes, snapshot
from groupreplay.replay.change import Change
from groupreplay.replay.facts import Fact
from groupreplay.replay.life import CLASSIC, CONSUMER, SIMPLE, Life
from groupreplay.replay.machine import GroupMachine, Home
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols import conversion, streams_classic
from groupreplay.replay.protocols.births import is_classic_birth, is_consumer_birth
from groupreplay.replay.protocols.classic import apply_classic
from groupreplay.replay.protocols.consumer import apply_consumer
from groupreplay.replay.protocols.hidden_lives import (
    began_again,
    may_be_another_life,
    settled_in,
    shows_another_life,
    take_newcomers,
)
from groupreplay.replay.rules.of_groups import one_kind
from groupreplay.replay.rules.of_operations import (
    consumer_operation,
    missing_epoch,
    removal_without_epoch,
)
from groupreplay.replay.rules.tombstones import tombstone_order
from groupreplay.replay.streams.classic.generation import is_streams


class ConsumerGroupMachine(GroupMachine):
    """A life of a classic or consumer group, or of one that only commits.

    _streams: what a classic group of Kafka Streams has besides, None of any other.
    """

    def __init__(self, life: Life, home: Home) -> None:
        super().__init__(life, home)
        self._streams = streams_classic.restored(life, home.output)

    @classmethod
    def begins(cls, operation: Operation) -> bool:
        if GroupMetadata in operation.kinds:
            last = _last_k2(operation)[1]
            return last is not None or conversion.direction_of(operation) is not None
        return not _removes_consumer_group(operation) and operation.tombstones < len(
            operation.entries
        )

    @classmethod
    def begin(
        cls, operation: Operation, home: Home, before: GroupMachine | None
    ) -> ConsumerGroupMachine | None:
        first = before is None
        direction = conversion.direction_of(operation)
        is_classic = direction is None and GroupMetadata in operation.kinds
        if before is not None:
            kind = CLASSIC if is_classic else CONSUMER
            before.membership.judge.note(one_kind(before.life, operation, kind))
            before.end(Change.of(operation), removed=False)
        online = direction is not None and conversion.is_online(operation, direction, False)
        if direction is not None and (direction == conversion.DOWNGRADE or online):
            return cls._begin_converted(operation, home, direction, online=online)
        if is_classic:
            entry, value = _last_k2(operation)
            if value is None:
                return None
            birth = first and is_classic_birth(operation, value)
            machine = cls(home.life(operation.offset, CLASSIC, birth_seen=birth), home)
            machine._apply_classic(operation, entry, value)
            return machine
        # A K2 goes with it: the group was there, and the log may begin later.
        was_there = GroupMetadata in operation.kinds and operation.offset > 0
        birth = first and not was_there and is_consumer_birth(operation)
        machine = cls(home.life(operation.offset, CONSUMER, birth_seen=birth), home)
        machine._apply_consumer(operation)
        return machine

    @classmethod
    def _begin_converted(
        cls,
        operation: Operation,
        home: Home,
        direction: str,
        *,
        online: bool,
        before: Life | None = None,
        epoch_before: int | None = None,
    ) -> ConsumerGroupMachine:
        """The machine of a life that begins with a conversion: offline, or the life before is not
        known.

        before: the life whose history goes on; None where nothing of the group is known.
        epoch_before: None where it is not known.
        """
        protocol = CONSUMER if direction == conversion.UPGRADE else CLASSIC
        mode = conversion.ONLINE if online else conversion.offline_if_sure(operation, direction)
        birth_seen = mode == conversion.OFFLINE
        if before is not None:
            life = before.heir(operation.offset, protocol, birth_seen=birth_seen)
        else:
            life = home.life(operation.offset, protocol, birth_seen=birth_seen)
        machine = cls(life, home)
        # Else it may as well have been a group of commits alone.
        is_sure = before is not None or mode != conversion.UNKNOWN
        machine._apply_conversion(operation, direction, mode, epoch_before, is_sure=is_sure)
        return machine

    def takes(self, operation: Operation) -> bool:
        return True

    # ------------------------------------------------------------ an operation

    def note_position(self, operation: Operation) -> None:
        last_hole = operation.entries[0].last_hole
        if may_be_another_life(self.life, operation):
            conversion.forget(self.life)
            self.life.upgraded_at = None
            self.forget_phase()
        self._note_missing_epoch(last_hole)
        self.membership.epochs.note_hole(last_hole)
        super().note_position(operation)

    def apply(self, operation: Operation) -> GroupMachine | None:
        if GroupMetadata not in operation.kinds:
            return self._consumer(operation)
        direction = conversion.direction_of(operation)
        if direction == conversion.UPGRADE and self._was_simple(operation):
            return self._consumer(operation)
        return (
            self._classic(operation) if direction is None else self._convert(operation, direction)
        )

    def commit(self, entry: Entry, commit: OffsetCommit) -> GroupMachine | None:
        self._note_missing_epoch(entry.last_hole)
        if self._streams is not None:
            self._streams.commit(entry, commit)
        return super().commit(entry, commit)

    def end(self, change: Change, *, removed: bool) -> None:
        if self._streams is not None:
            self._streams.end(change, removed=removed)
        super().end(change, removed=removed)

    def open_facts(self) -> list[Fact]:
        rows = super().open_facts()
        return rows if self._streams is None else rows + self._streams.open_facts()

    def note_phase(self, operation: Operation, phase: str, is_next: bool) -> None:
        """A group with members of both protocols: since when, and who keeps it there."""
        life, at = self.life, operation.ts_ms
        # A life that a conversion began has the phase of the one before, though it was empty since.
        begins = life.incarnation == operation.offset
        if phase == snapshot.MIGRATED and (begins or life.last_phase != phase):
            life.upgraded_at = at
        stalls, members = self.membership.stalls, self.membership.members
        is_mixed, was_mixed = phase == snapshot.MIGRATING, life.mixed is not None
        stalls.watch_mixed(is_mixed, at, operation.offset, operation.last_offset, is_next)
        if not is_mixed:
            members.classic_changed = None
        elif not was_mixed or members.classic_changed != set():
            stalls.note_blockers(members.classic_changed if was_mixed else None)
            members.classic_changed = set()

    def _note_missing_epoch(self, last_hole: int) -> None:
        if (unbumped := self.life.unbumped) is not None:
            self.life.unbumped = None
            self.membership.judge.note(missing_epoch(unbumped, last_hole))

    # ------------------------------------------------------------ classic

    def _classic(self, operation: Operation) -> GroupMachine | None:
        entry, value = _last_k2(operation)
        life, machine = self.life, self
        if value is None:
            if life.protocol == CLASSIC:
                # Kafka removes empty groups alone: with members a hole has the rest of an upgrade.
                self.end(Change.of(operation), removed=not life.members)
                return None
            return self
        birth = is_classic_birth(operation, value)
        if life.protocol == SIMPLE:
            life.become(CLASSIC, birth_seen=birth)
        elif life.protocol != CLASSIC:
            self.membership.judge.note(one_kind(life, operation, CLASSIC))
            machine = self._succeeded(operation, CLASSIC, birth_seen=False)
        elif began_again(life, operation, value):
            machine = self._succeeded(operation, CLASSIC, birth_seen=birth)
        machine._apply_classic(operation, entry, value)
        return machine

    def _apply_classic(self, operation: Operation, entry: Entry, value: GroupMetadataValue) -> None:
        change, life = Change.of(operation), self.life
        # A state of a release that did not replay tasks.
        is_new = self._streams is None and is_streams(life.protocol_name)
        apply_classic(self.membership, change, entry, value)
        self.membership.settle(change)
        known = (
            operation.last_hole <= life.last_change_offset
            if life.last_change_offset >= 0
            else life.birth_seen
        )
        self._streams = streams_classic.after(self._streams, life, self.home.output, value)
        if self._streams is not None:
            self._streams.apply(change, entry, value, known and not is_new)

    # ------------------------------------------------------------ consumer

    def _consumer(self, operation: Operation) -> GroupMachine | None:
        life, judge = self.life, self.membership.judge
        if operation.tombstones and _removes_consumer_group(operation):
            if life.protocol == CONSUMER:
                judge.note(tombstone_order(life, operation))
                # Kafka removes empty groups alone: with members a hole has the K2 of a downgrade.
                is_empty = ConsumerGroupMemberMetadata not in operation.kinds
                self.end(Change.of(operation), removed=is_empty)
                return None
            return self
        if operation.tombstones == len(operation.entries) and life.protocol != CONSUMER:
            return self
        machine = self
        if life.protocol == SIMPLE:
            life.become(CONSUMER, birth_seen=is_consumer_birth(operation))
        elif life.protocol != CONSUMER:
            judge.note(one_kind(life, operation, CONSUMER))
            machine = self._succeeded(operation, CONSUMER, birth_seen=False)
        elif shows_another_life(life, operation):
            machine = self._live_on(operation)
        machine._apply_consumer(operation)
        return machine

    def _live_on(self, operation: Operation) -> ConsumerGroupMachine:
        """The life that a hole hides the beginning of, with its members that were seen already."""
        newcomers = take_newcomers(self.life, operation)
        if not newcomers:
            birth = is_consumer_birth(operation)
            return self._succeeded(operation, CONSUMER, birth_seen=birth)
        self.end(Change.of(operation), removed=False)
        life = settled_in(self.life, newcomers)
        return ConsumerGroupMachine(life, self.home)

    def _apply_consumer(self, operation: Operation) -> None:
        change = Change.of(operation, self.life)
        self.membership.judge.note(tombstone_order(self.life, operation))
        apply_consumer(self.membership, change, operation)
        self.membership.settle(change)
        self._judge_consumer(change, operation)

    def _judge_consumer(self, change: Change, operation: Operation) -> None:
        """The rules that one operation of a consumer group can break, at its end."""
        life, membership = self.life, self.membership
        membership.note_stamps(change, operation)
        membership.judge.note(consumer_operation(life, change, operation))
        if change.removed:
            life.unbumped = removal_without_epoch(change, operation) or life.unbumped

    # ------------------------------------------------------------ conversions

    def _was_simple(self, operation: Operation) -> bool:
        """Whether no K2 of the group is known that an upgrade could have begun from.

        A group that exists by commits alone, or in the coordinator's memory alone, has none: its
        first consumer writes a K2 tombstone all the same.
        """
        return self.life.protocol == SIMPLE and not self._is_online(operation, conversion.UPGRADE)

    def _is_online(self, operation: Operation, direction: str) -> bool:
        return conversion.is_online(operation, direction, not _is_hidden(self.life, operation))

    def _convert(self, operation: Operation, direction: str) -> ConsumerGroupMachine:
        """A conversion online stays in its life; offline, or from a life not seen, begins one."""
        life, is_upgrade = self.life, direction == conversion.UPGRADE
        source = CLASSIC if is_upgrade else CONSUMER
        goes_over = life.protocol in (source, SIMPLE)
        online = self._is_online(operation, direction)
        if goes_over and online:
            self._convert_online(operation, direction, source)
            return self
        if is_upgrade and not online and operation.entries[0].last_hole > life.last_change_offset:
            return self._begin_unknown(operation)
        epoch_before = conversion.known_epoch(life, operation) if goes_over else None
        chain = self.membership.churn.take() if goes_over else None
        self.end(Change.of(operation), removed=False)
        self.membership.churn.go_on_with(chain)
        return self._begin_converted(
            operation,
            self.home,
            direction,
            online=online,
            before=life if goes_over else None,
            epoch_before=epoch_before,
        )

    def _begin_unknown(self, operation: Operation) -> ConsumerGroupMachine:
        """A consumer group behind a hole, in which the group before may have been deleted: a K2
        tombstone opens one that only commits, too.
        """
        machine = self._succeeded(operation, CONSUMER, birth_seen=is_consumer_birth(operation))
        machine._apply_consumer(operation)
        return machine

    def _convert_online(self, operation: Operation, direction: str, source: str) -> None:
        life, membership = self.life, self.membership
        life.become(source)
        membership.judge.note(tombstone_order(life, operation))
        change = Change.of(operation, life)
        if direction == conversion.UPGRADE:
            conversion.upgrade_online(membership, change, operation)
            membership.settle(change)
            self._judge_consumer(change, operation)
        else:
            conversion.downgrade_online(membership, change, operation)
            membership.settle(change)
            membership.stalls.forget_targets()

    def _apply_conversion(
        self,
        operation: Operation,
        direction: str,
        mode: str,
        epoch_before: int | None,
        *,
        is_sure: bool,
    ) -> None:
        """Applies the conversion that this life begins with.

        epoch_before: last epoch of the life before, None where it is not known.
        is_sure: it is a conversion for sure.
        """
        membership, change = self.membership, Change.of(operation)
        if direction == conversion.UPGRADE:
            joiner = conversion.joiner_of(operation)
            cause = (causes.UPGRADE, joiner, causes.EXACT) if is_sure else None
            apply_consumer(membership, change, operation, cause)
        else:
            entry, value = conversion.k2_of(operation)
            known = (causes.DOWNGRADE, None, causes.EXACT) if value.generation > 0 else None
            apply_classic(membership, change, entry, value, known)
        if is_sure:
            conversion.converted(membership, operation, direction, mode, epoch_before)
        membership.settle(change)

    # ------------------------------------------------------------ the end of a life

    def _succeeded(
        self, operation: Operation, protocol: str, *, birth_seen: bool
    ) -> ConsumerGroupMachine:
        """The machine of the next life: a hole, or another kind of records, hides how this ends."""
        self.end(Change.of(operation), removed=False)
        begin = self.home.life if _is_hidden(self.life, operation) else self.life.created_again
        return ConsumerGroupMachine(
            begin(operation.offset, protocol, birth_seen=birth_seen), self.home
        )


def begin_simple(entry: Entry, home: Home) -> ConsumerGroupMachine:
    """The machine of a group that a commit is the first to show."""
    return ConsumerGroupMachine(home.life(entry.offset, SIMPLE, birth_seen=False), home)


def _last_k2(operation: Operation) -> tuple[Entry, GroupMetadataValue | None]:
    """The last K2 of an operation that has one."""
    last = next(e for e in reversed(operation.entries) if isinstance(e.record, GroupMetadata))
    return last, last.record.value if isinstance(last.record, GroupMetadata) else None


def _removes_consumer_group(operation: Operation) -> bool:
    """Whether it has a K3 tombstone."""
    return any(
        isinstance(e.record, ConsumerGroupMetadata) and e.record.value is None
        for e in operation.entries
    )


def _is_hidden(life: Life, operation: Operation) -> bool:
    """Whether a hole lies before an operation, in which the group may have been deleted: a counter
    that began again behind it proves that it was.
    """
    return operation.last_hole > life.last_change_offset
