"""Maintenance between nights: fewer files and rows, and nobody can tell."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from groupreplay.config.model import Config, PageConfig, RetentionConfig
from groupreplay.config.sources import Source
from groupreplay.errors import ConfigError, RunHeld
from groupreplay.night.frames.transactions import undecided_commits
from groupreplay.night.maintain import maintain
from groupreplay.night.run import NightResult, run_night
from groupreplay.tables import schemas
from groupreplay.tables.runs import Ledger
from groupreplay.tables.schemas import ALWAYS
from groupreplay.tables.warehouse import Warehouse
from tests.end_to_end.logs import before_first_marker, copy_log
from tests.faults.nights import contents, run_rows
from tests.support.duckdb_views import ARROW, duckdb_views
from tests.support.few_tables import FEW, few_tables

RECORDING = "other-groups-4.2"
NIGHTS = tuple(date(2026, 11, day) for day in range(21, 26))
NO_PAGE, PAGE = PageConfig(), PageConfig(nights=5, keep_nights=1)
"""Nights of the tests draw pages only where they are configured."""
PAGED = "group_epochs"
"""Published beside few tables: by their epochs groups of this recording get pages of their own."""
INTERNAL = [name for name in ALWAYS if name in schemas.INTERNAL]


class Kept:
    """A warehouse whose log grows: the first night ends in the middle of a transaction."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.root = spark, folder / "warehouse"
        self.logs = copy_log(RECORDING, folder / "logs", before_first_marker)

    def config(
        self, retention: RetentionConfig | None = None, page: PageConfig = NO_PAGE
    ) -> Config:
        sources = (Source(kind="segments", path=str(self.logs)),)
        return Config(
            cluster="c",
            warehouse=str(self.root),
            sources=sources,
            retention=retention or RetentionConfig(),
            page=page,
        )

    def run(self, night: date, page: PageConfig = NO_PAGE) -> NightResult:
        with few_tables(PAGED):
            return run_night(self.spark, self.config(page=page), night)

    def report(self) -> dict[str, bytes]:
        """What lies beside the tables for people to look at, by its name."""
        folder = self.root / "_report/c"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }

    def told_by_sql(self) -> list[tuple[str, str]]:
        """What the statements that readers were given show of FEW: views and their rows."""
        text = (self.root / "_sql/duckdb.sql").read_text()
        views = duckdb_views(text, ARROW)
        names = [name for name in FEW if name not in INTERNAL and f"VIEW {name} AS" in text]
        assert len(names) >= 5
        return sorted(
            (name, repr(row))
            for name in names
            for row in views.execute(f"SELECT * FROM {name}").fetchall()
        )


def test_maintenance_changes_no_row_that_anybody_reads(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(spark, tmp_path)
    kept.run(NIGHTS[0], PAGE)
    copy_log(RECORDING, kept.logs)
    kept.run(NIGHTS[1])
    # What the second night settled it needs to run again, and no later night does.
    raw = spark.read.format("delta").load(str(kept.root / "raw_records"))
    assert undecided_commits(raw.where(f"logical_date < DATE'{NIGHTS[1]}'")).head(1)
    assert not undecided_commits(raw).head(1)
    kept.run(NIGHTS[2], PAGE)
    before, sql, pages = contents(kept.root), kept.told_by_sql(), kept.report()

    maintained = maintain(
        spark,
        kept.config(
            RetentionConfig(raw_nights=1, state_nights=1, vacuum_hours=0, allow_short_vacuum=True),
            PAGE,
        ),
    )
    after = contents(kept.root)
    assert maintained.logical_date == NIGHTS[2]
    assert kept.told_by_sql() == sql
    assert {name: after[name] for name in after if name not in INTERNAL} == {
        name: before[name] for name in before if name not in INTERNAL
    }
    newest = run_rows(kept.root)[-1]
    assert (newest["state"], newest["logical_date"], list(dict(newest["timings"]))) == (
        "DONE",
        NIGHTS[2],
        ["maintain"],
    )
    assert newest["digest"] == run_rows(kept.root)[-2]["digest"]
    assert maintained.deleted["raw_records"] == before["raw_records"].total()
    assert maintained.deleted["group_state"] > 0
    assert sum(small for _, small in maintained.files_after.values()) < sum(
        small for _, small in maintained.files_before.values()
    )
    left = {path for name in INTERNAL for path in (kept.root / name).rglob("*.parquet")}
    assert len(left) == sum(maintained.files_after[name][0] for name in INTERNAL), (
        "vacuum left what a version names, and no more"
    )

    old = {name for name in pages if name.startswith(str(NIGHTS[0]))}
    assert {f"{NIGHTS[0]}/index.html", f"{NIGHTS[0]}.written"} < old, "and pages of groups"
    assert kept.report() == {name: pages[name] for name in pages.keys() - old}
    assert {"index.html", f"{NIGHTS[2]}/index.html", f"{NIGHTS[2]}.written"} <= pages.keys() - old

    # A night after it is the night that would have been; one whose rows are gone is refused.
    again = kept.run(NIGHTS[3])
    assert again.run is not None
    assert dict(again.run.digest or {}) == dict(newest["digest"])
    with pytest.raises(ConfigError, match="rows were deleted from raw_records"):
        kept.run(NIGHTS[0])
    _never_together(kept, monkeypatch)


def _never_together(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Maintenance while a night runs, and a night while maintenance runs, of whatever date."""
    ledger = Ledger(Warehouse(kept.spark, str(kept.root), "c"), "c")
    held = ledger.acquire(NIGHTS[4], "0", "", '{"units": []}')
    with pytest.raises(RunHeld, match=str(NIGHTS[4])):
        maintain(kept.spark, kept.config())
    ledger.fail(held, "given up")
    refused = []

    def night(*_: object) -> dict[str, int]:
        with pytest.raises(RunHeld, match=str(NIGHTS[3])) as caught:
            kept.run(NIGHTS[4])
        refused.append(caught.value)
        raise ZeroDivisionError

    monkeypatch.setattr("groupreplay.night.maintain._delete", night)
    with pytest.raises(ZeroDivisionError):
        maintain(kept.spark, kept.config())
    assert len(refused) == 1
    newest = run_rows(kept.root)[-1]
    assert (newest["state"], newest["logical_date"]) == ("FAILED", NIGHTS[3])
