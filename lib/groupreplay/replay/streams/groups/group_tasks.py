"""Which member of a streams group (KIP-1071) holds which task, and what became of each that it gave
up. Everything is EXACT: a K22 names tasks and roles.

A replica that is to become active passes a moment without any role (up to 4.3), and may be that of
another thread of the process. Whether a task was warm follows from what threads of its new process
held when a target gave it to them. Source: CurrentAssignmentBuilder of streams groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groupreplay.replay.change import Change, is_hidden
from groupreplay.replay.facts import HandOver
from groupreplay.replay.kept.streams_tasks import (
    GroupTasks,
    StreamsState,
    Task,
    TaskMove,
    TaskRoles,
    TaskSpan,
)
from groupreplay.replay.life import Life, Member
from groupreplay.replay.output import Output
from groupreplay.replay.streams.held_tasks import held_task
from groupreplay.replay.streams.task_moves import (
    IN_PROCESS,
    OWNER_GONE,
    REBALANCED,
    STATELESS,
    TaskMoves,
    positive,
)
from groupreplay.replay.streams_facts import ACTIVE, STANDBY, WARMUP, HeldTask, TaskHandOver

EXACT = "EXACT"

Asked = Mapping[str, Mapping[Task, HandOver]]
"""Member -> the tasks that it was asked for before the operation."""


def roles_of(held: TaskRoles) -> dict[Task, str]:
    """Task -> role. In 4.4 a task can be in two for a moment: it is then active."""
    roles = dict.fromkeys(held.warmup, WARMUP) | dict.fromkeys(held.standby, STANDBY)
    return roles | dict.fromkeys(held.active, ACTIVE)


class GroupTaskSpans:
    """The tasks of one life of a streams group."""

    def __init__(self, life: Life, state: StreamsState, group: GroupTasks, output: Output) -> None:
        self._life = life
        self._state = state
        self._group = group
        self._output = output
        self.moves = TaskMoves(life, state, output)

    def settle(self, change: Change, asked: Asked) -> None:
        """At operation end: what members lost, then what they got. What a member that is gone kept
        is at rest in its process by then: its heir may get it in the same operation (4.4).
        """
        touched = {i: self._life.members.get(i) for i in change.before}
        for member_id, member in sorted(touched.items()):
            hidden = is_hidden(change, member_id)
            self._end_lost(change, member_id, member, asked.get(member_id, {}), hidden=hidden)
        gone = {i: m for i, m in change.removed.items() if i not in self._life.members}
        for member_id, member in gone.items():
            self._forget(member_id, member)
        for _, member in sorted(touched.items()):
            if member is not None:
                self._begin_held(change, member)
        there = [member for member in touched.values() if member is not None]
        for process_id in {member.process_id for member in (*there, *gone.values())}:
            for member_id in self._threads(process_id):
                self._keep_replicas(member_id, process_id)

    def _forget(self, member_id: str, gone: Member) -> None:
        """A thread is gone. The state of its replicas stays with its process."""
        replicas = self._group.at_rest.pop(member_id, frozenset())
        sibling = next(iter(self._threads(gone.process_id)), None)
        if sibling is not None:
            self._group.at_rest[sibling] = replicas | self._group.at_rest.get(sibling, frozenset())
        for kept in (self._group.held, self._group.targets, self._state.spans):
            kept.pop(member_id, None)

    def _threads(self, process_id: str | None) -> Iterable[str]:
        process = self._life.processes.get(process_id or "")
        return process.members if process is not None else ()

    def _keep_replicas(self, member_id: str, process_id: str | None) -> None:
        """Notes the replicas of a thread; one that it gave up counts while its process is to run
        the task.
        """
        members, owners = self._life.members, self._life.target_owner
        held = self._group.held.get(member_id, TaskRoles())
        before = self._group.at_rest.get(member_id, frozenset())
        to_run = [
            task
            for task in before
            if (owner := members.get(owners.get(task, ""))) is not None
            and owner.process_id == process_id
        ]
        self._group.at_rest[member_id] = held.standby | held.warmup | frozenset(to_run)

    # ------------------------------------------------------------ what ends

    def _end_lost(
        self,
        change: Change,
        member_id: str,
        member: Member | None,
        asked: Mapping[Task, HandOver],
        *,
        hidden: bool,
    ) -> None:
        held = self._group.held.get(member_id) if member is not None else None
        roles = roles_of(held) if held is not None else {}
        offset = change.offsets.get(member_id, change.last_offset)
        epoch = member.epoch if member is not None else self._life.epoch
        spans = self._state.spans.get(member_id, {})
        for task in sorted(spans):
            row = spans[task].row
            if roles.get(task) == row.role:
                continue
            del spans[task]
            row.released_at, row.released_epoch, row.to_offset = change.at, epoch, offset
            row.end_reason = (
                "UNOBSERVED" if hidden else self._end_reason(change, member_id, row, roles)
            )
            if row.role != ACTIVE or hidden:
                self._output.emit(row)
            else:
                self._hand_over(change, row, asked.get(task), is_gone=member is None)

    def _end_reason(
        self, change: Change, member_id: str, row: HeldTask, roles: Mapping[Task, str]
    ) -> str:
        if change.group_ends:
            return "GROUP_REMOVED"
        if member_id in change.replaced:
            return "REPLACED"
        if member_id in change.removed:
            return "LEFT_OR_FENCED"
        task = (row.subtopology, row.partition)
        target = self._group.targets.get(member_id, TaskRoles())
        if row.role != ACTIVE:
            is_to_run = task in target.active or roles.get(task) == ACTIVE
            return "PROMOTED" if is_to_run else "WITHDRAWN"
        if task in target.standby | target.warmup or task in roles:
            return "DEMOTED"
        siblings = [
            other.target
            for other in self._life.members.values()
            if other.process_id == row.process_id and other.member_id != member_id
        ]
        return "MOVED_IN_PROCESS" if any(task in (t or ()) for t in siblings) else "REVOKED"

    def _hand_over(
        self, change: Change, span: HeldTask, asked: HandOver | None, *, is_gone: bool
    ) -> None:
        task = (span.subtopology, span.partition)
        self.moves.finish(task, span.to_offset or change.last_offset)
        topics = self._group.subtopologies.get(task[0])
        has_state = topics is None or bool(topics.changelogs)
        observed = asked is None or asked.start_observed
        asked_for = asked is not None and observed
        row = TaskHandOver(
            **self._life.place,
            from_offset=span.to_offset or change.last_offset,
            start_observed=observed,
            protocol="streams",
            subtopology=task[0],
            partition=task[1],
            from_member_id=span.member_id,
            from_process_id=span.process_id,
            cause=OWNER_GONE if is_gone else REBALANCED if has_state else STATELESS,
            target_at=asked.target_at if asked is not None else None,
            requested_at=asked.requested_at if asked is not None else None,
            released_at=change.at,
            notify_ms=asked.notify_ms if asked is not None else None,
            revoke_ms=positive(change.at - asked.requested_at) if asked and asked_for else None,
        )
        self._state.moves[task] = TaskMove(row, spans=[span])

    # ------------------------------------------------------------ what begins

    def _begin_held(self, change: Change, member: Member) -> None:
        held = self._group.held.get(member.member_id)
        if held is None:
            return
        before = change.before[member.member_id]
        # Its first K22 has previous epoch 0. That of a static member may be in a return cut short.
        observed = (
            change.last_hole <= before.current_offset
            if before.current_offset >= 0
            else member.previous_epoch == 0 and (member.instance_id is None or change.is_whole)
        )
        offset = change.offsets.get(member.member_id, change.last_offset)
        spans = self._state.spans.setdefault(member.member_id, {})
        for task, role in sorted(roles_of(held).items()):
            if task in spans:
                continue
            if role == ACTIVE and change.last_hole >= 0:
                self._end_hidden(change, task, offset)
            spans[task] = TaskSpan(
                held_task(
                    self._life,
                    member,
                    task,
                    (role, EXACT),
                    at=change.at,
                    offset=offset,
                    epoch=member.epoch,
                    observed=observed,
                )
            )
            if role == ACTIVE:
                self._note_inputs(task)
                self._grant(change, task, member, offset, observed)

    def _end_hidden(self, change: Change, task: Task, offset: int) -> None:
        """A new owner behind a hole: the old one let go somewhere in it."""
        for member_id, spans in self._state.spans.items():
            member = self._life.members.get(member_id)
            is_hidden = member is None or change.last_hole > member.current_offset
            if not is_hidden or task not in spans or spans[task].row.role != ACTIVE:
                continue
            row = spans.pop(task).row
            row.released_at, row.to_offset, row.end_reason = change.at, offset, "UNOBSERVED"
            self._output.emit(row)
            if (held := self._group.held.get(member_id)) is not None:
                held.active -= {task}

    def _note_inputs(self, task: Task) -> None:
        topics = self._group.subtopologies.get(task[0])
        if topics is not None:
            self._state.inputs[task] = frozenset((topic, task[1]) for topic in topics.sources)

    def _grant(
        self, change: Change, task: Task, member: Member, offset: int, observed: bool
    ) -> None:
        waiting = self._state.moves.get(task)
        if waiting is None or waiting.row is None:
            return
        is_sure = observed and change.last_hole <= waiting.row.from_offset
        who = member.member_id, member.process_id
        move = self.moves.take(task, *who, change.at, offset, observed=is_sure)
        if move is None or move.row is None:
            return
        row = move.row
        row.grant_ms = row.unowned_ms
        kept = [self._group.at_rest.get(each, ()) for each in self._threads(member.process_id)]
        was_warm = any(task in replicas for replicas in kept)
        if member.member_id == row.from_member_id and row.cause != OWNER_GONE:
            row.hand_over_kind, row.outcome = IN_PROCESS, "RETURNED"
        elif member.process_id == row.from_process_id:
            row.hand_over_kind, row.outcome = IN_PROCESS, "TRANSFERRED"
        else:
            row.hand_over_kind = "WARMED" if was_warm else "COLD"
            # A heartbeat that gives it may have the time of the leave.
            at_once = row.cause == OWNER_GONE and row.from_offset >= change.offset
            row.outcome = OWNER_GONE if at_once else "TRANSFERRED"

    # ------------------------------------------------------------ the end

    def drop_untargeted(self, offset: int) -> None:
        """At a new target, whose last record is at this offset: a task that nobody is to have is no
        more.
        """
        wanted = {task for target in self._group.targets.values() for task in target.active}
        for task in [t for t, m in self._state.moves.items() if m.granted_offset < 0]:
            if task not in wanted:
                self.moves.finish(task, offset, "TASK_REMOVED")
