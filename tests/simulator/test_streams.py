"""Small histories of streams groups, on Kafka's own coordinator: every row of every table is what
the coordinator's memory says, and no rule finds fault with Kafka.

Longer ones, of seeds that nobody has seen, are for `make soak`.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from groupreplay.replay.streams_facts import HeldTask, TaskHandOver
from tests.simulator.check_streams import anomalies_of, check_streams, differences
from tests.simulator.compare import ROWS
from tests.simulator.conftest import Play
from tests.simulator.played import Played
from tests.simulator.replayed import replay_recording
from tests.simulator.streams.history import read_streams
from tests.simulator.truth import read_truth

HISTORIES: Final = (
    Played(4, 6, 0.2, "streams", "4.2.1"),
    # Threads that wait while they keep replicas, and threads whose siblings keep them: their
    # hand-overs were called cold.
    Played(2, 8, 0.3, "streams", "4.3.1"),
)


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: str(history.name))
def test_every_row_is_what_the_coordinator_held(history: Played, play: Play) -> None:
    recording = play(history)
    groups = read_streams(recording, read_truth(recording))
    replayed = replay_recording(recording)
    compared = check_streams(groups, replayed)
    told = [line for each in compared for line in differences(each, groups, 2)]
    assert not told, "\n".join((history.command(), *told[:60]))
    assert not anomalies_of(groups, replayed)
    rows = {each.table: each.agree[ROWS] for each in compared}
    assert rows["task_assignments"] > 100
    assert rows["task_handovers"] > 50
    assert rows["group_conversions"] > 0


def test_a_wrong_row_is_noticed(play: Play) -> None:
    recording = play(HISTORIES[0])
    groups = read_streams(recording, read_truth(recording))
    replayed = replay_recording(recording)
    held, handed = replayed.facts[HeldTask], replayed.facts[TaskHandOver]
    gone = held.pop()
    for place, fact in enumerate(handed):
        assert isinstance(fact, TaskHandOver)
        if fact.hand_over_kind == "COLD":
            handed[place] = dataclasses.replace(fact, hand_over_kind="WARMED")
            break
    differ = {each.table: each.differ for each in check_streams(groups, replayed)}
    assert differ["task_assignments"].total() == 1, gone
    assert differ["task_handovers"] == {"hand_over_kind": 1}
    assert not differ["member_states"]
