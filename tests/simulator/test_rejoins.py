"""Which answers tell a member to join again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.answers import Answer
from tests.simulator.expected.rejoins import (
    CHECK,
    REBALANCE_IN_PROGRESS,
    Rejoin,
    consumers_in,
    gone_from,
    rejoins_of,
    synced_at,
    untold_times,
)
from tests.simulator.written import BORN, answer, classic_generation, history_of, line


def _answer(
    came: int, at: int, api: str, kind: str, epoch: int | None, code: int = 0, broker: int = 1
) -> Answer:
    joined = 42 if kind == "join" else None
    return Answer(
        *(at, broker, came, code, kind, "a", api),
        epoch=epoch,
        member_id="a",
        answered_epoch=joined,
        true_at=at,
    )


@pytest.mark.parametrize(
    ("came", "generation", "broker", "told"),
    [(173, 41, 1, None), (180, 41, 1, 41), (173, 41, 2, 41), (173, 42, 1, 42)],
    ids=["on its way", "of a later request", "of another broker", "of this generation"],
)
def test_a_heartbeat_that_was_on_its_way_tells_nothing(
    came: int, generation: int, broker: int, told: int | None
) -> None:
    """It came before the member joined generation 42, and was answered behind that join."""
    answers = [
        _answer(179, 179, "JOIN_GROUP", "join", None),
        _answer(came, 181, "HEARTBEAT", "heartbeat", generation, REBALANCE_IN_PROGRESS, broker),
        _answer(190, 205, "SYNC_GROUP", "sync", 42),
    ]
    found = list(rejoins_of(answers, {}, ()))
    assert [None if each.told is None else each.told.generation for each in found] == (
        [None] if told is None else [None, told]
    )


@pytest.mark.parametrize(
    ("behind_ms", "untold"), [(623, [range(3_081, 6_496)]), (0, [])], ids=["behind", "not behind"]
)
def test_an_answer_that_seems_to_come_before_its_question_cannot_be_told(
    behind_ms: int, untold: list[range]
) -> None:
    """A member is told by broker 1 in generation 63, joins 64 by broker 2, whose clock is behind,
    and then 65."""
    told = _answer(3_729, 3_729, "SYNC_GROUP", "sync", 63, REBALANCE_IN_PROGRESS)
    join, later = (
        _answer(at, at, "JOIN_GROUP", "join", None, broker=2) for at in (3_729 - behind_ms, 6_471)
    )
    found = untold_times([Rejoin("a", told, join), Rejoin("a", None, later)], 25)
    assert [times for _, times in found] == untold


@pytest.mark.parametrize(
    ("broker", "at", "admitted"),
    [(2, 3_000, True), (2, 3_800, False), (1, 3_000, False)],
    ids=["by a clock behind", "later", "by the same clock"],
)
def test_an_assignment_that_seems_to_come_before_its_join_may_be_unknown(
    broker: int, at: int, *, admitted: bool
) -> None:
    join = _answer(3_729, 3_729, "JOIN_GROUP", "join", None)
    synced = _answer(at, at, "SYNC_GROUP", "sync", 42, broker=broker)
    may_be = synced_at(join, synced)
    assert (hasattr(may_be, "admits") and may_be.admits(None)) == admitted
    assert may_be == at or may_be.admits(at)
    assert not (admitted and may_be.admits(at + 1))


def test_an_assignment_that_comes_behind_the_next_call_may_be_unknown() -> None:
    """Its heartbeat is answered with its join, and tells it to join again; then it has its
    assignment of the generation all the same."""
    answers = [
        _answer(10, 22, "JOIN_GROUP", "join", None),
        _answer(10, 22, "HEARTBEAT", "heartbeat", 42, REBALANCE_IN_PROGRESS),
        _answer(40, 41, "SYNC_GROUP", "sync", 42),
    ]
    found = list(rejoins_of(answers, {}, [range(100)]))
    assert [each.is_called_first for each in found] == [True, False]
    may_be = synced_at(found[0].join, found[0].synced, is_untold=True)
    assert [value for value in (None, 22, 41) if may_be.admits(value)] == [None, 41]


@pytest.mark.parametrize(
    ("consumers", "joins"), [([range(100)], 1), ([range(15), range(30, 100)], 2)]
)
def test_a_join_of_the_same_generation_brings_a_classic_member_to_one_that_was_lost(
    consumers: list[range], joins: int
) -> None:
    """A member is told to join in generation 42 and joins a generation 42. A consumer group wants
    partitions back first: its next join goes on with that."""
    answers = [
        _answer(10, 10, "SYNC_GROUP", "sync", 42, REBALANCE_IN_PROGRESS),
        _answer(20, 20, "JOIN_GROUP", "join", None),
        _answer(25, 25, "HEARTBEAT", "heartbeat", 42, REBALANCE_IN_PROGRESS),
        _answer(40, 40, "JOIN_GROUP", "join", None),
    ]
    assert len(list(rejoins_of(answers, {}, consumers))) == joins


def test_a_group_is_one_of_consumers_until_it_is_converted(tmp_path: Path) -> None:
    consumer = {"type": "consumer", "state": "Empty", "ge": 1, "te": 1, "ms": {}}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(30, "join", s={"g": consumer}),
        line(50, "heartbeat", s={"g": {**consumer, "ge": 2}}),
        line(70, "join", s={"g": BORN}),
    )
    (found,) = consumers_in(history, "g")
    operations = history.truth.operations["g"]
    assert (found.start, found.stop) == (operations[1].true_at, operations[3].true_at)


def test_who_a_classic_generation_leaves_out_may_come_back_to_a_consumer_group(
    tmp_path: Path,
) -> None:
    """It did not join in time. After an upgrade its slow JoinGroup is let in under its old id: that
    is no answer to what it was told before."""
    left_out = classic_generation(2, "b")
    left_out["s"]["g"]["gone"] = ["a"]
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", "b")),
        line(40, "sync", **left_out),
    )
    assert gone_from(history, "g") == {"a": [history.truth.operations["g"][-1].true_at]}


@pytest.mark.parametrize(("left_at", "gone"), [(1_029, 1_030), (1_030, 1_030)])
def test_who_joins_and_leaves_in_one_ms_had_joined_before_it_went(
    tmp_path: Path, left_at: int, gone: int
) -> None:
    """Its join came first, and is answered later."""
    left = {"type": "classic", "ge": 2, "ms": {}, "gone": ["a"]}
    history = history_of(
        tmp_path,
        line(20, "sync", **classic_generation(1, "a", "b")),
        line(29, "join", s={"g": {"type": "classic", "ge": 1, "ms": {}}}),
        line(30, "leave", s={"g": left}) | {"t": left_at},
    )
    assert gone_from(history, "g") == {"a": [gone]}


@pytest.mark.parametrize(("consumers", "joins"), [(range(15), 1), (range(9), 2)])
def test_the_group_that_a_join_came_to_answers_it(consumers: range, joins: int) -> None:
    """It is told to join in generation 42, and joins 42. A group of consumers may be a classic one by
    the time that what it wrote for the join is in the log, and the join is answered."""
    answers = [
        _answer(8, 8, "HEARTBEAT", "heartbeat", 42, REBALANCE_IN_PROGRESS),
        _answer(10, 20, "JOIN_GROUP", "join", None),
        _answer(25, 25, "HEARTBEAT", "heartbeat", 42, REBALANCE_IN_PROGRESS),
        _answer(30, 40, "JOIN_GROUP", "join", None),
    ]
    assert len(list(rejoins_of(answers, {}, [consumers]))) == joins


def test_a_member_is_let_in_twice_at_once_by_clocks(tmp_path: Path) -> None:
    joins = [
        answer(20, 20, "JOIN_GROUP", "join", ae=to, br=to, am="a") | {"at": to} for to in (1, 2)
    ]
    history = history_of(tmp_path, line(10, "join", s={"g": BORN}), answers=joins)
    wanted = CHECK.wanted(history).values()
    assert [each.values["new_generation"] for each in wanted] == [1, 2]
