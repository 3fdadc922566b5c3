"""Kafka Streams on the classic protocol: what each K2 of protocol `stream` does to its tasks.

The group itself is replayed as any classic group is (`classic`): members, generations, partitions.
This adds tasks, roles, hand-overs and learners, which stand in the user data of subscriptions and
assignments. One K2 says what members had and what they get:

| K2 | against the K2 before | what it is |
|---|---|---|
| an active task that its owner gets no more | | revoked, and owed to another member |
| an owed task that a member gets | it was owed, or its owner is gone | handed over |
| a replica where the assignor wants the task | | a warm-up: it learns |
| a time to rejoin | that time has come | a probe: is a learner ready? |
| the same generation | a static member came back | nothing moves |
| user data that cannot be read | | nothing is said of tasks until a K2 is read whole |

Source: StreamsPartitionAssignor, HighAvailabilityTaskAssignor, TaskMovement; KIP-441.
"""

from __future__ import annotations

import copy

from groupreplay.records.classic import GroupMetadataValue
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.change import Change
from groupreplay.replay.facts import Fact, Stall
from groupreplay.replay.kept.streams_tasks import Generation, StreamsState
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge
from groupreplay.replay.rules.of_streams_classic import GenerationRules, all_read
from groupreplay.replay.streams.classic.assignor import (
    judge_assignor,
    note_stable,
)
from groupreplay.replay.streams.classic.generation import (
    Placement,
    find_owed,
    is_streams,
    keep_owed,
    read_generation,
)
from groupreplay.replay.streams.classic.rebalance_causes import (
    PROBING,
    changed_inputs,
    find_rebalance_cause,
    joins_between,
)
from groupreplay.replay.streams.classic.rebalance_rows import (
    commit_gap,
    count_ready,
    count_tasks,
    new_row,
)
from groupreplay.replay.streams.classic.streams_stalls import StreamsStalls
from groupreplay.replay.streams.classic.subtopologies import subtopology_rows
from groupreplay.replay.streams.classic.task_hands import TaskHands, Wanted
from groupreplay.replay.streams.classic.task_spans import TaskSpans
from groupreplay.replay.streams.processes import Processes
from groupreplay.replay.streams.task_moves import TaskMoves
from groupreplay.replay.streams_facts import ACTIVE

COMMIT_TIMES_KEPT = 8


