"""Runs of the whole job in the session of the tests: a warehouse, its sources, and what a run left."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from groupreplay.config import Config, Source
from groupreplay.steps.night import NightResult, run_night

RECORDINGS = Path(__file__).parent.parent / "recordings"
FIRST, SECOND = date(2026, 11, 21), date(2026, 11, 22)


@dataclass(frozen=True)
class Place:
    """A warehouse of one test. sources: (kind, path) of each."""

    spark: SparkSession
    root: Path
    sources: tuple[tuple[str, Path], ...]

    def run(self, night: date | None = None) -> NightResult:
        sources = tuple(Source(kind=kind, path=str(path)) for kind, path in self.sources)
        return run_night(self.spark, Config(cluster="c", warehouse=str(self.root), sources=sources), night)

    def digest(self, night: date | None = None) -> dict[str, str]:
        """Digests of every table after a run."""
        run = self.run(night).run
        assert run is not None
        assert run.digest
        return dict(run.digest)

    def table(self, name: str) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.root / name))

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in self.table(name).select(*columns).collect())


def recorded(spark: SparkSession, root: Path, recording: str, kind: str = "segments") -> Place:
    """A warehouse fed by a recording's segments, or by its dump."""
    folder = RECORDINGS / recording
    logs = folder / ("segments" if kind == "segments" else "dump")
    return Place(spark, root, ((kind, logs), ("topics", folder / "topics.json")))


def grow(logs: Path, place: Path, share: float) -> None:
    """Makes `place` what a log directory was when a share of each segment had been written: cut anywhere, also inside a batch."""
    for path in sorted(logs.rglob("*.log")):
        copy = place / path.relative_to(logs)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        with copy.open("r+b") as file:
            file.truncate(int(path.stat().st_size * share))
