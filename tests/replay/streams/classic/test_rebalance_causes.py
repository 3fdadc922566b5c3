"""Why a classic Streams group began a generation: two generations, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupreplay.replay.kept.streams_tasks import Generation, MemberTasks
from groupreplay.replay.streams.classic.rebalance_causes import (
    CLOCK_SLACK_MS,
    RebalanceCause,
    changed_inputs,
    find_rebalance_cause,
    joins_between,
)

T1, T2 = ("0", 0), ("0", 1)
NOW = 100_000


def thread(member_id: str, **fields: Any) -> MemberTasks:
    made = MemberTasks(member_id, None, "c", "/h", f"process-{member_id}", ("foo",), version=11)
    return replace(made, **fields)


def generation(*members: MemberTasks, **fields: Any) -> Generation:
    made = Generation(5, NOW, 50, NOW, None, {each.member_id: each for each in members})
    return replace(made, **fields)


def cause(before: Generation | None, now: Generation, *, changed: bool = False) -> RebalanceCause:
    return find_rebalance_cause(before, now, changed)


A, B = thread("a"), thread("b")
CASES: dict[str, tuple[Generation | None, Generation, str, str | None]] = {
    "SHUTDOWN": (generation(A, B), generation(replace(A, error_code=4), B), "SHUTDOWN", "a"),
    "SHUTDOWN of the first": (None, generation(replace(A, error_code=4)), "SHUTDOWN", "a"),
    "STATIC_REPLACED": (
        generation(replace(A, instance_id="i"), B),
        generation(thread("x", instance_id="i"), B),
        "STATIC_REPLACED",
        "x",
    ),
    "LEFT_OR_FENCED": (generation(A, B), generation(A), "LEFT_OR_FENCED", "b"),
    "JOIN": (generation(A), generation(A, B), "JOIN", "b"),
    "JOIN of several": (generation(A), generation(A, B, thread("c")), "JOIN", None),
    "VERSION": (
        generation(replace(A, used_version=10, usable_version=10), B),
        generation(replace(A, version=10), B),
        "VERSION",
        "a",
    ),
    "FOLLOWUP of who is owed": (
        generation(replace(A, next_ms=0), B),
        generation(A, B),
        "FOLLOWUP",
        "a",
    ),
    "FOLLOWUP of who had to give up": (
        generation(A, replace(B, owned=frozenset({T1, T2}), given=frozenset({T1}))),
        generation(A, B),
        "FOLLOWUP",
        "b",
    ),
    "PROBING": (generation(replace(A, next_ms=NOW), B), generation(A, B), "PROBING", "a"),
    "SUBSCRIPTION": (
        generation(A, B),
        generation(replace(A, topics=("foo", "bar")), B),
        "SUBSCRIPTION",
        "a",
    ),
    "MEMBER_METADATA": (
        generation(A, B),
        generation(A, replace(B, endpoint="h:80")),
        "MEMBER_METADATA",
        "b",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_two_generations_show_the_cause(case: str) -> None:
    before, now, expected, member_id = CASES[case]
    found = cause(before, now)
    assert (found.cause, found.member_id, found.confidence) == (expected, member_id, "INFERRED")
    assert found.also == []


def test_nothing_shows_nothing() -> None:
    assert cause(generation(A), generation(A)) == ("UNKNOWN", None, "NONE", [])
    assert cause(None, generation(A)) == ("UNKNOWN", None, "NONE", [])


def test_a_probe_may_come_a_little_early_by_the_clients_clock() -> None:
    late = generation(replace(A, next_ms=NOW + CLOCK_SLACK_MS))
    later = generation(replace(A, next_ms=NOW + CLOCK_SLACK_MS + 1))
    assert cause(late, generation(A)).cause == "PROBING"
    assert cause(later, generation(A)).cause == "UNKNOWN"


def test_a_probe_counts_to_the_end_of_the_join_phase() -> None:
    before = generation(replace(A, next_ms=NOW))
    assert cause(before, generation(A, join_ended_at=NOW - 5_000)).cause == "UNKNOWN"
    assert cause(before, generation(A, join_ended_at=-1)).cause == "PROBING"


def test_further_causes_stand_beside_the_first() -> None:
    before = generation(replace(A, next_ms=0), replace(B, next_ms=NOW))
    found = cause(before, generation(A, thread("c", topics=("bar",))), changed=True)
    assert found.cause == "LEFT_OR_FENCED"
    assert found.also == ["JOIN", "FOLLOWUP", "PROBING", "TASKS_CHANGED"]


def test_metadata_is_no_further_cause() -> None:
    """An endpoint is told at each join, whatever the join was for."""
    found = cause(generation(A), generation(replace(A, endpoint="h:80"), B))
    assert (found.cause, found.also) == ("JOIN", [])


def test_a_replaced_member_neither_left_nor_joined() -> None:
    before = generation(replace(A, instance_id="i"), B)
    found = cause(before, generation(thread("x", instance_id="i")))
    assert (found.cause, found.also) == ("STATIC_REPLACED", ["LEFT_OR_FENCED"])


@pytest.mark.parametrize(
    ("before", "now", "joins"),
    [
        ({"a": 3, "b": 7}, {"a": 4, "b": 7}, 1),
        ({"a": 3}, {"a": 5, "b": 1}, 3),  # b joined for the first time
        ({"a": 255}, {"a": 1}, 2),  # modulo 256
        ({}, {"a": 1}, 1),
    ],
)
def test_joins_are_counted_by_unique_fields(
    before: dict[str, int], now: dict[str, int], joins: int
) -> None:
    def made(fields: dict[str, int]) -> Generation:
        return generation(*(thread(name, unique_field=each) for name, each in fields.items()))

    assert joins_between(made(before), made(now)) == joins


def test_joins_are_not_known_where_a_member_does_not_say() -> None:
    known, unknown = thread("a", unique_field=2), thread("b", unique_field=None)
    assert joins_between(generation(known), generation(known, unknown)) is None
    assert joins_between(None, generation(known)) == 2


def test_inputs_changed_where_topics_were_known() -> None:
    before = {T1: frozenset({("foo", 0)})}
    assert changed_inputs(before, {**before, T2: frozenset({("foo", 1)})})
    assert changed_inputs(before, {T1: frozenset({("foo", 0), ("bar", 0)})})
    assert not changed_inputs(before, {**before, ("1", 0): frozenset({("bar", 0)})})
    assert not changed_inputs(before, before)
    assert not changed_inputs({}, before)
