"""Which member holds which task, in which role, since when: rows of `task_assignments`.

Active tasks wait, when they end, in the hand-over that they began (`task_moves`), which knows who
had the task next. Replicas are final when they end.
"""

from __future__ import annotations

import copy

from groupreplay.replay.kept.streams_tasks import (
    Generation,
    MemberTasks,
    StreamsState,
    Task,
    TaskSpan,
)
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output
from groupreplay.replay.streams.held_tasks import held_task
from groupreplay.replay.streams_facts import ACTIVE, WARMUP, HeldTask

Roles = dict[Task, tuple[str, str]]
"""Task -> (role, confidence)."""


class TaskSpans:
    """The spans of one life.

    started, dropped: warm-ups that began, or were withdrawn, in the K2 under way.
    """

    def __init__(self, life: Life, state: StreamsState, output: Output) -> None:
        self._life = life
        self._state = state
        self._output = output
        self.started = 0
        self.dropped = 0
        self._totals = state.generations, state.probes

    def begin_generation(self) -> None:
        """Nothing began or was withdrawn yet. What ends now has the generations until here."""
        self.started = self.dropped = 0
        self._totals = self._state.generations, self._state.probes

    def count_generation(self, *, is_probing: bool) -> None:
        """Another generation, of which what goes on and what begins is a part."""
        self._state.generations += 1
        self._state.probes += is_probing

    def of_member(self, member_id: str) -> dict[Task, TaskSpan]:
        """What a member holds, by task."""
        return self._state.spans.get(member_id, {})

    def hold(
        self, generation: Generation, member: MemberTasks, roles: Roles, observed: bool
    ) -> None:
        """Begins a span for each task that a member did not hold in this role."""
        spans = self._state.spans.setdefault(member.member_id, {})
        for task in sorted(roles.keys() - spans.keys()):
            role = roles[task]
            spans[task] = TaskSpan(
                held_task(
                    self._life,
                    member,
                    task,
                    role,
                    at=generation.at,
                    offset=generation.offset,
                    epoch=generation.epoch,
                    observed=observed,
                ),
                generations_before=self._totals[0],
                probes_before=self._totals[1],
            )
            self.started += role[0] == WARMUP

    def note_owed(self, generation: Generation, member: MemberTasks) -> None:
        """Which of a member's replicas are of tasks that are owed to its process."""
        spans = self.of_member(member.member_id)
        for task in member.replicas.intersection(spans):
            span = spans[task]
            span.is_owed = generation.owed.get(task) == member.process_id
            if span.is_owed and span.row.owed_since_at is None:
                span.row.owed_since_at = generation.at

    def note_sums(self, generation: Generation, member: MemberTasks) -> None:
        """A member reports, when it joins, how far it had got with what it held until then."""
        spans = self.of_member(member.member_id)
        for task, reported in member.sums.items():
            span = spans.get(task) if reported >= 0 else None
            if span is None or span.row.last_sum_at == generation.at:
                continue
            row = span.row
            if row.role == ACTIVE and row.from_offset == generation.offset:
                continue  # what it reports here it had before it got the task
            if row.first_sum is None:
                row.first_sum, row.first_sum_at = reported, generation.at
            span.sum_before = row.last_sum
            row.last_sum, row.last_sum_at = reported, generation.at

    def as_it_stands(self, span: TaskSpan) -> HeldTask:
        """A copy of the row of a span that goes on, with what lies in it until now."""
        row = copy.copy(span.row)
        row.generations = self._state.generations - span.generations_before
        row.probes = self._state.probes - span.probes_before
        return row

    def end(
        self, key: tuple[str, Task], at: int, offset: int, epoch: int | None, reason: str
    ) -> HeldTask:
        """Ends a span. A replica's row is final with it; an active one's is returned, for whoever
        sees what becomes of the task.
        """
        member_id, task = key
        span, (generations, probes) = self._state.spans[member_id].pop(task), self._totals
        row = span.row
        row.generations = generations - span.generations_before
        row.probes = probes - span.probes_before
        if not self._state.spans[member_id]:
            del self._state.spans[member_id]
        row.released_at, row.released_epoch, row.to_offset = at, epoch, offset
        row.end_reason = reason
        if row.role != ACTIVE:
            self.dropped += row.role == WARMUP and reason == "WITHDRAWN"
            self._output.emit(row)
        return row

    def held(self) -> list[tuple[str, Task]]:
        """(member, task) of every span, in order."""
        return sorted((m, task) for m, spans in self._state.spans.items() for task in spans)
