"""The jobs of a night: all its steps, or one of them; which nights that entails, and what a dead or
older run left to take over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from pyspark.sql import SparkSession

import groupreplay
from groupreplay.config.model import Config
from groupreplay.errors import NotReady
from groupreplay.night.dry_run import check_ready, chosen_lines, planned_lines
from groupreplay.night.earlier.history import (
    PastNight,
    check_newest,
    nights_to_run,
    of_date,
)
from groupreplay.night.earlier.plan_json import from_json
from groupreplay.night.earlier.raw_kept import check_kept
from groupreplay.night.extent import find_extent
from groupreplay.night.frames.evidence import EVIDENCE_TABLE
from groupreplay.night.frames.late import as_of_with_late, has_late
from groupreplay.night.job import Job, opened
from groupreplay.night.land import land_planned, landed_before
from groupreplay.night.night_run import NightRun, acquire, timed
from groupreplay.night.plans.inputs import find_inputs, find_topics
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.plan import Plan, nothing_new, planned
from groupreplay.night.plans.results import Results
from groupreplay.night.publishing.publish import publish_replayed
from groupreplay.night.publishing.publisher import PUBLISHED
from groupreplay.night.replay import replay_landed
from groupreplay.report.summary.model import NightSummary
from groupreplay.tables.run_rows import DONE, FAILED, LANDED, PLANNED, REPLAYED, Run
from groupreplay.tables.warehouse import NO_VERSION

_LANDED = ("raw_records",)
_REPLAYED = ("raw_records", "group_state", "topics", "replayed")
_PUBLISHED = ("replayed", "raw_records", *PUBLISHED)
_ALL = tuple(dict.fromkeys((*_REPLAYED, *_PUBLISHED)))
"""Tables that the steps ask, in the order that they do."""


@dataclass(frozen=True, slots=True)
class NightResult:
    """What a run gives to whoever started it.

    logical_dates: the nights that it ran, in order.
    run: row of `runs` of the last of them, None for a dry run.
    summary: summary of the last of them, None where it was not published.
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
    with opened(spark, config, find_inputs(config), take_over, _ALL, dry_run=dry_run) as job:
        job.ask_clusters(logical_date)
        logical_date = logical_date or job.default_date()
        dates = nights_to_run(job.nights, logical_date)
        if dry_run:
            would_do = _would_do(job, dates, lands=dates[-1] == logical_date)
            return NightResult(tuple(dates), None, dry_run_lines=would_do)
        return _run_all(job, dates, lands=dates[-1] == logical_date)


def land_logs(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    dry_run: bool = False,
    take_over: bool = False,
) -> NightResult:
    """The first step alone; the run is left LANDED. Arguments as of `run_night`."""
    with opened(spark, config, find_inputs(config), take_over, _LANDED, dry_run=dry_run) as job:
        job.ask_clusters(logical_date)
        logical_date = logical_date or job.default_date()
        check_newest(job.nights, logical_date)
        if dry_run:
            would_do = _would_do(job, [logical_date], lands=True)
            return NightResult((logical_date,), None, dry_run_lines=would_do)
        night, timings = job.night(logical_date), dict[str, int]()
        with timed(night, "plan", timings):
            plan = planned(night)
        run = acquire(night, plan, landed_before(night), PLANNED, whole=False, timings=timings)
        with run.failing():
            land_planned(run)
        return NightResult((logical_date,), run.let_go())


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
    with opened(spark, config, find_topics(config), take_over, _REPLAYED) as job:
        own = job.landed(logical_date)
        waiting = [
            each.logical_date
            for each in job.nights
            if each.logical_date < own.logical_date and not each.is_done
        ]
        if waiting:
            _run_all(job, waiting, lands=False)
        run = _acquired_landed(job, own, whole=False)
        with run.failing():
            replay_landed(run)
        return NightResult((*waiting, own.logical_date), run.let_go())


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
    with opened(spark, config, find_topics(config), take_over, _PUBLISHED, replays=False) as job:
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
        stands, row, summary = _report(job.night(own.logical_date), summarized=not later)
        result = NightResult((own.logical_date,), row, summary)
        if not later:
            return result
        if not stands:
            job.look_again()
            after = _run_all(job, later, lands=False)
            return replace(after, logical_dates=(own.logical_date, *later))
        for each in later:
            job.look_again()
            _, row, summary = _report(job.night(each), summarized=each == later[-1])
            result = NightResult((own.logical_date, *later), row, summary)
        return result


def rebuild_nights(
    spark: SparkSession,
    config: Config,
    logical_date: date | None = None,
    *,
    take_over: bool = False,
) -> NightResult:
    """Replays and publishes nights again, in order, from the rows that they landed. Every state is
    made again, too: those that the nights left before are not read.

    logical_date: the first night to rebuild, as if the log began with it; None: the first there is.
    """
    with opened(spark, config, find_topics(config), take_over, _ALL) as job:
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
            run = _acquired_landed(job, own, whole=True)
            with run.failing():
                if run.state == LANDED:
                    run.keep(_from_the_start(run, dates))
                summary = _replay_and_publish(run, summarized=own is nights[-1])
            result = replace(result, run=run.row, summary=summary)
        return result


