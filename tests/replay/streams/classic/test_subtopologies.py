"""Subtopologies as the K2s of a classic Streams group show them."""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import StreamsState
from groupreplay.replay.life import CLASSIC, Life
from groupreplay.replay.streams.classic.subtopologies import subtopology_rows

LIFE = Life("g", 0, 7, CLASSIC, birth_seen=True)


def test_a_subtopology_has_the_tasks_and_topics_that_were_seen() -> None:
    state = StreamsState(
        inputs={
            ("0", 0): frozenset({("foo", 0), ("bar", 0)}),
            ("0", 1): frozenset({("foo", 1)}),
            ("1", 0): frozenset({("again", 0)}),
        },
        stateful={"0": "SUM_SEEN"},
        standby_replicas=1,
    )
    first, second = subtopology_rows(LIFE, state)
    assert (first.subtopology, first.tasks, first.source_topics) == ("0", 2, ["bar", "foo"])
    assert (second.subtopology, second.tasks, second.source_topics) == ("1", 1, ["again"])
    assert (first.is_stateful, first.stateful_basis, first.standby_replicas) == (
        True,
        "SUM_SEEN",
        1,
    )
    assert (first.from_offset, first.start_observed, first.changelog_topics) == (7, True, None)


def test_nothing_shows_that_a_subtopology_has_no_state() -> None:
    state = StreamsState(inputs={("0", 0): frozenset({("foo", 0)})}, standby_replicas=1)
    (row,) = subtopology_rows(LIFE, state)
    assert (row.is_stateful, row.stateful_basis, row.standby_replicas) == (None, "NOT_SEEN", None)


def test_a_group_without_tasks_has_none() -> None:
    assert subtopology_rows(LIFE, StreamsState(stateful={"0": "REPLICA_SEEN"})) == []
