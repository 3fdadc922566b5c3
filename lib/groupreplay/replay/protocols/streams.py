"""A streams group (KIP-1071): what each of its records does to the life. Brokers 4.1 to 4.4.

| record | its value | its tombstone |
|---|---|---|
| K17 | begins an epoch, the one before plus 1, unless it repeats it (4.4) | the group is gone |
| K19 | a member joins, or changes what it says of itself | the member is gone, with its target |
| K20 | the targets before it are whole: at the epoch, never past it | nothing |
| K21 | a member's target: active tasks, standbys, warm-ups | the member has none |
| K22 | a member's epoch, state and tasks | it has none |
| K23 | the topology, once a life | nothing |

A member is STABLE, UNREVOKED_TASKS (it is to give up what is pending) or UNRELEASED_TASKS (it waits
for tasks that others hold). Tombstones of a member come as K22, K21, K19; those of a group end with
K23. Source: GroupMetadataManager and StreamsGroup of group-coordinator.

| records | life before | what it is |
|---|---|---|
| K2 goes, K19 comes | classic, empty | conversion TO_STREAMS, offline (4.2+) |
| K17 goes, K2 comes | streams, empty | conversion FROM_STREAMS, offline (4.2+) |
| a value of K17 to K23 | none, or commits alone | birth, or the middle of a life |
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import STATIC_LEAVE_EPOCH, ConsumerGroupMetadata
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay import causes
from groupreplay.replay.assignment.members import Current
from groupreplay.replay.causes import NONE
from groupreplay.replay.change import Change
from groupreplay.replay.facts import Fact
from groupreplay.replay.kept.streams_tasks import (
    GroupTasks,
    StreamsState,
    TaskRoles,
)
from groupreplay.replay.life import CLASSIC, SIMPLE, STREAMS, Life, Profile
from groupreplay.replay.machine import GroupMachine, Home
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.consumer_groups import ConsumerGroupMachine
from groupreplay.replay.protocols.streams_operations import (
    FROM_STREAMS,
    TO_STREAMS,
    go_on_counted,
    is_birth,
    members_in,
    removes_group,
    tell_conversion,
    topics_of,
)
from groupreplay.replay.rules.of_groups import one_kind
from groupreplay.replay.rules.of_operations import missing_epoch
from groupreplay.replay.rules.of_streams_groups import streams_operation
from groupreplay.replay.rules.of_streams_records import (
    group_tombstones,
    record_order,
    removal_without_epoch,
)
from groupreplay.replay.streams.groups.group_causes import (
    Cause,
    configs_of,
    descriptions_of,
    find_group_causes,
)
from groupreplay.replay.streams.groups.group_processes import run_in_processes
from groupreplay.replay.streams.groups.group_records import (
    PENDING,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    STREAMS_GROUP_TOPOLOGY,
    has_streams_records,
    held_in,
    records_of,
    roles_in,
    values_of,
)
from groupreplay.replay.streams.groups.group_rows import GroupRows
from groupreplay.replay.streams.groups.group_stalls import GroupStalls
from groupreplay.replay.streams.groups.group_tasks import GroupTaskSpans
from groupreplay.replay.streams.groups.task_waits import TaskWaits, tasks_in
from groupreplay.replay.streams.processes import Processes


class StreamsGroupMachine(GroupMachine):
    """A life of a streams group."""

    def __init__(self, life: Life, home: Home) -> None:
        super().__init__(life, home)
        state, group = life.streams, life.streams.group if life.streams is not None else None
        if state is None or group is None:
            group = GroupTasks()
            state = StreamsState(group=group)
            life.run_streams(state)
            go_on_counted(life, self.membership)
        self._state, self._group = state, group
        output = home.output
        self.membership.stalls.waits = TaskWaits(life, group)
        self._tasks = GroupTaskSpans(life, self._state, self._group, output)
        self._stalls = GroupStalls(life, self._state, self._group, output)
        self._rows = GroupRows(life, self._state, self._group, output)
        self._processes = Processes(life, output)

    # ------------------------------------------------------------ begin and end

    @classmethod
    def begins(cls, operation: Operation) -> bool:
        return has_streams_records(operation, values_alone=True)

    @classmethod
    def begin(
        cls, operation: Operation, home: Home, before: GroupMachine | None
    ) -> GroupMachine | None:
        birth_seen = is_birth(operation)
        converts = (
            before is not None
            and before.life.protocol == CLASSIC
            and not before.life.members
            and GroupMetadata in operation.kinds
        )
        if before is not None and before.life.protocol == SIMPLE:
            # The group existed by commits alone: they are its own.
            life = before.life
            life.become(STREAMS, birth_seen=birth_seen)
        else:
            if before is not None:
                if not (converts or ConsumerGroupMetadata in operation.kinds):
                    before.membership.judge.note(one_kind(before.life, operation, STREAMS))
                before.end(Change.of(operation), removed=False)
            life = home.life(operation.offset, STREAMS, birth_seen=birth_seen)
        machine = cls(life, home)
        if converts and before is not None:
            joined = next(iter(members_in(operation)), None)
            tell_conversion(machine, operation, TO_STREAMS, before.life.epoch, joined)
        return machine.apply(operation)

    def takes(self, operation: Operation) -> bool:
        return has_streams_records(operation)

    def note_position(self, operation: Operation) -> None:
        self._note_missing_epoch(operation.entries[0].last_hole)
        super().note_position(operation)

    def _note_missing_epoch(self, last_hole: int) -> None:
        """Notes a removal whose K17 would have come with it."""
        if (unbumped := self._group.unbumped) is not None:
            self._group.unbumped = None
            self.membership.judge.note(missing_epoch(unbumped, last_hole, "T18"))

    def apply(self, operation: Operation) -> GroupMachine | None:
        if removes_group(operation):
            return self._removed(operation)
        life, change = self.life, Change.of(operation, self.life)
        observed = change.last_hole <= life.last_change_offset or life.last_change_offset < 0
        self.membership.judge.note(record_order(life, self._group, operation))
        found_causes = find_group_causes(life, self._group, operation)
        had = self._held_before(operation)
        asked = {i: dict(m.requests) for i, m in life.members.items() if m.requests}
        away = {i for i, m in life.members.items() if m.epoch == STATIC_LEAVE_EPOCH}
        for entry in operation.entries:
            if isinstance(entry.record, OtherGroupRecord):
                self._record(change, entry, entry.record, found_causes)
        run_in_processes(self._processes, operation, away)
        self._imply_epoch(operation)
        if values_of(operation, STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA):
            self.membership.owners.drop_untargeted(change.offset)
            self._tasks.drop_untargeted(change.last_offset)
        self.membership.settle(change)
        self._tasks.settle(change, asked)
        self._settle_processes(change, observed)
        self._stalls.watch(change.at, change.last_offset, observed)
        self._rows.settle()
        judge = self.membership.judge
        judge.note(streams_operation(life, self._group, change, operation, had))
        self._group.unbumped = removal_without_epoch(operation)
        return self

    def _held_before(self, operation: Operation) -> dict[str, TaskRoles]:
        """What members with a K22 in an operation hold before it."""
        held = self._group.held
        records = records_of(operation, STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT)
        return {r.member_id: held[r.member_id] for r in records if r.member_id in held}

    def _removed(self, operation: Operation) -> GroupMachine | None:
        """The group's tombstones; a K2 after them in the same batch is a conversion back."""
        self.membership.judge.note(group_tombstones(operation))
        classic = [e for e in operation.entries if isinstance(e.record, GroupMetadata)]
        becomes_classic = bool(classic) and classic[-1].record.value is not None
        self.end(Change.of(operation, self.life), removed=not becomes_classic)
        if not becomes_classic:
            return None
        machine = ConsumerGroupMachine.begin(Operation(classic), self.home, None)
        if machine is not None:
            tell_conversion(machine, operation, FROM_STREAMS, self.life.epoch, None)
        return machine

    def end(self, change: Change, *, removed: bool) -> None:
        life = self.life
        asked = {i: dict(m.requests) for i, m in life.members.items() if m.requests}
        # An empty group hides nothing where it becomes one of another kind.
        was_empty = not life.members and change.last_hole <= life.last_change_offset
        super().end(change, removed=removed)
        self._tasks.settle(change, asked)
        outcome = "TASK_REMOVED" if removed or was_empty else "UNOBSERVED"
        self._tasks.moves.finish_all(change.last_offset, outcome)
        self._processes.end(change.at, change.offset, "GROUP_REMOVED" if removed else "UNOBSERVED")
        if removed:
            self._stalls.end_all(change.at, change.offset)
        self._state.stalls.clear()
        self._rows.end(change.offset)

    # ------------------------------------------------------------ records

    def _record(
        self,
        change: Change,
        entry: Entry,
        record: OtherGroupRecord,
        found_causes: tuple[Cause, list[str]],
    ) -> None:
        key_type, value = record.key_type, record.value
        if key_type == STREAMS_GROUP_MEMBER_METADATA:
            self._member_metadata(change, entry, record.member_id, value)
        elif key_type == STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER:
            self._target(change, entry, record.member_id, value)
        elif key_type == STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT:
            self._current(change, entry, record.member_id, value)
        elif value is None:
            return
        elif key_type == STREAMS_GROUP_METADATA:
            self._group_metadata(change, entry, value, found_causes)
        elif key_type == STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA:
            self._target_epoch(entry, value["assignment_epoch"])
        elif key_type == STREAMS_GROUP_TOPOLOGY:
            self._topology(entry, value)

    def _group_metadata(
        self,
        change: Change,
        entry: Entry,
        value: Mapping[str, Any],
        found_causes: tuple[Cause, list[str]],
    ) -> None:
        group, life = self._group, self.life
        if life.epoch is None and life.birth_seen and value["epoch"] == 2:
            group.is_validating = True  # 4.1 begins with 1, and validates in memory alone
        group.validated_epoch = value["validated_topology_epoch"]
        group.is_validating = group.is_validating or group.validated_epoch >= 0
        group.configs, group.is_known = configs_of(value), True
        group.metadata_hash = value["metadata_hash"]
        group.descriptions = descriptions_of(value)
        if value["epoch"] != life.epoch:
            cause, also = found_causes
            self.membership.epochs.open(value["epoch"], entry.ts_ms, entry.offset, cause)
            place = entry.ts_ms, entry.offset
            self._rows.open(value["epoch"], *place, cause, also=also, gone=change.removed)

    def _member_metadata(
        self, change: Change, entry: Entry, member_id: str, value: Mapping[str, Any] | None
    ) -> None:
        membership = self.membership
        if value is None:
            if member_id in self.life.members:
                member = membership.members.touch(change, member_id)
                membership.targets.set(change, entry, member, None)
                membership.members.remove(change, member_id, entry.offset)
            return
        member = membership.members.touch(change, member_id)
        membership.members.describe(
            change, member, value["instance_id"], value["client_id"], value["client_host"], STREAMS
        )
        membership.members.subscribe(member, entry, (), "", None, value["rebalance_timeout_ms"])
        said = Profile(rack_id=value["rack_id"] or None, has_topics=False)
        membership.members.profile(member, said)
        membership.members.run_in(member, value["process_id"])
        self._group.topology_epochs[member_id] = value["topology_epoch"]

    def _target(
        self, change: Change, entry: Entry, member_id: str, value: Mapping[str, Any] | None
    ) -> None:
        if value is None and member_id not in self.life.members:
            return
        member = self.membership.members.touch(change, member_id)
        if value is None:
            self._group.targets.pop(member_id, None)
            self.membership.targets.set(change, entry, member, None)
            return
        roles = roles_in(value)
        self._group.targets[member_id] = roles
        self.membership.targets.set(change, entry, member, roles.active)

    def _target_epoch(self, entry: Entry, epoch: int) -> None:
        membership = self.membership
        self._group.target_epoch_offset = entry.offset
        moved = membership.targets.begin_epoch(epoch)
        membership.epochs.target(epoch, entry.ts_ms, entry.offset, moved)
        membership.epochs.note_asked(entry.ts_ms, entry.offset, entry.last_hole)
        membership.stalls.new_target(epoch, entry.ts_ms, entry.leader_epoch)
        self._rows.target(epoch, entry.ts_ms, moved)

    def _current(
        self, change: Change, entry: Entry, member_id: str, value: Mapping[str, Any] | None
    ) -> None:
        membership = self.membership
        if value is None:
            if member_id in self.life.members:
                membership.members.unassign(membership.members.touch(change, member_id))
                self._hold(entry, member_id, None)
                change.offsets[member_id] = entry.offset
            return
        member = membership.members.touch(change, member_id)
        # The states of streams groups are those of consumer groups, counted from 1.
        current = Current(
            value["member_epoch"],
            value["previous_member_epoch"],
            value["state"] - 1,
            roles_in(value).active,
            roles_in(value, PENDING).active,
        )
        membership.members.assign(member, entry, current)
        change.offsets[member_id] = entry.offset
        self._hold(entry, member_id, held_in(value))

    def _hold(self, entry: Entry, member_id: str, roles: TaskRoles | None) -> None:
        """What a member has now. Siblings may have waited for what it had."""
        held = self._group.held
        changed = tasks_in(held.pop(member_id, None)) ^ tasks_in(roles)
        if roles is not None:
            held[member_id] = roles
        self.membership.stalls.changed_hands(changed, entry.offset)

    def _topology(self, entry: Entry, value: Mapping[str, Any]) -> None:
        self._group.topology_epoch = value["epoch"]
        self._group.topology_offset = entry.offset
        self._group.subtopologies = {
            each["subtopology_id"]: topics_of(each) for each in value["subtopologies"]
        }

    def _imply_epoch(self, operation: Operation) -> None:
        """An epoch whose K17 the log no longer has: K20 and K22 never run ahead of it."""
        if values_of(operation, STREAMS_GROUP_METADATA):
            return
        life = self.life
        values = values_of(operation, STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT)
        reached = max([value["member_epoch"] for value in values], default=0)
        highest = max(reached, life.target_epoch or 0)
        if highest > (life.epoch or 0) and not (highest == 1 and life.birth_seen):
            cause = (causes.UNKNOWN_CAUSE, None, NONE)
            self.membership.epochs.open(highest, operation.ts_ms, operation.offset, cause, False)
            self._rows.open(highest, operation.ts_ms, operation.offset, cause, observed=False)

    def _settle_processes(self, change: Change, observed: bool) -> None:
        self._processes.settle(
            change.at, change.last_offset, "LEFT_OR_FENCED" if observed else "UNOBSERVED"
        )

    # ------------------------------------------------------------ commits, and as it stands

    def commit(self, entry: Entry, commit: OffsetCommit) -> GroupMachine | None:
        self._note_missing_epoch(entry.last_hole)
        if commit.value is not None:
            place = entry.ts_ms, entry.offset, entry.last_hole
            for subtopology, topics in self._group.subtopologies.items():
                if commit.topic in topics.sources:
                    task = (subtopology, commit.partition)
                    self._tasks.moves.commit(task, *place)
                    self.membership.owners.first_commit(task, *place)
        return super().commit(entry, commit)

    def open_facts(self) -> list[Fact]:
        state = self._state
        rows: list[Fact | None] = [self._group.row, *state.stalls.values()]
        rows += [span.row for span in state.all_spans()]
        for move in state.moves.values():
            rows += [move.row, *move.spans]
        rows += self._processes.open_rows()
        rows += self._rows.subtopologies()
        return super().open_facts() + [copy.copy(row) for row in rows if row is not None]
