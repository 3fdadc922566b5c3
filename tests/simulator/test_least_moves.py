"""How few partitions Kafka's own sticky assignors move: what prices of scenarios count with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from groupreplay.report.what_if.known import Event, Timeouts, Wave
from groupreplay.report.what_if.model import Scenario, price
from groupreplay.report.what_if.times import Bracket
from tests.simulator.expected.wave_steps import least_moved
from tests.simulator.simulate import jars, tool

SOURCE = Path(__file__).parent / "assignors" / "LeastMoves.java"
MOST_PARTITIONS = 13

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, ...]]:
    """Of each case: partitions, members before, of them gone, joined, partitions of those that went,
    and what two assignors moved of those that stay."""
    classes, libraries = tmp_path_factory.mktemp("classes"), f"{jars('4.3.1')}/*"
    compile_it = [tool("javac"), "-nowarn", "-d", str(classes), "-cp", libraries, str(SOURCE)]
    subprocess.run(compile_it, check=True, capture_output=True)
    run_it = [tool("java"), "-cp", f"{classes}:{libraries}", "LeastMoves", str(MOST_PARTITIONS)]
    told = subprocess.run(run_it, check=True, capture_output=True, text=True).stdout
    return [tuple(map(int, line.split())) for line in told.splitlines()]


def test_no_assignor_of_kafka_moves_less_and_its_sticky_ones_no_more(
    moves: list[tuple[int, ...]],
) -> None:
    assert len(moves) > 900
    for partitions, before, gone, joined, let_go, *moved in moves:
        least = least_moved(partitions, before - gone, joined, let_go)
        assert moved == [least, least], (partitions, before, gone, joined)


def test_a_price_counts_with_what_kafka_moves(moves: list[tuple[int, ...]]) -> None:
    """Members go and come within a heartbeat."""
    timeouts = Timeouts(
        session=45_000, static=45_000, heartbeat=5_000, classic_heartbeat=3_000, assignment=1_000
    )
    times = Bracket(1, 1, 1)
    for partitions, before, gone, joined, let_go, moved, _ in moves:
        held = [len(range(member, partitions, before)) for member in range(gone)]
        assert sum(held) == let_go
        events = [
            Event(
                kind="G", at=0, held=each, members_after=before - 1 - place, partitions=partitions
            )
            for place, each in enumerate(held)
        ]
        events += [
            Event(kind="J", at=1, members_after=before - gone + 1 + place, partitions=partitions)
            for place in range(joined)
        ]
        if not events:
            continue
        wave = Wave(mode="CONSUMER", events=events, members_before=before)
        found = price(wave, Scenario("CONSUMER", "CONSUMER"), times, times, timeouts)
        assert found.moved == let_go + moved, (partitions, before, gone, joined)
