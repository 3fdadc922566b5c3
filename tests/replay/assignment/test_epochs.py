"""Rows of epochs: when one ends, converges or storms, and what a hole makes of that.

Source: docs/measures.md, Epochs.
"""

from __future__ import annotations

import pytest

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.records.consumer import STABLE, UNREVOKED_PARTITIONS
from groupreplay.replay.assignment.epochs import ANSWERED_MS, Epochs
from groupreplay.replay.facts import Anomaly, Chain, Epoch, Stall
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge

JOIN = ("JOIN", "a", "EXACT")
TOPICS = ("TOPIC_METADATA", None, "EXACT")


class Group:
    """A life with members, of which the counts are kept by hand."""

    def __init__(self, *, birth_seen: bool = True, protocol: str = CONSUMER) -> None:
        self.life = Life("g", 0, 0, protocol, birth_seen=birth_seen)
        self.output = Output()
        self.epochs = Epochs(self.life, self.output, Judge(self.life, self.output))

    def have(self, **epochs: int) -> None:
        """Members by the epochs that they are STABLE in; below 0: UNREVOKED in it."""
        self.life.members, self.life.stable = {}, {}
        for member_id, epoch in epochs.items():
            state = STABLE if epoch >= 0 else UNREVOKED_PARTITIONS
            member = Member(member_id, epoch=abs(epoch), state=state, current_offset=10)
            self.life.members[member_id] = member
            if epoch >= 0:
                self.life.stable[epoch] = self.life.stable.get(epoch, 0) + 1

    def reach(self, epoch: int, at: int, offset: int) -> None:
        """A K6, and an operation end at which members may have converged."""
        self.life.target_epoch = epoch
        self.epochs.target(epoch, at, offset, 0)

    def shown(self) -> str:
        """The outcome of the open epoch as it stands."""
        row = self.epochs.as_it_stands()
        assert row is not None
        return row.outcome

    def row(self) -> Epoch:
        row = self.life.epoch_row
        assert row is not None
        return row


def test_an_epoch_is_superseded_by_the_next_and_ends_with_its_group() -> None:
    group = Group()
    group.epochs.open(1, 1_000, 10, JOIN)
    group.epochs.open(2, 2_000, 20, TOPICS)
    group.epochs.close(3_000, 30, ended=True)
    first, second = (each for each in group.output.take() if isinstance(each, Epoch))
    assert (first.outcome, first.superseded_at, first.to_offset) == ("SUPERSEDED", 2_000, 20)
    assert (second.outcome, second.superseded_at) == ("GROUP_REMOVED", None)
    assert (first.cause, first.cause_member_id, first.confidence) == JOIN


def test_members_are_counted_at_the_end_of_the_operation() -> None:
    group = Group()
    group.epochs.open(1, 1_000, 10, JOIN)
    group.have(a=1, b=1)
    group.life.classic_members = 1
    (row,) = group.epochs.count_members()
    assert (row.members, row.members_classic) == (2, 1)
    assert group.epochs.count_members() == []


def test_an_epoch_converges_when_every_member_is_stable_in_it() -> None:
    group = Group()
    group.epochs.open(3, 1_000, 10, JOIN)
    group.have(a=3, b=-3)
    group.reach(3, 1_400, 14)
    group.epochs.converge(1_400, 14, -1)
    assert group.row().outcome == "OPEN"
    group.have(a=3, b=3)
    group.epochs.converge(2_500, 25, -1)
    row = group.row()
    assert (row.outcome, row.converged_at) == ("CONVERGED", 2_500)
    assert (row.assign_ms, row.converge_ms) == (400, 1_500)


@pytest.mark.parametrize("target", [None, 2])
def test_without_its_target_no_epoch_converges(target: int | None) -> None:
    group = Group()
    group.epochs.open(3, 1_000, 10, JOIN)
    group.life.target_epoch = target
    group.have(a=3)
    group.epochs.converge(2_000, 20, -1)
    assert group.row().outcome == "OPEN"


def test_a_group_without_members_converges_on_nothing() -> None:
    group = Group()
    group.epochs.open(3, 1_000, 10, JOIN)
    group.reach(3, 1_400, 14)
    group.epochs.converge(2_000, 20, -1)
    assert group.row().outcome == "OPEN"


def test_what_lies_behind_a_hole_in_the_epoch_is_not_known() -> None:
    group = Group()
    group.epochs.open(3, 1_000, 10, JOIN)
    group.have(a=3)
    group.reach(3, 1_400, 14)
    group.epochs.converge(2_000, 20, 15)
    assert (group.row().outcome, group.row().converged_at) == ("UNOBSERVED", None)


