"""Progress of a step while it runs: a line every few seconds with the share that is done, the rate,
and the time that is left.

What is done comes from Spark's own status tracker, in tasks, unless the step counts something
better. A poll is a few calls and starts no job.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Self

EVERY_S: Final = 5.0

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """One step of one night; a context manager that polls while it is entered.

    tracker: what SparkContext.statusTracker() gives.
    every_s: time between two polls.
    clock: gives the time in seconds.
    """

    tracker: Any
    logical_date: date
    step: str
    every_s: float = EVERY_S
    clock: Callable[[], float] = time.monotonic
    _amount: int = 0
    _unit: str = "tasks"
    _tasks: int = 0
    _counted: Callable[[], int] | None = None
    _stages: dict[int, tuple[int, int]] = field(default_factory=dict)
    _share: float = 0.0
    _started: float = 0.0
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def expect(
        self, amount: int, unit: str, *, tasks: int = 0, counted: Callable[[], int] | None = None
    ) -> None:
        """Sets how much the whole step has to do.

        tasks: least number of tasks, where Spark knows it late.
        counted: returns how much is done, where tasks do not show it.
        """
        self._amount, self._unit, self._tasks, self._counted = amount, unit, tasks, counted

    def __enter__(self) -> Self:
        self._started = self.clock()
        self._thread = threading.Thread(
            target=self._poll, name=f"progress-{self.step}", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _poll(self) -> None:
        while not self._stopped.wait(self.every_s):
            try:
                self.log()
            # A step must not fail for its progress: Spark may be going down under it.
            except Exception as error:  # noqa: BLE001
                _log.debug("progress is not known: %s", error)
                return

    def log(self) -> None:
        """Logs one line."""
        elapsed = self.clock() - self._started
        # Never less than before: Spark finds stages as it goes on.
        self._share = max(self._share, min(self._done_share(), 1.0))
        fields: dict[str, Any] = {
            "night": str(self.logical_date),
            "step": self.step,
            "share": round(self._share, 3),
            "elapsed_s": round(elapsed),
        }
        text = f"night={self.logical_date} step={self.step} share={self._share:.0%}"
        if self._share > 0:
            fields |= {"left_s": round(elapsed / self._share - elapsed)}
            rate = self._amount * self._share / elapsed if elapsed > 0 else 0
            if self._amount:
                fields |= {"amount": self._amount, "unit": self._unit, "per_s": round(rate, 1)}
                text += (
                    f" of {self._amount:,} {self._unit} rate={rate:,.{0 if rate >= 10 else 1}f}/s"
                )
            text += f" left={fields['left_s']:,}s"
        _log.info("%s", text, extra={"fields": fields})

    def _done_share(self) -> float:
        if self._counted is not None:
            return self._counted() / max(self._amount, 1)
        for stage in {*self.tracker.getActiveStageIds(), *self._unfinished()}:
            info = self.tracker.getStageInfo(stage)
            if info is not None:
                self._stages[stage] = (info.numCompletedTasks, info.numTasks)
        done, known = (
            (sum(each) for each in zip(*self._stages.values(), strict=True))
            if self._stages
            else (0, 0)
        )
        return done / max(known, self._tasks, 1)

    def _unfinished(self) -> set[int]:
        """Stages that ran at the last poll: they may have ended since."""
        return {stage for stage, (done, known) in self._stages.items() if done < known}
