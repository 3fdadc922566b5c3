"""What the bench of a cluster makes of its runs."""

from __future__ import annotations

import pytest

from tests.bench.cluster import Run, concurrency, table, what_does_not_scale
from tests.bench.processes import JVM, WORKER, Usage
from tests.bench.run import Measured


def _run(cores: int, land: int, publish: int) -> Run:
    usage = Usage({}, {JVM: 30.0, WORKER: 20.0})
    steps = {"plan": 10, "land": land, "publish": publish}
    seconds = (land + publish) / 1000 + 5
    return Run(cores, Measured("churn", 100, 1, seconds, steps, usage, 0, 0, 0, {}), 7.0, 2.5, 40.0)


RUNS = [_run(1, 40_000, 20_000), _run(2, 21_000, 18_000), _run(4, 16_000, 18_000)]


def test_seconds_by_number_of_tasks() -> None:
    tasks = [(10.0, 14.0), (11.0, 12.0), (16.0, 17.0)]
    assert concurrency(tasks) == pytest.approx({0: 2.0, 1: 4.0, 2: 1.0})
    assert concurrency([]) == {}


def test_a_task_that_begins_when_another_ends_leaves_no_gap() -> None:
    assert concurrency([(1.0, 2.0), (2.0, 3.0)]) == pytest.approx({0: 0.0, 1: 2.0})


def test_speed_up_is_against_the_first_run() -> None:
    lines = table(RUNS)
    assert lines[0] == "| step | 1 core, s | 2 cores, s | 4 cores, s | 2 against 1 | 4 against 1 |"
    assert "| land | 40.0 | 21.0 | 16.0 | 1.90 | 2.50 |" in lines
    assert "| the whole job | 65.0 | 44.0 | 39.0 | 1.48 | 1.67 |" in lines
    assert "| no task ran | 7.0 | 7.0 | 7.0 |  |  |" in lines
    assert "| CPU time of Python workers | 20.0 | 20.0 | 20.0 |  |  |" in lines


def test_what_does_not_scale_is_named() -> None:
    """Landing uses nine tenths of the core that came, publishing a ninth; the plan is too short."""
    assert what_does_not_scale(RUNS) == ["publish (1.11 times as fast on 2 times the cores)"]
