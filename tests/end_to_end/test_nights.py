"""Whole nights on real logs: whatever way the log comes in, the tables are the same.

Holds night/earlier/raw_kept.py, night/extent.py, night/frames/night_rows.py, night/job.py.
Holds night/land.py, night/publishing/publish.py, night/replay.py, night/run.py.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.cli.outcome import result_lines
from groupreplay.config.model import Config, ReplayConfig
from groupreplay.config.sources import Source
from groupreplay.errors import ConfigError, NotReady, RunHeld, StatesOutdated
from groupreplay.night.run import (
    NightResult,
    build_reports,
    land_logs,
    rebuild_nights,
    replay_groups,
    run_night,
)
from groupreplay.tables import runs
from groupreplay.tables.runs import Ledger
from groupreplay.tables.warehouse import Warehouse
from tests.end_to_end.digests import digest, few_digests
from tests.end_to_end.logs import RECORDINGS, before_first_marker, copy_log, half, split_log
from tests.support.few_tables import few_tables

RECORDING = "other-groups-4.2"
"""Small, with transactions, a deleted group, and every kind of group."""

DAY = date(2026, 11, 21)
NEXT, THIRD = date(2026, 11, 22), date(2026, 11, 23)

RunNight = Callable[..., NightResult]


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> RunNight:
    """Runs a night of some sources into a warehouse, by default a new one."""

    def run_sources(
        *sources: tuple[str, Path],
        warehouse: Path | None = None,
        night: date | None = DAY,
        slices: int | None = None,
        job: Any = run_night,
        **how: Any,
    ) -> NightResult:
        topics = Source(kind="topics", path=str(RECORDINGS / RECORDING / "topics.json"))
        config = Config(
            cluster="test",
            warehouse=str(warehouse or tmp_path_factory.mktemp("warehouse")),
            sources=(*(Source(kind=kind, path=str(path)) for kind, path in sources), topics),
            replay=ReplayConfig(slices=slices),
        )
        result: NightResult = job(spark, config, night, **how)
        return result

    return run_sources


@pytest.fixture(scope="module")
def whole(run: RunNight, tmp_path_factory: pytest.TempPathFactory) -> tuple[NightResult, Path]:
    """One run over the recording's segments, of few tables, and its warehouse; nobody writes to
    it.
    """
    warehouse = tmp_path_factory.mktemp("whole")
    segments = ("segments", RECORDINGS / RECORDING / "segments")
    with few_tables():
        return run(segments, warehouse=warehouse, night=None), warehouse


def table(spark: SparkSession, warehouse: Path, name: str) -> DataFrame:
    return spark.read.format("delta").load(str(warehouse / name))


def test_a_night_says_what_it_did(spark: SparkSession, whole: tuple[NightResult, Path]) -> None:
    result, warehouse = whole
    assert result.run is not None
    assert result.logical_dates == (DAY,), "the date of the newest record"
    assert result_lines(result)[0].startswith("groupreplay, cluster test, night 2026-11-21")
    stored = table(spark, warehouse, "runs").select("state", "digest", "error").collect()
    assert [(row["state"], row["digest"], row["error"]) for row in stored] == [
        ("DONE", result.run.digest, None)
    ]


def test_counts_add_up(spark: SparkSession, whole: tuple[NightResult, Path]) -> None:
    rows = table(spark, whole[1], "coverage").collect()
    assert rows
    for row in rows:
        assert row["landed"] == row["decoded"] + row["unknown"] + row["undecoded"], row
    assert sum(row["aborted"] for row in rows) > 0
    assert sum(row["undecoded"] + row["holes"] + row["open_commits"] for row in rows) == 0


@pytest.mark.usefixtures("few")
def test_same_input_under_several_paths_changes_nothing(
    run: RunNight, whole: tuple[NightResult, Path], tmp_path: Path
) -> None:
    copied = copy_log(RECORDING, tmp_path / "copy")
    behind = copy_log(RECORDING, tmp_path / "behind", half)
    sources = [
        ("segments", copied),
        ("segments", RECORDINGS / RECORDING),
        ("segments", behind),
        ("dump_log", RECORDINGS / RECORDING / "dump"),
    ]
    assert few_digests(run(*sources, slices=37)) == few_digests(whole[0])


@pytest.mark.soak
@pytest.mark.parametrize("cut", [half, before_first_marker])
def test_log_that_grows_over_nights_gives_what_one_run_gives(
    run: RunNight, tmp_path: Path, cut: Callable[[bytes], int]
) -> None:
    """All tables, however often a night runs. Few of them are compared wherever a log grows."""
    whole = digest(run(("segments", RECORDINGS / RECORDING / "segments")))
    logs, warehouse = copy_log(RECORDING, tmp_path / "logs", cut), tmp_path / "warehouse"
    first = digest(run(("segments", logs), warehouse=warehouse, night=DAY))
    assert first != whole
    copy_log(RECORDING, logs)
    assert digest(run(("segments", logs), warehouse=warehouse, night=NEXT)) == whole
    # A night without news, the newest night again, the first night again (which runs the later ones
    # again): all the same.
    assert digest(run(("segments", logs), warehouse=warehouse, night=THIRD)) == whole
    assert digest(run(("segments", logs), warehouse=warehouse, night=None)) == whole
    again = run(("segments", logs), warehouse=warehouse, night=DAY)
    assert again.logical_dates == (DAY, NEXT, THIRD)
    assert digest(again) == whole
    with pytest.raises(ConfigError, match="was never run"):
        run(("segments", logs), warehouse=warehouse, night=date(2026, 11, 1))


@pytest.mark.usefixtures("few")
def test_night_that_is_run_again_goes_on_with_what_is_new(
    spark: SparkSession, run: RunNight, whole: tuple[NightResult, Path], tmp_path: Path
) -> None:
    logs, warehouse = copy_log(RECORDING, tmp_path / "logs", half), tmp_path / "warehouse"
    run(("segments", logs), warehouse=warehouse)
    landed = table(spark, warehouse, "raw_records").count()
    copy_log(RECORDING, logs)
    assert few_digests(run(("segments", logs), warehouse=warehouse)) == few_digests(whole[0])
    raw = table(spark, warehouse, "raw_records").where("kind = 'record'")
    assert raw.count() > landed
    assert raw.groupBy("offsets_partition", "offset", "key").count().where("count > 1").count() == 0
    spark.sql(f"DELETE FROM delta.`{warehouse / 'raw_records'}` WHERE logical_date = DATE'{DAY}'")
    with pytest.raises(ConfigError, match="rows were deleted from raw_records"):
        run(("segments", logs), warehouse=warehouse)


@pytest.fixture(scope="module")
def stepped(
    spark: SparkSession, run: RunNight, tmp_path_factory: pytest.TempPathFactory
) -> tuple[NightResult, Path]:
    """Two nights by the jobs of single steps: what the last one gave, and the warehouse. Who writes
    to it leaves it as it was.
    """
    folder = tmp_path_factory.mktemp("stepped")
    # The first night ends in the middle of a transaction.
    logs = copy_log(RECORDING, folder / "logs", before_first_marker)
    warehouse = folder / "warehouse"

    def step(job: Any, night: date | None = None) -> NightResult:
        return run(("segments", logs), warehouse=warehouse, night=night, job=job)

    with pytest.raises(
        NotReady, match="no night of cluster test has landed yet; run land_logs first"
    ):
        step(replay_groups)
    assert (
        step(land_logs).run
        == Ledger(Warehouse(spark, str(warehouse), "test"), "test").of_night(DAY)[0]
    )
    with pytest.raises(
        NotReady,
        match=(
            "night 2026-11-21 of cluster test has landed and was not replayed yet; run"
            " replay_groups first"
        ),
    ):
        step(build_reports)
    copy_log(RECORDING, logs)
    landed = step(land_logs, NEXT).run
    assert landed is not None
    assert (landed.state, landed.holder) == ("LANDED", None)
    shutil.rmtree(logs)
    with few_tables():
        assert step(replay_groups).logical_dates == (
            DAY,
            NEXT,
        ), "the night before is finished first: this one stands on it"
        return step(build_reports), warehouse


@pytest.mark.usefixtures("few")
def test_steps_as_jobs_give_what_one_job_gives(
    spark: SparkSession,
    run: RunNight,
    whole: tuple[NightResult, Path],
    stepped: tuple[NightResult, Path],
) -> None:
    done, warehouse = stepped
    assert few_digests(done) == few_digests(whole[0])
    with pytest.raises(ConfigError, match="is before the newest night, 2026-11-22"):
        run(
            ("segments", RECORDINGS / RECORDING / "segments"),
            warehouse=warehouse,
            night=DAY,
            job=land_logs,
        )
    staged = Warehouse(spark, str(warehouse), "test").version("replayed")
    again = run(("segments", Path("/nowhere")), warehouse=warehouse, night=DAY, job=build_reports)
    assert again.logical_dates == (DAY, NEXT)
    assert Warehouse(spark, str(warehouse), "test").version("replayed") == staged, (
        "nothing was replayed"
    )
    assert few_digests(again) == few_digests(whole[0])
    for file in (warehouse / "replayed").rglob("*.parquet"):
        file.unlink()
    again = run(("segments", Path("/nowhere")), warehouse=warehouse, night=None, job=build_reports)
    assert few_digests(again) == few_digests(whole[0]), (
        "what is staged no more is replayed from the raw rows"
    )


@pytest.mark.usefixtures("few")
def test_nights_are_rebuilt_from_their_raw_rows(
    spark: SparkSession,
    run: RunNight,
    whole: tuple[NightResult, Path],
    stepped: tuple[NightResult, Path],
) -> None:
    """States that cannot be read are refused by a night and not read by a rebuild."""
    _, warehouse = stepped
    gone = ("segments", Path("/nowhere"))
    spark.sql(
        f"UPDATE delta.`{warehouse / 'group_state'}` SET state_bytes = unhex('02') WHERE"
        " state_bytes IS NOT NULL"
    )
    with pytest.raises(
        StatesOutdated, match="the table group_state is of another version: .* run rebuild_nights"
    ):
        run(gone, warehouse=warehouse, night=None, job=replay_groups)
    (failed,) = [
        each
        for each in Ledger(Warehouse(spark, str(warehouse), "test"), "test").of_night(NEXT)
        if each.state == "FAILED"
    ]
    assert "run rebuild_nights" in (failed.error or "")
    rebuilt = run(gone, warehouse=warehouse, night=None, job=rebuild_nights)
    assert rebuilt.logical_dates == (DAY, NEXT)
    assert few_digests(rebuilt) == few_digests(whole[0])
    assert not table(spark, warehouse, "group_state").where("state_bytes = unhex('02')").count()

    spark.sql(f"DELETE FROM delta.`{warehouse / 'raw_records'}` WHERE logical_date = DATE'{DAY}'")
    with pytest.raises(
        NotReady,
        match=(
            "deleted from raw_records: the first night that can be rebuilt is 2026-11-22; rebuild"
            " from it by"
        ),
    ):
        run(gone, warehouse=warehouse, night=None, job=rebuild_nights)
    rest = run(gone, warehouse=warehouse, night=NEXT, job=rebuild_nights)
    assert rest.logical_dates == (NEXT,)
    known = {
        row[0]
        for row in (
            table(spark, warehouse, "raw_records")
            .where("kind = 'record'")
            .select("group_id")
            .distinct()
            .collect()
        )
    }
    told = (
        table(spark, warehouse, "migration_progress")
        .where(f"logical_date = DATE'{NEXT}'")
        .select("group_id")
        .collect()
    )
    assert {row[0] for row in told} <= known, "as if the log began with that night"


@pytest.mark.usefixtures("few")
@pytest.mark.soak
def test_segment_that_comes_late_is_kept_told_and_replayed_by_a_rebuild(
    spark: SparkSession, run: RunNight, whole: tuple[NightResult, Path], tmp_path: Path
) -> None:
    logs, warehouse = tmp_path / "logs", tmp_path / "warehouse"
    older = {first: first.read_bytes() for first, _ in split_log(RECORDING, logs)}
    for path in older:
        path.unlink()
    without = few_digests(run(("segments", logs), warehouse=warehouse))
    for path, content in older.items():
        path.write_bytes(content)
    late = run(("segments", logs), warehouse=warehouse, night=NEXT)
    facts = {name: value for name, value in few_digests(late).items() if name != "anomalies"}
    assert facts == {name: without[name] for name in facts}, "nothing of it was replayed"
    told = table(spark, warehouse, "anomalies").where("rule = 'LATE_RECORDS'").collect()
    assert len(told) == len(older)
    counted = (
        table(spark, warehouse, "coverage").where("late > 0").agg(sf.sum("late")).collect()[0][0]
    )
    assert counted == sum(int(row["detail"].split(" ")[0]) for row in told) > 0
    version = Warehouse(spark, str(warehouse), "test").version("raw_records")

    rebuilt = run(("segments", logs), warehouse=warehouse, night=None, job=rebuild_nights)
    facts = {name: value for name, value in few_digests(rebuilt).items() if name != "anomalies"}
    assert facts == {name: few_digests(whole[0])[name] for name in facts}
    again = run(("segments", logs), warehouse=warehouse, night=NEXT)
    assert few_digests(again) == few_digests(rebuilt)
    assert Warehouse(spark, str(warehouse), "test").version("raw_records") == version, (
        "what was searched is not read again"
    )


class Killed(BaseException):
    """As if the process were gone: nothing catches it."""


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "last_state",
    [
        pytest.param("PLANNED", marks=pytest.mark.soak),
        "LANDED",
        pytest.param("REPLAYED", marks=pytest.mark.soak),
    ],
)
def test_dead_run_is_taken_over_with_the_steps_it_finished(
    spark: SparkSession,
    run: RunNight,
    whole: tuple[NightResult, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    last_state: str,
) -> None:
    """It reads a dump, which gives what segments give."""
    logs, warehouse = tmp_path / "logs", tmp_path / "warehouse"
    shutil.copytree(RECORDINGS / RECORDING / "dump", logs)
    advance = Ledger.advance

    def die(ledger: Ledger, run: Any, state: str, **changes: Any) -> Any:
        if run.state == last_state:
            ledger.release()
            raise Killed
        return advance(ledger, run, state, **changes)

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "advance", die)
        patched.setattr(runs, "this_process", lambda: "elsewhere:1:0@")
        patched.setattr(runs, "_now", lambda: 1_700_000_000_000)
        with pytest.raises(Killed):
            run(("dump_log", logs), warehouse=warehouse)
    before = {
        name: Warehouse(spark, str(warehouse), "test").version(name)
        for name in ("raw_records", "replayed")
    }
    # What was landed is not read again, even if `runs` does not know yet that it was: the files may
    # be gone by now.
    shutil.rmtree(logs)
    shutil.copytree(RECORDINGS / "consumer-4.3" / "dump", logs)
    with pytest.raises(RunHeld, match="a dead run holds .* with --take-over"):
        run(("dump_log", logs), warehouse=warehouse)
    result = run(("dump_log", logs), warehouse=warehouse, take_over=True)
    assert result.run is not None
    assert result.run.resumed
    assert few_digests(result) == few_digests(whole[0])
    after = {
        name: Warehouse(spark, str(warehouse), "test").version(name)
        for name in ("raw_records", "replayed")
    }
    again = set() if last_state == "REPLAYED" else {"replayed"}
    assert {name for name in after if after[name] > before[name]} == again


@pytest.mark.usefixtures("few")
def test_failed_run_says_why_and_what_it_landed_is_not_lost(
    spark: SparkSession,
    run: RunNight,
    whole: tuple[NightResult, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The night that failed is published before the next one, which builds on it."""
    logs, warehouse = copy_log(RECORDING, tmp_path / "logs", half), tmp_path / "warehouse"
    with monkeypatch.context() as patched:
        patched.setattr("groupreplay.night.replay.slices_for", lambda rows, cores: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            run(("segments", logs), warehouse=warehouse)
    (row,) = table(spark, warehouse, "runs").collect()
    assert (row["state"], row["error"]) == ("FAILED", "integer division or modulo by zero")
    copy_log(RECORDING, logs)
    result = run(("segments", logs), warehouse=warehouse, night=NEXT)
    assert result.logical_dates == (DAY, NEXT)
    assert few_digests(result) == few_digests(whole[0])


@pytest.mark.usefixtures("few")
def test_night_that_another_run_holds_is_left_alone(
    spark: SparkSession, run: RunNight, whole: tuple[NightResult, Path], tmp_path: Path
) -> None:
    warehouse = Warehouse(spark, str(tmp_path), "test")
    warehouse.create_all()
    other = Ledger(warehouse, "test")
    other.acquire(DAY, "0", "", '{"units": []}')
    with pytest.raises(RunHeld):
        run(("segments", RECORDINGS / RECORDING / "segments"), warehouse=tmp_path)
    other.release()
