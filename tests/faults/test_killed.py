"""Nights that are killed, driver and JVM, wherever it hurts: what the next runs leave is what an
undisturbed night leaves.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest

from groupreplay.config.reader import load_config
from groupreplay.night.run import land_logs
from tests.faults.nights import Nights, assert_same, contents, run_rows
from tests.faults.told import FIRST, SECOND, Told

BEGINNING = (
    *("before:create_all:1", "after:create_all:1", "before:runs:1", "after:runs:1"),
    *(
        "before:raw_records:1",
        "files:raw_records:1",
        "soon:raw_records:1:300",
        "after:raw_records:1",
        "before:runs:2",
        "after:runs:2",
    ),
    *(
        "before:replayed:1",
        "soon:replayed:1:500",
        "files:replayed:1",
        "after:replayed:1",
        "before:runs:2",
        "after:runs:2",
    ),
)
ENDING = ("before:runs:4", "after:runs:2", "before:_sql:1", "after:_sql:1")
FIRST_NIGHT = (
    "before:create_all:1",
    "after:create_all:1",
    "before:runs:1",
    "after:runs:1",
    "files:raw_records:1",
    "after:topics:1",
    "after:coverage:1",
)
"""Chains: one run is killed at the first point, the next, which goes on, at the second. Of `runs`
the first commit takes the run over.
"""

SEEDS, RANDOM_KILLS = (1, 2), 5
THIRD = SECOND + timedelta(days=1)
SHOWN = ("group_epochs", "topics", "coverage")


def kill_on_the_way(nights: Nights, night: date, points: Sequence[str]) -> None:
    """Kills one run after another, each at the next point."""
    for point in points:
        ended = nights.run("--logical-date", str(night), "--take-over", point=point)
        assert ended.was_killed, (point, ended.output[-3000:])


def test_a_night_killed_while_it_publishes_leaves_what_an_undisturbed_one_leaves(
    told: Told,
) -> None:
    nights = told.copy("killed").configure(("segments", told.logs), pages=True)
    kill_on_the_way(nights, SECOND, ("files:member_assignments:1",))
    told.forget()
    told.run_here(nights, SECOND)
    assert_same(contents(nights.warehouse), told.expected)
    assert pages_below(nights.warehouse / "_report/c") == _undisturbed_pages(told)


@pytest.mark.soak
def test_a_night_killed_twice_leaves_what_an_undisturbed_one_leaves(told: Told) -> None:
    """While it publishes, and when it is DONE and its pages are not written: the first small file
    is the note that they begin, the second is the first of `_sql`.
    """
    nights = told.copy("killed-twice").configure(("segments", told.logs), pages=True)
    kill_on_the_way(nights, SECOND, ("files:member_assignments:1", "before:_sql:2"))
    assert run_rows(nights.warehouse)[-1]["state"] == "DONE"
    told.forget()
    assert_same(contents(nights.warehouse), told.expected)
    assert _mended_pages(told, nights) == _undisturbed_pages(told)


def _undisturbed_pages(told: Told) -> dict[str, bytes]:
    """What the night would have written: pages of groups, too."""
    pages = pages_below(told.undisturbed.warehouse / "_report/c")
    assert any("/g/" in name for name in pages)
    return pages


def _mended_pages(told: Told, nights: Nights) -> dict[str, bytes]:
    """The pages that the next run, of whatever step, writes for a night that died before its own;
    and for one whose newest page is gone.
    """
    report = nights.warehouse / "_report/c"
    assert [path.name for path in report.glob("[!.]*")] == [f"{SECOND}.unfinished"]
    config = load_config(str(nights.config))
    land_logs(told.spark, config, THIRD, take_over=True)
    mended = pages_below(report)
    assert {"index.html", f"{SECOND}/index.html"} < set(mended)
    assert not list(report.glob("*.unfinished"))
    (report / "index.html").unlink()
    land_logs(told.spark, config, THIRD, take_over=True)
    assert pages_below(report) == mended
    return mended


def pages_below(report: Path) -> dict[str, bytes]:
    return {str(path.relative_to(report)): path.read_bytes() for path in report.rglob("*.html")}


@pytest.mark.soak
@pytest.mark.parametrize("chain", ["beginning", "publish", "ending"])
def test_a_night_killed_at_every_commit_leaves_what_an_undisturbed_one_leaves(
    told_whole: Told, chain: str
) -> None:
    tables = [f"{when}:{name}:1" for name in told_whole.published() for when in ("before", "after")]
    assert len((*BEGINNING, *tables, *ENDING, *FIRST_NIGHT)) >= 40
    nights = told_whole.copy(chain)
    kill_on_the_way(
        nights, SECOND, {"beginning": BEGINNING, "publish": tables, "ending": ENDING}[chain]
    )
    told_whole.run_here(nights, SECOND)
    assert_same(contents(nights.warehouse), told_whole.expected)
    sql = (nights.warehouse / "_sql/spark.sql").read_text()
    assert all(
        f"/{name}` VERSION AS OF {version} " in sql
        for name, version in run_rows(nights.warehouse)[-1]["table_versions"]
        if name in SHOWN
    )


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_a_night_killed_at_random_times_leaves_what_an_undisturbed_one_leaves(
    told_whole: Told, seed: int
) -> None:
    nights, times = told_whole.copy(f"random{seed}"), random.Random(seed)
    for _ in range(RANDOM_KILLS):
        ended = nights.run(
            "--logical-date", str(SECOND), "--take-over", kill_after_s=times.uniform(4, 30)
        )
        assert ended.was_killed or ended.status == 0, ended.output[-3000:]
    told_whole.run_here(nights, SECOND)
    assert_same(contents(nights.warehouse), told_whole.expected)


@pytest.mark.soak
def test_a_first_night_that_is_killed_leaves_what_an_undisturbed_one_leaves(
    told_whole: Told,
) -> None:
    undisturbed, nights = told_whole.place("new"), told_whole.place("new-killed")
    told_whole.run_here(undisturbed, FIRST)
    kill_on_the_way(nights, FIRST, FIRST_NIGHT)
    told_whole.run_here(nights, FIRST)
    assert_same(contents(nights.warehouse), contents(undisturbed.warehouse))
