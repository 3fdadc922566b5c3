"""A group that was deleted and created again in a hole: when that may be so, and what shows it.

Source: docs/measures.md, Operations, lives, and what was seen of them; rule I10.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.records.classic import GroupMetadata
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.hidden_lives import (
    began_again,
    may_be_another_life,
    settled_in,
    shows_another_life,
    take_newcomers,
)
from tests.support.building import Log
from tests.support.words import Form

HOLE = 50


def life(protocol: str = CONSUMER, **more: Any) -> Life:
    """What was seen of it ends at offset 40."""
    return Life("g", 0, 0, protocol, last_change_offset=40, **more)


def operation(*forms: Form, hole: int = HOLE) -> Operation:
    """Behind the hole, at offset 60."""
    return Operation(
        [entry._replace(offset=60 + entry.offset, last_hole=hole) for entry in Log().write(*forms)]
    )


@pytest.mark.parametrize(("hole", "may_be"), [(HOLE, True), (40, False), (-1, False)])
def test_a_group_without_members_may_have_been_deleted_in_a_hole(hole: int, may_be: bool) -> None:
    assert may_be_another_life(life(), operation({"k3": 9}, hole=hole)) is may_be


def test_a_consumer_group_with_members_cannot() -> None:
    """How they went would be left by the cleaner."""
    one = life(members={"A": Member("A", current_offset=30)})
    assert not may_be_another_life(one, operation({"k3": 9}))


@pytest.mark.parametrize(("listed", "may_be"), [("B", True), ("A", False)])
def test_a_classic_group_can_where_none_of_its_members_is_there(listed: str, may_be: bool) -> None:
    """The coordinator gives such an id once."""
    one = life(CLASSIC, members={"A": Member("A", current_offset=30)})
    k2: Form = {"k2": 9, "members": {listed: {}}}
    assert may_be_another_life(one, operation(k2)) is may_be


@pytest.mark.parametrize(
    ("generation", "members", "hole", "again"),
    [
        (4, {"B": {}}, HOLE, True),
        (5, {"B": {}}, HOLE, True),
        (5, {}, HOLE, False),
        (6, {"B": {}}, HOLE, False),
        (4, {"B": {}}, 40, False),
    ],
    ids=["lower", "the same with members", "the same, empty", "higher", "no hole"],
)
def test_a_generation_that_was_passed_is_of_another_life(
    generation: int, members: dict[str, Any], hole: int, again: bool
) -> None:
    """The one before was empty, so who joins begins the next (ClassicGroup.initNextGeneration)."""
    one = life(CLASSIC, epoch=5, k2_offset=40)
    made = operation({"k2": generation, "members": members}, hole=hole)
    record = made.entries[0].record
    assert isinstance(record, GroupMetadata)
    assert record.value is not None
    assert began_again(one, made, record.value) is again


@pytest.mark.parametrize(
    ("form", "shows"),
    [
        ({"k3": 7}, True),
        ({"k3": 8}, False),
        ({"k6": 5}, True),
        ({"k6": 6}, False),
        ({"k8": "A", "epoch": 5}, True),
        ({"k8": "A", "epoch": 6}, False),
        ({"k8": "A", "epoch": 5, "state": "UNREVOKED_PARTITIONS", "pending": {"foo": [0]}}, False),
        ({"k8": "A", "epoch": -2}, False),
    ],
)
def test_epochs_and_targets_only_rise_in_one_life(form: Form, shows: bool) -> None:
    """Who still has to give up partitions may stay behind the target."""
    one = life(epoch=7, target_epoch=6, epoch_offset=40)
    assert shows_another_life(one, operation(form)) is shows
    assert not shows_another_life(one, operation(form, hole=40))


def test_who_showed_itself_behind_the_hole_is_of_the_new_life() -> None:
    old = Member("old", current_offset=30, joined_offset=20)
    both = Member("both", current_offset=70, joined_offset=20, epoch=3)
    new = Member("new", current_offset=65, joined_offset=65)
    one = life(members={each.member_id: each for each in (old, both, new)}, epoch_offset=40)
    found = take_newcomers(one, operation({"k3": 1}))
    assert [(each.member_id, each.joined_offset) for each in found] == [("new", 65), ("both", 70)]
    assert sorted(one.members) == ["both", "old"], "its open rows end with the old life"
    settled = settled_in(one, found)
    assert (settled.incarnation, sorted(settled.members)) == (65, ["both", "new"])
