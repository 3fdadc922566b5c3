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

HISTORIES: Final = (Played(11, 12, 0.2, "all", "4.1.2"), Played(31001, 14, 0.3, "all", "4.3.1"))
"""`test_simulated` plays the first too, `test_episodes` the second."""
SEEDS: Final = range(2)

FALSE_ONCE: Final = (
    # A static member came back in generation 1, and the K2 before it is lost.
    (Played(901, 20, 0.4, "all", "4.3.1"), 2, 11),
    # A member that a hole hides kept an epoch from converging.
    (Played(901, 20, 0.4, "all", "4.3.1"), 19, 31),
    # A downgrade to the number of the epoch in force was taken for its convergence.
    (Played(901, 20, 0.4, "all", "4.3.1"), 1, 30),
    # A member was asked again for a partition that its target has.
    (Played(31001, 14, 0.3, "all", "4.3.1"), 6, 2),
    # Of an upgrade the K2 tombstone alone is left;
    (Played(31003, 14, 0.3, "migration", "4.3.1"), 11, 19),
    # nothing is.
    (Played(31002, 14, 0.3, "migration", "4.3.1"), 2, 24),
    # Of a group that was deleted and created again the tombstone of K4 is left.
    pytest.param(
        *(Played(662281014, 60, 0.15, "migration", "4.4.0"), 662281015, 24), marks=pytest.mark.soak
    ),
    # A leader whose clock is behind shows that a span has ended: the checker went by times.
    pytest.param(*(Played(7781, 30, 0.5, "failover", "4.3.1"), 37, 3), marks=pytest.mark.soak),
)
"""Histories, seeds of cleanings, and partitions of which something false was said once."""


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


@pytest.mark.parametrize(("history", "seed", "partition"), FALSE_ONCE)
def test_what_was_false_once_is_not_said(
    history: Played, seed: int, partition: int, play: Play
) -> None:
    recording = play(history)
    truth, names, logs = read_truth(recording), names_of(recording), partition_logs(recording)
    plan = cleanings(logs, seed)
    left = [cleaned(log, plan[log]) for log in logs if log.partition == partition]
    judge = judge_logs(truth, names, left)
    assert sum(judge.judged.values()) > 10
    assert not judge.findings, f"{history.command()}, {seed}: {judge.findings[:5]}"


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
