"""One operation as it unfolds: who inherits, who was who, and what a hole hides."""

from __future__ import annotations

import pytest

from groupreplay.replay.change import Before, Change, is_hidden
from groupreplay.replay.life import CONSUMER, Life, Member
from groupreplay.replay.operations import Operation
from tests.support.building import Log
from tests.support.replaying import operations_of

FOO_0, FOO_1 = ("foo-id", 0), ("foo-id", 1)


def before(current_offset: int = 5, existed: bool = True) -> Before:
    nothing: frozenset[tuple[str, int]] = frozenset()
    return Before(existed, 1, 0, 0, nothing, nothing, current_offset, 1_000)


def change(last_hole: int = -1) -> Change:
    return Change(2_000, 20, 22, 3, last_hole)


def operation() -> Operation:
    (found,) = operations_of(Log().leader(4).write({"k5": "A"}, {"k3": 1}))
    return found


def test_a_change_is_where_its_operation_is() -> None:
    life = Life("g", 0, 0, CONSUMER, last_change_offset=9)
    made = Change.of(operation(), life)
    assert (made.at, made.offset, made.last_offset, made.leader_epoch) == (1_000, 0, 1, 4)
    assert (made.last_change_offset, made.is_whole) == (9, True)
    assert Change.of(operation()).last_change_offset == -1, "it begins a life"


def test_a_log_that_is_no_more_ends_where_its_life_was_seen_last() -> None:
    life = Life("g", 0, 0, CONSUMER, last_offset=30, last_at=7_000, leader_epoch=2)
    made = Change.at_end_of(life)
    assert (made.at, made.offset, made.last_offset, made.last_hole) == (7_000, 30, 30, 30)


def test_partitions_held_are_those_assigned_and_those_still_to_be_given_back() -> None:
    one = before()
    one.assigned, one.pending = frozenset({FOO_0}), frozenset({FOO_0, FOO_1})
    assert one.held == 2


def test_who_took_over_an_instance_that_was_there_before_is_an_heir() -> None:
    """An upgrade may take over, and replace at once, who was in no record before."""
    made = change()
    made.before = {"old": before(), "unseen": before(existed=False)}
    assert made.heirs() == set()
    made.replaced = {"old": "new", "unseen": "other"}
    assert made.heirs() == {"new"}


def test_a_stretch_that_the_operation_ends_is_of_who_the_member_was() -> None:
    made, member = change(), Member("m", client_id="after")
    made.before["m"] = before()
    assert made.client_before(member)["client_id"] == "after"
    made.before["m"].described = Member("m", client_id="before").client
    assert made.client_before(member)["client_id"] == "before"


@pytest.mark.parametrize(
    ("current_offset", "last_hole", "hidden"),
    [(5, 6, True), (5, 5, False), (5, -1, False), (-1, 6, False)],
    ids=["behind it", "at it", "no hole", "no record of it"],
)
def test_a_hole_behind_a_members_last_record_hides_what_became_of_it(
    current_offset: int, last_hole: int, hidden: bool
) -> None:
    made = change(last_hole)
    made.before["m"] = before(current_offset)
    assert is_hidden(made, "m") is hidden


def test_an_end_that_was_not_seen_is_hidden_too() -> None:
    for made in (change(), change()):
        made.before["m"] = before()
    ended, inherited = change(), change()
    for made in (ended, inherited):
        made.before["m"] = before()
        assert not is_hidden(made, "m")
    ended.hides_ends = True
    inherited.hidden_heirs = {"m"}
    assert is_hidden(ended, "m")
    assert is_hidden(inherited, "m")
