"""What every job of a night has in common: the warehouse, the nights that ran before, and what the
sources hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from pyspark.sql import SparkSession

from groupreplay.config.model import Config
from groupreplay.errors import NotReady
from groupreplay.night.catalog_names import check_names
from groupreplay.night.earlier.history import PastNight, default_date, of_date, past_nights
from groupreplay.night.engine.query_compiler import fit_to
from groupreplay.night.engine.warm_up import started, table_logs, workers
from groupreplay.night.pages import mend_pages
from groupreplay.night.plans.clusters import with_clusters
from groupreplay.night.plans.inputs import Inputs
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.privacy_check import check_privacy
from groupreplay.report.statements import statements
from groupreplay.report.words.privacy import HashKeys, hash_keys
from groupreplay.sources.clock import newest_ms
from groupreplay.sources.planning import plan_units
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.runs import Ledger
from groupreplay.tables.sql_files import mend_sql
from groupreplay.tables.warehouse import Warehouse


class Job:
    """A job while it runs: of `opened`.

    inputs: what the sources hold; clusters add to it when they are asked.
    nights: nights that landed, in order; a night that was run since is known after `look_again`.
    """

    def __init__(
        self, spark: SparkSession, config: Config, inputs: Inputs, take_over: bool
    ) -> None:
        self.config, self.inputs, self.take_over = config, inputs, take_over
        fit_to(spark, 0)
        check_names(spark, config)
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
                texts = statements(self.config.waves, self.config.brokers)
                mend_sql(self.warehouse, newest.logical_date, newest.versions, texts)
                mend_pages(self.night(each.logical_date) for each in self.nights)

    def look_again(self) -> None:
        """After a night was published."""
        self.nights = past_nights(self.warehouse.rows("runs", RowRange(self.config.cluster)))

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
            self.warehouse.spark,
            self.config,
            self.inputs,
            was_landed=was_landed,
            lands=True,
            cluster_id=self._cluster_id(),
        )

    def _cluster_id(self) -> str:
        """Id of the cluster whose live topic was read last, "" where none was."""
        known = (night.landing.cluster_id for night in reversed(self.nights))
        return next((each for each in known if each), "")

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


@contextmanager
def opened(
    spark: SparkSession,
    config: Config,
    inputs: Inputs,
    take_over: bool,
    tables: Sequence[str],
    *,
    dry_run: bool = False,
    replays: bool = True,
) -> Iterator[Job]:
    """A job while it runs.

    tables: names of the tables that it asks.
    dry_run: nothing is made or started.
    replays: needs Python workers.
    """
    job = Job(spark, config, inputs, take_over)
    ahead = [workers(spark, job.ledger.note_core)] if replays else []
    works = [table_logs(job.warehouse, tables), *ahead]
    with started(*([] if dry_run else works)):
        job.open(writes=not dry_run)
        yield job