def test_what_converged_before_a_hole_stays_so() -> None:
    group = Group()
    group.epochs.open(3, 1_000, 10, JOIN)
    group.have(a=3)
    group.reach(3, 1_400, 14)
    group.epochs.converge(2_000, 20, -1)
    group.epochs.converge(3_000, 30, 25)
    assert group.row().outcome == "CONVERGED"


def test_of_a_group_older_than_the_log_there_may_be_members_that_were_not_seen() -> None:
    """Until each has answered a target: by a K8, or it was removed."""
    group = Group(birth_seen=False)
    group.epochs.open(3, 1_000, 10, JOIN)
    group.have(a=3)
    group.epochs.note_asked(1_400, 14, -1)
    group.reach(3, 1_400, 14)
    group.epochs.converge(2_000, 20, -1)
    assert (group.shown(), group.row().outcome) == ("UNOBSERVED", "CONVERGED")
    group.epochs.converge(1_400 + ANSWERED_MS, 90, -1)
    assert (group.shown(), group.row().outcome) == ("CONVERGED", "CONVERGED")


def test_a_member_that_shows_itself_late_takes_a_doubtful_end_back() -> None:
    group = Group(birth_seen=False)
    group.epochs.open(3, 1_000, 10, JOIN)
    group.have(a=3)
    group.reach(3, 1_400, 14)
    group.epochs.converge(2_000, 20, -1)
    group.epochs.note_unseen()
    row = group.row()
    assert (row.outcome, row.converged_at, row.converge_ms) == ("UNOBSERVED", None, None)


def test_a_clock_that_went_back_gives_no_duration() -> None:
    group = Group()
    group.epochs.open(3, 5_000, 10, JOIN)
    group.reach(3, 4_000, 14)
    assert (group.row().target_at, group.row().assign_ms) == (4_000, None)
    assert [each.rule for each in group.output.take() if isinstance(each, Anomaly)] == [
        "NEGATIVE_DURATION"
    ]


def test_the_first_k6_of_an_epoch_gives_its_target() -> None:
    group = Group()
    group.epochs.open(3, 1_000, 10, JOIN)
    group.life.target_owner = {("foo-id", 0): "a", ("foo-id", 1): "left"}
    group.epochs.target(3, 1_400, 14, 5, left_behind={"left"})
    group.epochs.target(3, 1_900, 19, 7)
    row = group.row()
    assert (row.target_at, row.partitions_moved, row.partitions) == (1_400, 5, 1)


def test_causes_that_repeat_within_an_hour_are_a_storm() -> None:
    group = Group()
    for number in range(3):
        group.epochs.open(number + 1, number * MAX_CHAIN_GAP_MS, 10 * number, TOPICS)
    assert group.life.storm is not None
    assert len(group.life.storm.times_at) == 3
    group.epochs.open(4, 3 * MAX_CHAIN_GAP_MS + 1, 40, JOIN)
    group.epochs.open(5, 3 * MAX_CHAIN_GAP_MS + 2, 50, TOPICS)
    (chain,) = (each for each in group.output.take() if isinstance(each, Chain))
    assert (chain.reason, len(chain.times_at)) == ("EPOCH_STORM", 3)
    assert group.life.storm.times_at == [3 * MAX_CHAIN_GAP_MS + 2]


def test_members_that_come_and_go_are_no_storm_nor_are_generations() -> None:
    for protocol, cause in ((CONSUMER, JOIN), (CLASSIC, TOPICS)):
        group = Group(protocol=protocol)
        group.epochs.open(1, 1_000, 10, cause)
        assert group.life.storm is None


def test_another_hash_of_topics_is_another_epoch_of_them() -> None:
    group = Group()
    group.epochs.note_topics(3, 77)
    group.epochs.note_topics(4, 77)
    assert (group.life.topic_metadata_epoch, group.life.metadata_hash) == (3, 77)


def assigning(group: Group) -> list[tuple[int, int | None, list[int]]]:
    return [
        (each.since_at, each.until_at, each.epochs)
        for each in group.output.take()
        if isinstance(each, Stall) and each.reason == "ASSIGNING_STALLED"
    ]


def test_a_target_behind_the_epoch_is_a_stretch_while_there_are_members() -> None:
    group = Group()
    group.have(a=1)
    group.life.epoch, group.life.target_epoch = 5, 4
    group.epochs.watch_assigning(10_000, 50, -1, 49)
    group.life.target_epoch = 5
    group.epochs.watch_assigning(15_000, 60, -1, 50)
    assert assigning(group) == [(10_000, 15_000, [5, 4])]


def test_a_target_may_lie_in_a_hole() -> None:
    group = Group()
    group.have(a=1)
    group.life.epoch, group.life.target_epoch = 5, 4
    group.epochs.watch_assigning(10_000, 50, -1, 49)
    group.life.target_epoch = 5
    group.epochs.watch_assigning(15_000, 60, 55, 50)
    assert assigning(group) == []
    assert group.life.assigning is None
