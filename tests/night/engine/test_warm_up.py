"""What is started ahead."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from threading import Event
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest

from groupreplay import shortcuts
from groupreplay.compiled_core import running
from groupreplay.night.engine import warm_up
from groupreplay.night.engine.warm_up import started, table_logs, workers
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.warehouse import Warehouse
from groupreplay.workers.loading import load

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_workers_have_imported_what_steps_run(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Spark keeps workers apart by their environment: so none that another test left idle answers.
    monkeypatch.setitem(spark.sparkContext.environment, "GROUPREPLAY_TEST", "workers")
    wanted = ("groupreplay.workers.read_units", "groupreplay.workers.slices")

    def loaded(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict(
                {"module": [name for name in wanted if name in sys.modules]}
            )

    told: list[str] = []
    with started(workers(spark, told.append)):
        pass
    assert told == [running()]
    rows = spark.range(0, 2, 1, 2).mapInArrow(loaded, "module STRING").collect()
    assert sorted(row.module for row in rows) == sorted(wanted * 2)


def test_workers_of_another_core_than_the_driver_s_are_told_in_one_line(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for core, lines in (("compiled: of the driver", 1), (running(), 0)):
        monkeypatch.setattr(warm_up, "running", lambda core=core: core)
        caplog.clear()
        with started(workers(spark, lambda _: None)):
            pass
        said = [each for each in caplog.messages if each.startswith("the pure core of workers is ")]
        assert len(said) == lines
        assert all(running() in each for each in said)


def test_a_log_that_was_read_ahead_is_not_read_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is not read at all where checksums say enough."""
    warehouse = Warehouse(spark, str(tmp_path), "c")
    warehouse.create_all(["topics", "undecoded"])
    columns = (
        "'c' cluster, DATE'2026-11-22' logical_date, 'id' topic_id, 't' topic, TIMESTAMP'2026-11-22"
        " 00:00:00' first_seen_at, 1 partitions"
    )
    rows = spark.sql(f"SELECT {columns}, 'given' source")
    warehouse.replace("topics", rows, RowRange("c"), {})
    assert spark._jvm is not None
    getattr(spark._jvm, "org.apache.spark.sql.delta.DeltaLog").clearCache()
    jobs = []
    monkeypatch.setenv(shortcuts.VARIABLE, "")
    for group in ("ahead", "later", "by checksum"):
        if group == "by checksum":
            getattr(spark._jvm, "org.apache.spark.sql.delta.DeltaLog").clearCache()
            monkeypatch.delenv(shortcuts.VARIABLE)
        spark.sparkContext.setJobGroup(group, group)
        table_logs(Warehouse(spark, str(tmp_path), "c"), ["undecoded", "topics"])(Event())
        jobs.append(len(spark.sparkContext.statusTracker().getJobIdsForGroup(group)))
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # None takes it away
    assert jobs[0] > 0
    assert jobs[1:] == [0, 0]
    warehouse = Warehouse(spark, str(tmp_path), "c")
    assert warehouse.log("topics").snapshot().count_files() == 1
    files = list((tmp_path / "topics").rglob("*.parquet"))
    assert warehouse.size_bytes("topics") == sum(file.stat().st_size for file in files) > 0


def test_logs_are_read_until_the_job_is_left() -> None:
    left, asked = Event(), []

    class Log:
        def __init__(self, name: str) -> None:
            self.name = name

        def snapshot(self) -> Log:
            return self

        def count_files(self) -> int:
            asked.append(self.name)
            if self.name == "b":
                left.set()
            return 1

    class Tables:
        def version(self, name: str) -> int:
            return {"missing": -1, "empty": 0}.get(name, 7)

        def is_known(self, name: str, version: int, *, for_rows: bool) -> bool:
            return (name, version, for_rows) == ("known", 7, False)

        def log(self, name: str) -> Log:
            return Log(name)

    table_logs(cast(Warehouse, Tables()), ["missing", "a", "known", "empty", "b", "c"])(left)
    assert asked == ["a", "b"]


def test_what_cannot_be_done_ahead_is_the_step_s_to_tell() -> None:
    def fail(_: Event) -> None:
        raise RuntimeError("no workers here")

    with started(fail) as threads:
        pass
    assert not threads[0].is_alive()


def test_an_error_of_the_body_is_raised_when_the_work_is_over() -> None:
    over = []

    def wait(left: Event) -> None:
        over.append(left.wait(60))

    def fail() -> None:
        with started(wait):
            raise ValueError("the body's")

    with pytest.raises(ValueError, match="the body's"):
        fail()
    assert over == [True]


def test_each_worker_says_which_core_it_runs() -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1, 2]})
    assert [each.to_pydict() for each in load(iter([batch]))] == [{"core": [running()]}]
