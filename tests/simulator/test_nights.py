"""Recordings, real and simulated, copied by nights that end anywhere in bytes: what they tell is
what one run tells. More seeds: `python -m tests.simulator.check_nights`."""

from __future__ import annotations

import random

import pytest

from tests.simulator.check_nights import differing, names_of, told_by_nights, told_once
from tests.simulator.conftest import Play
from tests.simulator.growing import partition_logs, random_sizes, rolled
from tests.simulator.nights import Nights, counted
from tests.simulator.played import Played
from tests.support.recordings import recordings

SEEDS = range(2)
HISTORIES = (Played(11, 12, 0.2, "all", "4.0.2"), Played(11, 12, 0.2, "all", "4.3.1"))
"""`test_simulated` plays them too."""
MOST_NIGHTS = 12


@pytest.mark.parametrize("recording", recordings())
def test_nights_that_end_at_any_byte_give_what_one_run_gives(recording: str) -> None:
    path = recordings()[recording]
    names, logs = names_of(path), partition_logs(path)
    wanted = told_once(logs, names)
    assert sum(bag.total() for bag in wanted.values()) > 30
    for seed in SEEDS:
        found = differing(wanted, told_by_nights(logs, names, seed, MOST_NIGHTS))
        assert not found, f"seed {seed}:\n" + "\n".join(f"{each}" for each in found.items())


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: str(history.name))
def test_nights_of_a_simulated_history(history: Played, play: Play) -> None:
    recording = play(history)
    names, logs = names_of(recording), partition_logs(recording)
    wanted = told_once(logs, names)
    for seed in SEEDS:
        found = differing(wanted, told_by_nights(logs, names, seed))
        assert not found, f"{history.command()}, seed {seed}: {found}"


def test_a_state_that_is_lost_between_two_nights_is_noticed() -> None:
    """The comparison has teeth: without states the facts are others."""
    path = recordings()["migration-4.3"]
    names, logs = names_of(path), partition_logs(path)
    chance = random.Random(1)
    files, nights = rolled(logs, chance), random_sizes(logs, 4, chance)
    job = Nights(files, names)
    for sizes in nights:
        still_open = job.run(sizes)
        job.states.clear()
    for group, facts in still_open.items():
        job.told[group] += facts
    assert differing(told_once(logs, names), counted(job.told))


def test_files_are_rolled_and_end_inside_of_batches() -> None:
    logs = [log for path in recordings().values() for log in partition_logs(path)]
    chance = random.Random(1)
    files, nights = rolled(logs, chance), random_sizes(logs, 5, chance)
    assert any(len(files.rolls[log]) > 1 for log in logs)
    whole = {log: {position for position, _ in log.batches} for log in logs}
    assert any(sizes[log] not in whole[log] for sizes in nights[:-1] for log in logs)
    assert all(nights[-1][log] == len(log.data) for log in logs)
