"""Every recording that knows what truly happened, replayed, against it: the broker's answers, its
debug log, and what the script did.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.truth.checks import assignments, epochs_and_protocols, hand_overs
from tests.truth.stories import KEPT_BY_COMPACTION, STORIES, TOLD_BY_THE_TRUTH
from tests.truth.story import Story
from tests.truth.tables import Tables
from tests.truth.truth import KNOWN, OF_CONSUMERS, truth_of


@cache
def tables_of(recording: str) -> Tables:
    return Tables(recording)


def stories() -> list[tuple[str, str]]:
    """(recording, story), where something is owed."""
    found = []
    for recording in KNOWN:
        truth = truth_of(recording)
        for story in truth.stories():
            name = story.split(":")[0]
            if name in STORIES and (not truth.is_compacted or name in KEPT_BY_COMPACTION):
                found.append((recording, story))
    return found


@pytest.mark.parametrize("recording", KNOWN)
def test_members_held_what_the_broker_said(recording: str) -> None:
    problems = assignments(truth_of(recording), tables_of(recording))
    assert not problems, "\n".join(problems[:10])


@pytest.mark.parametrize("recording", KNOWN)
def test_groups_were_what_the_broker_said(recording: str) -> None:
    problems = epochs_and_protocols(truth_of(recording), tables_of(recording))
    assert not problems, "\n".join(problems[:10])


@pytest.mark.parametrize("recording", KNOWN)
def test_hand_overs_are_those_of_the_debug_log(recording: str) -> None:
    truth = truth_of(recording)
    if not truth.knows_states or truth.is_compacted:
        pytest.skip("no debug log, or a history that was cleaned away")
    problems = hand_overs(truth, tables_of(recording))
    assert not problems, "\n".join(problems[:10])


@pytest.mark.parametrize(("recording", "story"), stories(), ids=lambda value: str(value))
def test_a_story_is_told(recording: str, story: str) -> None:
    told = Story(truth_of(recording), tables_of(recording), story)
    STORIES[story.split(":")[0]](told)
    assert not told.problems, "\n".join(told.problems)


@pytest.mark.parametrize("recording", KNOWN)
def test_a_healthy_broker_breaks_no_rule(recording: str) -> None:
    assert not tables_of(recording).anomalies()


def test_no_story_is_forgotten() -> None:
    played = {
        story.split(":")[0] for recording in OF_CONSUMERS for story in truth_of(recording).stories()
    }
    assert played
    assert played <= STORIES.keys() | TOLD_BY_THE_TRUTH, played - STORIES.keys() - TOLD_BY_THE_TRUTH


def test_the_truth_has_something_to_say() -> None:
    """Were a file's format to change, checks that find nothing to hold against would pass."""
    for recording in KNOWN:
        truth = truth_of(recording)
        assert truth.clients
        assert truth.stories()
        assert next(truth.probes(), None) is not None
    assert sum(len(truth_of(recording).asked_back()) for recording in KNOWN) > 300
