"""Which partition a commit is of, and what it ends: names are not ids.

Source: docs/measures.md, Hand-overs and Stuck; OffsetCommitValue.json (topicId from version 4 on).
"""

from __future__ import annotations

from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.assignment.commits import apply_commit
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.facts import HeldPartition, TopicSeen
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member
from groupreplay.replay.output import Output
from tests.support.building import Log
from tests.support.words import Form

FOO_0 = ("foo-id", 0)


class Group:
    """a gave partition 0 of foo to b, who has not committed it yet."""

    def __init__(self, protocol: str = CONSUMER, **names: str) -> None:
        self.unit = FOO_0 if protocol == CONSUMER else ("foo", 0)
        self.life = Life("g", 0, 0, protocol)
        self.output = Output()
        self.membership = Membership(self.life, names, self.output)
        self.a, self.b = (self.life.members.setdefault(each, Member(each)) for each in "ab")
        for topic_id in names:
            self.membership.names.see(topic_id)
        owners, unit = self.membership.owners, self.unit
        owners.hold(self.a, frozenset({unit}), Moment(1_000, 10, 1, 0), True)
        owners.release(self.a, {unit}, Ending("REVOKED"), Moment(2_000, 20, 1, 0))
        owners.hold(self.b, frozenset({unit}), Moment(2_400, 24, 1, 0), True)

    def commit(self, form: Form, offset: int = 30) -> None:
        entry = Log().at(3_000).write(form)[0]._replace(offset=offset)
        assert isinstance(entry.record, OffsetCommit)
        apply_commit(self.membership, entry, entry.record)

    def ended(self) -> list[str]:
        """Members whose spans are final by now."""
        return [each.member_id for each in self.output.take() if isinstance(each, HeldPartition)]


def test_a_commit_that_names_the_id_is_of_that_id() -> None:
    group = Group()
    group.commit({"k1": "foo-0", "topic_id": "other-id"})
    assert group.ended() == []
    group.commit({"k1": "foo-0", "topic_id": "foo-id"})
    assert group.ended() == ["a"]


def test_a_commit_by_name_is_of_the_id_that_has_it() -> None:
    group = Group(**{"foo-id": "foo"})
    group.commit({"k1": "bar-0"})
    group.commit({"k1": "foo-1"})
    assert group.ended() == []
    group.commit({"k1": "foo-0"})
    assert group.ended() == ["a"]


def test_without_a_name_a_commit_is_nobodys_and_is_kept() -> None:
    group = Group()
    group.commit({"k1": "foo-0", "committed": 7})
    assert group.ended() == []
    assert group.life.commits == {("foo", 0): (3_000, 30)}
    assert group.life.committed == {("foo", 0): 7}


def test_in_a_classic_group_partitions_go_by_names() -> None:
    group = Group(CLASSIC)
    group.commit({"k1": "foo-0"})
    assert group.ended() == ["a"]
    assert group.b.last_commit_at == 3_000


def test_a_topic_tells_its_name_by_its_first_commit() -> None:
    group = Group()
    group.commit({"k1": "foo-0", "topic_id": "foo-id"})
    group.commit({"k1": "foo-0", "topic_id": "foo-id"}, 31)
    seen = [each for each in group.output.take() if isinstance(each, TopicSeen)]
    assert [(each.topic_id, each.topic, each.source) for each in seen] == [("foo-id", "foo", "K1")]


def test_a_commit_of_a_topic_that_was_created_again_may_be_of_either() -> None:
    """Of who still has to give up the old one, or of who has the new one."""
    group = Group(**{"foo-id": "foo", "foo-new": "foo"})
    again = frozenset({("foo-new", 0)})
    group.membership.owners.hold(group.a, again, Moment(2_500, 25, 1, 0), True)
    group.commit({"k1": "foo-0"})
    assert group.life.commits == {}
    assert (group.a.unseen_offset, group.b.unseen_offset) == (30, 30)
    assert group.ended() == ["a"], "that b read it first is not known any more"


def test_a_tombstone_forgets_the_position() -> None:
    group = Group(**{"foo-id": "foo"})
    group.commit({"k1": "foo-0", "committed": 7}, 21)
    trail = group.life.trails.get(FOO_0)
    assert trail is None, "its first commit has ended it"
    group.commit({"k1x": "foo-0"}, 31)
    assert (group.life.commits, group.life.committed) == ({}, {})
