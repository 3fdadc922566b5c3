"""Progress of a step: its share, rate and time left, by a clock and a status tracker of our own."""

from __future__ import annotations

import logging
import threading
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from groupreplay.night.progress import Progress


class Tracker:
    """stages: id -> (tasks completed, tasks, active)."""

    def __init__(self) -> None:
        self.stages: dict[int, tuple[int, int, bool]] = {}

    def getActiveStageIds(self) -> list[int]:  # noqa: N802  (as in pyspark)
        return [stage for stage, (_, _, active) in self.stages.items() if active]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802
        done, tasks, _ = self.stages[stage]
        return SimpleNamespace(numCompletedTasks=done, numTasks=tasks)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage().removeprefix("night=2026-11-21 step=replay ")
        for record in caplog.records
    ]


def test_share_rate_and_time_left(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    now, tracker = [100.0], Tracker()
    progress = Progress(tracker, date(2026, 11, 21), "replay", every_s=3600, clock=lambda: now[0])
    with progress:
        progress.expect(1_000_000, "rows", tasks=20)
        for seconds, stages in [
            (105.0, {}),
            (110.0, {1: (2, 5, True)}),
            (120.0, {1: (5, 5, False), 2: (0, 20, True)}),
            (130.0, {1: (5, 5, False), 2: (15, 20, True)}),
        ]:
            now[0], tracker.stages = seconds, dict(stages)
            progress.log()
    assert told(caplog) == [
        "share=0%",
        "share=10% of 1,000,000 rows rate=10,000/s left=90s",
        "share=20% of 1,000,000 rows rate=10,000/s left=80s",
        "share=80% of 1,000,000 rows rate=26,667/s left=8s",
    ]
    fields = caplog.records[-1].__dict__["fields"]
    known = {"night": "2026-11-21", "step": "replay", "share": 0.8, "elapsed_s": 30}
    assert fields == known | {"left_s": 8, "amount": 1_000_000, "unit": "rows", "per_s": 26666.7}


def test_what_a_step_counts_itself_goes_before_tasks_and_never_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    done, now, tracker = [4], [0.0], Tracker()
    progress = Progress(tracker, date(2026, 11, 21), "replay", every_s=3600, clock=lambda: now[0])
    with progress:
        progress.expect(16, "tables", counted=lambda: done[0])
        now[0] = 8.0
        progress.log()
        done[0] = 2
        progress.log()
    assert told(caplog) == ["share=25% of 16 tables rate=0.5/s left=24s"] * 2


def test_it_polls_while_it_is_entered_and_a_failure_ends_only_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    polled = threading.Event()

    def fails() -> list[int]:
        polled.set()
        raise RuntimeError("Spark is gone")

    with Progress(
        SimpleNamespace(getActiveStageIds=fails), date(2026, 11, 21), "replay", every_s=0.001
    ) as progress:
        assert polled.wait(30)
    assert progress._thread is not None
    assert not progress._thread.is_alive()
    assert told(caplog)[-1] == "progress is not known: Spark is gone"
