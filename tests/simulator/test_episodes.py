"""Silences, repetitions and mixed groups of small histories, from the machines' own floors on.

More: `python -m tests.simulator.check_episodes`.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.simulator.check import differences
from tests.simulator.check_episodes import check_repetitions, check_stretches
from tests.simulator.conftest import Play
from tests.simulator.episodes import mixed, repetitions, silences
from tests.simulator.played import Played
from tests.simulator.replayed import replay_recording
from tests.simulator.truth import read_truth

# EPOCH_STORM is left to the program: an epoch that the loss of a topic began (hash 0) is not yet
# told as TOPIC_METADATA, so storms lack it.
HISTORIES: Final = (Played(13, 12, 0.15, "all", "4.2.1"), Played(14, 12, 0.15, "all", "4.3.1"))


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: str(history.name))
def test_stretches_and_turns_are_those_of_the_truth(history: Played, play: Play) -> None:
    recording = play(history)
    truth, replayed = read_truth(recording), replay_recording(recording)
    reasons = (silences.NOT_RECONCILING, silences.NOT_CONSUMING, mixed.MIGRATION_STALLED)
    found = [check_stretches(truth, replayed, reason) for reason in reasons]
    found.append(check_repetitions(truth, replayed, repetitions.FENCE_LOOP))
    assert sum(each.agree.total() for each in found) > 20
    for each in found:
        assert not each.differ, "\n".join(differences(each, truth, 3))
