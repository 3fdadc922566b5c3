"""Who holds which unit: a row from the hold to the release, to the next owner, to the first commit.

Source: docs/measures.md, Who holds what and Hand-overs.
"""

from __future__ import annotations

import pytest

from groupreplay.replay.assignment.partition_owners import PartitionOwners
from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.facts import Anomaly, Fact, HandOver, HeldPartition
from groupreplay.replay.life import CONSUMER, Life, Member
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge

FOO_0, FOO_1 = ("foo-id", 0), ("foo-id", 1)
BOTH = frozenset({FOO_0, FOO_1})
ONE = frozenset({FOO_0})


def moment(at: int, offset: int, last_hole: int = -1, *, by_k2: bool = False) -> Moment:
    return Moment(at, offset, 3, 0, by_k2, last_hole)


class Group:
    """Members a and b; a holds foo-0 and foo-1 since offset 10."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, CONSUMER)
        self.output = Output()
        judge = Judge(self.life, self.output)
        names = Names({"foo-id": "foo"}, self.life)
        self.owners = PartitionOwners(self.life, names, self.output, judge)
        self.a, self.b = (self.life.members.setdefault(each, Member(each)) for each in "ab")
        for member in (self.a, self.b):
            member.protocol, member.rebalance_timeout_ms = CONSUMER, 60_000
        self.owners.hold(self.a, BOTH, moment(1_000, 10), True)

    def release(self, at: int, offset: int, ending: Ending | None = None, **more: bool) -> None:
        told = ending if ending is not None else Ending("REVOKED")
        self.owners.release(self.a, {FOO_0}, told, moment(at, offset, **more))

    def told(self) -> list[Fact]:
        return self.output.take()


def only(facts: list[Fact]) -> HeldPartition:
    (row,) = (each for each in facts if isinstance(each, HeldPartition))
    return row


def test_who_holds_a_unit_is_known_while_it_is_held() -> None:
    group = Group()
    assert group.life.holders == {FOO_0: ["a"], FOO_1: ["a"]}
    assert (group.a.owns_since_at, group.a.owns_since_offset) == (1_000, 10)
    group.release(2_000, 20)
    assert group.life.holders == {FOO_1: ["a"]}
    assert group.life.unowned == {FOO_0}
    group.owners.release(group.a, {FOO_1}, Ending("REVOKED"), moment(3_000, 30))
    assert group.a.owns_since_at == -1


def test_a_row_is_final_at_the_first_commit_of_the_next_owner() -> None:
    group = Group()
    group.life.commits["foo", 0] = (1_500, 15)
    group.life.committed["foo", 0] = 700
    group.release(2_000, 20)
    group.owners.hold(group.b, ONE, moment(2_400, 24), True)
    assert group.told() == []
    group.owners.first_commit(FOO_0, 2_900, 29, -1, 690)
    row = only(group.told())
    assert (row.member_id, row.assigned_at, row.released_at) == ("a", 1_000, 2_000)
    assert (row.next_member_id, row.next_assigned_at, row.unowned_ms) == ("b", 2_400, 400)
    assert (row.idle_ms, row.rewound) == (1_400, 10)
    assert group.life.trails == {}
    group.owners.first_commit(FOO_0, 3_900, 39, -1)
    assert group.told() == []


def test_what_is_read_again_is_known_where_the_next_leader_has_a_clock_behind() -> None:
    """Simulated: static-11 p5:2381 and 2406, failover 4.1.2 seed 990850105."""
    group = Group()
    group.life.commits["foo", 0] = (1_500, 15)
    group.life.committed["foo", 0] = 700
    group.release(2_000, 20)
    group.owners.hold(group.b, ONE, moment(1_100, 24), True)
    group.owners.first_commit(FOO_0, 1_200, 29, -1, 690)
    row = only(group.told())
    assert (row.idle_ms, row.rewound) == (None, 10)


def test_an_owner_that_loses_it_before_it_commits_leaves_the_row_without_a_commit() -> None:
    group = Group()
    group.release(2_000, 20)
    group.owners.hold(group.b, ONE, moment(2_400, 24), True)
    group.owners.release(group.b, {FOO_0}, Ending("REVOKED"), moment(2_600, 26))
    row = only(group.told())
    assert (row.member_id, row.next_member_id, row.idle_ms) == ("a", "b", None)


@pytest.mark.parametrize(
    ("hole", "next_member", "unowned_ms"),
    [(-1, "b", 400), (20, "b", 400), (21, None, None)],
    ids=["none", "before", "between"],
)
def test_behind_a_hole_somebody_else_may_have_held_it(
    hole: int, next_member: str | None, unowned_ms: int | None
) -> None:
    group = Group()
    group.release(2_000, 20)
    group.owners.hold(group.b, ONE, moment(2_400, 24, hole), True)
    group.owners.first_commit(FOO_0, 2_900, 29, hole)
    row = only(group.told())
    assert (row.next_member_id, row.unowned_ms) == (next_member, unowned_ms)


def test_a_k2_shows_a_release_later_than_it_was() -> None:
    group = Group()
    group.release(2_000, 20, by_k2=True)
    group.owners.hold(group.b, ONE, moment(2_000, 20, by_k2=True), True)
    group.owners.first_commit(FOO_0, 2_900, 29, -1)
    assert only(group.told()).unowned_ms is None


def test_what_no_target_has_will_have_no_next_owner() -> None:
    group = Group()
    group.release(2_000, 20)
    group.life.target_owner = {FOO_0: "b"}
    group.owners.drop_untargeted(30)
    assert group.told() == []
    group.life.target_owner = {}
    group.owners.drop_untargeted(20)
    assert group.told() == [], "it was let go with this target"
    group.owners.drop_untargeted(40, given_back=ONE)
    assert group.told() == []
    group.owners.drop_untargeted(40)
    row = only(group.told())
    assert (row.released_at, row.next_member_id) == (2_000, None)
    assert group.life.unowned == set()


def ask(group: Group, *, observed: bool = True) -> None:
    """a is asked for foo-0."""
    group.a.pending = ONE
    group.a.taken[FOO_0] = (4_000, 2)
    assert group.owners.request(group.a, ONE, moment(5_000, 50), observed) == 1
    assert group.owners.request(group.a, ONE, moment(5_500, 55), observed) == 0, "asked already"


def end(group: Group, ending: Ending, at: int = 8_000, offset: int = 80) -> HandOver:
    """The request ends, and b gets foo-0 if it was let go."""
    group.a.pending = frozenset()
    group.owners.end_requests(group.a, ending, moment(at, offset))
    if FOO_0 not in ending.returned:
        group.owners.release(group.a, {FOO_0}, ending, moment(at, offset))
        group.owners.hold(group.b, ONE, moment(8_200, 82), True)
        group.owners.first_commit(FOO_0, 8_700, 87, -1)
    (row,) = (each for each in group.told() if isinstance(each, HandOver))
    return row


def test_a_hand_over_has_each_of_its_steps() -> None:
    group = Group()
    ask(group)
    row = end(group, Ending("REVOKED"))
    assert (row.outcome, row.epoch, row.timeout_ms) == ("ACKED", 2, 60_000)
    assert (row.target_at, row.requested_at, row.acked_at) == (4_000, 5_000, 8_000)
    assert (row.granted_at, row.granted_to, row.first_commit_at) == (8_200, "b", 8_700)
    assert (row.notify_ms, row.revoke_ms, row.grant_ms, row.resume_ms, row.unowned_ms) == (
        *(1_000, 3_000),
        *(200, 500, 200),
    )
    assert not row.is_censored


@pytest.mark.parametrize(
    ("ending", "outcome", "ended_at"),
    [
        (Ending("LEFT_OR_FENCED", "FENCED"), "FENCED", 8_000),
        (Ending("REVOKED", returned=ONE), "CANCELLED", 8_000),
        (Ending("REVOKED", hidden=True), "UNOBSERVED", None),
    ],
)
def test_a_hand_over_that_was_not_acknowledged_has_no_times_of_it(
    ending: Ending, outcome: str, ended_at: int | None
) -> None:
    group = Group()
    ask(group)
    row = end(group, ending)
    assert (row.outcome, row.ended_at, row.acked_at) == (outcome, ended_at, None)
    assert row.grant_ms is None
    span = group.a.spans.get(FOO_0)
    assert (span is not None and span.given_back) == (outcome == "CANCELLED")


def test_a_request_whose_beginning_was_not_seen_has_no_duration() -> None:
    group = Group()
    ask(group, observed=False)
    row = end(group, Ending("REVOKED"))
    assert (row.outcome, row.notify_ms, row.revoke_ms, row.timeout_ms) == (
        "ACKED",
        None,
        None,
        None,
    )


def test_another_leader_arms_the_timers_anew() -> None:
    group = Group()
    ask(group)
    group.owners.note_new_leader()
    assert end(group, Ending("REVOKED")).timeout_ms is None


def test_a_clock_that_went_back_gives_no_duration_and_one_anomaly_a_record() -> None:
    group = Group()
    group.a.pending = BOTH
    group.owners.request(group.a, BOTH, moment(5_000, 50), True)
    group.a.pending = frozenset()
    group.owners.end_requests(group.a, Ending("REVOKED"), moment(4_000, 60))
    group.owners.finish_all()
    told = group.told()
    assert [each.revoke_ms for each in told if isinstance(each, HandOver)] == [None, None]
    anomalies = [each for each in told if isinstance(each, Anomaly)]
    assert [(each.rule, each.evidence_offset) for each in anomalies] == [("NEGATIVE_DURATION", 60)]


def test_units_that_came_to_another_member_are_counted_once() -> None:
    group = Group()
    group.owners.release(group.a, {FOO_0, FOO_1}, Ending("REVOKED"), moment(2_000, 20))
    group.owners.hold(group.b, ONE, moment(2_400, 24), True)
    group.owners.hold(group.a, frozenset({FOO_1}), moment(2_400, 24), True)
    assert (group.owners.take_moved(), group.owners.take_moved()) == (1, 0)
