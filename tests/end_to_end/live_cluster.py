"""A broker of its own, what was put into it, and the nights that read it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import Config
from groupreplay.config.sources import KafkaSource, KafkaTopicsSource
from groupreplay.errors import SourceUnreadable
from groupreplay.night.run import NightResult, run_night
from tests.support.broker import Broker
from tests.support.few_tables import few_tables
from tests.support.group_life import Group

PASSWORD = "a-secret-of-nobody"
TRIES, PAUSE_S = 4, 5.0
OPTIONS = {
    "request.timeout.ms": "10000",
    "default.api.timeout.ms": "30000",
    "ssl.key.password": PASSWORD,
}
HASTY = {"request.timeout.ms": "3000", "default.api.timeout.ms": "5000"}
"""Where a broker is dead on purpose, and nobody should have to wait for it."""
READ = ("group_conversions", "member_states", "readiness")
"""Tables that tests of live topics read, beside `FEW`."""

SMALL_FETCHES = {
    "max.partition.fetch.bytes": "1000",
    "fetch.max.bytes": "1000",
    "max.poll.records": "20",
}


@dataclass
class Cluster:
    """A broker, its groups, and nights of it.

    told: what clients were told when a night had been run.
    """

    spark: SparkSession
    broker: Broker
    root: Path
    groups: dict[str, Group] = field(default_factory=dict)
    results: list[NightResult] = field(default_factory=list)
    told: list[dict[str, tuple[str, int]]] = field(default_factory=list)

    def run(
        self,
        night: date,
        name: str = "live",
        options: dict[str, str] | None = None,
        *,
        dry_run: bool = False,
    ) -> NightResult:
        live = KafkaSource(
            kind="kafka",
            bootstrap_servers=self.broker.proxied,
            options={**OPTIONS, **(options or {})},
        )
        topics = KafkaTopicsSource(
            kind="topics", bootstrap_servers=live.bootstrap_servers, options=live.options
        )
        config = Config(cluster="c", warehouse=str(self.root / name), sources=(live, topics))
        with few_tables(*READ):
            return run_night(self.spark, config, night, dry_run=dry_run)

    def run_as_scheduled(
        self,
        night: date,
        name: str = "live",
        options: dict[str, str] | None = None,
        *,
        dry_run: bool = False,
    ) -> NightResult:
        """As a scheduler does it: again, some seconds later, where a run ended with status 3. A
        loaded machine's broker may not answer in time.
        """
        for _ in range(TRIES - 1):
            try:
                return self.run(night, name, options, dry_run=dry_run)
            except SourceUnreadable:
                time.sleep(PAUSE_S)
        return self.run(night, name, options, dry_run=dry_run)

    def table(self, name: str, warehouse: str = "live") -> DataFrame:
        return self.spark.read.format("delta").load(str(self.root / warehouse / name))

    def rows(self, name: str, *columns: str, warehouse: str = "live") -> list[tuple[Any, ...]]:
        return sorted(
            (tuple(row) for row in self.table(name, warehouse).select(*columns).collect()), key=repr
        )
