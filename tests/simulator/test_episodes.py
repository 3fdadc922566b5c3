"""Silences, repetitions and mixed groups of small histories, from the machines' own floors on.

More: `python -m tests.simulator.check_episodes`.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from groupreplay.replay.decision_facts import GroupDay
from tests.simulator.check import differences
from tests.simulator.check_episodes import check_episodes
from tests.simulator.conftest import Play
from tests.simulator.played import Played
from tests.simulator.replayed import replay_recording
from tests.simulator.truth import read_truth

HISTORIES: Final = (
    # `test_simulated` plays this one too.
    Played(10, 12, 0.2, "all", "4.2.1"),
    # A static member comes back under its own id with another subscription: no turn of a storm.
    Played(580842024, 8, 0.2, "failover", "4.4.0"),
    # A member is silent over a change of leader, to a clock that is behind.
    Played(31001, 14, 0.3, "all", "4.3.1"),
)


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: str(history.name))
def test_stretches_and_turns_are_those_of_the_truth(history: Played, play: Play) -> None:
    recording = play(history)
    truth = read_truth(recording)
    found = check_episodes(truth, replay_recording(recording))
    assert sum(each.agree.total() for each in found) > 20
    for each in found:
        assert not each.differ, "\n".join(differences(each, truth, 3))


def test_a_return_that_is_not_counted_is_noticed(play: Play) -> None:
    recording = play(HISTORIES[0])
    replayed = replay_recording(recording)
    days = replayed.facts[GroupDay]
    place, day = next(
        (place, each)
        for place, each in enumerate(days)
        if isinstance(each, GroupDay) and each.cycles
    )
    days[place] = dataclasses.replace(day, cycles=day.cycles - 1)
    differ = {each.table: each.differ for each in check_episodes(read_truth(recording), replayed)}
    assert differ.pop("returns") == {"cycles": 1}
    assert not any(differ.values())
