"""Rows of `streams_rebalances` and `streams_subtopologies` of a streams group (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from groupreplay.replay.kept.streams_tasks import GroupTasks, StreamsState
from groupreplay.replay.life import Life, Member
from groupreplay.replay.output import Output
from groupreplay.replay.streams_facts import (
    ACTIVE,
    STANDBY,
    WARMUP,
    StreamsRebalance,
    StreamsSubtopology,
)

STANDBYS = "num.standby.replicas"
ASSIGNOR = "sticky"
"""The only one up to 4.3 (StickyTaskAssignor of group-coordinator)."""


class GroupRows:
    """The rows of one life."""

    def __init__(self, life: Life, state: StreamsState, group: GroupTasks, output: Output) -> None:
        self._life = life
        self._state = state
        self._group = group
        self._output = output
        self._is_new = False

    def open(
        self,
        epoch: int,
        at: int,
        offset: int,
        cause: tuple[str, str | None, str],
        *,
        observed: bool = True,
        also: Sequence[str] = (),
        gone: Mapping[str, Member] = MappingProxyType({}),
    ) -> None:
        """Begins an epoch.

        cause: (cause, member, confidence).
        also: further causes.
        gone: members that the operation removed before.
        """
        self._close(offset)
        who = cause[1] or ""
        member = self._life.members.get(who) or gone.get(who)
        self._group.row = StreamsRebalance(
            **self._life.place,
            from_offset=offset,
            start_observed=observed,
            epoch=epoch,
            protocol="streams",
            cause=cause[0],
            cause_member_id=cause[1],
            cause_process_id=member.process_id if member is not None else None,
            confidence=cause[2],
            also=list(also),
            join_ended_at=at,
            assignor=ASSIGNOR,
        )
        self._is_new = True

    def target(self, epoch: int, at: int, moved: int | None) -> None:
        """A K20.

        moved: how many tasks went from one member to another, None where that is not known.
        """
        row = self._group.row
        if row is not None and row.epoch == epoch and row.decided_at is None:
            row.decided_at, row.tasks_revoked = at, moved

    def settle(self) -> None:
        """At operation end: the counts of the epoch that it began, and whether all are settled."""
        row = self._group.row
        if row is None:
            return
        epoch_row = self._life.epoch_row
        if epoch_row is not None and epoch_row.epoch == row.epoch:
            row.outcome = epoch_row.outcome
        if not self._is_new:
            return
        self._is_new = False
        roles = [span.row.role for span in self._state.all_spans()]
        wanted = {task for target in self._group.targets.values() for task in target.active}
        held = {
            task
            for spans in self._state.spans.values()
            for task, span in spans.items()
            if span.row.role == ACTIVE
        }
        # A task whose owner went is known, though it is in no target before the next K20.
        left = {task for task, move in self._state.moves.items() if move.granted_offset < 0}
        known = wanted | held | left
        row.members, row.processes = len(self._life.members), len(self._life.processes)
        row.tasks, row.tasks_active = len(known), len(held)
        is_seen = all(
            member.current_offset >= 0 or member.join_observed
            for member in self._life.members.values()
        )
        row.tasks_missing = len(known - held) if is_seen else None
        row.standby_copies, row.warmup_copies = roles.count(STANDBY), roles.count(WARMUP)

    def _close(self, offset: int) -> None:
        row, self._group.row = self._group.row, None
        if row is not None:
            row.to_offset = offset
            row.outcome = "SUPERSEDED" if row.outcome == "OPEN" else row.outcome
            self._output.emit(row)

    def end(self, offset: int) -> None:
        """The life ends."""
        self._close(offset)
        for row in self.subtopologies():
            row.to_offset = offset
            self._output.emit(row)

    def subtopologies(self) -> list[StreamsSubtopology]:
        """As the K23 has them; tasks as far as targets name them."""
        group, life = self._group, self._life
        tasks = {t for target in group.targets.values() for t in target.active}
        tasks |= self._state.inputs.keys()
        standbys = group.configs.get(STANDBYS)
        return [
            StreamsSubtopology(
                **life.place,
                from_offset=life.incarnation,
                start_observed=life.birth_seen,
                subtopology=name,
                tasks=len({task for task in tasks if task[0] == name}),
                source_topics=topics.sources,
                changelog_topics=topics.changelogs,
                is_stateful=bool(topics.changelogs),
                stateful_basis="TOPOLOGY",
                standby_replicas=int(standbys) if standbys is not None else None,
            )
            for name, topics in sorted(group.subtopologies.items())
        ]
