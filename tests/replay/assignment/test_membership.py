"""What one operation makes of members: rows end first and begin then, and none shows a state inside
an operation.

Source: docs/measures.md, Who holds what, Member states, Members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest

from groupreplay.replay.assignment.membership import state_name
from groupreplay.replay.facts import Fact, HeldPartition, MemberLife, MemberState
from groupreplay.replay.life import CONSUMER, STREAMS
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed
from tests.support.words import Form

JOINED: list[Form] = [
    {"k5": "A"},
    {"k3": 1},
    {"k7": "A", "target": {"foo": [0, 1]}},
    {"k6": 1},
    {"k8": "A", "epoch": 1, "prev": 0, "assigned": {"foo": [0, 1]}},
]
GONE: list[Form] = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 2}]
Kind = TypeVar("Kind", bound=Fact)


def log_of(*operations: Sequence[Form] | int) -> Log:
    """An int is a hole of so many offsets."""
    log = Log()
    for each in operations:
        if isinstance(each, int):
            log.skip(each)
        else:
            log.write(*each)
    return log


def rows(log: Log, kind: type[Kind]) -> list[Kind]:
    return [each for each in replayed(log.entries, NAMES) if isinstance(each, kind)]


@pytest.mark.parametrize(
    ("state", "protocol", "name"),
    [
        (0, CONSUMER, "STABLE"),
        (1, CONSUMER, "UNREVOKED_PARTITIONS"),
        (2, STREAMS, "UNRELEASED_TASKS"),
        (99, CONSUMER, "STATE_99"),
    ],
)
def test_states_have_kafkas_names(state: int, protocol: str, name: str) -> None:
    assert state_name(state, protocol) == name


def test_a_member_joins_and_goes() -> None:
    (row,) = rows(log_of(JOINED, GONE), MemberLife)
    assert (row.member_id, row.joined_at, row.ended_at) == ("A", 1_000, 2_000)
    assert (row.start_observed, row.end_reason, row.to_offset) == (True, "LEFT_OR_FENCED", 5)


def test_between_two_k8s_of_one_operation_nothing_is_shown() -> None:
    """A static member that comes back has a K8 of epoch 0 on the way."""
    static = [{**form, "instance": "i"} if "k5" in form else form for form in JOINED]
    back: list[Form] = [
        *GONE[:3],
        {"k5": "B", "instance": "i"},
        {"k7": "B", "target": {"foo": [0, 1]}},
        {"k8": "B", "epoch": 0, "prev": 0, "assigned": {"foo": [0, 1]}},
        {"k8": "B", "epoch": 1, "prev": 0, "assigned": {"foo": [0, 1]}},
    ]
    log = log_of(static, back)
    states = [(each.member_id, each.member_epoch) for each in rows(log, MemberState)]
    assert states == [("A", 1), ("B", 1)]
    lives = {each.member_id: each for each in rows(log, MemberLife)}
    assert (lives["A"].end_reason, lives["A"].replaced_by) == ("REPLACED", "B")


def test_a_state_goes_on_while_epoch_and_state_stay() -> None:
    again: list[Form] = [{"k8": "A", "epoch": 1, "prev": 1, "assigned": {"foo": [0]}}]
    (row,) = rows(log_of(JOINED, again), MemberState)
    assert (row.from_at, row.to_at, row.partitions_assigned) == (1_000, None, 1)
    asked: list[Form] = [
        {
            "k8": "A",
            "epoch": 1,
            "prev": 1,
            "state": "UNREVOKED_PARTITIONS",
            "assigned": {"foo": [0]},
            "pending": {"foo": [1]},
        }
    ]
    first, second = rows(log_of(JOINED, asked), MemberState)
    assert (first.state, first.to_at) == ("STABLE", 2_000)
    assert (second.state, second.partitions_pending) == ("UNREVOKED_PARTITIONS", 1)


def test_what_is_pending_is_still_held() -> None:
    asked: list[Form] = [
        {
            "k8": "A",
            "epoch": 1,
            "prev": 1,
            "state": "UNREVOKED_PARTITIONS",
            "assigned": {"foo": [0]},
            "pending": {"foo": [1]},
        }
    ]
    held = rows(log_of(JOINED, asked), HeldPartition)
    assert [(each.partition, each.released_at) for each in held] == [(0, None), (1, None)]
    acked: list[Form] = [{"k8": "A", "epoch": 1, "prev": 1, "assigned": {"foo": [0]}}]
    held = rows(log_of(JOINED, asked, acked), HeldPartition)
    assert {each.partition: each.released_at for each in held} == {0: None, 1: 3_000}


def test_behind_a_hole_how_a_member_went_is_not_known() -> None:
    (row,) = rows(log_of(JOINED, 1, GONE), MemberLife)
    assert (row.end_reason, row.ended_at) == ("UNOBSERVED", None)
    assert {each.end_reason for each in rows(log_of(JOINED, 1, GONE), HeldPartition)} == {
        "UNOBSERVED"
    }


def test_a_new_owner_behind_a_hole_ends_the_old_one() -> None:
    joined: list[Form] = [
        {"k5": "B"},
        {"k3": 3},
        {"k7": "B", "target": {"foo": [1]}},
        {"k6": 3},
        {"k8": "B", "epoch": 3, "prev": 0, "assigned": {"foo": [1]}},
    ]
    held = rows(log_of(JOINED, 1, joined), HeldPartition)
    ends = {(each.member_id, each.partition): each.end_reason for each in held}
    assert ends == {("A", 0): "OPEN", ("A", 1): "UNOBSERVED", ("B", 1): "OPEN"}
