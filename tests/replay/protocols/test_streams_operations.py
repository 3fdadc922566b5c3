"""What an operation of a streams group is by its records. Source: KIP-1071; StreamsGroup records of
Kafka 4.1 to 4.4.
"""

from __future__ import annotations

import pytest

from groupreplay.replay.kept.streams_tasks import SubtopologyTopics
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.streams_operations import (
    is_birth,
    members_in,
    removes_group,
    topics_of,
)
from tests.support.building import Log
from tests.support.words import Form

MEMBER: Form = {"streams_member": "A", "process": "p"}


def operation(*forms: Form) -> Operation:
    return Operation(Log().write(*forms))


@pytest.mark.parametrize(
    ("forms", "birth"),
    [
        ([MEMBER, {"streams_group": 1}], True),
        ([MEMBER, {"streams_group": 2}], True),
        ([MEMBER, {"streams_group": 3}], False),
        ([{"streams_group": 2}], False),
        ([{"streams_memberx": "A"}, {"streams_group": 2}], False),
    ],
)
def test_its_first_epoch_with_its_first_member_is_a_birth(forms: list[Form], birth: bool) -> None:
    """The first epoch is 1 in 4.1, and 2 since."""
    assert is_birth(operation(*forms)) is birth


def test_members_are_those_that_say_something() -> None:
    both: list[Form] = [MEMBER, {"streams_memberx": "B"}]
    assert members_in(operation(*both)) == ["A"]


def test_only_the_tombstone_of_its_epoch_removes_a_group() -> None:
    assert removes_group(operation({"streams_currentx": "A"}, {"streams_groupx": 1}))
    assert not removes_group(operation({"streams_memberx": "A"}))
    assert not removes_group(operation({"streams_group": 2}))


def test_a_subtopology_reads_its_sources_and_its_repartition_topics() -> None:
    found = topics_of(
        {
            "source_topics": ["foo"],
            "repartition_source_topics": [{"name": "app-store-repartition"}, {"name": "foo"}],
            "state_changelog_topics": [{"name": "b-changelog"}, {"name": "a-changelog"}],
        }
    )
    assert found == SubtopologyTopics(
        ["app-store-repartition", "foo"], ["a-changelog", "b-changelog"]
    )
