"""Small histories, cleaned as Kafka's cleaner does it: what is still said of them is true.

More seeds: `python -m tests.simulator.check_compaction`.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.simulator.check_compaction import cleanings, judge_logs
from tests.simulator.check_nights import names_of
from tests.simulator.cleaner import Cleaning, batch_offsets, cleaned
from tests.simulator.conftest import Play
from tests.simulator.growing import PartitionLog, partition_logs
from tests.simulator.played import Played
from tests.simulator.truth import read_truth
from tests.support.recordings import recordings
from tests.wire import encode

HISTORIES: Final = (Played(12, 12, 0.15, "all", "4.1.2"), Played(14, 12, 0.15, "all", "4.3.1"))
SEEDS: Final = range(3)


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: str(history.name))
def test_what_is_said_of_a_compacted_log_is_true(history: Played, play: Play) -> None:
    recording = play(history)
    truth, names, logs = read_truth(recording), names_of(recording), partition_logs(recording)
    for seed in SEEDS:
        plan = cleanings(logs, seed)
        judge = judge_logs(truth, names, [cleaned(log, plan[log]) for log in logs])
        assert sum(judge.judged.values()) > 1_000
        told = [str(plan[log]) for log in logs]
        assert not judge.findings, f"{history.command()}, {seed}: {judge.findings[:5]}, {told}"


@pytest.mark.parametrize("recording", recordings())
def test_a_log_that_is_not_cleaned_says_the_same(recording: str) -> None:
    """Batches are written anew, and nothing else is changed; a second cleaning finds nothing."""
    for log in partition_logs(recordings()[recording]):
        end = batch_offsets(log)[-1]
        once = cleaned(log, Cleaning(end))
        assert batch_offsets(cleaned(log, Cleaning(0))) == batch_offsets(log)
        assert cleaned(once, Cleaning(end)) == once


def test_of_each_key_the_newest_stays_and_tombstones_go_in_time() -> None:
    first = encode.batch(0, [encode.epoch("a", 1), encode.commit("a", offset=1)])
    second = encode.batch(2, [encode.epoch("a", 2), encode.uncommit("a"), encode.epoch("b", 1)])
    third = encode.batch(5, [encode.epoch("b", 2)])
    log = PartitionLog("broker-1", 0, first + second + third)
    assert cleaned(log, Cleaning(5)).data == second + third
    gone = cleaned(log, Cleaning(5, tombstones_until=5))
    kept = {0: encode.epoch("a", 2), 2: encode.epoch("b", 1)}
    assert gone.data == encode.batch(2, kept, last_delta=2) + third
    assert (
        cleaned(log, Cleaning(6)).data
        == encode.batch(2, {0: encode.epoch("a", 2), 1: encode.uncommit("a")}, last_delta=2) + third
    )
    assert cleaned(log, Cleaning(6, read_until=2)).data.startswith(first)
