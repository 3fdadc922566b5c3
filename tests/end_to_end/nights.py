"""Runs of the whole job in the session of the tests: a warehouse, its sources, and what a run
left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import Config
from groupreplay.config.sources import Source
from groupreplay.night.run import NightResult, run_night


@dataclass(frozen=True)
class Place:
    """A warehouse of one test. sources: (kind, path) of each."""

    spark: SparkSession
    root: Path
    sources: tuple[tuple[str, Path], ...]

    def run(
        self, night: date | None = None, job: Callable[..., NightResult] = run_night
    ) -> NightResult:
        sources = tuple(Source(kind=kind, path=str(path)) for kind, path in self.sources)
        return job(
            self.spark, Config(cluster="c", warehouse=str(self.root), sources=sources), night
        )

    def table(self, name: str) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.root / name))

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in self.table(name).select(*columns).collect())
