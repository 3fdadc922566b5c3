"""One K2 of a classic Streams group, as its leader meant it."""

from __future__ import annotations

from typing import Any

from groupreplay.records.classic import GroupMetadata, GroupMetadataValue
from groupreplay.records.entries import Entry
from groupreplay.replay.kept.streams_tasks import Generation, StreamsState
from groupreplay.replay.streams.classic.generation import (
    Placement,
    find_owed,
    is_streams,
    keep_owed,
    read_generation,
)
from tests.support.building import Log

T0, T1, T2 = ("0", 0), ("0", 1), ("0", 2)
P1, P2, P3 = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))


def k2(**members: dict[str, Any]) -> tuple[Entry, GroupMetadataValue]:
    form = {"k2": 5, "protocol": "stream", "members": members, "stamp": 900}
    (entry,) = Log().write(form)
    assert isinstance(entry.record, GroupMetadata)
    assert entry.record.value is not None
    return entry, entry.record.value


def read(state: StreamsState, **members: dict[str, Any]) -> Generation:
    found = read_generation(state, *k2(**members))
    assert found is not None
    return found


def knowing(*tasks: tuple[str, int]) -> StreamsState:
    return StreamsState(inputs={task: frozenset({("foo", task[1])}) for task in tasks})


def test_a_generation_has_both_sides_of_each_member() -> None:
    state = StreamsState()
    found = read(
        state,
        a={"process": 1, "has": ["0-0", "0-1"], "sums": {"0-0": 7}, "next": 5_000, "error": 4},
        b={"process": 2, "copies": ["0-0"], "topics": ["foo"], "unique": 3},
    )
    assert (found.epoch, found.at, found.join_ended_at) == (5, 1000, 900)
    a, b = found.members["a"], found.members["b"]
    assert (a.process_id, a.given, a.sums, a.next_ms, a.error_code) == (
        P1,
        frozenset({T0, T1}),
        {T0: 7},
        5_000,
        4,
    )
    assert (b.process_id, b.replicas, b.unique_field, b.next_ms) == (P2, frozenset({T0}), 3, None)
    assert found.active[T0] is a
    assert found.copies == {(T0, P2)}
    assert found.sum_of(T0, P1) == 7
    assert found.next_at == 5_000


def test_it_shows_inputs_and_which_subtopologies_have_state() -> None:
    state = StreamsState()
    read(state, a={"process": 1, "has": ["0-0", "1-0"], "copies": ["1-1"], "sums": {"0-0": -2}})
    assert state.inputs == {
        T0: frozenset({("foo", 0)}),
        ("1", 0): frozenset({("bar", 0)}),
        ("1", 1): frozenset({("bar", 1)}),
    }
    assert state.stateful == {"0": "SUM_SEEN", "1": "REPLICA_SEEN"}


def test_what_was_owned_is_told_by_partitions() -> None:
    found = read(knowing(T0, T1), a={"process": 1, "owned": ["0-0", "0-1"], "has": ["0-0"]})
    assert found.members["a"].owned == {T0, T1}
    assert found.revoked == 1


def test_one_member_that_cannot_be_read_stops_all() -> None:
    members = {"a": {"process": 1, "has": ["0-0"]}, "b": {"process": 2, "unread": "TRUNCATED"}}
    state = StreamsState()
    assert read_generation(state, *k2(**members)) is None
    assert state.inputs == {}, "nothing of it counts"


def test_a_task_is_owed_to_the_process_that_rejoins_at_once() -> None:
    state = knowing(T0, T1)
    found = read(
        state,
        a={"process": 1, "owned": ["0-0", "0-1"], "has": ["0-0"]},
        b={"process": 2, "next": 0, "topics": ["foo"]},
    )
    find_owed(state, found, {})
    assert found.owed == {T1: P2}
    assert found.missing == frozenset()


def test_of_several_it_is_the_balanced_owner_or_the_one_with_a_replica() -> None:
    state = knowing(T0)
    members: dict[str, dict[str, Any]] = {
        "a": {"process": 1, "owned": ["0-0"], "topics": ["foo"]},
        "b": {"process": 2, "next": 0, "topics": ["foo"]},
        "c": {"process": 3, "next": 0, "topics": ["foo"], "copies": ["0-0"]},
    }
    found = read(state, **members)
    find_owed(state, found, {T0: P2})
    assert found.owed == {T0: P2}
    found = read(state, **members)
    find_owed(state, found, {T0: P1})
    assert found.owed == {T0: P3}, "who gives it up cannot be who gets it"
    del members["c"]["copies"]
    found = read(state, **members)
    find_owed(state, found, {T0: P1})
    assert found.owed == {T0: None}, "the record does not say which"


def test_a_task_that_nobody_has_or_is_owed_is_missing() -> None:
    state = knowing(T0, T1, T2)
    state.inputs["1", 0] = frozenset({("bar", 0)})
    found = read(state, a={"process": 1, "owned": ["0-0", "0-1"], "has": ["0-0"]})
    find_owed(state, found, {})
    assert found.owed == {}
    assert found.missing == {T1, T2}, "1_0 reads a topic that nobody subscribes to"


def test_the_same_generation_again_owes_the_same() -> None:
    state = knowing(T0, T1)
    members: dict[str, dict[str, Any]] = {
        "a": {"process": 1, "owned": ["0-0", "0-1"], "has": ["0-0"]},
        "b": {"process": 2, "next": 0, "topics": ["foo"]},
    }
    before, again = read(state, **members), read(state, **members)
    find_owed(state, before, {})
    keep_owed(before, again)
    assert again.owed == {T1: P2}


def test_tasks_with_state_are_placed_evenly_over_threads() -> None:
    state = knowing(T0, T1, T2)
    found = read(
        state,
        a={"process": 1, "has": ["0-0", "0-1", "0-2"]},
        b={"process": 2, "topics": ["foo"]},
        c={"process": 2, "topics": ["foo"]},
    )
    placement = Placement()
    assert placement.of(state, found) == {}, "no task has state yet"
    state.stateful["0"] = "SUM_SEEN"
    placed = placement.of(state, found)
    assert sorted(placed) == [T0, T1, T2]
    assert sorted(placed.values()) == [P1, P2, P2]
    assert placement.of(state, found) is placed, "what was found is kept"


def test_the_protocol_of_streams_has_a_name() -> None:
    assert is_streams("stream")
    assert not is_streams("range")
    assert not is_streams(None)
