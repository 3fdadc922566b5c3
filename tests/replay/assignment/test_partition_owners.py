"""Partitions that are held: their topics' names, what is lost with a topic, and other names after a
conversion. What becomes of any unit is in `test_owners.py`.
"""

from __future__ import annotations

import pytest

from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from groupreplay.replay.assignment.partition_owners import (
    PartitionOwners,
    UntoldOwners,
    unnamed_of,
)
from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.facts import HandOver, HeldPartition
from groupreplay.replay.life import CLASSIC, CONSUMER, STREAMS, Life, Member, Span
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge
from tests.support.building import record

FOO_0, BAR_0 = ("foo-id", 0), ("bar-id", 0)


class Group:
    def __init__(self, protocol: str = CONSUMER, **names: str) -> None:
        self.life = Life("g", 0, 0, protocol)
        self.output = Output()
        kind = UntoldOwners if protocol == STREAMS else PartitionOwners
        judge = Judge(self.life, self.output)
        self.owners = kind(self.life, Names(names, self.life), self.output, judge)
        self.member = self.life.members.setdefault("a", Member("a"))

    def hold(self, *units: tuple[str, int], offset: int = 10) -> None:
        moment = Moment(1_000, offset, 3, 0)
        self.owners.hold(self.member, frozenset(units), moment, True)

    def rows(self) -> list[HeldPartition]:
        return [each for each in self.output.take() if isinstance(each, HeldPartition)]


@pytest.mark.parametrize(
    ("protocol", "topic", "topic_id"), [(CONSUMER, None, "foo"), (CLASSIC, "foo", None)]
)
def test_a_partition_goes_by_what_the_protocol_names_it(
    protocol: str, topic: str | None, topic_id: str | None
) -> None:
    group = Group(protocol)
    row = group.owners.span_row(group.member, ("foo", 0), Span(1_000, 10, 3, True))
    assert (row.topic, row.topic_id, row.partition) == (topic, topic_id, 0)


@pytest.mark.parametrize(
    ("subscription", "regex", "by_k2", "reason"),
    [
        (("foo",), "", False, "TOPIC_REMOVED"),
        ((), "f.*", False, "TOPIC_REMOVED"),
        ((), "other", False, "REVOKED"),
        (("bar",), "", False, "REVOKED"),
        (("foo",), "", True, "REVOKED"),
    ],
)
def test_a_partition_of_a_topic_that_is_gone_is_lost_with_it_to_who_still_wants_it(
    subscription: tuple[str, ...], regex: str, by_k2: bool, reason: str
) -> None:
    group = Group(**{"foo-id": "foo"})
    group.member.subscription, group.member.regex = subscription, regex
    group.life.resolved_topics = {"f.*": ("foo", "far")}
    group.life.deleted_topics = {"foo-id"}
    group.hold(FOO_0)
    group.owners.release(group.member, {FOO_0}, Ending("REVOKED"), Moment(2_000, 20, 3, 0, by_k2))
    group.owners.finish_all()
    assert [row.end_reason for row in group.rows()] == [reason]


def test_of_a_topic_without_a_name_every_member_may_be_a_subscriber() -> None:
    group = Group()
    assert group.owners.subscribes(group.member, "foo-id")


def test_a_conversion_renames_what_has_a_name_and_ends_what_has_none() -> None:
    group = Group()
    group.hold(FOO_0, BAR_0)
    group.member.requests[FOO_0] = HandOver(
        **group.life.place,
        from_offset=15,
        epoch=1,
        **group.member.client,
        topic=None,
        topic_id="foo-id",
        partition=0,
        target_at=None,
        requested_at=1_500,
        notify_ms=None,
        timeout_ms=None,
    )
    assert unnamed_of(group.member, {FOO_0: "foo"}) == {BAR_0}
    group.owners.rename({FOO_0: "foo"}, Moment(2_000, 20, 3, 0))
    assert group.life.holders == {("foo", 0): ["a"]}
    assert group.member.spans["foo", 0].other_name == "foo-id"
    assert list(group.member.requests) == [("foo", 0)]
    (row,) = group.rows()
    assert (row.topic_id, row.end_reason, row.is_final) == ("bar-id", "UNOBSERVED", True)


def test_a_topic_that_was_deleted_has_no_name_to_go_on_by() -> None:
    group = Group(**{"bar-id": "bar"})
    group.member.subscription = ("bar",)
    group.life.deleted_topics = {"bar-id"}
    group.hold(BAR_0)
    group.owners.rename({}, Moment(2_000, 20, 3, 0))
    assert [row.end_reason for row in group.rows()] == ["TOPIC_REMOVED"]


def value(epochs: list[int]) -> ConsumerGroupCurrentMemberAssignmentValue:
    made = record({"k8": "a", "epoch": 5, "assigned": {"foo": [0]}, "epochs": {"foo": epochs}})
    assert isinstance(made, ConsumerGroupCurrentMemberAssignment)
    assert made.value is not None
    return made.value


@pytest.mark.parametrize(
    ("offset", "known", "epochs", "stays"),
    [
        (10, True, [3], True),
        (10, True, [2], False),
        (10, False, [3], True),
        (20, False, [3], False),
    ],
    ids=["its own", "of before", "begun behind the hole", "begun before it"],
)
def test_assignment_epochs_are_kept_where_they_are_known_to_stay(
    offset: int, known: bool, epochs: list[int], stays: bool
) -> None:
    """A static member that returns keeps those of what it had."""
    group = Group()
    group.life.stamps_assignments = True
    group.hold(FOO_0)
    group.owners.note_stamps(group.member, offset, value(epochs), known)
    assert group.member.spans[FOO_0].stamped is stays
    group.owners.forget_stamps(group.member)
    assert not group.member.spans[FOO_0].stamped


def test_of_tasks_nothing_is_told_here() -> None:
    """Their rows have processes and roles, and are made elsewhere."""
    group = Group(STREAMS)
    group.hold(("0", 0), ("0", 1))
    group.owners.release(group.member, {("0", 0)}, Ending("REVOKED"), Moment(2_000, 20, 3, 0))
    assert group.life.unowned == {("0", 0)}
    group.owners.drop_untargeted(30)
    group.owners.finish_all()
    assert group.output.take() == []
