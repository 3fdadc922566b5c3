"""The run of a night that this process holds: how far it came, and what it has made so far.

It is all of a night that changes, and only the steps change it: each reads what the one before it
made, and commits its own results to `runs` by `advance`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import groupreplay
from groupreplay.errors import GroupReplayError, RunHeld
from groupreplay.night.earlier.plan_json import from_json, joined_json
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.plan import Plan
from groupreplay.night.plans.results import Results
from groupreplay.night.progress import Progress
from groupreplay.tables.run_rows import FAILED, Run

_log = logging.getLogger(__name__)


class NightRun:
    """A run that `acquire` holds.

    night: what the run was given.
    row: in `runs`, as this process last committed it.
    plan: what it reads.
    results: what it has made so far.
    timings: step -> ms.
    """

    def __init__(self, night: Night, row: Run, timings: Mapping[str, int]) -> None:
        self.night, self.row = night, row
        # A run that was taken over before it landed anything may have been begun with another salt.
        self.plan = replace(from_json(Plan, row.plan or ""), hashed=night.hashed)
        self.results = from_json(Results, row.plan or "")
        self.timings = {**(row.timings or {}), **timings}

    @property
    def state(self) -> str:
        return self.row.state

    def advance(self, state: str, results: Results, **columns: Any) -> None:
        """Commits what a finished step has made.

        columns: further columns of `runs`, name -> value.
        """
        as_of_ms = results.landing.as_of_ms if results.landing else -1
        columns |= {"as_of_at": as_of_ms if as_of_ms >= 0 else None}
        self.row = self.night.ledger.advance(
            self.row,
            state,
            plan=joined_json(self.plan, results),
            timings=dict(self.timings),
            **columns,
        )
        self.results = results

    def keep(self, results: Results) -> None:
        """Notes what a step made before it ends: should it fail, `runs` says so."""
        self.results = results

    def let_go(self) -> Run:
        """Leaves the run as it is for the job of the next step; returns its row."""
        self.row = self.night.ledger.advance(self.row, self.row.state, holder=None)
        return self.row

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Marks the run FAILED for an error of the steps inside and raises it again. A run that is
        DONE stays so: then only its summary failed.
        """
        try:
            yield
        except RunHeld:
            raise
        except Exception as error:
            if not self.row.is_finished:
                self._fail(error)
            raise

    def _fail(self, error: Exception) -> None:
        why = " ".join(str(error).split())[:1000] or type(error).__name__
        if self.night.keys and not isinstance(error, GroupReplayError):
            # Errors of Spark quote plans and rows, and everybody may read `runs`.
            why = f"unforeseen: {type(error).__name__}; the output of the job says more"
        try:
            self.night.ledger.advance(
                self.row, FAILED, error=why, plan=joined_json(self.plan, self.results)
            )
        except Exception as another:  # noqa: BLE001  # the first error is what the user must see
            _log.warning("run_id=%s could not be marked FAILED: %s", self.row.run_id, another)

    @contextmanager
    def timed(self, step: str) -> Iterator[Progress]:
        with timed(self.night, step, self.timings) as progress:
            yield progress

    def metadata(self, step: str) -> dict[str, Any]:
        """User metadata of a commit of this step."""
        return {
            "run_id": self.row.run_id,
            "step": step,
            "logical_date": str(self.night.logical_date),
            "code_version": self.row.code_version,
        }


def acquire(
    night: Night,
    plan: Plan,
    results: Results,
    state: str,
    *,
    whole: bool,
    timings: Mapping[str, int] | None = None,
) -> NightRun:
    """Takes the night for this process: see `Ledger.acquire`, also for the errors it raises.

    plan, results: what a new run begins with; one that was let go, or is taken over, has its own.
    timings: step -> ms, of the steps before; None for none.
    """
    row = night.ledger.acquire(
        night.logical_date,
        groupreplay.__version__,
        night.config.config_hash,
        joined_json(plan, results),
        state=state,
        whole=whole,
        take_over=night.take_over,
    )
    return NightRun(night, row, timings or {})


@contextmanager
def timed(night: Night, step: str, timings: dict[str, int]) -> Iterator[Progress]:
    """Logs the progress of a step while it runs and how long it took, which it adds to timings."""
    context = night.warehouse.spark.sparkContext
    context.setJobDescription(f"night {night.logical_date}: {step}")
    started = time.monotonic()
    try:
        with Progress(context.statusTracker(), night.logical_date, step) as progress:
            yield progress
    finally:
        timings[step] = int((time.monotonic() - started) * 1000)
        fields = {"night": str(night.logical_date), "step": step, "ms": timings[step]}
        _log.info("night=%s step=%s ms=%d", *fields.values(), extra={"fields": fields})
