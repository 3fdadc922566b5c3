"""Nights that are killed, driver and JVM, wherever it hurts: what the next runs leave is what an undisturbed night leaves."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from groupreplay.config_file import load_config
from groupreplay.steps.night import run_night
from tests.end_to_end.logs import copy_log, half
from tests.faults.nights import Nights, Rows, assert_same, contents, run_rows

pytestmark = pytest.mark.spark

RECORDING = "other-groups-4.2"
"""Small, with transactions, a deleted group, and every kind of group."""

FIRST, SECOND = date(2026, 11, 21), date(2026, 11, 22)

BEGINNING = (
    *("before:create_all:1", "after:create_all:1", "before:runs:1", "after:runs:1"),
    *("before:raw_records:1", "files:raw_records:1", "soon:raw_records:1:300", "after:raw_records:1", "before:runs:2", "after:runs:2"),
    *("before:replayed:1", "soon:replayed:1:500", "files:replayed:1", "after:replayed:1", "before:runs:2", "after:runs:2"),
)
ENDING = ("before:runs:4", "after:runs:4", "before:_sql:1", "after:_sql:1")
FIRST_NIGHT = (
    "before:create_all:1",
    "after:create_all:1",
    "before:runs:1",
    "after:runs:1",
    "files:raw_records:1",
    "after:topics:1",
    "after:coverage:1",
)
"""Chains: one run is killed at the first point, the next, which goes on, at the second. Of `runs` the first commit takes the run over."""

SEEDS, RANDOM_KILLS = (1, 2), 5
SHOWN = ("group_epochs", "topics", "coverage")

CHEAP = ("files:raw_records:1", "after:raw_records:1", "soon:replayed:1:400", "after:replayed:1", "before:group_epochs:1", "before:_sql:1")
"""One point of each step, in the order in which one night after another reaches them."""


class Told:
    """Two nights of a log that grows, the second of which was disturbed or not."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.logs = copy_log(RECORDING, folder / "logs", half)
        self.first = self.place("first")
        self.run_here(self.first, FIRST)
        copy_log(RECORDING, self.logs)
        self.undisturbed = self.copy("undisturbed")
        self.run_here(self.undisturbed, SECOND)
        self.expected: dict[str, Rows] = contents(self.undisturbed.warehouse)

    def place(self, name: str) -> Nights:
        return Nights(self.folder, self.folder / name).configure(("segments", self.logs))

    def copy(self, name: str) -> Nights:
        """A warehouse that has the first night."""
        nights = self.place(name)
        shutil.copytree(self.first.warehouse, nights.warehouse)
        return nights

    def run_here(self, nights: Nights, night: date) -> None:
        """A night in the session of the tests, which is started already."""
        run_night(self.spark, load_config(str(nights.config)), night)

    def published(self) -> list[str]:
        """Tables that the second night committed when it published."""
        (row,) = [row for row in run_rows(self.undisturbed.warehouse) if row["logical_date"] == SECOND]
        before = {row["logical_date"]: dict(row["table_versions"]) for row in run_rows(self.first.warehouse)}[FIRST]
        return sorted(name for name, version in row["table_versions"] if version > before[name])


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(spark, tmp_path_factory.mktemp("faults"))


def kill_on_the_way(nights: Nights, night: date, points: Sequence[str]) -> None:
    """Kills one run after another, each at the next point."""
    for point in points:
        ended = nights.run("--logical-date", str(night), point=point)
        assert ended.was_killed, (point, ended.output[-3000:])


def test_a_night_killed_six_times_leaves_what_an_undisturbed_one_leaves(told: Told) -> None:
    nights = told.copy("killed")
    kill_on_the_way(nights, SECOND, CHEAP)
    told.run_here(nights, SECOND)
    assert_same(contents(nights.warehouse), told.expected)
    sql = (nights.warehouse / "_sql/spark.sql").read_text()
    assert all(f"/{name}` VERSION AS OF {version} " in sql for name, version in run_rows(nights.warehouse)[-1]["table_versions"] if name in SHOWN)


@pytest.mark.soak
@pytest.mark.parametrize("chain", ["beginning", "publish", "ending"])
def test_a_night_killed_at_every_commit_leaves_what_an_undisturbed_one_leaves(told: Told, chain: str) -> None:
    tables = [f"{when}:{name}:1" for name in told.published() for when in ("before", "after")]
    assert len(BEGINNING) + len(tables) + len(ENDING) >= 40
    nights = told.copy(chain)
    kill_on_the_way(nights, SECOND, {"beginning": BEGINNING, "publish": tables, "ending": ENDING}[chain])
    told.run_here(nights, SECOND)
    assert_same(contents(nights.warehouse), told.expected)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_a_night_killed_at_random_times_leaves_what_an_undisturbed_one_leaves(told: Told, seed: int) -> None:
    nights, times = told.copy(f"random{seed}"), random.Random(seed)
    for _ in range(RANDOM_KILLS):
        ended = nights.run("--logical-date", str(SECOND), kill_after_s=times.uniform(4, 30))
        assert ended.was_killed or ended.status == 0, ended.output[-3000:]
    told.run_here(nights, SECOND)
    assert_same(contents(nights.warehouse), told.expected)


@pytest.mark.soak
def test_a_first_night_that_is_killed_leaves_what_an_undisturbed_one_leaves(told: Told) -> None:
    undisturbed, nights = told.place("new"), told.place("new-killed")
    told.run_here(undisturbed, FIRST)
    kill_on_the_way(nights, FIRST, FIRST_NIGHT)
    told.run_here(nights, FIRST)
    assert_same(contents(nights.warehouse), contents(undisturbed.warehouse))
