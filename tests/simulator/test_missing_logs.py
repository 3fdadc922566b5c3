"""Small histories of which some logs of brokers are missing: what is still told is true.

More seeds: `python -m tests.simulator.check_missing_logs`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from groupreplay.evidence.evidence_facts import EvidenceFact, Outage, Rebalance, Refusal, Silence
from tests.simulator.check_missing_logs import heard_until_of, judge_lines, left_of
from tests.simulator.conftest import Play
from tests.simulator.expected.history import History
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.lines import JUDGES, LineTruth
from tests.simulator.missing import FIRST_HALF, GONE, SECOND_HALF, WHOLE, leave, plan_of, read_log
from tests.simulator.played import Played
from tests.simulator.tables import FactTables
from tests.simulator.truth import read_truth
from tests.support.log_lines import evidence_of, lines_in, logs_in

HISTORY: Final = Played(990804002, 14, 0.3, "troubled", "4.0.2")
"""Three brokers, and leaders that fall."""

HALVES: Final = (FIRST_HALF, SECOND_HALF)

SEEDS: Final = (0, 1, 6)
"""In each a member was charged once that another broker had heard: half of a broker's request log is
left, half of all that it logs, or none of its requests."""


FURTHER: Final = (
    # A consumer group removed a member that did not join in time, and no line says so;
    Played(990880002, 20, 0.5, "troubled", "4.3.1"),
    # one left in the next life of its id, right after a removal that no line shows;
    Played(990880011, 20, 0.5, "migration", "4.2.1"),
    # and one heard that it is none, and joined, in one ms.
    Played(991030013, 12, 0.4, "migration", "4.0.2"),
)
"""Histories of which something false was said with seed 2. `make soak` plays them."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("played", "seeds"),
    [
        (HISTORY, SEEDS),
        *(pytest.param(each, (2,), marks=pytest.mark.soak) for each in FURTHER),
    ],
    ids=lambda each: str(each.name) if isinstance(each, Played) else "",
)
def test_what_is_said_without_some_logs_is_true(
    played: Played, seeds: tuple[int, ...], play: Play
) -> None:
    recording = play(played)
    history, of_topic = History(read_truth(recording)), FactTables(recording)
    for seed in seeds:
        judge = judge_lines(history, of_topic, left_of(recording, seed))
        assert sum(judge.judged.values()) > 500
        assert not judge.findings, f"{seed}, {plan_of(recording, seed)}: {judge.findings[:5]}"


LIES: Final = {
    Silence: {"since_at": -(10**9)},
    Outage: {"attempts": 10**6},
    Refusal: {"attempts": 10**6},
    Rebalance: {"joined_at": 10**6},
}
"""Kind of fact -> by how much what it says is made wrong."""


@pytest.mark.long
@pytest.mark.parametrize("kind", LIES, ids=lambda kind: str(kind.KIND))
def test_what_is_false_is_noticed(kind: type[EvidenceFact], play: Play) -> None:
    recording = play(HISTORY)
    lines = lines_in(recording)
    truth = LineTruth(History(read_truth(recording)), heard_until_of(lines))
    told = [
        each
        for each in evidence_of(lines)
        if type(each) is kind and getattr(each, "ended_by", None) != "HEARTBEAT"
    ]
    lies = [_lie(each) for each in told][:20]
    judge = Judge()
    for each in lies:
        JUDGES[kind](judge, truth, each)
    assert lies
    assert len({each.offset for each in judge.findings}) == len({each.position for each in lies})


def _lie(fact: EvidenceFact) -> EvidenceFact:
    ((name, by),) = LIES[type(fact)].items()
    wrong: dict[str, Any] = {name: (getattr(fact, name) or 0) + by}
    return replace(fact, **wrong)


def test_two_halves_of_a_log_are_its_lines(tmp_path: Path, play: Play) -> None:
    recording = play(HISTORY)
    halves = []
    for left in HALVES:
        folder = tmp_path / left
        folder.mkdir()
        leave(recording, {path.name: left for _, path in logs_in(recording)}, folder)
        halves.append({path.name: read_log(path).splitlines() for _, path in logs_in(folder)})
    first, second = halves
    for _, path in logs_in(recording):
        lines = read_log(path).splitlines()
        assert first[path.name] + second[path.name] == lines
        assert len(first[path.name]) < len(lines) > len(second[path.name])


def test_some_logs_are_whole(play: Play) -> None:
    """By no seed all logs are cut."""
    recording = play(HISTORY)
    plans = [plan_of(recording, seed) for seed in range(20)]
    assert {left for plan in plans for left in plan.values()} == {WHOLE, GONE, *HALVES}
    assert all(WHOLE in plan.values() for plan in plans)
