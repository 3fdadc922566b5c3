"""One night, from the sources to the summary: the steps in order, what each leaves in `runs`, and what a dead or older run left to take over."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

import groupreplay
from groupreplay.config import Config
from groupreplay.errors import ConfigError, GroupReplayError, RunHeld
from groupreplay.session import fit_to
from groupreplay.sources.clock import newest_ms
from groupreplay.sources.planning import plan_units
from groupreplay.sources.text_logs import plan_text_units
from groupreplay.steps.dry_run import check_ready, chosen_lines, planned_lines
from groupreplay.steps.evidence import EVIDENCE_TABLE, latest_evidence_states, proved
from groupreplay.steps.history import PastNight, before, default_date, nights_to_run, of_date, past_nights
from groupreplay.steps.land import land
from groupreplay.steps.land_lines import RAW_LINES, land_lines
from groupreplay.steps.left_out import LeftOut, deleted_nights, nights_without
from groupreplay.steps.lines_landing import LinesLanding
from groupreplay.steps.plan import Inputs, Landing, Plan, find_inputs, planned_bytes
from groupreplay.steps.privacy import check_privacy
from groupreplay.steps.progress import Progress
from groupreplay.steps.publish import PUBLISHED, SMALL_ROWS, THREADS, Published, Publisher
from groupreplay.steps.replay import known_holes, latest_states, night_records, replayed, slices_for
from groupreplay.steps.report import Sources
from groupreplay.steps.sql_files import sql_files
from groupreplay.steps.storage import write_text
from groupreplay.summary import SUMMARY_TABLES, section, summary_frames, summary_lines
from groupreplay.tables.runs import DONE, LANDED, PLANNED, REPLAYED, Ledger, Run
from groupreplay.tables.warehouse import Warehouse
from groupreplay.transforms.context import ReportContext
from groupreplay.transforms.owners import owners
from groupreplay.transforms.privacy import HashKeys, hash_keys
from groupreplay.transforms.topics import GIVEN

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NightResult:
    """What a run gives to whoever started it. logical_dates: the nights that it ran, in order; run: of the last of them, None for a dry run."""

    logical_dates: tuple[date, ...]
    run: Run | None
    summary_lines: tuple[str, ...]


def run_night(spark: SparkSession, config: Config, logical_date: date | None = None, *, dry_run: bool = False) -> NightResult:
    """Runs one night, and the nights that it entails (`history.nights_to_run`). Raises the errors of `groupreplay.errors`.

    logical_date: None: the UTC date of as-of. dry_run: only say what would be read and written, and check that it could.
    """
    inputs = find_inputs(config)
    fit_to(spark, 0)
    warehouse = Warehouse(spark, config.warehouse, config.cluster, config.private_warehouse)
    keys = hash_keys(config.privacy)
    # In a new warehouse there is nothing to look for, and a first query costs seconds.
    nights: list[PastNight] = []
    if warehouse.version("runs") > 0:
        warehouse.check_all(["runs"])
        nights = past_nights(_of_cluster(warehouse, "runs"))
        check_privacy(warehouse, nights, keys)
    if not dry_run:
        warehouse.create_all()
    if logical_date is None:
        logical_date = default_date(nights, newest_ms(plan_units(inputs.files, {})))
    dates = nights_to_run(nights, logical_date)
    if dry_run:
        return NightResult(tuple(dates), None, (*_dry_run(warehouse, inputs, nights, dates, logical_date), *chosen_lines(config)))
    ledger = Ledger(warehouse, config.cluster, config=config.in_force or None)
    for each in dates[:-1]:
        with _Night(config, warehouse, ledger, each, nights, inputs, keys) as night:
            night.run(lands=False)
        nights = past_nights(_of_cluster(warehouse, "runs"))
    with _Night(config, warehouse, ledger, dates[-1], nights, inputs, keys) as night:
        run = night.run(lands=dates[-1] == logical_date)
        return NightResult(tuple(dates), run, tuple(night.summary_lines(run)))


def _dry_run(warehouse: Warehouse, inputs: Inputs, nights: Sequence[PastNight], dates: Sequence[date], logical_date: date) -> tuple[str, ...]:
    landed = next((night.landing for night in reversed(nights) if night.logical_date <= logical_date), Landing())
    lines = next((night.lines for night in reversed(nights) if night.logical_date <= logical_date), None)
    lands = dates[-1] == logical_date
    units = plan_units(inputs.files, landed.watermarks()) if lands else []
    text_units = plan_text_units(inputs.texts, lines.watermarks if lines else {}) if lands else []
    return (*check_ready(warehouse.spark, warehouse.roots), *planned_lines(inputs, units, text_units, dates, *warehouse.roots))


def _of_cluster(warehouse: Warehouse, name: str, version: int | None = None) -> DataFrame:
    return warehouse.read(name, version).where(sf.col("cluster") == warehouse.cluster)


@dataclass(slots=True)
class _Night:
    """The steps of one night. nights: of `past_nights`. keys: of what is hidden, None if nothing is.
    kept: what is held in memory until the night is left."""

    config: Config
    warehouse: Warehouse
    ledger: Ledger
    logical_date: date
    nights: Sequence[PastNight]
    inputs: Inputs
    keys: HashKeys | None = None
    timings: dict[str, int] = field(default_factory=dict)
    kept: dict[str, DataFrame] = field(default_factory=dict)
    left_out: LeftOut | None = None

    def __enter__(self) -> _Night:
        return self

    def __exit__(self, *error: object) -> None:
        for frame in self.kept.values():
            frame.unpersist()

    def run(self, *, lands: bool) -> Run:
        """lands: whether what is new in the sources belongs to this night."""
        with self._timed("plan"):
            plan = self._plan(lands=lands)
            run = self.ledger.acquire(self.logical_date, groupreplay.__version__, self.config.config_hash, plan.to_json())
        # A run that was taken over before it landed anything may have been begun with another salt.
        plan = replace(Plan.from_json(run.plan or ""), hashed=self._hashed, groups=self.config.groups)
        self.timings |= run.timings or {}
        try:
            if run.state == PLANNED:
                run, plan = self._land(run, plan)
            if run.state == LANDED:
                run, plan = self._replay(run, plan)
            return self._publish(run, plan)
        except RunHeld:
            raise
        except Exception as error:
            self._fail(run, error)
            raise

    # ------------------------------------------------------------ steps

    def _plan(self, *, lands: bool) -> Plan:
        if not lands:
            return Plan((), hashed=self._hashed)
        units = plan_units(self.inputs.files, self._landed_before().watermarks())
        lines = self._lines_before()
        text_units = plan_text_units(self.inputs.texts, lines.watermarks if lines else {})
        return Plan(tuple(units), self.inputs.passed_over, self.inputs.unreadable, text_units=tuple(text_units), hashed=self._hashed)

    def _land(self, run: Run, plan: Plan) -> tuple[Run, Plan]:
        landing = self._landed_before()
        with self._timed("land") as progress:
            progress.expect(planned_bytes(plan), "bytes")
            if plan.units:
                landing = land(self.warehouse, self.logical_date, plan.units, landing, self._metadata(run, "land"))
            lines = self._land_lines(run, plan)
        plan = replace(plan, landing=landing, lines=lines)
        return self._advance(run, LANDED, plan, as_of_at=landing.as_of_ms if landing.as_of_ms >= 0 else None), plan

    def _land_lines(self, run: Run, plan: Plan) -> LinesLanding | None:
        lines = self._lines_before()
        if lines is None and not plan.text_units:
            return None
        lines = (lines or LinesLanding()).seen((file.identity for file in self.inputs.texts), self.logical_date)
        if not plan.text_units:
            return lines
        return land_lines(self.warehouse, self.logical_date, plan.text_units, lines, self._metadata(run, "land"))

    def _replay(self, run: Run, plan: Plan) -> tuple[Run, Plan]:
        landing = _known(plan.landing)
        spark, cores = self.warehouse.spark, self.warehouse.spark.sparkContext.defaultParallelism
        fit_to(spark, landing.rows)
        with self._timed("replay") as progress:
            self._check_kept(plan, landing)
            earlier = before(self.nights, self.logical_date)
            left_out = self._left_out
            states = latest_states(left_out.kept_states(_of_cluster(self.warehouse, "group_state")), self.logical_date) if earlier else None
            slices = self.config.replay.slices or slices_for(landing.rows, cores)
            progress.expect(landing.rows, "rows", tasks=slices)
            first = before(self.nights, left_out.since or self.logical_date)
            holes = known_holes(first.landing if first else Landing(), *left_out.landings, landing)
            facts = replayed(spark, left_out.kept_records(self._records(landing)), states, holes, self._given_names(), slices)
            night = {"cluster": sf.lit(self.config.cluster), "logical_date": sf.lit(self.logical_date)}
            observation = Observation("replayed")
            rows = facts.withColumns(night).observe(observation, sf.count(sf.lit(1)).alias("rows"), sf.collect_set("kind").alias("kinds"))
            version = self.warehouse.replace("replayed", rows, f"cluster = '{self.config.cluster}'", self._metadata(run, "replay"))
            plan = self._prove(run, plan)
        found = observation.get
        staged = {"staged_version": version, "staged_rows": found["rows"], "staged_kinds": tuple(sorted(found["kinds"]))}
        plan = replace(plan, **staged, left_out=left_out.records)
        return self._advance(run, REPLAYED, plan), plan

    def _check_kept(self, plan: Plan, landing: Landing) -> None:
        """A night that runs again needs its raw rows: without them it would be published empty. Raises ConfigError where they were deleted."""
        if landing.rows and not plan.units and self._records(landing).isEmpty():
            raise ConfigError("--logical-date", "", f"{self.logical_date} cannot run again: its rows were deleted from raw_records")

    def _prove(self, run: Run, plan: Plan) -> Plan:
        """What lines of broker logs prove, into `evidence`; nothing where none was ever landed."""
        if plan.lines is None:
            return plan
        self.warehouse.create_all([EVIDENCE_TABLE])
        is_first = self.warehouse.version(EVIDENCE_TABLE) == 0
        left_out, lines = self._left_out, self._replayed_lines(plan.lines)
        states = None if is_first else latest_evidence_states(left_out.kept_evidence(_of_cluster(self.warehouse, EVIDENCE_TABLE)), self.logical_date)
        slices = self.config.replay.slices or slices_for(plan.lines.rows, self.warehouse.spark.sparkContext.defaultParallelism)
        facts = proved(left_out.kept_lines(lines) if lines is not None else None, states, plan.lines.newest_ms, slices)
        if facts is None:
            return plan
        night = {"cluster": sf.lit(self.config.cluster), "logical_date": sf.lit(self.logical_date)}
        observation = Observation("evidence")
        rows = facts.withColumns(night).observe(observation, sf.collect_set("kind").alias("kinds"))
        where = f"cluster = '{self.config.cluster}' AND logical_date = DATE'{self.logical_date}'"
        version = self.warehouse.replace(EVIDENCE_TABLE, rows, where, self._metadata(run, "replay"))
        return replace(plan, evidence_version=version, evidence_kinds=tuple(sorted(observation.get["kinds"])))

    def _publish(self, run: Run, plan: Plan) -> Run:
        landing = _known(plan.landing)
        fit_to(self.warehouse.spark, plan.staged_rows)
        with self._timed("publish") as progress:
            earlier = before(self.nights, self.logical_date)
            lines = self._night_lines(plan.lines)
            sources = Sources(_of_cluster(self.warehouse, "replayed", plan.staged_version), self._records(landing), lines)
            if plan.staged_rows + landing.rows <= SMALL_ROWS:
                sources = Sources(sources.staged.persist(), sources.raw.persist(), lines)
                self.kept |= {"replayed": sources.staged, "raw_records": sources.raw}
            context = self._context(plan, landing)
            if self.config.owner_rules:
                self.kept["owners"] = owners(sources.group_ids(context.evidence_tonight), self.config.owner_rules).persist()
                context = replace(context, owners=self.kept["owners"])
            digest_final, metadata = earlier.digest_final if earlier else {}, self._metadata(run, "publish")
            publisher = Publisher(self.warehouse, self.logical_date, digest_final, plan.staged_rows, metadata, self.keys)
            kinds = {*plan.staged_kinds, *landing.kinds, *(plan.lines.kinds if plan.lines else ()), *plan.evidence_kinds}
            progress.expect(len(PUBLISHED), "tables", counted=lambda: len(publisher.published.versions))
            publisher.publish(sources, self.inputs.topics, kinds, context)
            self.kept |= publisher.kept
            self._write_sql(publisher.published)
        counts = {**publisher.published.counts, "landed": landing.rows, "left_out": plan.left_out}
        return self._advance(run, DONE, plan, **_columns(publisher.published), counts=counts)

    def _context(self, plan: Plan, landing: Landing) -> ReportContext:
        evidence = tonight = None
        of_lines = [night.logical_date for night in self.nights if night.lines is not None]
        if plan.evidence_version >= 0 or (of_lines and self.warehouse.exists(EVIDENCE_TABLE)):
            # Lines may have come with a later night. What was open is told again by every night, and the newest knows most.
            version = plan.evidence_version if plan.evidence_version >= 0 else None
            rows = _of_cluster(self.warehouse, EVIDENCE_TABLE, version)
            newest = max([self.logical_date, *of_lines])
            evidence = rows.where(sf.col("is_final") | (sf.col("logical_date") == sf.lit(newest)))
            tonight = rows.where(sf.col("logical_date") == sf.lit(self.logical_date))
        return ReportContext(
            cluster=self.config.cluster,
            logical_date=self.logical_date,
            as_of_ms=max(landing.as_of_ms, 0),
            thresholds=self.config.thresholds,
            thresholds_by_group=self.config.thresholds_by_group,
            topics=_of_cluster(self.warehouse, "topics"),
            evidence=evidence,
            evidence_tonight=tonight,
            lines_as_of_ms=plan.lines.newest_ms if plan.lines else -1,
            log_kinds=frozenset(source.kind for source in self.config.sources),
            groups=self.config.groups,
        )

    def summary_lines(self, run: Run) -> list[str]:
        """What a person reads of the night that was just run."""
        tables = {name: self.kept[name] if name in self.kept else _of_cluster(self.warehouse, name) for name in SUMMARY_TABLES}
        empty = {name for name, rows in (run.counts or {}).items() if rows == 0}
        frames = {
            name: frame
            for name, frame in summary_frames(tables, run.logical_date, self.config.report.top).items()
            if not _ASKS.get(name, frozenset(SUMMARY_TABLES)) <= empty
        }
        with ThreadPoolExecutor(THREADS) as threads:
            found = dict(zip(frames, threads.map(lambda frame: section(frame.collect()), frames.values()), strict=True))
        return summary_lines(found, cluster=self.config.cluster, logical_date=run.logical_date, as_of_ms=run.as_of_at)

    # ------------------------------------------------------------ what steps share

    def _landed_before(self) -> Landing:
        """What the nights before had landed, and this one if it ran before."""
        own, earlier = of_date(self.nights, self.logical_date), before(self.nights, self.logical_date)
        if own is not None:
            return own.landing
        return earlier.landing.next_night() if earlier is not None else Landing()

    def _lines_before(self) -> LinesLanding | None:
        """As `_landed_before`, for logs of brokers; None: there were none so far."""
        own, earlier = of_date(self.nights, self.logical_date), before(self.nights, self.logical_date)
        if own is not None and own.lines is not None:
            return own.lines
        return earlier.lines.next_night() if earlier is not None and earlier.lines is not None else None

    def _night_lines(self, lines: LinesLanding | None) -> DataFrame | None:
        """The rows of `raw_lines` that this night landed."""
        if lines is None or lines.raw_version < 0:
            return None
        return _of_cluster(self.warehouse, RAW_LINES, lines.raw_version).where(sf.col("logical_date") == sf.lit(self.logical_date))

    def _replayed_lines(self, lines: LinesLanding | None) -> DataFrame | None:
        """Those of this night, and what it missed of groups that come back."""
        own = self._night_lines(lines)
        if self._left_out.since is None or lines is None:
            return own
        missed = _of_cluster(self.warehouse, RAW_LINES).where((sf.col("logical_date") < sf.lit(self.logical_date)) & self._left_out.is_missed())
        return missed if own is None else own.unionByName(missed)

    def _records(self, landing: Landing) -> DataFrame:
        return night_records(_of_cluster(self.warehouse, "raw_records"), self.logical_date, landing, self._left_out)

    @property
    def _left_out(self) -> LeftOut:
        if self.left_out is None:
            without = nights_without(self.nights, self.logical_date, self.config.groups)
            gone = deleted_nights(_of_cluster(self.warehouse, "raw_records"), without) if without else ()
            self.left_out = LeftOut(self.config.groups, without, gone)
        return self.left_out

    def _given_names(self) -> dict[str, str]:
        """Topic id -> name as topics sources gave it, on this night or one before: a topic that was deleted keeps its name."""
        names: dict[str, str] = {}
        if before(self.nights, self.logical_date) is not None:
            known = _of_cluster(self.warehouse, "topics").where((sf.col("source") == GIVEN) & (sf.col("logical_date") < sf.lit(self.logical_date)))
            names = {row["topic_id"]: row["topic"] for row in known.select("topic_id", "topic").collect()}
        return names | {topic.topic_id: topic.topic for topic in self.inputs.topics}

    @property
    def _hashed(self) -> str:
        return self.keys.fingerprint if self.keys else ""

    def _write_sql(self, published: Published) -> None:
        """Tables that lie elsewhere are none of the reader's business."""
        root = self.warehouse.root
        versions = {name: version for name, version in published.versions.items() if self.warehouse.root_of(name) == root}
        for name, text in sql_files(root, self.config.cluster, self.logical_date, versions).items():
            write_text(self.warehouse.spark, f"{root}/_sql/{name}", text)

    def _metadata(self, run: Run, step: str) -> dict[str, Any]:
        return {"run_id": run.run_id, "step": step, "logical_date": str(self.logical_date), "code_version": run.code_version}

    def _advance(self, run: Run, state: str, plan: Plan, **changes: Any) -> Run:
        return self.ledger.advance(run, state, plan=plan.to_json(), timings=dict(self.timings), **changes)

    def _fail(self, run: Run, error: Exception) -> None:
        why = " ".join(str(error).split())[:1000] or type(error).__name__
        if self.keys and not isinstance(error, GroupReplayError):
            # Errors of Spark quote plans and rows, and `runs` is for everybody.
            why = f"unforeseen: {type(error).__name__}; the output of the job says more"
        try:
            self.ledger.fail(run, why)
        except Exception as another:  # noqa: BLE001  # the first error is what the user must see
            _log.warning("run_id=%s could not be marked FAILED: %s", run.run_id, another)

    @contextmanager
    def _timed(self, step: str) -> Iterator[Progress]:
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


def _known(landing: Landing | None) -> Landing:
    assert landing is not None, "a run that is past PLANNED says what it landed"
    return landing


def _columns(published: Published) -> dict[str, Any]:
    return {"table_versions": dict(published.versions), "digest": dict(published.digest), "digest_final": dict(published.digest_final)}


_ASKS = {
    "hand_overs": frozenset({"revocation_latencies"}),
    "slowest": frozenset({"revocation_latencies"}),
    "stuck_reasons": frozenset({"stuck_members", "stuck_groups"}),
    "stuck": frozenset({"stuck_members", "stuck_groups"}),
    "undecoded": frozenset({"undecoded"}),
    "anomalies": frozenset({"anomalies"}),
}
"""Section of the summary -> tables: where all are empty, nothing is asked."""
