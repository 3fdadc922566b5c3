"""Whom an operation touched: heirs, who joined, what is known of each, and how what it had ends.

Source: docs/measures.md, Who holds what; GroupMetadataManager.replaceMember,
consumerGroupFenceMembers.
"""

from __future__ import annotations

import pytest

from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.assignment.touched import (
    ending_of,
    find_replaced,
    is_start_observed,
    joined_members,
    touched_members,
)
from groupreplay.replay.change import Before, Change
from groupreplay.replay.life import CONSUMER, Life, Member

NOTHING: frozenset[tuple[str, int]] = frozenset()


def before(existed: bool = True, epoch: int | None = 3, current_offset: int = 10) -> Before:
    return Before(existed, epoch, 2, 0, NOTHING, NOTHING, current_offset, 1_000)


class Operation:
    """One operation at offsets 20 to 25; its epoch begins at 20 where it begins one."""

    def __init__(self, *, begins_epoch: bool = True, last_hole: int = -1) -> None:
        self.life = Life("g", 0, 0, CONSUMER, birth_seen=True, last_change_offset=15)
        self.life.epoch, self.life.epoch_offset = 4, 20 if begins_epoch else 12
        self.change = Change(2_000, 20, 25, 0, last_hole)

    def goes(self, member_id: str, instance: str | None = None, client: str | None = "c") -> Member:
        member = Member(member_id, instance_id=instance, client_id=client, protocol=CONSUMER)
        self.change.removed[member_id] = member
        self.change.before[member_id] = before()
        return member

    def comes(self, member_id: str, instance: str | None = None) -> Member:
        member = Member(member_id, instance_id=instance, client_id="c", protocol=CONSUMER)
        member.epoch, member.previous_epoch = 4, 0
        self.life.members[member_id] = member
        self.change.before[member_id] = before(existed=False, epoch=None, current_offset=-1)
        return member

    def heirs(self) -> dict[str, str]:
        find_replaced(self.life, self.change)
        return self.change.replaced


def test_one_that_comes_with_the_instance_of_one_that_goes_replaces_it() -> None:
    operation = Operation()
    operation.goes("old", "i")
    operation.comes("new", "i")
    operation.goes("other", "j")
    assert operation.heirs() == {"old": "new"}


def test_dynamic_members_have_no_heirs() -> None:
    operation = Operation()
    operation.goes("old")
    operation.comes("new")
    assert operation.heirs() == {}


def test_the_only_one_that_goes_whose_k5_was_not_seen_had_the_instance_of_who_comes() -> None:
    operation = Operation()
    operation.goes("old", client=None)
    operation.comes("new", "i")
    assert operation.heirs() == {"old": "new"}


def test_of_two_that_go_unseen_it_may_be_either() -> None:
    operation = Operation()
    operation.goes("one", client=None)
    operation.goes("two", client=None)
    operation.comes("new", "i")
    assert operation.heirs() == {}


@pytest.mark.parametrize(
    ("begins_epoch", "is_whole", "hidden"),
    [(True, True, False), (False, True, True), (True, False, True)],
)
def test_a_hole_may_hide_an_heir_where_a_part_of_the_operation_is_lost(
    begins_epoch: bool, is_whole: bool, hidden: bool
) -> None:
    """A removal without an heir begins an epoch."""
    operation = Operation(begins_epoch=begins_epoch)
    operation.goes("old", "i")
    operation.goes("dynamic")
    operation.change.is_whole = is_whole
    operation.heirs()
    assert operation.change.hidden_heirs == ({"old"} if hidden else set())


def test_who_joined_is_no_heir_and_was_not_there_before() -> None:
    operation = Operation()
    operation.goes("old", "i")
    operation.comes("new", "i")
    fresh = operation.comes("fresh")
    operation.life.members["there"] = Member("there")
    operation.change.before["there"] = before()
    operation.heirs()
    assert joined_members(operation.life, operation.change) == [fresh]


