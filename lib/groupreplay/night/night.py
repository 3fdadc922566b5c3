"""One night as its steps see it: what belongs to it, the run that this process holds, and what is
told when a step ends or fails.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

import groupreplay
from groupreplay.config.model import Config
from groupreplay.errors import GroupReplayError, RunHeld
from groupreplay.night.frames.late import (
    has_late,
    landing_with_holes_filled,
    with_holes_filled,
    with_late,
)
from groupreplay.night.frames.left_out import (
    LeftOut,
    deleted_nights,
    nights_of_other_logs,
    nights_without,
)
from groupreplay.night.frames.replay import Hole, known_holes, night_records
from groupreplay.night.history import PastNight, before, of_date
from groupreplay.night.land_lines import RAW_LINES
from groupreplay.night.lines_landed import LinesLanding
from groupreplay.night.plan import Inputs, Landing, Plan
from groupreplay.night.progress import Progress
from groupreplay.report.joins.privacy import HashKeys
from groupreplay.tables.runs import FAILED, Ledger, Run
from groupreplay.tables.warehouse import Warehouse
from groupreplay.workers.slices import LogIncarnations

_log = logging.getLogger(__name__)


class Staged(NamedTuple):
    """What a run left. state: how far it came."""

    state: str
    code_version: str
    plan: Plan


@dataclass(slots=True)
class Night:
    """nights: of `past_nights`.
    inputs: of a job that lands nothing its topics alone.
    keys: of what is hidden, None if nothing is.
    kept: what is held in memory until the night is left.
    """

    config: Config
    warehouse: Warehouse
    ledger: Ledger
    logical_date: date
    nights: Sequence[PastNight]
    inputs: Inputs
    keys: HashKeys | None = None
    take_over: bool = False
    timings: dict[str, int] = field(default_factory=dict)
    kept: dict[str, DataFrame] = field(default_factory=dict)
    _run: Run | None = None
    _plan: Plan | None = None
    _left_out: LeftOut | None = None

    def __enter__(self) -> Night:
        return self

    def __exit__(self, *error: object) -> None:
        for frame in self.kept.values():
            frame.unpersist()

    # ------------------------------------------------------------ the run

    @property
    def run(self) -> Run:
        assert self._run is not None, "a night is acquired before any of its steps"
        return self._run

    @property
    def plan(self) -> Plan:
        assert self._plan is not None, "a night is acquired before any of its steps"
        return self._plan

    @property
    def landing(self) -> Landing:
        """What the run has landed."""
        landing = self.plan.landing
        assert landing is not None, "a run that is past PLANNED says what it landed"
        return landing

    def acquire(self, plan: Plan, state: str, *, whole: bool) -> None:
        """Takes the night: see `Ledger.acquire`."""
        code_version, config_hash = groupreplay.__version__, self.config.config_hash
        self._run = self.ledger.acquire(
            self.logical_date,
            code_version,
            config_hash,
            plan.to_json(),
            state=state,
            whole=whole,
            take_over=self.take_over,
        )
        # A run that was taken over before it landed anything may have been begun with another salt.
        self._plan = replace(Plan.from_json(self._run.plan or ""), hashed=self.hashed)
        self.timings = {**(self._run.timings or {}), **self.timings}

    def advance(self, state: str, plan: Plan, **changes: Any) -> None:
        """What a finished step leaves in `runs`."""
        as_of_ms = plan.landing.as_of_ms if plan.landing else -1
        changes |= {"as_of_at": as_of_ms if as_of_ms >= 0 else None}
        self._run = self.ledger.advance(
            self.run, state, plan=plan.to_json(), timings=dict(self.timings), **changes
        )
        self._plan = plan

    def begin_anew(self, states_from: date, late_until: date) -> None:
        """The replay begins without the states that nights before the one date left, and with what
        came late up to the other.
        """
        newest = of_date(self.nights, late_until)
        late = str(late_until) if newest is not None and has_late(newest.landing) else ""
        self._plan = replace(
            self.plan, landing=replace(self.landing, states_from=str(states_from), late_until=late)
        )

    def keep(self, plan: Plan) -> None:
        """What a step has committed before it ends: should it fail, `runs` says it."""
        self._plan = plan

    def let_go(self) -> Run:
        """Leaves the run as it is for the job of the next step; returns it."""
        self._run = self.ledger.advance(self.run, self.run.state, holder=None)
        return self._run

    def newest_landed(self) -> Staged:
        """What the newest run of the night that landed left; the night has one."""
        landed = [
            run
            for run in self.ledger.of_night(self.logical_date)
            if (run.plan or "") and Plan.from_json(run.plan or "").landing is not None
        ]
        newest = max(landed, key=lambda run: (run.started_at, run.run_id))
        return Staged(newest.state, newest.code_version, Plan.from_json(newest.plan or ""))

    def is_staged(self) -> bool:
        """Whether the version of `replayed` that the night was published from can still be read."""
        return self.warehouse.is_whole("replayed", self.plan.staged_version)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Errors of the steps inside mark the run FAILED, unless it is DONE: then they are of what
        is told of it.
        """
        try:
            yield
        except RunHeld:
            raise
        except Exception as error:
            if not self.run.is_finished:
                self._fail(error)
            raise

    def _fail(self, error: Exception) -> None:
        why = " ".join(str(error).split())[:1000] or type(error).__name__
        if self.keys and not isinstance(error, GroupReplayError):
            # Errors of Spark quote plans and rows, and `runs` is for everybody.
            why = f"unforeseen: {type(error).__name__}; the output of the job says more"
        try:
            self.ledger.advance(self.run, FAILED, error=why, plan=self.plan.to_json())
        except Exception as another:  # noqa: BLE001  # the first error is what the user must see
            _log.warning("run_id=%s could not be marked FAILED: %s", self.run.run_id, another)

    @contextmanager
    def timed(self, step: str) -> Iterator[Progress]:
        context = self.warehouse.spark.sparkContext
        context.setJobDescription(f"night {self.logical_date}: {step}")
        started = time.monotonic()
        try:
            with Progress(context.statusTracker(), self.logical_date, step) as progress:
                yield progress
        finally:
            self.timings[step] = int((time.monotonic() - started) * 1000)
            told = {"night": str(self.logical_date), "step": step, "ms": self.timings[step]}
            _log.info("night=%s step=%s ms=%d", *told.values(), extra={"fields": told})

    # ------------------------------------------------------------ what belongs to it

    @property
    def hashed(self) -> str:
        return self.keys.fingerprint if self.keys else ""

    @property
    def earlier(self) -> PastNight | None:
        """The night before."""
        return before(self.nights, self.logical_date)

    def landed_before(self) -> Landing:
        """What the nights before had landed, and this one if it ran before."""
        own = of_date(self.nights, self.logical_date)
        if own is not None:
            return own.landing
        return self.earlier.landing.next_night() if self.earlier is not None else Landing()

    def lines_before(self) -> LinesLanding | None:
        """As `landed_before`, for logs of brokers; None: there were none so far."""
        own = of_date(self.nights, self.logical_date)
        if own is not None and own.lines is not None:
            return own.lines
        return (
            self.earlier.lines.next_night()
            if self.earlier is not None and self.earlier.lines is not None
            else None
        )

    def rows(self, name: str, version: int | None = None) -> DataFrame:
        """The rows of a table that are this cluster's."""
        return self.warehouse.read(name, version).where(sf.col("cluster") == self.warehouse.cluster)

    def records(self) -> DataFrame:
        """The raw rows that the night replays, with those of groups that it leaves out."""
        raw, landing, newest = self.rows("raw_records"), self.landing, self._with_late
        if newest is None:
            return night_records(raw, self.logical_date, landing, self.left_out)
        raw = with_late(
            raw, self.logical_date, self.earlier.landing if self.earlier else None, landing
        )
        # Among what came late may be markers of transactions, and their commits.
        settles = replace(
            landing, open_commits=max(landing.open_commits, 1), markers=max(landing.markers, 1)
        )
        return with_holes_filled(
            night_records(raw, self.logical_date, settles, self.left_out), newest
        )

    def holes(self) -> list[Hole]:
        """What the last holes of units mean for the rows above them."""
        first = before(self.nights, self.left_out.since or self.logical_date)
        start, landings, newest = (
            first.landing if first else Landing(),
            [*self.left_out.landings, self.landing],
            self._with_late,
        )
        if newest is not None:
            start, landings = (
                landing_with_holes_filled(start, newest),
                [landing_with_holes_filled(each, newest) for each in landings],
            )
        now = self.landing.partitions
        same = {
            partition: each
            for partition, each in start.partitions.items()
            if now.get(partition, each).log_incarnation == each.log_incarnation
        }
        return known_holes(replace(start, partitions=same), *landings)

    def logs(self) -> LogIncarnations:
        """Of each partition, and of those whose log is another than the night before had read."""
        earlier = self.earlier.landing.partitions if self.earlier else {}
        now = {key: each.log_incarnation for key, each in self.landing.partitions.items()}
        before = {key: each.log_incarnation for key, each in earlier.items()}
        ended = {key: each for key, each in before.items() if now.get(key, each) > each}
        return LogIncarnations(now, ended)

    @property
    def _with_late(self) -> Landing | None:
        """What was landed up to the night whose late rows this one replays."""
        until = (
            of_date(self.nights, date.fromisoformat(self.landing.late_until))
            if self.landing.late_until
            else None
        )
        return until.landing if until else None

    def lines(self) -> DataFrame | None:
        """The rows of `raw_lines` that the night landed, None if there are none."""
        lines = self.plan.lines
        if lines is None or lines.raw_version < 0:
            return None
        return self.rows(RAW_LINES).where(sf.col("logical_date") == sf.lit(self.logical_date))

    def choose_groups(self) -> None:
        """Of the configuration, for the replay that begins."""
        self._plan, self._left_out = replace(self.plan, groups=self.config.groups), None

    @property
    def left_out(self) -> LeftOut:
        """By the choice of groups that the plan has."""
        if self._left_out is None:
            without = nights_without(self.nights, self.logical_date, self.plan.groups)
            gone = deleted_nights(self.rows("raw_records"), without) if without else frozenset()
            gone |= nights_of_other_logs(
                without, self.landing, all_of_them=self._with_late is not None
            )
            logs = {
                partition: each.log_incarnation
                for partition, each in self.landing.partitions.items()
            }
            self._left_out = LeftOut(self.plan.groups, without, gone, logs)
        return self._left_out

    def metadata(self, step: str) -> dict[str, Any]:
        """Of a commit of this step."""
        return {
            "run_id": self.run.run_id,
            "step": step,
            "logical_date": str(self.logical_date),
            "code_version": self.run.code_version,
        }

    def labels(self) -> dict[str, Any]:
        """The columns that say whose and which night's a row is."""
        return {"cluster": sf.lit(self.config.cluster), "logical_date": sf.lit(self.logical_date)}
