"""When a transition is a move, a return, or costs nothing. Source: docs/measures.md, What a change
of hands costs.
"""

from __future__ import annotations

import pytest

from groupreplay.replay.kept.transition import Transition


def transition(**more: object) -> Transition:
    made = Transition("ASKED", "a", "instance:i", 1_000, 40)
    for name, value in more.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("member_id", "identity", "is_move"),
    [
        ("b", "instance:j", True),
        ("b", "instance:i", False),
        ("a", "member:a", False),
        ("b", None, False),
    ],
    ids=["another process", "under another id", "its own", "not known"],
)
def test_a_move_is_to_another_process(member_id: str, identity: str | None, is_move: bool) -> None:
    one = transition(to_member_id=member_id, to_identity=identity)
    assert one.is_move is is_move
    assert not one.is_return


def test_what_is_not_granted_has_not_moved() -> None:
    assert not transition().is_move


def test_a_return_is_to_who_had_it_before_the_last_one() -> None:
    back = {"to_member_id": "b", "to_identity": "instance:j"}
    assert transition(came_from="instance:j", **back).is_return
    assert not transition(came_from="instance:k", **back).is_return
    own = {"to_member_id": "a", "to_identity": "instance:i"}
    assert not transition(came_from="instance:i", **own).is_return


@pytest.mark.parametrize("why", ["is_hidden", "is_through_empty"])
def test_what_nobody_missed_or_nobody_saw_costs_nothing(why: str) -> None:
    assert transition().is_costed
    assert not transition(**{why: True}).is_costed


def test_a_hand_over_waits_since_the_first_that_the_records_show() -> None:
    assert transition().waited_since == 1_000
    assert transition(away_at=700).waited_since == 700
    assert transition(requested_at=800, away_at=700).waited_since == 800
