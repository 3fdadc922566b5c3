"""Why an epoch of a streams group began, by the operation alone and what the group was before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from groupreplay.replay.kept.streams_tasks import GroupTasks
from groupreplay.replay.life import STREAMS, Life, Member
from groupreplay.replay.operations import Operation
from groupreplay.replay.streams.groups.group_causes import Cause, configs_of, find_group_causes
from tests.support.building import Log
from tests.support.words import Form

TOPICS = "TOPIC_METADATA"
ONE_STANDBY = {"num.standby.replicas": "1"}
GONE: list[Form] = [{"streams_currentx": "A"}, {"streams_targetx": "A"}, {"streams_memberx": "A"}]
CHANGED = {"streams_group": 6, "hash": 7, "validated": 0}
"""A K17 that says what the group was before."""


def causes_of(forms: Sequence[Form], *, is_known: bool = True) -> tuple[Cause, list[str]]:
    """Of an operation on a group of members A (instance i) and B (none), as GroupTasks says."""
    life = Life("g", 0, 0, STREAMS)
    life.members = {"A": Member("A", instance_id="i"), "B": Member("B")}
    tasks = GroupTasks(is_known=is_known, topology_epoch=0, validated_epoch=0, metadata_hash=7)
    return find_group_causes(life, tasks, Operation(Log().write(*forms)))


def cause_of(forms: Sequence[Form], *, is_known: bool = True) -> Cause:
    """The first one."""
    return causes_of(forms, is_known=is_known)[0]


CASES: dict[str, tuple[list[Form], Cause]] = {
    "a new member": ([{"streams_member": "C"}, CHANGED], ("JOIN", "C", "EXACT")),
    "two new members": (
        [{"streams_member": "C"}, {"streams_member": "D"}, CHANGED],
        ("JOIN", None, "EXACT"),
    ),
    "a member that is gone": ([*GONE, CHANGED], ("LEFT_OR_FENCED", "A", "EXACT")),
    "an instance under a new id (4.4)": (
        [*GONE, {"streams_member": "R", "instance": "i"}, CHANGED],
        ("STATIC_REPLACED", "R", "EXACT"),
    ),
    "an instance under its old id (4.4)": (
        [*GONE, {"streams_member": "A", "instance": "i"}, CHANGED],
        ("STATIC_REPLACED", "A", "EXACT"),
    ),
    "one goes, a dynamic one comes": (
        [*GONE, {"streams_member": "C"}, CHANGED],
        ("JOIN", "C", "EXACT"),
    ),
    "topics, and with them the topology": (
        [{**CHANGED, "hash": 8, "validated": 1}],
        ("TOPOLOGY_VALIDATED", None, "EXACT"),
    ),
    "topics": ([{**CHANGED, "hash": 8}], ("TOPIC_METADATA", None, "EXACT")),
    "settings": ([{**CHANGED, "configs": ONE_STANDBY}], ("CONFIG", None, "EXACT")),
    "topics and settings": (
        [{**CHANGED, "hash": 8, "configs": ONE_STANDBY}],
        ("TOPIC_METADATA", None, "EXACT"),
    ),
    "what a member says of itself": (
        [{"streams_member": "B", "tags": {"zone": "a"}}, CHANGED],
        ("MEMBER_METADATA", "B", "EXACT"),
    ),
    "all topics deleted": (
        [{**CHANGED, "hash": 0}, {"streams_target_epoch": 6}],
        ("TOPIC_METADATA", None, "EXACT"),
    ),
    "a target without one of a member (4.4)": (
        [CHANGED, {"streams_target_epoch": 6}],
        ("REFINED", None, "EXACT"),
    ),
    "the same with one": (
        [CHANGED, {"streams_target": "A"}, {"streams_target_epoch": 6}],
        ("UNKNOWN", None, "NONE"),
    ),
    "nothing": ([CHANGED], ("UNKNOWN", None, "NONE")),
}


@pytest.mark.parametrize("case", CASES)
def test_the_operation_shows_the_cause(case: str) -> None:
    forms, expected = CASES[case]
    assert cause_of(forms) == expected


@pytest.mark.parametrize(
    ("forms", "also"),
    [
        ([{**CHANGED, "hash": 8, "validated": 1}], ["TOPIC_METADATA"]),
        (
            [{"streams_member": "C"}, {**CHANGED, "hash": 8, "configs": ONE_STANDBY}],
            ["TOPIC_METADATA", "CONFIG"],
        ),
        ([*GONE, {**CHANGED, "hash": 0}], []),  # as 4.1 writes it
        ([*GONE, {"streams_member": "R", "instance": "i"}, {**CHANGED, "hash": 0}], [TOPICS]),
        ([*GONE, {"streams_member": "C"}, CHANGED], ["LEFT_OR_FENCED"]),
        ([*GONE, {"streams_member": "R", "instance": "i"}, CHANGED], []),
        (
            [*GONE, {"streams_member": "R", "instance": "i"}, {"streams_member": "C"}, CHANGED],
            ["JOIN"],
        ),
        ([{"streams_member": "C"}, {"streams_member": "B"}, CHANGED], ["MEMBER_METADATA"]),
        ([{"streams_member": "C"}, CHANGED, {"streams_target_epoch": 6}], []),
        ([CHANGED], []),
    ],
)
def test_further_causes_stand_beside_the_first(forms: list[Form], also: list[str]) -> None:
    assert causes_of(forms)[1] == also


def test_what_was_not_known_before_is_no_change() -> None:
    """In the middle of a log: another hash than none shows nothing."""
    assert cause_of([{**CHANGED, "hash": 8}], is_known=False) == ("UNKNOWN", None, "NONE")


def test_settings_are_read_from_pairs() -> None:
    pairs = ({"key": "num.standby.replicas", "value": "1"}, {"key": "k", "value": "v"})
    assert configs_of({"last_assignment_configs": pairs}) == {**ONE_STANDBY, "k": "v"}
    assert configs_of({"last_assignment_configs": None}) == configs_of({}) == {}
