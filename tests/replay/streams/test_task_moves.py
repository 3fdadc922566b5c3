"""What became of a task that left its process: from the record that took it to the first commit
after the grant.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.replay.kept.streams_tasks import (
    CopyRun,
    Generation,
    MemberTasks,
    StreamsState,
    Task,
    TaskMove,
)
from groupreplay.replay.life import CLASSIC, Life
from groupreplay.replay.output import Output
from groupreplay.replay.streams.task_moves import TaskMoves, positive
from groupreplay.replay.streams_facts import ACTIVE, HeldTask, TaskHandOver

TASK: Task = ("0", 0)
TP = ("foo", 0)


def thread(name: str, **fields: Any) -> MemberTasks:
    return MemberTasks(name, None, "c", "/h", f"process-{name[0]}", ("foo",), **fields)


def generation(number: int, *members: MemberTasks, owed: str | None = None) -> Generation:
    """At `number` seconds, offset 10 x number. owed: process that gets the task next."""
    made = {each.member_id: each for each in members}
    found = Generation(number, 1000 * number, 10 * number, -1, None, made)
    if owed is not None:
        found.owed[TASK] = owed
    return found


class World:
    """A life with one task, whose state is known."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, CLASSIC)
        self.output = Output()
        self.state = StreamsState(inputs={TASK: frozenset({TP})}, stateful={"0": "SUM_SEEN"})
        self.moves = TaskMoves(self.life, self.state, self.output)
        self.span = HeldTask(
            **self.life.place,
            from_offset=10,
            member_id="a",
            instance_id=None,
            client_id="c",
            client_host="/h",
            process_id="process-a",
            subtopology="0",
            partition=0,
            role=ACTIVE,
            role_confidence="EXACT",
            assigned_at=1000,
            assigned_epoch=1,
            released_at=2000,
            end_reason="REVOKED",
        )

    def take_from_a(self, *, owed: str | None = "process-b", gone: bool = False) -> Generation:
        """Generation 2 takes the task from a."""
        others = [] if gone else [thread("a", owned=frozenset({TASK}))]
        now = generation(2, *others, thread("b"), owed=owed)
        self.moves.begin(now, TASK, thread("a"), self.span, stays=False)
        return now

    def give(self, name: str, number: int = 3, **fields: Any) -> TaskHandOver:
        """Generation 3 gives it to a thread."""
        member = thread(name, given=frozenset({TASK}), **fields)
        old = thread("a", sums={TASK: 100}) if name != "a" else thread("b", sums={TASK: 90})
        self.moves.grant(generation(number, old, member), TASK, member)
        row = self.state.moves[TASK].row
        assert row is not None
        return row


def test_a_task_goes_cold_to_the_process_it_was_owed_to() -> None:
    world = World()
    world.take_from_a()
    row = world.give("b")
    assert (row.from_process_id, row.to_process_id) == ("process-a", "process-b")
    assert (row.hand_over_kind, row.cause, row.outcome) == ("COLD", "REBALANCED", "TRANSFERRED")
    assert (row.released_at, row.granted_at, row.unowned_ms) == (2000, 3000, 1000)
    assert (row.gap_records, row.gap_confidence) == (100, "PLUS_STORES")
    assert (world.moves.moved, world.moves.returned) == (1, [])


def test_what_it_had_on_disk_makes_it_dormant() -> None:
    world = World()
    world.take_from_a()
    row = world.give("b", sums={TASK: 60})
    assert (row.hand_over_kind, row.gap_records) == ("DORMANT", 40)


def test_a_learner_has_two_bounds_of_its_readiness() -> None:
    world = World()
    world.state.runs[TASK] = {"process-b": CopyRun(since_at=500, probes_before=1)}
    world.state.probes = 3
    world.state.last = generation(1, thread("a"), thread("b"))
    world.take_from_a()
    row = world.give("b", sums={TASK: 95})
    assert row.hand_over_kind == "WARMED"
    assert (row.learning_started_at, row.last_not_ready_at, row.ready_at) == (500, 1000, 2000)
    assert (row.learning_ms, row.probes, row.gap_records) == (1500, 2, 5)


def test_a_task_that_goes_back_is_a_bounce() -> None:
    world = World()
    world.take_from_a(owed="process-b")
    row = world.give("a")
    assert (row.outcome, row.to_process_id) == ("RETURNED", "process-a")
    assert world.moves.returned == [TASK]
    assert world.moves.moved == 0


