"""Which member holds which task, in which role, since when. Source: docs/streams.md,
task_assignments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from groupreplay.replay.kept.streams_tasks import Generation, MemberTasks, StreamsState, Task
from groupreplay.replay.life import CLASSIC, Life
from groupreplay.replay.output import Output
from groupreplay.replay.streams.classic.task_spans import Roles, TaskSpans
from groupreplay.replay.streams_facts import ACTIVE, STANDBY, WARMUP, HeldTask

ONE, TWO = ("0", 0), ("0", 1)
MEMBER = MemberTasks("a", None, "c", "/h", "process-a", ("foo",))


def generation(number: int, **owed: str) -> Generation:
    made = Generation(number, 1_000 * number, 10 * number, -1, None, {"a": MEMBER})
    made.owed = {ONE: owed["one"]} if owed else {}
    return made


class World:
    def __init__(self) -> None:
        self.output, self.state = Output(), StreamsState()
        self.spans = TaskSpans(Life("g", 0, 0, CLASSIC), self.state, self.output)

    def hold(self, number: int, *, is_probing: bool = False, **roles: str) -> None:
        """Generation `number` gives roles: one, two."""
        self.spans.begin_generation()
        self.spans.count_generation(is_probing=is_probing)
        tasks: dict[str, Task] = {"one": ONE, "two": TWO}
        wanted: Roles = {tasks[name]: (role, "EXACT") for name, role in roles.items()}
        self.spans.hold(generation(number), MEMBER, wanted, True)

    def end(self, number: int, reason: str = "REVOKED") -> HeldTask:
        """Generation `number` takes task one."""
        self.spans.begin_generation()
        self.spans.count_generation(is_probing=False)
        return self.spans.end(("a", ONE), 1_000 * number, 10 * number, number, reason)

    def note_sums(self, number: int, **fields: Any) -> None:
        self.spans.note_sums(generation(number), replace(MEMBER, **fields))


def test_a_span_begins_once() -> None:
    world = World()
    world.hold(1, one=ACTIVE)
    world.hold(2, one=ACTIVE, two=WARMUP)
    assert world.spans.held() == [("a", ONE), ("a", TWO)]
    held = world.spans.of_member("a")
    assert [held[task].row.assigned_epoch for task in (ONE, TWO)] == [1, 2]
    assert world.spans.started == 1, "warm-ups of this generation"
    assert world.spans.of_member("nobody") == {}


def test_a_replica_is_final_when_it_ends_and_an_active_one_waits_for_the_next_owner() -> None:
    for role, told in ((ACTIVE, 0), (STANDBY, 1)):
        world = World()
        world.hold(1, one=role)
        row = world.end(3)
        assert (row.released_at, row.released_epoch, row.end_reason) == (3_000, 3, "REVOKED")
        assert len(world.output.take()) == told
        assert world.state.spans == {}


def test_warm_ups_that_were_withdrawn_are_counted_by_generation() -> None:
    world = World()
    world.hold(1, one=WARMUP)
    world.end(2, "WITHDRAWN")
    assert world.spans.dropped == 1
    world.hold(3, one=WARMUP)
    assert world.spans.dropped == 0
    world.end(4, "PROMOTED")
    assert world.spans.dropped == 0


def test_a_span_counts_the_generations_and_probes_in_it() -> None:
    world = World()
    world.hold(1, one=ACTIVE)
    world.hold(2, is_probing=True, one=ACTIVE)
    world.hold(3, one=ACTIVE)
    shown = world.spans.as_it_stands(world.state.spans["a"][ONE])
    assert (shown.generations, shown.probes) == (3, 1)
    row = world.end(4)
    assert (row.generations, row.probes) == (3, 1), "not the one that ends it"
    assert shown is not row


def test_what_a_member_reports_is_of_what_it_held_until_then() -> None:
    world = World()
    world.hold(1, one=ACTIVE)
    world.note_sums(1, sums={ONE: 500})
    span = world.state.spans["a"][ONE]
    assert span.row.first_sum is None, "it had that before it got the task"
    world.note_sums(2, sums={ONE: 600})
    world.note_sums(2, sums={ONE: 601})
    world.note_sums(3, sums={ONE: 900})
    row = span.row
    assert (row.first_sum, row.first_sum_at, row.last_sum, row.last_sum_at) == (
        *(600, 2_000),
        *(900, 3_000),
    )
    assert span.sum_before == 600


def test_an_active_task_that_runs_reports_no_sum() -> None:
    world = World()
    world.hold(1, one=ACTIVE)
    world.note_sums(2, sums={ONE: -2, TWO: 7})
    assert world.state.spans["a"][ONE].row.last_sum is None


def test_a_replica_is_owed_since_the_first_generation_that_says_so() -> None:
    world = World()
    world.hold(1, one=WARMUP)
    member = replace(MEMBER, replicas=frozenset({ONE}))
    span = world.state.spans["a"][ONE]
    for number, owed, since in (
        (2, "process-b", None),
        (3, "process-a", 3_000),
        (4, "process-a", 3_000),
    ):
        world.spans.note_owed(generation(number, one=owed), member)
        assert (span.is_owed, span.row.owed_since_at) == (owed == "process-a", since)