def test_each_touched_member_has_the_moment_of_its_own_record() -> None:
    operation = Operation()
    operation.goes("old")
    member = operation.comes("new")
    member.epoch = 7
    operation.change.offsets["old"] = 22
    moments = {
        member.member_id: (moment.offset, moment.epoch)
        for member, _, moment in touched_members(operation.life, operation.change)
    }
    assert moments == {"old": (22, 4), "new": (25, 7)}


@pytest.mark.parametrize(("last_hole", "observed"), [(-1, True), (10, True), (11, False)])
def test_what_a_known_member_has_now_began_now_without_a_hole_behind_its_last_k8(
    last_hole: int, observed: bool
) -> None:
    operation = Operation(last_hole=last_hole)
    member = Member("a", epoch=4, previous_epoch=3)
    assert is_start_observed(operation.life, operation.change, member, before()) is observed


@pytest.mark.parametrize(
    ("instance", "client", "is_whole", "observed"),
    [
        (None, "c", False, True),
        ("i", "c", False, False),
        ("i", "c", True, True),
        (None, None, False, False),
    ],
    ids=["dynamic", "may have come back", "whole", "may be static"],
)
def test_a_previous_epoch_of_zero_is_a_join_or_a_static_return(
    instance: str | None, client: str | None, is_whole: bool, observed: bool
) -> None:
    operation = Operation()
    operation.change.is_whole = is_whole
    member = Member("a", instance_id=instance, client_id=client, epoch=4, previous_epoch=0)
    unseen = before(existed=False, current_offset=-1)
    assert is_start_observed(operation.life, operation.change, member, unseen) is observed


def test_a_k2_shows_a_newcomer_where_the_k2_before_it_is_known() -> None:
    unseen = before(existed=False, current_offset=-1)
    for last_hole, birth_seen, observed in ((15, True, True), (16, True, False), (-1, False, True)):
        operation = Operation(last_hole=last_hole)
        operation.life.birth_seen, operation.change.by_k2 = birth_seen, True
        found = is_start_observed(operation.life, operation.change, Member("a"), unseen)
        assert found is observed, last_hole
    first = Operation()
    first.life.birth_seen, first.life.last_change_offset, first.change.by_k2 = False, -1, True
    assert not is_start_observed(first.life, first.change, Member("a"), unseen)


def test_how_what_a_member_lost_ends() -> None:
    operation = Operation()
    gone = operation.goes("gone")
    replaced = operation.goes("old", "i")
    operation.comes("new", "i")
    operation.heirs()
    away, stays = Member("away", epoch=STATIC_LEAVE_EPOCH), Member("stays", epoch=4)
    change = operation.change
    told = {
        member.member_id: ending_of(
            change, member, change.before.get(member.member_id, before()), False
        )
        for member in (gone, replaced, away, stays)
    }
    assert {name: (each.reason, each.outcome) for name, each in told.items()} == {
        "gone": ("LEFT_OR_FENCED", "LEFT_OR_FENCED"),
        "old": ("REPLACED", "REPLACED"),
        "away": ("REVOKED", "LEFT"),
        "stays": ("REVOKED", None),
    }


def test_what_a_downgrade_takes_was_not_seen_to_be_given_up() -> None:
    operation = Operation()
    operation.change.downgraded = True
    stays = Member("stays", epoch=4)
    assert ending_of(operation.change, stays, before(), False).outcome == "UNOBSERVED"


def test_with_the_group_everything_ends() -> None:
    operation = Operation()
    operation.change.group_ends = True
    for hides_ends in (False, True):
        operation.change.hides_ends = hides_ends
        ending = ending_of(operation.change, Member("a", epoch=4), before(), False)
        assert (ending.reason, ending.may_go_on) == ("GROUP_REMOVED", hides_ends)


def test_one_that_had_left_for_a_while_lost_it_then() -> None:
    operation = Operation()
    gone = operation.goes("gone", "i")
    was_away = before(epoch=STATIC_LEAVE_EPOCH)
    assert ending_of(operation.change, gone, was_away, False).away_at == 1_000
    assert ending_of(operation.change, gone, before(), False).away_at is None
