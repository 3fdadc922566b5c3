"""Who is in a group: members as records describe them, and the counts that are asked for at every
operation.
"""

from __future__ import annotations

import pytest

from groupreplay.records.consumer import STABLE, UNREVOKED_PARTITIONS
from groupreplay.records.entries import Entry
from groupreplay.replay.assignment.members import Current, Members
from groupreplay.replay.change import Change
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member, client_key
from tests.support.building import Log

FOO_0, FOO_1 = ("foo-id", 0), ("foo-id", 1)
NOTHING: frozenset[tuple[str, int]] = frozenset()


class Group:
    """A life, its members, and the operation that is under way."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, CONSUMER)
        self.members = Members(self.life)
        self.begin()

    def begin(self) -> Change:
        self.change = Change(1_000, 1, 1, 0, -1)
        return self.change

    def join(self, member_id: str, protocol: str = CONSUMER, client_id: str = "c") -> Member:
        member = self.members.touch(self.change, member_id)
        self.members.describe(self.change, member, None, client_id, "/h", protocol)
        return member

    def assign(self, member: Member, epoch: int, state: int = STABLE) -> None:
        self.members.assign(member, ENTRY, Current(epoch, epoch - 1, state, NOTHING, NOTHING))


ENTRY: Entry = Log().at(7_000).write({"k8": "a"})[0]


def test_a_member_is_kept_as_it_was_at_its_first_touch() -> None:
    group = Group()
    member = group.join("a")
    member.assigned = frozenset({FOO_0})
    assert not group.change.before["a"].existed
    before = group.begin().before
    group.members.touch(group.change, "a")
    member.assigned = frozenset({FOO_1})
    group.members.touch(group.change, "a")
    assert (before["a"].existed, before["a"].assigned) == (True, frozenset({FOO_0}))


def test_a_member_that_is_removed_and_written_again_in_one_operation_is_the_same() -> None:
    group = Group()
    member = group.join("a")
    group.members.remove(group.begin(), "a", 5)
    assert (group.life.members, group.change.removed) == ({}, {"a": member})
    assert group.change.offsets == {"a": 5}
    assert group.members.touch(group.change, "a") is member
    assert group.change.removed == {}


def test_clients_and_hosts_of_live_members_are_counted() -> None:
    group = Group()
    for member_id in ("a", "b"):
        group.join(member_id)
    key = client_key("c", "/h")
    assert (group.life.clients, group.life.hosts) == ({key: 2}, {"/h": 2})
    group.members.describe(group.change, group.life.members["a"], None, "d", "/h", CONSUMER)
    assert group.life.clients == {key: 1, client_key("d", "/h"): 1}
    for member_id in ("a", "b"):
        group.members.remove(group.change, member_id, 1)
    assert (group.life.clients, group.life.hosts) == ({}, {})


def test_members_of_the_classic_protocol_are_counted_and_told_once() -> None:
    group = Group()
    group.members.classic_changed = set()
    member = group.join("a", CLASSIC)
    group.join("b")
    assert (group.life.classic_members, group.members.classic_changed) == (1, {"a"})
    group.members.describe(group.change, member, None, "c", "/h", CONSUMER)
    assert group.life.classic_members == 0


def test_members_that_are_stable_are_counted_by_their_epoch() -> None:
    group = Group()
    a, b = group.join("a"), group.join("b")
    group.assign(a, 3)
    group.assign(b, 3)
    assert group.life.stable == {3: 2}
    group.assign(a, 4, UNREVOKED_PARTITIONS)
    assert (group.life.stable, a.revoking_since) == ({3: 1}, 7_000)
    group.assign(a, 4)
    assert group.life.stable == {3: 1, 4: 1}
    group.members.unassign(a)
    group.members.remove(group.change, "b", 1)
    assert group.life.stable == {}


def test_a_k8_says_what_a_member_has_and_since_which_record() -> None:
    group = Group()
    member = group.join("a")
    wanted = Current(5, 4, UNREVOKED_PARTITIONS, frozenset({FOO_0}), frozenset({FOO_1}))
    group.members.assign(member, ENTRY, wanted)
    assert (member.epoch, member.previous_epoch) == (5, 4)
    assert member.held == {FOO_0, FOO_1}
    assert (member.current_offset, member.current_at) == (0, 7_000)
    group.members.lose(member, FOO_1)
    assert (member.held, member.pending) == (frozenset({FOO_0}), NOTHING)


@pytest.mark.parametrize(
    ("client", "same_generation", "inherited"),
    [("c", True, True), ("c", False, None), ("d", True, False), ("d", False, False)],
)
def test_a_classic_static_member_that_returns_may_have_the_client_of_before(
    client: str, same_generation: bool, inherited: bool | None
) -> None:
    """In the generation that it left it keeps it (ClassicGroup.replaceStaticMember); in a later one
    it may as well be new.
    """
    group = Group()
    before, member = group.join("old", CLASSIC), group.join("new", CLASSIC, client)
    group.members.inherit_client(member, before, same_generation=same_generation)
    assert member.client_inherited is inherited


def test_another_client_is_its_own() -> None:
    group = Group()
    member = group.join("a", CLASSIC)
    member.client_inherited = True
    group.members.describe(group.change, member, None, "d", "/h", CLASSIC)
    assert member.client_inherited is False


def test_who_was_there_before_the_log_may_have_the_client_of_an_earlier_process() -> None:
    group = Group()
    seen, unseen = group.join("a"), group.join("b")
    for member in (seen, unseen):
        member.client_inherited = False
    group.members.join(seen, 1_000, 1, observed=True)
    group.members.join(unseen, 1_000, 1, observed=False)
    assert (seen.client_inherited, unseen.client_inherited) == (False, None)


@pytest.mark.parametrize(("begins_epoch", "epoch"), [(True, 6), (False, 7)])
def test_a_subscription_is_of_the_epoch_that_it_begins_or_will_begin(
    begins_epoch: bool, epoch: int
) -> None:
    group = Group()
    group.life.epoch = 6
    member = group.join("a")
    group.members.subscribe(member, ENTRY, ("foo",), "f.*", None, 60_000)
    group.members.note_subscription(member, begins_epoch=begins_epoch)
    assert member.subscription_epoch == epoch
    heir = group.join("b")
    group.members.inherit_subscription(heir, member)
    assert (heir.subscription, heir.regex, heir.subscription_epoch) == (("foo",), "f.*", epoch)