def _acquired_landed(job: Job, own: PastNight, *, whole: bool) -> NightRun:
    """A run of a night that has landed, which is to be replayed."""
    night = job.night(own.logical_date)
    results = Results(landing=own.landing, lines=own.lines)
    return acquire(night, Plan((), hashed=night.hashed), results, LANDED, whole=whole)


def _from_the_start(run: NightRun, dates: Sequence[date]) -> Results:
    """What the replay of a rebuilt night begins with: without the states that nights before the
    rebuild left, and with what came late up to its last night.

    dates: dates of the nights that are rebuilt, in order.
    """
    newest = of_date(run.night.nights, dates[-1])
    landing = replace(run.results.landed, states_from=str(dates[0]), late_until="")
    if newest is not None and has_late(newest.landing):
        as_of_ms = as_of_with_late(landing, newest.landing)
        landing = replace(landing, late_until=str(dates[-1]), as_of_ms=as_of_ms)
    return replace(run.results, landing=landing)


class _Left(NamedTuple):
    """What a run left.

    state: how far it came.
    """

    state: str
    code_version: str
    plan: Plan
    results: Results


def _newest_landed(night: Night) -> _Left:
    """What the newest run of the night that landed left; the night has one."""
    rows = sorted(
        night.ledger.of_night(night.logical_date), key=lambda row: (row.started_at, row.run_id)
    )
    found = [
        _Left(row.state, row.code_version, from_json(Plan, row.plan), from_json(Results, row.plan))
        for row in rows
        if row.plan
    ]
    return [left for left in found if left.results.landing is not None][-1]


def _report(night: Night, *, summarized: bool) -> tuple[bool, Run, NightSummary | None]:
    """Publishes a night that was replayed. Gives whether the nights after it stand, which must be
    replayed where its states may be others than they were; the run; and its summary.
    """
    newest = _newest_landed(night)
    if newest.state == FAILED and newest.results.staged_version < 0:
        raise NotReady(
            f"night {night.logical_date} of cluster {night.config.cluster} was not replayed yet",
            _first(night.logical_date, "replay_groups"),
        )
    has_evidence = newest.results.evidence_version >= 0
    version = night.warehouse.version(EVIDENCE_TABLE) if has_evidence else NO_VERSION
    run = acquire(
        night,
        replace(newest.plan, units=(), text_units=()),
        replace(newest.results, evidence_version=version),
        REPLAYED,
        whole=False,
    )
    stands = newest.state == DONE and newest.code_version == groupreplay.__version__
    with run.failing():
        is_staged = night.warehouse.is_whole("replayed", run.results.staged_version)
        if newest.state == DONE and not (stands and is_staged):
            extent = replay_landed(run)
        else:
            extent = find_extent(night, run.results)
        summary = publish_replayed(run, extent, summarized=summarized)
    return stands, run.row, summary


def _first(logical_date: date, job: str = "build_reports") -> str:
    return f"run {job} --logical-date {logical_date} first"


def _run_all(job: Job, dates: Sequence[date], *, lands: bool) -> NightResult:
    """All steps of these nights, in order.

    lands: whether what is new in the sources belongs to the last of them.
    """
    for each in dates[:-1]:
        _run_whole(job.night(each), lands=False, summarized=False)
        job.look_again()
    run, summary = _run_whole(job.night(dates[-1]), lands=lands, summarized=True)
    return NightResult(tuple(dates), run, summary)


def _would_do(job: Job, dates: Sequence[date], *, lands: bool) -> tuple[str, ...]:
    """Lines on what the nights would read and write."""
    plan = planned(job.night(dates[-1])) if lands else Plan(())
    reads = planned_lines(job.inputs, plan.units, plan.text_units, dates, *job.warehouse.roots)
    return (
        *check_ready(job.warehouse.spark, job.warehouse.roots),
        *reads,
        *chosen_lines(job.config),
    )


def _run_whole(night: Night, *, lands: bool, summarized: bool) -> tuple[Run, NightSummary | None]:
    """The steps of a night that are left to do. Gives its run and its summary."""
    timings: dict[str, int] = {}
    with timed(night, "plan", timings):
        plan = planned(night) if lands else nothing_new(night)
    run = acquire(night, plan, landed_before(night), PLANNED, whole=True, timings=timings)
    with run.failing():
        if run.state == PLANNED:
            land_planned(run)
        summary = _replay_and_publish(run, summarized=summarized)
    return run.row, summary


def _replay_and_publish(run: NightRun, *, summarized: bool) -> NightSummary | None:
    """The two steps of a run that has landed, or the second alone where it was replayed."""
    extent = replay_landed(run) if run.state == LANDED else find_extent(run.night, run.results)
    return publish_replayed(run, extent, summarized=summarized)
