"""What nobody read, of groups by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.simulator.expected.transitions import transitions_of
from tests.simulator.expected.unread import committed_at, unread_of
from tests.simulator.written import AGAIN, ID, classic_generation, history_of, line


def _holds(*numbers: int) -> dict[str, Any]:
    """A member of the consumer protocol with these partitions."""
    member = {"e": 2, "pe": 0, "st": "STABLE", "cl": "c", "rt": 1, "sub": ["t"]}
    return member | {"a": {ID: numbers}, "pr": {}, "ta": {ID: numbers}}


def test_what_a_holder_before_committed_is_no_sign_of_life(tmp_path: Path) -> None:
    """b commits partition 1, which a gets then and never commits, and a goes."""
    group = {"type": "consumer", "ge": 2, "te": 2}

    def state(**members: Any) -> dict[str, Any]:
        return {"s": {"g": {**group, "ms": members}}}

    history = history_of(
        tmp_path,
        line(0, "join", recs=["K3 epoch 2"], **state(a=_holds(0))),
        line(2, "join", **state(b=_holds(1))),
        line(5, "commit", c=["K1 g t-0 5"]),
        line(20, "commit", c=["K1 g t-1 5"]),
        line(30, "heartbeat", **state(b=_holds())),
        line(31, "heartbeat", **state(a=_holds(0, 1))),
        line(50, "leave", s={"g": {**group, "gone": ["a"]}}),
        line(60, "heartbeat", **state(b=_holds(0, 1))),
    )
    (life,) = history.lives
    (unread, _) = [each for each in unread_of(history, life) if each.span.member_id == "a"]
    assert committed_at(history, life, unread) == 1_005


def test_who_is_back_from_a_while_away_read_nothing_meanwhile(tmp_path: Path) -> None:
    """It went with partitions 0 and 1, has 0 once more, and goes again before it commits."""
    group = {"type": "consumer", "ge": 2, "te": 2}

    def state(epoch: int, *numbers: int) -> dict[str, Any]:
        member = {**_holds(*numbers), "e": epoch, "i": "i"}
        return {"s": {"g": {**group, "ms": {"a": member}}}}

    history = history_of(
        tmp_path,
        line(0, "join", recs=["K3 epoch 2"], **state(2, 0, 1)),
        line(5, "commit", c=["K1 g t-0 5"]),
        line(10, "leave", **state(-2, 0, 1)),
        line(30, "join", **state(2, 0)),
        line(40, "leave", **state(-2, 0)),
        line(45, "join", **state(2, 0)),
        line(50, "commit", c=["K1 g t-0 6"]),
    )
    (life,) = history.lives
    found = transitions_of(history, life)
    assert [each.unread.is_back for each in found] == [True, True]
    assert [(each.low_ms, each.took_ms, each.idle_ms) for each in found] == [
        *((20, 20, None), (5, 5, 45)),
    ]


def test_a_topic_that_was_deleted_may_be_another_over_a_conversion(tmp_path: Path) -> None:
    """Its name is the same, so that who had it in the K2 seems to give it to the next. Of one that is
    deleted later, the name that its id had may not be known."""

    def is_unmatched(folder: str, given: str, *deleted: dict[str, Any]) -> bool:
        (tmp_path / folder).mkdir()
        group = {"type": "consumer", "ge": 2, "te": 2}
        nothing = {"ms": {"a": {**_holds(), "classic": 1}}}
        again = {"ms": {"a": {**_holds(), "a": {given: [0]}}}}
        history = history_of(
            tmp_path / folder,
            line(0, "sync", **classic_generation(1, "a")),
            line(20, "join", s={"g": {**group, **nothing}}, recs=["K2 gone", "K3 epoch 2"]),
            line(50, "heartbeat", s={"g": {**group, **again}}),
            timeline=deleted,
        )
        (life,) = history.lives
        (unread,) = unread_of(history, life)
        return unread.is_unmatched

    deleted = {"what": "delete", "detail": f"t {ID}"}
    assert is_unmatched("created again", AGAIN, {"t": 1_010, **deleted})
    assert is_unmatched("deleted later", ID, {"t": 1_060, **deleted})
    assert not is_unmatched("kept", ID)


def test_a_commit_of_a_topic_created_again_is_none_of_who_holds_the_former(tmp_path: Path) -> None:
    """a still has a partition of the topic that was deleted when b commits the new one's."""
    group = {"type": "consumer", "ge": 2, "te": 2}
    again = {**_holds(), "a": {AGAIN: [0]}, "ta": {AGAIN: [0]}}
    history = history_of(
        tmp_path,
        line(0, "join", recs=["K3 epoch 2"], s={"g": {**group, "ms": {"a": _holds(0, 1)}}}),
        line(5, "commit", c=["K1 g t-0 5"]),
        line(30, "join", s={"g": {**group, "ms": {"b": again}}}),
        line(40, "commit", c=["K1 g t-0 1"]),
        line(50, "leave", s={"g": {**group, "gone": ["a"]}}),
        line(60, "heartbeat", s={"g": {**group, "ms": {"b": _holds(1)}}}),
        timeline=[{"t": 1_020, "what": "delete", "detail": f"t {ID}"}],
    )
    (life,) = history.lives
    found = [each for each in unread_of(history, life) if each.span.member_id == "a"]
    assert [committed_at(history, life, each) for each in found] == [1_005]