def test_a_sibling_thread_is_no_other_process() -> None:
    world = World()
    world.take_from_a(owed="process-a")
    row = world.give("a2")
    assert (row.hand_over_kind, row.outcome) == ("IN_PROCESS", "TRANSFERRED")
    assert world.moves.moved == 0


def test_a_third_process_is_elsewhere() -> None:
    world = World()
    world.take_from_a(owed="process-b")
    assert world.give("c").outcome == "ELSEWHERE"


def test_a_gone_owners_task_is_given_at_once() -> None:
    world = World()
    now = world.take_from_a(owed=None, gone=True)
    member = thread("b", given=frozenset({TASK}))
    world.moves.grant(now, TASK, member)
    row = world.state.moves[TASK].row
    assert row is not None
    assert (row.cause, row.outcome, row.unowned_ms) == ("OWNER_GONE", "OWNER_GONE", 0)
    assert (row.gap_records, row.gap_confidence) == (None, None)


def test_a_task_without_state_moves_for_that() -> None:
    world = World()
    world.state.stateful.clear()
    world.take_from_a()
    assert world.give("b").cause == "STATELESS"


def test_the_first_commit_after_the_grant_ends_it() -> None:
    world = World()
    world.life.commits[TP] = (2500, 25)
    world.take_from_a()
    world.give("b")
    world.moves.commit(TASK, 2900, 30, -1)
    assert TASK in world.state.moves, "its offset is not past the grant"
    world.moves.commit(TASK, 3400, 34, -1)
    span, row = world.output.take()
    assert isinstance(row, TaskHandOver)
    assert isinstance(span, HeldTask)
    assert (row.first_commit_at, row.resume_ms, row.idle_ms, row.to_offset) == (3400, 400, 900, 34)
    assert (span.next_member_id, span.next_assigned_at) == ("b", 3000)
    assert (span.unowned_ms, span.idle_ms) == (1000, 900)
    assert row.is_final
    assert not world.state.moves


def test_nothing_is_measured_to_a_commit_behind_a_hole() -> None:
    world = World()
    world.take_from_a()
    world.give("b")
    world.moves.commit(TASK, 9000, 90, 80)
    _, row = world.output.take()
    assert isinstance(row, TaskHandOver)
    assert (row.first_commit_at, row.resume_ms, row.idle_ms) == (None, None, None)
    assert row.outcome == "TRANSFERRED"


def test_nothing_is_measured_to_a_grant_behind_a_hole() -> None:
    world = World()
    world.take_from_a()
    world.moves.take(TASK, "b", "process-b", 3000, 30, observed=False)
    row = world.state.moves[TASK].row
    assert row is not None
    assert (row.granted_at, row.unowned_ms, world.span.unowned_ms) == (3000, None, None)


def test_a_task_is_given_once() -> None:
    world = World()
    world.take_from_a()
    assert world.moves.take(TASK, "b", "process-b", 3000, 30, observed=True) is not None
    assert world.moves.take(TASK, "c", "process-c", 4000, 40, observed=True) is None
    assert world.moves.take(("0", 9), "c", "process-c", 4000, 40, observed=True) is None
    assert world.span.next_member_id == "b"


def test_what_stays_in_its_process_has_no_row() -> None:
    world = World()
    now = generation(2, thread("a2", given=frozenset({TASK})))
    world.moves.begin(now, TASK, thread("a"), world.span, stays=True)
    world.moves.grant(now, TASK, now.members["a2"])
    world.moves.finish(TASK, 30)
    assert world.output.take() == [world.span]


@pytest.mark.parametrize(("granted", "outcome"), [(False, "TASK_REMOVED"), (True, "TRANSFERRED")])
def test_the_end_of_the_life_tells_of_what_nobody_got(granted: bool, outcome: str) -> None:
    world = World()
    world.take_from_a()
    if granted:
        world.give("b")
    world.moves.finish_all(70, "TASK_REMOVED")
    _, row = world.output.take()
    assert isinstance(row, TaskHandOver)
    assert (row.outcome, row.to_offset) == (outcome, 70)


def test_a_clock_that_went_back_gives_no_duration() -> None:
    assert (positive(0), positive(5), positive(-1)) == (0, 5, None)


def test_a_move_waits_with_whom_it_was_owed_to() -> None:
    world = World()
    world.take_from_a(owed="process-b")
    move = world.state.moves[TASK]
    assert isinstance(move, TaskMove)
    assert (move.owed_to, move.granted_offset, move.spans) == ("process-b", -1, [world.span])
