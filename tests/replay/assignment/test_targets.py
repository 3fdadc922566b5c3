"""Which partitions are to be whose, and how many moved.

Source: docs/measures.md, Epochs (partitions_moved) and Hand-overs (target_at).
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.assignment.stalls import Stalls
from groupreplay.replay.assignment.targets import Targets
from groupreplay.replay.change import Change
from groupreplay.replay.decisions.missed_units import MissedUnits
from groupreplay.replay.life import CONSUMER, Life, Member, TopicPartition
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge
from tests.support.building import Log

FOO = [("foo-id", number) for number in range(4)]


class Group:
    """Members and their targets, in a group whose birth was seen or not."""

    def __init__(self, *member_ids: str, birth_seen: bool = True) -> None:
        self.life = Life("g", 0, 0, CONSUMER, birth_seen=birth_seen)
        for member_id in member_ids:
            self.life.members[member_id] = Member(member_id)
        output = Output()
        stalls = Stalls(self.life, output, Judge(self.life, output))
        names = Names({"foo-id": "foo"}, self.life)
        self.targets = Targets(self.life, names, stalls, MissedUnits(self.life))
        self.change = Change(1_000, 1, 1, 0, -1)
        self.offset = 0

    def set(
        self, member_id: str, wanted: Iterable[TopicPartition] | None, last_hole: int = -1
    ) -> None:
        self.offset = max(self.offset, last_hole) + 1
        entry: Entry = Log().at(self.offset * 1_000).write({"k7": member_id})[0]
        entry = entry._replace(offset=self.offset, last_hole=last_hole)
        target = None if wanted is None else frozenset(wanted)
        self.targets.set(self.change, entry, self.life.members[member_id], target)

    def owners(self) -> list[str | None]:
        return [self.life.target_owner.get(unit) for unit in FOO]


def test_what_goes_from_one_member_to_another_moved() -> None:
    group = Group("a", "b")
    group.set("a", FOO)
    assert group.targets.begin_epoch(1) == 0, "first assignments do not count"
    group.set("a", FOO[:2])
    group.set("b", FOO[2:])
    assert group.owners() == ["a", "a", "b", "b"]
    assert group.targets.begin_epoch(2) == 2


@pytest.mark.parametrize("first", ["a", "b"])
def test_the_order_of_the_k7s_does_not_matter(first: str) -> None:
    group = Group("a", "b")
    group.set("a", FOO)
    group.targets.begin_epoch(1)
    wanted = {"a": FOO[:2], "b": FOO[2:]}
    for member_id in (first, *({"a", "b"} - {first})):
        group.set(member_id, wanted[member_id])
    assert (group.owners(), group.targets.begin_epoch(2)) == (["a", "a", "b", "b"], 2)


def test_what_comes_back_before_the_next_target_did_not_move() -> None:
    group = Group("a", "b")
    group.set("a", FOO[:1])
    group.targets.begin_epoch(1)
    group.set("a", [])
    group.set("b", FOO[:1])
    group.set("b", [])
    group.set("a", FOO[:1])
    assert group.targets.begin_epoch(2) == 0


def test_what_is_dropped_does_not_count_as_moved() -> None:
    group = Group("a")
    group.set("a", FOO)
    group.targets.begin_epoch(1)
    group.set("a", [])
    assert group.owners() == [None] * 4
    assert [(member.member_id, lost) for member, lost in group.change.dropped] == [
        ("a", frozenset(FOO))
    ]
    assert group.targets.begin_epoch(2) == 0


def test_moves_are_unknown_where_the_target_before_was_not_seen() -> None:
    group = Group("a", birth_seen=False)
    group.set("a", FOO)
    assert group.targets.begin_epoch(5) is None
    assert group.targets.begin_epoch(6) == 0
    behind = Group("a", birth_seen=False)
    behind.set("a", FOO)
    assert behind.targets.begin_epoch(5, follows=True) == 0


def test_the_target_that_took_a_partition_is_kept_with_who_lost_it() -> None:
    group = Group("a", "b")
    group.life.epoch = 7
    group.set("a", FOO[:2])
    group.set("a", FOO[:1])
    member = group.life.members["a"]
    assert member.taken == {FOO[1]: (2_000, 7)}
    group.set("a", FOO[:2])
    assert member.taken == {}


def test_two_that_are_to_have_one_partition_are_a_claim() -> None:
    group = Group("a", "b")
    group.set("a", FOO[:1])
    group.set("b", FOO[:1])
    assert group.change.claims == [(FOO[0], "a", "b")]


def test_a_static_member_under_another_id_takes_its_own_over() -> None:
    group = Group("old", "new", "other")
    group.set("old", FOO)
    group.targets.begin_epoch(1)
    group.set("new", FOO[:2])
    group.set("other", FOO[2:])
    group.targets.inherit(["old"], "new")
    assert group.targets.begin_epoch(2) == 2


def test_what_a_member_was_given_back_in_a_hole_the_target_takes_again() -> None:
    group = Group("a")
    member = group.life.members["a"]
    group.set("a", FOO[:1])
    member.assigned = frozenset(FOO[:2])
    group.set("a", FOO[:1], last_hole=2)
    assert member.taken == {FOO[1]: (3_000, None)}


def test_a_topic_without_a_name_is_told_once() -> None:
    group = Group("a")
    group.set("a", FOO)
    assert not group.targets.take_unnamed()
    group.set("a", [("bar-id", 0)])
    assert group.targets.take_unnamed()
    assert not group.targets.take_unnamed()


def test_a_conversion_renames_what_has_another_name() -> None:
    group = Group("a", "b")
    group.set("a", FOO[:2])
    group.targets.rename({FOO[0]: "foo", FOO[1]: None})
    a, b = group.life.members["a"], group.life.members["b"]
    assert (a.target, b.target) == (frozenset({("foo", 0)}), None)
    assert group.life.target_owner == {("foo", 0): "a"}


def test_what_a_leader_takes_from_one_of_two_is_the_others() -> None:
    """A K2 that gave a partition to two members, and the next one to one of them: it did not
    move.
    """
    group = Group("a", "b")
    a, b = group.life.members["a"], group.life.members["b"]
    group.targets.assign(a, frozenset(FOO[:1]))
    group.targets.assign(b, frozenset(FOO[:1]))
    group.targets.begin_epoch(1)
    group.targets.assign(b, frozenset())
    group.targets.own_all()
    assert group.owners()[0] == "a"
    assert group.targets.begin_epoch(2) == 0
