"""Maintenance: what is past its retention is deleted, files that piled up are put together, and
what no version names any more is vacuumed.

It holds the newest night as a run does, so that no night and it are ever at work together. Before
any file is deleted readers are sent to the versions that the tables then have: by the DONE run of
the newest night in `runs`, and by `_sql/`. What it did is a row of its own in `runs`, a copy of
that one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import groupreplay
from groupreplay.config.model import Config, RetentionConfig
from groupreplay.errors import NotReady, RunHeld
from groupreplay.evidence.evidence_facts import BrokerSetting
from groupreplay.night.catalog_names import check_names, register_names
from groupreplay.night.earlier.history import PastNight, past_nights
from groupreplay.night.earlier.plan_json import joined_json
from groupreplay.night.engine.query_compiler import fit_to
from groupreplay.night.frames.evidence import EVIDENCE_TABLE
from groupreplay.night.frames.transactions import undecided_commits
from groupreplay.night.landing.line_stream import RAW_LINES
from groupreplay.night.landing.record_stream import RAW_RECORDS
from groupreplay.night.plans.plan import Plan
from groupreplay.night.plans.results import Results
from groupreplay.report.statements import statements
from groupreplay.tables.page_files import delete_old_nights
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.run_rows import DONE, Run
from groupreplay.tables.runs import Ledger
from groupreplay.tables.schemas import TABLES
from groupreplay.tables.sql_files import write_sql
from groupreplay.tables.upkeep import compact, count_files, small_files, vacuum
from groupreplay.tables.warehouse import Warehouse
from groupreplay.workers.evidence_slices import EvidenceState

STATES = "group_state"
RUNS = "runs"
AS_WRITTEN = frozenset({RAW_LINES, "replayed"})
"""Tables whose files are not packed: nights read them by the version that they wrote, and
`replayed` holds one night alone.
"""


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Maintained:
    """logical_date: the newest night.
    files_before, files_after: table -> (files, small files) of this cluster.
    deleted: table -> rows.
    """

    logical_date: date
    files_before: Mapping[str, tuple[int, int]]
    files_after: Mapping[str, tuple[int, int]]
    deleted: Mapping[str, int]

    @property
    def lines(self) -> tuple[str, ...]:
        """What a person reads."""
        head = f"{'table':<24}{'files':>8}{'then':>8}{'small':>8}{'then':>8}{'rows deleted':>14}"
        rows = [
            f"{name:<24}{files:>8,}{self.files_after[name][0]:>8,}"
            f"{small:>8,}{self.files_after[name][1]:>8,}{self.deleted.get(name, 0):>14,}"
            for name, (files, small) in self.files_before.items()
        ]
        return (head, *rows)


def maintain(spark: SparkSession, config: Config) -> Maintained:
    """Raises RunHeld where a night is at work, NotReady where the newest one is not DONE, or was
    begun again and left.
    """
    fit_to(spark, 0)
    check_names(spark, config)
    warehouse = Warehouse(spark, config.warehouse, config.cluster, config.private_warehouse)
    warehouse.check_all()
    nights = past_nights(_of_cluster(warehouse, RUNS))
    newest = nights[-1] if nights else None
    if newest is None or not newest.is_done:
        raise NotReady(
            f"cluster {config.cluster} has no newest night that is done", "run run_nightly first"
        )
    ledger = Ledger(warehouse, config.cluster)
    done = _newest_done(ledger, newest.logical_date)
    # The row does not yet hold what the night landed: with it, it would count as the newest run of
    # the night, and maintenance may still fail.
    run = ledger.acquire(
        newest.logical_date,
        groupreplay.__version__,
        config.config_hash,
        joined_json(Plan(()), Results()),
    )
    try:
        maintained = _maintain(warehouse, ledger, run, done, nights, config)
    except RunHeld:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if ledger.holds(run):
            ledger.fail(run, " ".join(str(error).split())[:1000] or type(error).__name__)
        raise
    old = delete_old_nights(warehouse, config.cluster, config.page.keep_nights)
    if old:
        _log.info("pages of %d nights deleted, up to %s", len(old), old[-1])
    return maintained


def _newest_done(ledger: Ledger, logical_date: date) -> Run:
    runs = ledger.of_night(logical_date)
    for left in runs:
        if not left.is_finished and not ledger.lives(left):
            raise NotReady(
                f"night {logical_date} of cluster {left.cluster} was begun again and not finished",
                "finish it by run_nightly first",
            )
    return max(
        (run for run in runs if run.state == DONE), key=lambda run: (run.started_at, run.run_id)
    )


def _maintain(
    warehouse: Warehouse,
    ledger: Ledger,
    run: Run,
    done: Run,
    nights: Sequence[PastNight],
    config: Config,
) -> Maintained:
    """Deletes, packs, names the new versions to readers, and only then vacuums: the versions that
    were named before stay for vacuum_hours.
    """
    started = time.monotonic()
    metadata = {
        "run_id": run.run_id,
        "step": "maintain",
        "logical_date": str(run.logical_date),
        "code_version": run.code_version,
    }
    names = [name for name in TABLES if name != RUNS and warehouse.version(name) > 0]
    files_before = {name: count_files(warehouse, name) for name in names}
    deleted = _delete(warehouse, nights, config.retention, metadata)
    for name in names:
        piles = (
            []
            if name in AS_WRITTEN
            else sorted(
                night
                for night in small_files(warehouse, name)
                if night < _packed_before(name, nights)
            )
        )
        if piles:
            compact(warehouse, name, piles)
            _log.info("table=%s packed partitions of %d nights", name, len(piles))
    versions = {name: warehouse.version(name) for name in done.table_versions or {}}
    ledger.replace_versions(run, done, versions)
    write_sql(warehouse, run.logical_date, versions, statements(config.waves, config.brokers))
    register_names(config, warehouse, run.logical_date, versions)
    files_after = {name: count_files(warehouse, name) for name in names}
    vacuum(warehouse, (*names, RUNS), config.retention.vacuum_hours)
    copied: dict[str, Any] = {
        name: getattr(done, name)
        for name in ("as_of_at", "plan", "counts", "digest", "digest_final")
    }
    ledger.advance(
        run,
        DONE,
        **copied,
        table_versions=versions,
        timings={"maintain": int((time.monotonic() - started) * 1000)},
    )
    return Maintained(run.logical_date, files_before, files_after, deleted)


def _packed_before(name: str, nights: Sequence[PastNight]) -> date:
    """The first night whose files are not packed. If the newest night runs again, it reads what it
    had landed by the version that it wrote.
    """
    return nights[-1].logical_date if name == RAW_RECORDS else date.max


# ---------------------------------------------------------------- retention


def first_kept(nights: Sequence[PastNight], kept: int | None) -> date | None:
    """The first of the nights that are kept whole, None where all are: the newest `kept` ones, and
    all from the first on that is not DONE.
    """
    if kept is None or kept >= len(nights):
        return None
    unfinished = [night.logical_date for night in nights if not night.is_done]
    return min([nights[-kept].logical_date, *unfinished])


def _delete(
    warehouse: Warehouse,
    nights: Sequence[PastNight],
    retention: RetentionConfig,
    metadata: Mapping[str, Any],
) -> dict[str, int]:
    """Table -> rows deleted."""
    plans = (
        (RAW_RECORDS, retention.raw_nights, undecided_commits),
        (RAW_LINES, retention.raw_nights, no_rows),
        (STATES, retention.state_nights, living_states),
        (EVIDENCE_TABLE, retention.evidence_nights, kept_evidence),
    )
    deleted = {}
    for name, kept, still_needed in plans:
        first = first_kept(nights, kept)
        if first is None or warehouse.version(name) <= 0:
            continue
        earlier = RowRange(warehouse.cluster, before=first)
        old = warehouse.read(name).where(earlier.sql)
        needed = still_needed(old)
        rows = old.count() - needed.count()
        if rows:
            warehouse.replace(name, needed, earlier, metadata)
            deleted[name] = rows
            _log.info("table=%s deleted %d rows of nights before %s", name, rows, first)
    return deleted


def no_rows(rows: DataFrame) -> DataFrame:
    return rows.limit(0)


def living_states(states: DataFrame) -> DataFrame:
    """Group states before a night that it goes on with."""
    return _newest_alive(states, "group_id", "offsets_partition")


def kept_evidence(evidence: DataFrame) -> DataFrame:
    """States in the evidence before a night that it goes on with, and the newest row of each
    setting of a broker: a broker that runs for long printed it long ago.
    """
    states = _newest_alive(evidence.where(sf.col("kind") == EvidenceState.KIND), "subject")
    place = sf.struct("occurred_at", "logical_date", "input", "position")
    newest = (
        evidence.where(sf.col("kind") == BrokerSetting.KIND)
        .groupBy("broker", "setting")
        .agg(sf.max_by(sf.struct(*map(sf.col, evidence.columns)), place).alias("row"))
    )
    return states.select(evidence.columns).unionByName(newest.select("row.*"))


def _newest_alive(states: DataFrame, *key: str) -> DataFrame:
    latest = states.groupBy(*key).agg(sf.max("logical_date").alias("logical_date"))
    return states.join(latest, [*key, "logical_date"], "left_semi").where(
        sf.col("state_bytes").isNotNull()
    )


def _of_cluster(warehouse: Warehouse, name: str) -> DataFrame:
    return warehouse.read(name).where(sf.col("cluster") == warehouse.cluster)
