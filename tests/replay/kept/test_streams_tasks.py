"""What a generation of Kafka Streams shows, taken together over its members."""

from __future__ import annotations

from typing import Any

from groupreplay.replay.kept.streams_tasks import Generation, MemberTasks, StreamsState, task_text

A, B = ("0", 0), ("0", 1)


def member(member_id: str, process: str, **more: Any) -> MemberTasks:
    return MemberTasks(member_id, None, "c", "/h", process, ("foo",), **more)


def generation(*members: MemberTasks, leader: str | None = None) -> Generation:
    return Generation(5, 9_000, 40, 8_000, leader, {each.member_id: each for each in members})


def test_a_task_is_named_as_kafka_prints_it() -> None:
    assert task_text(("1", 12)) == "1_12"


def test_threads_of_a_process_stand_together() -> None:
    one = generation(member("a1", "a"), member("b1", "b"), member("a2", "a"), leader="b1")
    threads = {name: [each.member_id for each in its] for name, its in one.threads.items()}
    assert threads == {"a": ["a1", "a2"], "b": ["b1"]}
    assert one.leader_process_id == "b"
    assert generation(leader="gone").leader_process_id is None


def test_who_has_which_task_in_which_role() -> None:
    one = generation(
        member("a1", "a", given=frozenset({A}), replicas=frozenset({B})),
        member("b1", "b", given=frozenset({B})),
    )
    assert {task: each.member_id for task, each in one.active.items()} == {A: "a1", B: "b1"}
    assert one.copies == {(B, "a")}


def test_of_a_process_the_thread_that_got_furthest_counts() -> None:
    one = generation(
        member("a1", "a", sums={A: 7}), member("a2", "a", sums={A: 9}), member("b1", "b")
    )
    assert (one.sum_of(A, "a"), one.sum_of(A, "b"), one.sums_of(B)) == (9, None, {})


def test_a_generation_asks_to_be_followed_at_once_or_at_a_time() -> None:
    due, probing = member("a", "a", next_ms=0), member("b", "b", next_ms=70_000)
    one = generation(due, probing, member("c", "c"))
    assert one.due() == [due]
    assert one.next_at == 70_000


def test_what_members_had_and_did_not_get_back_is_revoked() -> None:
    one = generation(
        member("a", "a", owned=frozenset({A, B}), given=frozenset({A})),
        member("b", "b", given=frozenset({B})),
    )
    assert one.revoked == 1


def test_the_leaders_error_is_that_of_any_member() -> None:
    assert generation(member("a", "a"), member("b", "b", assigned_error=2)).error == 2
    assert generation(member("a", "a")).error == 0


def test_inputs_lead_back_to_their_tasks() -> None:
    state = StreamsState(inputs={A: frozenset({("foo", 0), ("bar", 0)})})
    assert state.partitions() == {("foo", 0): A, ("bar", 0): A}
