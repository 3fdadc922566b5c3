"""Which process a member is, while member ids change. Source: docs/decisions.md; KIP-345."""

from __future__ import annotations

import pytest

from groupreplay.replay.assignment.members import Members
from groupreplay.replay.change import Change
from groupreplay.replay.decisions.identities import identity_of, identity_of_gone
from groupreplay.replay.life import CONSUMER, Life, Member


class Group:
    """Members that come and go, each operation in a change of its own."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, CONSUMER)
        self.members = Members(self.life)
        self.begin()

    def begin(self) -> None:
        self.change = Change(1_000, 1, 1, 0, -1)

    def join(self, member_id: str, client_id: str = "c", instance_id: str | None = None) -> Member:
        member = self.members.touch(self.change, member_id)
        self.members.describe(self.change, member, instance_id, client_id, "/h", CONSUMER)
        return member

    def leave(self, member_id: str) -> Member:
        member = self.life.members[member_id]
        self.members.remove(self.change, member_id, 1)
        return member


def test_an_instance_id_is_the_process_whatever_its_member_id() -> None:
    group = Group()
    assert identity_of(group.life, group.join("m1", instance_id="i")) == "instance:i"


def test_a_client_id_and_host_that_no_other_live_member_has_is_the_process() -> None:
    group = Group()
    first = group.join("m1")
    assert identity_of(group.life, first) == "client:c /h"
    group.join("m2")
    assert identity_of(group.life, first) == "member:m1"
    group.leave("m2")
    assert identity_of(group.life, first) == "client:c /h"


def test_a_member_whose_client_was_not_seen_is_its_member_id() -> None:
    assert identity_of(Life("g", 0, 0, CONSUMER), Member("m1")) == "member:m1"


def test_who_is_gone_counts_among_those_that_live() -> None:
    group = Group()
    group.join("m1")
    group.begin()
    gone = group.leave("m1")
    assert identity_of(group.life, gone) == "client:c /h"
    group.join("m2")
    assert identity_of(group.life, gone) == "member:m1"


@pytest.mark.parametrize("others", [0, 1])
def test_who_takes_its_place_in_the_same_operation_does_not_count(others: int) -> None:
    """It went with a client of its own, and another one like it came."""
    group = Group()
    for number in range(others):
        group.join(f"other{number}")
    group.join("m1")
    group.begin()
    gone = group.leave("m1")
    group.join("m2")
    identity = identity_of_gone(group.life, group.change, gone)
    assert identity == ("member:m1" if others else "client:c /h")


def test_two_that_go_together_were_two_before() -> None:
    group = Group()
    group.join("m1")
    group.join("m2")
    group.begin()
    gone = [group.leave("m1"), group.leave("m2")]
    found = [identity_of_gone(group.life, group.change, each) for each in gone]
    assert found == ["member:m1", "member:m2"]
