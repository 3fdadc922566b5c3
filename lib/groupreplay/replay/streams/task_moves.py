"""What became of each task that left a process as active: rows of `task_handovers`.

A transfer takes two generations: the first takes the task from its owner, the next gives it to the
process that it is owed to. Only a task whose owner is gone is given in the same one. The row is
final at the first commit of the task after that. Source: StreamsPartitionAssignor.
"""

from __future__ import annotations

from dataclasses import replace

from groupreplay.replay.kept.streams_tasks import (
    Generation,
    MemberTasks,
    StreamsState,
    Task,
    TaskMove,
)
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output
from groupreplay.replay.streams_facts import HeldTask, TaskHandOver

REBALANCED = "REBALANCED"
OWNER_GONE = "OWNER_GONE"
STATELESS = "STATELESS"

IN_PROCESS = "IN_PROCESS"
RETURNED = "RETURNED"


class TaskMoves:
    """The hand-overs of one life.

    moved: how many tasks other processes got in the K2 under way.
    returned: tasks that their own processes got back in it.
    """

    def __init__(self, life: Life, state: StreamsState, output: Output) -> None:
        self._life = life
        self._state = state
        self._output = output
        self.moved = 0
        self.returned: list[Task] = []

    def begin_generation(self) -> None:
        """Nobody got anything yet."""
        self.moved, self.returned = 0, []

    def begin(
        self,
        generation: Generation,
        task: Task,
        owner: MemberTasks,
        span: HeldTask | None,
        *,
        stays: bool,
    ) -> None:
        """A generation takes a task from a process.

        owner: the member that had it.
        span: its row, which ended; None where it was not seen.
        stays: another thread of the process has it in this very generation.
        """
        self.finish(task, generation.offset)
        state = self._state
        move = state.moves[task] = TaskMove(None if stays else self._row(generation, task, owner))
        if span is not None:
            move.spans.append(span)
        move.owed_to = generation.owed.get(task)
        if move.row is not None:
            move.row.to_process_id = move.owed_to
        before = state.last
        for process, run in state.runs.get(task, {}).items():
            if before is not None and before.owed.get(task) != process:
                run = replace(run, last_not_owed_at=before.at)
            move.runs[process] = run
        move.probes = state.probes
        for process, reported in generation.sums_of(task).items():
            if reported >= 0 and process != owner.process_id:
                move.sums[process] = reported

    def _row(self, generation: Generation, task: Task, owner: MemberTasks) -> TaskHandOver:
        is_gone = owner.member_id not in generation.members
        rebalanced = REBALANCED if task[0] in self._state.stateful else STATELESS
        return TaskHandOver(
            **self._life.place,
            from_offset=generation.offset,
            protocol="classic",
            subtopology=task[0],
            partition=task[1],
            from_member_id=owner.member_id,
            from_process_id=owner.process_id,
            cause=OWNER_GONE if is_gone else rebalanced,
            requested_at=generation.at,
            released_at=generation.at,
        )

    def grant(self, generation: Generation, task: Task, member: MemberTasks) -> None:
        """A member gets a task that left another one before, or in this very generation."""
        who = member.member_id, member.process_id
        move = self.take(task, *who, generation.at, generation.offset, observed=True)
        if move is not None and move.row is not None:
            self._hand_over(generation, task, move, move.row, member)

    def take(
        self,
        task: Task,
        member_id: str,
        process_id: str | None,
        at: int,
        offset: int,
        *,
        observed: bool,
    ) -> TaskMove | None:
        """Somebody has a task that was let go. Returns its hand-over; None where there is none.

        observed: no hole lies between.
        """
        move = self._state.moves.get(task)
        if move is None or move.granted_offset >= 0:
            return None
        move.granted_offset = offset
        commits = [self._life.commits.get(tp) for tp in self._state.inputs.get(task, ())]
        move.last_commits = [each for each, _ in filter(None, commits)]
        for span in move.spans:
            span.next_member_id, span.next_process_id = member_id, process_id
            span.next_assigned_at = at
            if observed and span.released_at is not None and span.end_reason != "UNOBSERVED":
                span.unowned_ms = positive(at - span.released_at)
        if (row := move.row) is not None:
            row.to_member_id, row.to_process_id, row.granted_at = member_id, process_id, at
            if observed:
                row.unowned_ms = positive(at - (row.released_at or at))
        return move

    def _hand_over(
        self,
        generation: Generation,
        task: Task,
        move: TaskMove,
        row: TaskHandOver,
        member: MemberTasks,
    ) -> None:
        process, was_owed_to = member.process_id, move.owed_to
        is_same = process == row.from_process_id
        if is_same and was_owed_to in (None, process):
            row.hand_over_kind, row.outcome = IN_PROCESS, "TRANSFERRED"
            return
        learner = was_owed_to if is_same and was_owed_to is not None else process
        self._learnt(generation, task, move, row, learner)
        self._gap(generation, task, row, learner)
        if is_same:
            row.outcome = RETURNED
            self.returned.append(task)
            return
        self.moved += 1
        if row.cause == OWNER_GONE and row.from_offset == move.granted_offset:
            row.outcome = OWNER_GONE
        else:
            row.outcome = "TRANSFERRED" if was_owed_to in (None, process) else "ELSEWHERE"

    def _learnt(
        self,
        generation: Generation,
        task: Task,
        move: TaskMove,
        row: TaskHandOver,
        learner: str,
    ) -> None:
        """How the new owner came to the state. When it was ready has two bounds: it was not when
        it was last not owed the task, and was when the task was taken for it.

        learner: the process that the task was taken for, of a task that went back.
        """
        run = move.runs.get(learner)
        if run is None:
            to = row.to_process_id or learner
            reported = generation.sum_of(task, to)
            has_state = to in move.sums or (reported is not None and reported >= 0)
            row.hand_over_kind = "DORMANT" if has_state else "COLD"
            return
        row.hand_over_kind = "WARMED"
        row.learning_started_at, row.last_not_ready_at = run.since_at, run.last_not_owed_at
        row.ready_at, row.probes = row.released_at, move.probes - run.probes_before
        row.ready_sum = move.sums.get(learner)
        if row.ready_at is not None:
            row.learning_ms = positive(row.ready_at - run.since_at)

    def _gap(self, generation: Generation, task: Task, row: TaskHandOver, learner: str) -> None:
        """Records that the new owner had still to restore when it joined.

        The old owner closed the task and reports the end that it wrote. Clients up to 4.2 count one
        less for each store in it, and the record does not say which client it is.
        """
        end = (
            generation.sum_of(task, row.from_process_id)
            if row.from_process_id is not None
            else None
        )
        if end is None or end < 0 or row.cause == OWNER_GONE:
            return
        reported = generation.sum_of(task, learner)
        row.gap_records = end - (reported if reported is not None and reported >= 0 else 0)
        row.gap_confidence = "PLUS_STORES"

    def commit(self, task: Task, at: int, offset: int, last_hole: int) -> None:
        """A commit of an input partition: the first one after a grant makes the rows final."""
        move = self._state.moves.get(task)
        if move is None or move.granted_offset < 0 or offset <= move.granted_offset:
            return
        if last_hole <= move.granted_offset:
            idle = max((at - last for last in move.last_commits), default=None)
            idle_ms = positive(idle) if idle is not None else None
            for span in move.spans:
                span.idle_ms = idle_ms if span.end_reason != "UNOBSERVED" else None
            if (row := move.row) is not None:
                row.first_commit_at, row.idle_ms = at, idle_ms
                row.resume_ms = positive(at - (row.granted_at or at))
        self.finish(task, offset)

    def finish(self, task: Task, offset: int, outcome: str = "UNOBSERVED") -> None:
        """The rows of a task's hand-over can change no more.

        offset: of the record that shows it.
        outcome: outcome of a hand-over that is still OPEN: nobody was seen to get the task.
        """
        move = self._state.moves.pop(task, None)
        if move is None:
            return
        for span in move.spans:
            self._output.emit(span)
        if move.row is not None:
            move.row.to_offset = offset
            if move.row.outcome == "OPEN":
                move.row.outcome = outcome
            self._output.emit(move.row)

    def finish_all(self, offset: int, outcome: str) -> None:
        for task in list(self._state.moves):
            self.finish(task, offset, outcome)


def positive(ms: int) -> int | None:
    """A duration; None where a clock went back."""
    return ms if ms >= 0 else None
