"""Which assignor a classic Streams group shows itself to have, and what its replicas are then.

Source: HighAvailabilityTaskAssignor, TaskMovement, FallbackPriorTaskAssignor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupreplay.replay.kept.streams_tasks import Generation, MemberTasks, StreamsState
from groupreplay.replay.streams.classic.assignor import (
    is_stable,
    judge_assignor,
    misplaced_tasks,
    note_stable,
    role_of,
)

ONE, TWO = ("0", 0), ("0", 1)
WANTED = {ONE: "a", TWO: "b"}


def thread(member_id: str, *given: tuple[str, int], **more: Any) -> MemberTasks:
    made = MemberTasks(member_id, None, "c", "/h", member_id[0], ("foo",))
    return replace(made, given=frozenset(given), **more)


def generation(*members: MemberTasks, **more: Any) -> Generation:
    made = Generation(5, 9_000, 50, 8_000, "a", {each.member_id: each for each in members})
    return replace(made, **more)


PLACED = generation(thread("a", ONE), thread("b", TWO))
SWAPPED = generation(thread("a", TWO), thread("b", ONE))


@pytest.mark.parametrize(
    ("one", "stable"),
    [
        (PLACED, True),
        (generation(thread("a", ONE, next_ms=0), thread("b", TWO)), False),
        (generation(thread("a", ONE, next_ms=70_000), thread("b", TWO)), False),
        (generation(thread("a", ONE), thread("b", owned=frozenset({TWO}))), False),
        (generation(thread("a", ONE, assigned_error=1), thread("b", TWO)), False),
    ],
    ids=["settled", "due", "probing", "revoked", "error"],
)
def test_a_generation_is_stable_where_nothing_is_to_come(one: Generation, stable: bool) -> None:
    assert is_stable(one) is stable


def test_a_task_that_is_owed_to_its_place_is_not_misplaced() -> None:
    assert misplaced_tasks(PLACED, WANTED) == set()
    assert misplaced_tasks(SWAPPED, WANTED) == {ONE, TWO}
    owed = generation(thread("a"), thread("b"), owed={ONE: "a", TWO: None})
    assert misplaced_tasks(owed, WANTED) == set()
    elsewhere = generation(thread("a"), thread("b"), owed={ONE: "b", TWO: "b"})
    assert misplaced_tasks(elsewhere, WANTED) == {ONE}


def judged(one: Generation, before: str = "UNKNOWN") -> str:
    return judge_assignor(StreamsState(assignor=before), one, WANTED)


def test_all_at_its_place_is_what_the_highly_available_one_does() -> None:
    assert judged(PLACED) == judged(PLACED, "FALLBACK") == "HIGH_AVAILABILITY"
    assert judged(PLACED, "OTHER") == "OTHER"


def test_one_that_leaves_a_task_elsewhere_and_is_stable_is_another() -> None:
    assert judged(SWAPPED) == judged(SWAPPED, "HIGH_AVAILABILITY") == "OTHER"


def test_one_that_asks_for_a_probe_while_copies_warm_up_is_the_highly_available_one() -> None:
    copies = {"replicas": frozenset({ONE}), "next_ms": 70_000}
    assert judged(generation(thread("a", TWO, **copies), thread("b", ONE))) == "HIGH_AVAILABILITY"


def test_a_probe_without_any_copy_shows_that_end_offsets_were_not_fetched() -> None:
    probing = generation(thread("a", TWO, next_ms=70_000), thread("b", ONE))
    assert judged(probing) == judged(probing, "HIGH_AVAILABILITY") == "FALLBACK"
    assert judged(probing, "OTHER") == "OTHER"


def test_a_member_of_the_leaders_process_that_is_due_hides_the_probe() -> None:
    due = generation(thread("a", TWO, next_ms=0), thread("b", ONE))
    assert judged(due) == "HIGH_AVAILABILITY"


@pytest.mark.parametrize(
    "one",
    [
        generation(thread("a", TWO)),
        generation(thread("a", TWO, assigned_error=1), thread("b", ONE)),
    ],
    ids=["one process", "error"],
)
def test_other_generations_show_nothing(one: Generation) -> None:
    assert judged(one, "FALLBACK") == "FALLBACK"


def role(assignor: str, one: Generation, **more: Any) -> tuple[str, str]:
    state = StreamsState(assignor=assignor, **more)
    return role_of(state, one, WANTED, ONE, one.members["a"])


def test_a_replica_where_the_task_is_to_run_is_a_warm_up() -> None:
    waits = generation(thread("a", replicas=frozenset({ONE})), thread("b", ONE, TWO))
    assert role("HIGH_AVAILABILITY", waits) == ("WARMUP", "EXACT")
    assert role("UNKNOWN", waits) == ("WARMUP", "INFERRED")
    here = generation(thread("a", replicas=frozenset({ONE})), thread("a2", ONE), thread("b", TWO))
    assert role("HIGH_AVAILABILITY", here) == ("STANDBY", "EXACT")


def test_of_another_assignor_a_replica_beyond_the_standbys_is_a_warm_up() -> None:
    one = generation(
        thread("a", replicas=frozenset({ONE})),
        thread("b", ONE, TWO),
        thread("c", replicas=frozenset({ONE})),
    )
    assert role("OTHER", one) == ("STANDBY", "INFERRED")
    known: dict[str, Any] = {"standby_replicas": 1, "stable_copies": {(ONE, "c")}}
    assert role("OTHER", one, **known) == ("WARMUP", "INFERRED")
    known["stable_copies"] = {(ONE, "a")}
    assert role("OTHER", one, **known) == ("STANDBY", "INFERRED")


def test_standbys_are_the_fewest_copies_of_a_task_with_state_while_nothing_moves() -> None:
    state = StreamsState(stateful={"0": "SUM_SEEN"})
    copies = thread("a", ONE, replicas=frozenset({TWO}))
    unstable = generation(replace(copies, next_ms=0), thread("b", TWO))
    note_stable(state, unstable)
    assert state == StreamsState(stateful={"0": "SUM_SEEN"})
    note_stable(state, generation(copies, thread("b", TWO)))
    assert (state.standby_replicas, state.stable_copies) == (0, {(TWO, "a")})
    note_stable(state, generation(copies, thread("b", TWO, replicas=frozenset({ONE}))))
    assert state.standby_replicas == 1