class StreamsClassic:
    """Tasks of one life of a classic Streams group."""

    def __init__(self, life: Life, state: StreamsState, output: Output) -> None:
        self._life = life
        self._state = state
        self._output = output
        self._spans = TaskSpans(life, state, output)
        self._moves = TaskMoves(life, state, output)
        self._stalls = StreamsStalls(life, state, output)
        self._hands = TaskHands(state, output, self._spans, self._moves, self._stalls)
        self._processes = Processes(life, output)
        self._judge = Judge(life, output)
        self._placement = Placement()

    # ------------------------------------------------------------ a K2

    def apply(self, change: Change, entry: Entry, value: GroupMetadataValue, known: bool) -> None:
        """known: the K2 before was seen, and no hole lies between."""
        state = self._state
        if not value.members:
            self._empty(change, known)
            return
        inputs = dict(state.inputs)
        now = read_generation(state, entry, value)
        if now is None:
            self._judge.note(all_read(entry, value))
            state.is_whole = False
            return
        is_seen = known and state.is_whole
        if not is_seen:
            self._lose_sight(entry.offset)
        before = (state.last or _nobody(now)) if is_seen else None
        wanted = self._placement.of(state, now)
        is_replacement = before is not None and before.epoch == now.epoch
        if is_replacement and before is not None:
            keep_owed(before, now)
        else:
            find_owed(state, now, wanted)
            state.assignor = judge_assignor(state, now, wanted)
        self._judge.note(GenerationRules(before, now, value, state.assignor).judge())
        if is_replacement:
            self._hands.change(before, now, wanted, is_seen)
        else:
            changed = changed_inputs(inputs, state.inputs)
            self._begin_generation(before, now, wanted, is_seen, changed)
        note_stable(state, now)
        self._note_processes(now, is_seen)
        state.last, state.is_whole = now, True

    def _note_processes(self, now: Generation, observed: bool) -> None:
        """Members that went, and those that are there."""
        for process in self._life.processes.values():
            for member_id in process.members.keys() - now.members.keys():
                self._processes.leave(member_id)
        for member in now.members.values():
            self._processes.join(
                member.process_id,
                member.member_id,
                client_host=member.client_host,
                endpoint=member.endpoint,
                tags=member.tags,
                version=member.version,
                at=now.at,
                offset=now.offset,
                observed=observed,
            )
        self._processes.settle(now.at, now.offset, "LEFT_OR_FENCED" if observed else "UNOBSERVED")

    def _begin_generation(
        self,
        before: Generation | None,
        now: Generation,
        wanted: Wanted,
        observed: bool,
        changed_tasks: bool,
    ) -> None:
        state = self._state
        cause = find_rebalance_cause(before, now, changed_tasks)
        self._close_row(now.offset)
        row = new_row(self._life, state, before, now, cause, observed=observed)
        row.tasks_ready = count_ready(state, before, now)
        row.joins = joins_between(before, now)
        is_probing = cause.cause == PROBING
        ended = self._hands.change(before, now, wanted, observed, cause.cause)
        row.warmups_started, row.warmups_dropped = self._spans.started, self._spans.dropped
        row.tasks_revoked, row.tasks_granted = now.revoked, self._moves.moved
        row.tasks_returned = len(self._moves.returned)
        count_tasks(row, state, now, wanted)
        moved = bool(ended or self._moves.moved or self._moves.returned or self._spans.started)
        self._stalls.watch(before, now, row, wanted, changed=moved)
        self._stalls.watch_learners(now, is_probing)
        if self._moves.returned:
            gaps = {t: state.moves[t].row for t in self._moves.returned if t in state.moves}
            self._stalls.bounced(
                now,
                self._moves.returned,
                {t: r.gap_records if r is not None else None for t, r in gaps.items()},
            )
        state.row = row

    # ------------------------------------------------------------ nobody, or not seen

    def _empty(self, change: Change, known: bool) -> None:
        """The group has no members: nobody runs anything until one joins."""
        state = self._state
        if state.last is None:
            return
        before = state.last if known and state.is_whole else None
        now = Generation(state.last.epoch, change.at, change.offset, -1, None, {})
        self._close_row(change.offset)
        if before is None:
            self._lose_sight(change.offset)
        self._spans.begin_generation()
        self._hands.end_spans(now, {}, set(), before)
        self._stalls.end_all(change.at, change.offset)
        state.runs.clear()
        self._processes.leave_all()
        self._processes.settle(
            change.at, change.offset, "LEFT_OR_FENCED" if before is not None else "UNOBSERVED"
        )
        state.last, state.is_whole = None, True

    def _lose_sight(self, offset: int) -> None:
        """What happened since the K2 before is not known, as a record at this offset shows."""
        state = self._state
        self._stalls.forget()
        state.runs.clear()
        for task in list(state.moves):
            if state.moves[task].granted_offset < 0:
                self._moves.finish(task, offset)
        state.last = None

    def _close_row(self, offset: int) -> None:
        row, self._state.row = self._state.row, None
        if row is not None:
            row.to_offset = offset
            self._output.emit(row)

    def end(self, change: Change, *, removed: bool) -> None:
        """The life ends.

        removed: the group is gone; else nobody saw how it ended.
        """
        state = self._state
        reason = "GROUP_REMOVED" if removed else "UNOBSERVED"
        self._close_row(change.offset)
        self._stalls.forget_learners()
        self._spans.begin_generation()
        for key in self._spans.held():
            row = self._spans.end(key, change.at, change.offset, None, reason)
            if row.role == ACTIVE:
                self._output.emit(row)
        self._moves.finish_all(change.offset, "TASK_REMOVED" if removed else "UNOBSERVED")
        if removed:
            self._stalls.end_all(change.at, change.offset)
        else:
            self._stalls.forget()
        self._stalls.end_chains()
        self._processes.end(change.at, change.offset, reason)
        for subtopology in subtopology_rows(self._life, state):
            subtopology.to_offset = change.offset
            self._output.emit(subtopology)

    # ------------------------------------------------------------ commits

    def commit(self, entry: Entry, commit: OffsetCommit) -> None:
        """A commit of a task's input partition."""
        state = self._state
        if commit.value is None:
            return
        row = state.row
        if (
            row is not None
            and row.commit_gap_ms is None
            and row.join_ended_at is not None
            and not any(at >= (row.decided_at or 0) for at in state.commit_times)
        ):
            row.commit_gap_ms = commit_gap(state.commit_times, row.join_ended_at, entry.ts_ms)
        times = state.commit_times
        if not times or times[-1] != entry.ts_ms:
            state.commit_times = [*times[1 - COMMIT_TIMES_KEPT :], entry.ts_ms]
        if state.moves:
            tp = (commit.topic, commit.partition)
            for task in [t for t in state.moves if tp in state.inputs.get(t, ())]:
                self._moves.commit(task, entry.ts_ms, entry.offset, entry.last_hole)

    # ------------------------------------------------------------ as it stands

    def open_facts(self) -> list[Fact]:
        """Every row that a later record can still change. Changes nothing."""
        state = self._state
        rows: list[Fact | Stall | None] = [state.row]
        for span in state.all_spans():
            learning = span.learning
            rows += [self._spans.as_it_stands(span)]
            rows += [learning if learning is not None and learning.repetitions else None]
        for move in state.moves.values():
            rows += [move.row, *move.spans]
        # A member that restored in one generation alone was not seen to go on.
        rows += [each for each in state.stalls.values() if each.until_at != each.since_at]
        chains = [each.chain for each in state.bounces]
        if state.loop is not None:
            chains.append(state.loop)
        rows += [chain for chain in chains if len(chain.times_at) > 1]
        rows += subtopology_rows(self._life, state)
        rows += self._processes.open_rows()
        return [copy.copy(row) for row in rows if row is not None]


def restored(life: Life, output: Output) -> StreamsClassic | None:
    """The tasks of a life as it is; None unless it is one of Kafka Streams."""
    return StreamsClassic(life, life.streams, output) if life.streams is not None else None


def after(
    streams: StreamsClassic | None, life: Life, output: Output, value: GroupMetadataValue
) -> StreamsClassic | None:
    """The tasks from this K2 on: a group id may go over to Kafka Streams, or to plain consumers."""
    if value.members and is_streams(value.protocol) == (streams is None):
        if streams is not None:
            streams.end(Change.at_end_of(life), removed=False)
        life.run_streams(StreamsState() if streams is None else None)
        return restored(life, output)
    return streams


def _nobody(now: Generation) -> Generation:
    """The generation before the first one, or before that of a group that was empty."""
    return Generation(now.epoch - 1, now.at, now.offset, -1, None, {})
