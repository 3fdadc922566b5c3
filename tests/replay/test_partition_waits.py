"""For which partitions a member waits, and for whom."""

from __future__ import annotations

from groupreplay.replay.life import CONSUMER, Life, Member
from groupreplay.replay.partition_waits import PartitionWaits

FOO_0, FOO_1 = ("foo-id", 0), ("foo-id", 1)


def test_a_member_waits_for_what_it_has_not_got_of_its_target() -> None:
    waits = PartitionWaits(Life("g", 0, 0, CONSUMER))
    member = Member("a", target=frozenset({FOO_0, FOO_1}), assigned=frozenset({FOO_0}))
    assert waits.missing(member) == {FOO_1}


def test_without_a_target_it_waits_for_nothing() -> None:
    waits = PartitionWaits(Life("g", 0, 0, CONSUMER))
    assert waits.missing(Member("a", assigned=frozenset({FOO_0}))) == set()


def test_it_waits_for_the_others_that_have_it() -> None:
    waits = PartitionWaits(Life("g", 0, 0, CONSUMER, holders={FOO_0: ["a", "b", "c"]}))
    assert waits.holding(FOO_0, Member("a")) == ["b", "c"]
    assert waits.holding(FOO_1, Member("a")) == []
