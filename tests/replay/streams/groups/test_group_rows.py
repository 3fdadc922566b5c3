"""Rows of epochs and subtopologies of a streams group. Source: docs/streams.md."""

from __future__ import annotations

from groupreplay.replay.facts import Epoch
from groupreplay.replay.kept.streams_tasks import (
    GroupTasks,
    StreamsState,
    SubtopologyTopics,
    TaskRoles,
)
from groupreplay.replay.life import STREAMS, Life, Member
from groupreplay.replay.output import Output
from groupreplay.replay.streams.groups.group_rows import GroupRows
from groupreplay.replay.streams_facts import StreamsRebalance, StreamsSubtopology

JOIN = ("JOIN", "A", "EXACT")


class Group:
    def __init__(self) -> None:
        self.life = Life("g", 0, 10, STREAMS, birth_seen=True)
        self.life.members["A"] = Member("A", process_id="a", current_offset=20)
        self.group, self.output = GroupTasks(), Output()
        self.state = StreamsState(group=self.group)
        self.rows = GroupRows(self.life, self.state, self.group, self.output)

    def row(self) -> StreamsRebalance:
        assert self.group.row is not None
        return self.group.row


def test_an_epoch_names_the_process_of_whom_it_is_due_to() -> None:
    group = Group()
    group.rows.open(2, 1_000, 20, JOIN, also=["TOPOLOGY"])
    row = group.row()
    assert (row.epoch, row.cause, row.cause_process_id, row.also) == (2, "JOIN", "a", ["TOPOLOGY"])
    gone = {"B": Member("B", process_id="b")}
    group.rows.open(3, 2_000, 30, ("LEFT_OR_FENCED", "B", "EXACT"), gone=gone)
    assert group.row().cause_process_id == "b"


def test_the_next_epoch_ends_the_one_before() -> None:
    group = Group()
    group.rows.open(2, 1_000, 20, JOIN)
    group.rows.open(3, 2_000, 30, JOIN)
    (row,) = group.output.take()
    assert isinstance(row, StreamsRebalance)
    assert (row.epoch, row.outcome, row.to_offset) == (2, "SUPERSEDED", 30)


def test_the_first_target_of_an_epoch_counts() -> None:
    group = Group()
    group.rows.open(2, 1_000, 20, JOIN)
    group.rows.target(1, 1_200, 9)
    group.rows.target(2, 1_400, 3)
    group.rows.target(2, 1_900, 8)
    assert (group.row().decided_at, group.row().tasks_revoked) == (1_400, 3)


def test_counts_are_those_at_the_end_of_the_operation_that_began_it() -> None:
    group = Group()
    group.rows.open(2, 1_000, 20, JOIN)
    group.group.targets["A"] = TaskRoles(active=frozenset({("0", 0), ("0", 1)}))
    group.rows.settle()
    row = group.row()
    assert (row.members, row.tasks, row.tasks_active, row.tasks_missing) == (1, 2, 0, 2)
    group.life.members["B"] = Member("B")
    group.rows.settle()
    assert group.row().members == 1


def test_what_nobody_runs_is_not_known_while_a_member_has_shown_no_tasks() -> None:
    group = Group()
    group.life.members["B"] = Member("B")
    group.group.targets["A"] = TaskRoles(active=frozenset({("0", 0)}))
    group.rows.open(2, 1_000, 20, JOIN)
    group.rows.settle()
    assert group.row().tasks_missing is None


def test_its_outcome_is_that_of_the_groups_epoch() -> None:
    group = Group()
    group.rows.open(2, 1_000, 20, JOIN)
    group.life.epoch_row = Epoch(
        **group.life.place,
        from_offset=20,
        epoch=2,
        protocol=STREAMS,
        started_at=1_000,
        cause="JOIN",
        cause_member_id="A",
        confidence="EXACT",
        members=1,
        members_classic=0,
        outcome="CONVERGED",
    )
    group.rows.settle()
    assert group.row().outcome == "CONVERGED"


def test_subtopologies_are_told_with_the_end_of_the_life() -> None:
    group = Group()
    group.group.subtopologies = {
        "1": SubtopologyTopics(["bar"], []),
        "0": SubtopologyTopics(["foo"], ["store-changelog"]),
    }
    group.group.configs = {"num.standby.replicas": "1"}
    group.group.targets["A"] = TaskRoles(active=frozenset({("0", 0), ("0", 1), ("1", 0)}))
    group.rows.end(50)
    rows = [each for each in group.output.take() if isinstance(each, StreamsSubtopology)]
    assert [(each.subtopology, each.tasks, each.is_stateful) for each in rows] == [
        ("0", 2, True),
        ("1", 1, False),
    ]
    assert {(each.to_offset, each.standby_replicas) for each in rows} == {(50, 1)}
