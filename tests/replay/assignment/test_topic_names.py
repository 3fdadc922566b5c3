"""Names of topic ids, as a group's own records prove them: by K1, by K4, and by what one target
leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from groupreplay.replay.facts import TopicSeen
from tests.support.building import Log
from tests.support.replaying import replayed
from tests.support.words import Form


def seen(*operations: Sequence[Form], names: dict[str, str] | None = None) -> list[tuple[str, ...]]:
    """(id, name, source) of each topic that is told."""
    log = Log()
    for forms in operations:
        log.write(*forms)
    return [
        (each.topic_id, each.topic, each.source)
        for each in replayed(log.entries, names or {})
        if isinstance(each, TopicSeen)
    ]


def joined(target: dict[str, list[int]], *topics: str, **more: object) -> list[Form]:
    return [
        {"k5": "A", "topics": list(topics), **more},
        {"k3": 1},
        {"k7": "A", "target": target},
        {"k6": 1},
        {"k8": "A", "epoch": 1, "prev": 0, "assigned": target},
    ]


def test_a_k4_names_its_topics_each_once() -> None:
    metadata: list[Form] = [{"k4": {"foo": 3, "bar": 1}}, {"k3": 2}]
    again: list[Form] = [{"k4": {"foo": 3, "bar": 2}}, {"k3": 3}]
    found = seen(joined({}, "foo"), metadata, again)
    assert sorted(found) == [("bar-id", "bar", "K4"), ("foo-id", "foo", "K4")]


def test_the_one_id_of_a_target_is_of_the_one_topic_subscribed_to() -> None:
    assert seen(joined({"foo": [0]}, "foo")) == [("foo-id", "foo", "SUBSCRIPTION")]


def test_of_several_topics_all_but_one_have_to_be_known() -> None:
    target = {"foo": [0], "bar": [0]}
    assert seen(joined(target, "foo", "bar")) == []
    known = seen(joined(target, "foo", "bar"), names={"foo-id": "foo"})
    assert known == [("bar-id", "bar", "SUBSCRIPTION")]


@pytest.mark.parametrize(
    "operation",
    [
        joined({"foo": [0]}, "foo", "bar"),
        joined({"foo": [0]}, "foo", regex="f.*"),
        joined({"foo": [0]}),
    ],
    ids=["a topic that may be missing", "a regular expression", "no topics"],
)
def test_anything_less_proves_nothing(operation: list[Form]) -> None:
    assert seen(operation) == []


def test_what_a_source_of_topics_gave_is_known_already() -> None:
    assert seen(joined({"foo": [0]}, "foo"), names={"foo-id": "foo"}) == []
