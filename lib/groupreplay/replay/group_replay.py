"""The replay of one group id: records in, facts out, state to bytes and back. The only class of
`replay` that others use.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.change import Change
from groupreplay.replay.facts import Fact
from groupreplay.replay.kinds import machine_for, machine_of
from groupreplay.replay.machine import GroupMachine, Home
from groupreplay.replay.operations import Operation, OperationReader, deletion_and_birth
from groupreplay.replay.output import Output
from groupreplay.replay.protocols.consumer_groups import begin_simple
from groupreplay.replay.saved import saved_life


class GroupReplay:
    """Replays one group id in one partition of the offsets topic.

    Feed entries in offset order with `replay`, call `flush` at the end of the input, then take
    facts, open facts and state.

    names: topic id -> name, as given from outside; names that the group's own records teach are
        learnt besides.
    """

    def __init__(self, group_id: str, offsets_partition: int, names: Mapping[str, str]) -> None:
        self._home = Home(group_id, offsets_partition, names, Output())
        self._machine: GroupMachine | None = None
        self._operations = OperationReader()
        self._lost = -1

    @classmethod
    def restore(
        cls, group_id: str, offsets_partition: int, names: Mapping[str, str], data: bytes
    ) -> GroupReplay:
        """The machine as it was when `state` gave those bytes. Raises StateError for bytes that
        cannot be read.
        """
        replay = cls(group_id, offsets_partition, names)
        life = saved_life.from_bytes(data)
        replay._machine = machine_for(life.protocol)(life, replay._home)
        replay._lost = life.lost_offset
        return replay

    def replay(self, entry: Entry) -> None:
        """Takes the next record."""
        if entry.last_hole < self._lost:
            entry = entry._replace(last_hole=self._lost)
        record = entry.record
        if isinstance(record, OffsetCommit):
            self.flush()
            self._commit(entry, record)
            return
        for operation in self._operations.feed(entry):
            self._apply(operation)

    def lose(self, offset: int) -> None:
        """A record of the group could not be decoded: a hole of its log, for this group alone."""
        self._lost = offset

    def flush(self) -> None:
        """Ends the operation under way. Every batch ends one, so the end of any input does."""
        for operation in self._operations.flush():
            self._apply(operation)

    def take_facts(self) -> list[Fact]:
        """The facts that became final since the last call."""
        return self._home.output.take()

    def open_facts(self) -> list[Fact]:
        """The rows that a later record can still change, and the group's snapshot; [] for a group
        that is gone. Changes nothing.
        """
        return self._machine.open_facts() if self._machine is not None else []

    def state(self) -> bytes | None:
        """The group as bytes; None for a group that is gone: nothing of it needs to be kept."""
        if self._machine is None:
            return None
        self._machine.life.lost_offset = self._lost
        return saved_life.to_bytes(self._machine.life)

    def end_log(self) -> None:
        """The log that the group lived in is no more: how its members ended was not seen, and what
        follows is of another log.
        """
        self.flush()
        if self._machine is not None:
            self._machine.end(Change.at_end_of(self._machine.life), removed=False)
            self._machine = None
        self._lost = -1

    # ------------------------------------------------------------ one step

    def _apply(self, operation: Operation) -> None:
        machine = self._machine
        if machine is not None and machine.is_being_deleted(operation):
            for part in deletion_and_birth(operation) or [operation]:
                self._apply_one(part)
        else:
            self._apply_one(operation)

    def _apply_one(self, operation: Operation) -> None:
        machine = self._machine
        if machine is not None:
            machine.advance(operation)
            machine.note_position(operation)
        kind = machine_of(operation)
        if isinstance(machine, kind) and machine.takes(operation):
            machine = machine.apply(operation)
        elif kind.begins(operation):
            machine = kind.begin(operation, self._home, machine)
        if machine is not None:
            machine.note_applied(operation)
        self._machine = machine

    def _commit(self, entry: Entry, commit: OffsetCommit) -> None:
        machine = self._machine
        if machine is None and commit.value is not None:
            machine = begin_simple(entry, self._home)
        if machine is not None:
            self._machine = machine.commit(entry, commit)
