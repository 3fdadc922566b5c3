"""Which generations of classic groups are said to give a partition twice, and what is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Anomaly
from tests.support.building import Log
from tests.support.replaying import boundaries, replayed
from tests.support.sentences import said

TWICE: Mapping[str, Any] = {"b": {"foo": [1, 0]}, "c": {"foo": [0, 1]}, "a": {"foo": [1, 2]}}


def given_twice(entries: list[Entry]) -> list[tuple[int, str]]:
    """(offset, sentence) of each generation that gives a partition twice, cut anywhere or not."""
    found = [
        [
            (fact.evidence_offset, said(fact))
            for fact in replayed(entries, {}, cuts)
            if isinstance(fact, Anomaly) and fact.rule == "I24_GIVEN_ONCE"
        ]
        for cuts in ([], boundaries(entries))
    ]
    assert found[0] == found[1]
    return found[0]


def test_a_generation_names_the_first_partition_and_says_how_many_there_are() -> None:
    entries = Log().write({"k2": 7, "members": TWICE})
    (finding,) = given_twice(entries)
    sentence = "generation 7 gives 2 partitions to several members; the first, foo-0, to b, c"
    assert finding == (0, sentence)


@pytest.mark.parametrize(
    "group",
    [
        {"type": "connect", "protocol": "sessioned"},
        {"protocol": "stream"},
        {"type": "other"},
    ],
    ids=["of Connect", "of Kafka Streams", "of another client"],
)
def test_a_group_of_others_than_consumers_gives_nothing_twice(group: dict[str, str]) -> None:
    assert not given_twice(Log().write({"k2": 7, "members": TWICE, **group}))


def test_a_partition_listed_twice_for_one_member_is_given_once() -> None:
    entries = Log().write({"k2": 7, "members": {"a": {"foo": [0, 0]}, "b": {"foo": [1]}}})
    assert not given_twice(entries)


def test_of_an_assignment_that_is_not_decoded_nothing_is_known() -> None:
    (entry,) = Log().write({"k2": 7, "members": {"a": {"foo": [0]}, "b": {"foo": [0]}}})
    record = entry.record
    assert isinstance(record, GroupMetadata)
    assert record.value is not None
    first, second = record.value.members
    members = (first, replace(second, assignment=None))
    unread = replace(record, value=replace(record.value, members=members))
    assert given_twice([entry])
    assert not given_twice([entry._replace(record=unread)])


def test_what_a_downgrade_lists_no_leader_gave() -> None:
    log = Log()
    log.write({"k5": "u"}, {"k3": 1}, {"k7": "u", "target": {"foo": [0]}}, {"k6": 1})
    log.write({"k8": "u", "epoch": 1, "prev": 0, "assigned": {"foo": [0]}})
    gone = ({"k8x": "u"}, {"k7x": "u"}, {"k6x": True}, {"k5x": "u"}, {"k3x": True})
    held = {"u": {"foo": [0]}, "a": {"foo": [0]}}
    log.write(*gone, {"k2": 1, "members": held})
    assert not given_twice(log.entries)
    (entry,) = log.write({"k2": 2, "members": held})
    assert [offset for offset, _ in given_twice(log.entries)] == [entry.offset]
