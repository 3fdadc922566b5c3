"""The jobs of a night: all its steps, or one of them; which nights that entails, and what a dead or
older run left to take over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date

from pyspark.sql import SparkSession

import groupreplay
from groupreplay.config.model import Config
from groupreplay.errors import NotReady
from groupreplay.night.clusters import with_clusters
from groupreplay.night.dry_run import check_ready, chosen_lines, planned_lines
from groupreplay.night.frames.evidence import EVIDENCE_TABLE
from groupreplay.night.history import (
    PastNight,
    check_newest,
    default_date,
    nights_to_run,
    of_date,
    past_nights,
)
from groupreplay.night.land import land_planned, nothing_new, planned
from groupreplay.night.night import Night
from groupreplay.night.plan import Inputs, Plan, find_inputs, find_topics
from groupreplay.night.privacy_check import check_privacy
from groupreplay.night.publish import publish_replayed
from groupreplay.night.publisher import PUBLISHED
from groupreplay.night.query_compiler import fit_to
from groupreplay.night.raw_kept import check_kept
from groupreplay.night.replay import replay_landed
from groupreplay.night.warm_up import started, table_logs, workers
from groupreplay.report.joins.privacy import HashKeys, hash_keys
from groupreplay.report.summary.model import NightSummary
from groupreplay.sources.clock import newest_ms
from groupreplay.sources.planning import plan_units
from groupreplay.tables.runs import DONE, FAILED, LANDED, PLANNED, REPLAYED, Ledger, Run
from groupreplay.tables.sql_files import mend_sql
from groupreplay.tables.warehouse import Warehouse

_LANDED = ("raw_records",)
_REPLAYED = ("raw_records", "group_state", "topics", "replayed")
_PUBLISHED = ("replayed", "raw_records", *PUBLISHED)
_ALL = tuple(dict.fromkeys((*_REPLAYED, *_PUBLISHED)))
"""Tables that the steps ask, in the order that they do."""


@dataclass(frozen=True, slots=True)
class NightResult:
    """What a run gives to whoever started it.

    logical_dates: the nights that it ran, in order.
    run: of the last of them, None for a dry run.
    summary: of the last of them, None where it was not published.
    dry_run_lines: what a dry run says, empty for any other.
    """

    logical_dates: tuple[date, ...]
    run: Run | None
    summary: NightSummary | None = None
    dry_run_lines: tuple[str, ...] = ()


def run_night(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    dry_run: bool = False,
    take_over: bool = False,
) -> NightResult:
    """Runs one night, and the nights that it entails (`history.nights_to_run`). Raises the errors
    of `groupreplay.errors`.

    logical_date: None: the UTC date of as-of.
    dry_run: only say what would be read and written, and check that it could.
    take_over: go on with runs whose processes died.
    """
    with _opened(spark, config, find_inputs(config), take_over, _ALL, dry_run=dry_run) as job:
        job.ask_clusters(logical_date)
        logical_date = logical_date or job.default_date()
        dates = nights_to_run(job.nights, logical_date)
        if dry_run:
            would_do = job.would_do(dates, lands=dates[-1] == logical_date)
            return NightResult(tuple(dates), None, dry_run_lines=would_do)
        return job.run_all(dates, lands=dates[-1] == logical_date)


def land_logs(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    dry_run: bool = False,
    take_over: bool = False,
) -> NightResult:
    """The first step alone; the run is left LANDED. Arguments as of `run_night`."""
    with _opened(spark, config, find_inputs(config), take_over, _LANDED, dry_run=dry_run) as job:
        job.ask_clusters(logical_date)
        logical_date = logical_date or job.default_date()
        check_newest(job.nights, logical_date)
        if dry_run:
            would_do = job.would_do([logical_date], lands=True)
            return NightResult((logical_date,), None, dry_run_lines=would_do)
        with job.night(logical_date) as night:
            with night.timed("plan"):
                night.acquire(planned(night), PLANNED, whole=False)
            with night.failing():
                land_planned(night)
            return NightResult((logical_date,), night.let_go())


def replay_groups(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    take_over: bool = False,
) -> NightResult:
    """The second step alone; the run is left REPLAYED. Nights before that landed and were never
    published are finished first.

    logical_date: None: the newest night that has landed.
    """
    with _opened(spark, config, find_topics(config), take_over, _REPLAYED) as job:
        own = job.landed(logical_date)
        waiting = [
            each.logical_date
            for each in job.nights
            if each.logical_date < own.logical_date and not each.is_done
        ]
        if waiting:
            job.run_all(waiting, lands=False)
        with job.night(own.logical_date) as night:
            night.acquire(
                Plan((), landing=own.landing, lines=own.lines, hashed=night.hashed),
                LANDED,
                whole=False,
            )
            with night.failing():
                replay_landed(night)
            return NightResult((*waiting, own.logical_date), night.let_go())


def build_reports(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    take_over: bool = False,
) -> NightResult:
    """The last step alone; then the nights after it, which stand on it. A night that is DONE gets
    its tables again from what is still staged.

    logical_date: None: the newest night that has landed.
    """
    with _opened(spark, config, find_topics(config), take_over, _PUBLISHED, replays=False) as job:
        own = job.landed(logical_date)
        waiting = [
            each.logical_date
            for each in job.nights
            if each.logical_date < own.logical_date and not each.is_done
        ]
        if waiting:
            raise NotReady(
                f"night {waiting[0]} of cluster {config.cluster} is before {own.logical_date} and"
                " was not published yet",
                _first(waiting[0]),
            )
        later = [each.logical_date for each in job.nights if each.logical_date > own.logical_date]
        with job.night(own.logical_date) as night:
            stands, summary = _report(night, tells=not later)
            result = NightResult((own.logical_date,), night.run, summary)
        if not later:
            return result
        if not stands:
            job.look_again()
            after = job.run_all(later, lands=False)
            return replace(after, logical_dates=(own.logical_date, *later))
        for each in later:
            job.look_again()
            with job.night(each) as night:
                summary = _report(night, tells=each == later[-1])[1]
                result = NightResult((own.logical_date, *later), night.run, summary)
        return result


def rebuild_nights(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    take_over: bool = False,
) -> NightResult:
    """Replays and publishes all nights anew, in order, from the rows that they landed; states are
    made anew too, and the old ones not read.

    logical_date: the first night to rebuild, as if the log began with it; None: the first there is.
    """
    with _opened(spark, config, find_topics(config), take_over, _ALL) as job:
        landed = job.landed(logical_date)
        nights = [
            each
            for each in job.nights
            if logical_date is None or each.logical_date >= landed.logical_date
        ]
        check_kept(job.warehouse, nights)
        dates = tuple(each.logical_date for each in nights)
        result = NightResult(dates, None)
        for own in nights:
            job.look_again()
            with job.night(own.logical_date) as night:
                night.acquire(
                    Plan((), landing=own.landing, lines=own.lines, hashed=night.hashed),
                    LANDED,
                    whole=True,
                )
                with night.failing():
                    if night.run.state == LANDED:
                        night.begin_anew(dates[0], dates[-1])
                        replay_landed(night)
                    summary = publish_replayed(night, tells=own is nights[-1])
                result = replace(result, run=night.run, summary=summary)
        return result


def _report(night: Night, *, tells: bool) -> tuple[bool, NightSummary | None]:
    """Publishes a night that was replayed. Gives False where nights after it must be replayed,
    because its states may be others than they were; and its summary.
    """
    newest = night.newest_landed()
    if newest.state == FAILED and newest.plan.staged_version < 0:
        raise NotReady(
            f"night {night.logical_date} of cluster {night.config.cluster} was not replayed yet",
            _first(night.logical_date, "replay_groups"),
        )
    version = night.warehouse.version(EVIDENCE_TABLE) if newest.plan.evidence_version >= 0 else -1
    night.acquire(
        replace(newest.plan, units=(), text_units=(), evidence_version=version),
        REPLAYED,
        whole=False,
    )
    stands = newest.state == DONE and newest.code_version == groupreplay.__version__
    with night.failing():
        if newest.state == DONE and not (stands and night.is_staged()):
            replay_landed(night)
        summary = publish_replayed(night, tells=tells)
    return stands, summary


def _first(logical_date: date, job: str = "build_reports") -> str:
    return f"run {job} --logical-date {logical_date} first"


@contextmanager
def _opened(
    spark: SparkSession,
    config: Config,
    inputs: Inputs,
    take_over: bool,
    tables: Sequence[str],
    *,
    dry_run: bool = False,
    replays: bool = True,
) -> Iterator[_Job]:
    """A job while it runs.

    tables: those that it asks.
    dry_run: nothing is made or started.
    replays: needs Python workers.
    """
    job = _Job(spark, config, inputs, take_over)
    works = [table_logs(job.warehouse, tables), *([workers(spark)] if replays else [])]
    with started(*([] if dry_run else works)):
        job.open(writes=not dry_run)
        yield job


class _Job:
    """What the jobs have in common: the warehouse and its nights."""

    def __init__(
        self, spark: SparkSession, config: Config, inputs: Inputs, take_over: bool
    ) -> None:
        self.config, self.inputs, self.take_over = config, inputs, take_over
        fit_to(spark, 0)
        self.warehouse = Warehouse(
            spark, config.warehouse, config.cluster, config.private_warehouse
        )
        self.keys: HashKeys | None = hash_keys(config.privacy)
        self.ledger = Ledger(self.warehouse, config.cluster, config=config.in_force or None)
        self.nights: list[PastNight] = []

    def open(self, *, writes: bool) -> None:
        """writes: makes tables that are missing."""
        # In a new warehouse there is nothing to look for, and a first query costs seconds.
        if self.warehouse.version("runs") > 0:
            self.warehouse.check_all(["runs"])
            self.look_again()
            check_privacy(self.warehouse, self.nights, self.keys)
        if writes:
            self.warehouse.create_all()
            if (
                newest := next((night for night in reversed(self.nights) if night.versions), None)
            ) is not None:
                mend_sql(self.warehouse, newest.logical_date, newest.versions)

    def look_again(self) -> None:
        """After a night was published."""
        rows = self.warehouse.read("runs")
        self.nights = past_nights(rows.where(rows["cluster"] == self.config.cluster))

    def night(self, logical_date: date) -> Night:
        return Night(
            self.config,
            self.warehouse,
            self.ledger,
            logical_date,
            self.nights,
            self.inputs,
            self.keys,
            self.take_over,
        )

    def ask_clusters(self, logical_date: date | None) -> None:
        """Before anything is landed into a night, None: the one of as-of."""
        was_landed = logical_date is not None and of_date(self.nights, logical_date) is not None
        self.inputs = with_clusters(
            self.warehouse.spark, self.config, self.inputs, was_landed=was_landed, lands=True
        )

    def default_date(self) -> date:
        newest = newest_ms(plan_units(self.inputs.files, {}))
        return default_date(
            self.nights, max(newest, self.inputs.live.as_of_ms) if self.inputs.live else newest
        )

    def landed(self, logical_date: date | None) -> PastNight:
        """A night that has landed, by default the newest."""
        own = (
            of_date(self.nights, logical_date)
            if logical_date
            else next(reversed(self.nights), None)
        )
        if own is None:
            cluster = self.config.cluster
            what = (
                f"night {logical_date} of cluster {cluster} has not landed yet"
                if logical_date
                else f"no night of cluster {cluster} has landed yet"
            )
            raise NotReady(what, "run land_logs first")
        self.inputs = with_clusters(
            self.warehouse.spark, self.config, self.inputs, was_landed=True, lands=False
        )
        return own

    def run_all(self, dates: Sequence[date], *, lands: bool) -> NightResult:
        """All steps of these nights, in order.

        lands: whether what is new in the sources belongs to the last of them.
        """
        for each in dates[:-1]:
            with self.night(each) as night:
                _run_whole(night, nothing_new(night))
            self.look_again()
        with self.night(dates[-1]) as night:
            with night.timed("plan"):
                plan = planned(night) if lands else nothing_new(night)
            summary = _run_whole(night, plan, tells=True)
            return NightResult(tuple(dates), night.run, summary)

    def would_do(self, dates: Sequence[date], *, lands: bool) -> tuple[str, ...]:
        """Lines on what the nights would read and write."""
        plan = planned(self.night(dates[-1])) if lands else Plan(())
        told = planned_lines(self.inputs, plan.units, plan.text_units, dates, *self.warehouse.roots)
        return (
            *check_ready(self.warehouse.spark, self.warehouse.roots),
            *told,
            *chosen_lines(self.config),
        )


def _run_whole(night: Night, plan: Plan, *, tells: bool = False) -> NightSummary | None:
    """The steps that are left to do. Gives what `publish_replayed` gives."""
    night.acquire(plan, PLANNED, whole=True)
    with night.failing():
        if night.run.state == PLANNED:
            land_planned(night)
        if night.run.state == LANDED:
            replay_landed(night)
        return publish_replayed(night, tells=tells)
