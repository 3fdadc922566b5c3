"""Python workers that are started ahead."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

from groupreplay.grouped.loading import MODULES, load
from groupreplay.steps.workers import workers_starting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_workers_have_imported_what_steps_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    # Spark keeps workers apart by their environment: so none that another test left idle answers.
    monkeypatch.setitem(spark.sparkContext.environment, "GROUPREPLAY_TEST", "workers")
    wanted = MODULES

    def loaded(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"module": [name for name in wanted if name in sys.modules]})

    with workers_starting(spark) as thread:
        pass
    thread.join()
    rows = spark.range(0, 2, 1, 2).mapInArrow(loaded, "module STRING").collect()
    assert sorted(row.module for row in rows) == sorted(wanted * 2)


def test_a_worker_that_cannot_start_is_the_step_s_to_tell() -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("no workers here")

    with workers_starting(cast("SparkSession", Broken())) as thread:
        pass
    thread.join()


def test_an_error_of_the_body_is_raised_when_the_thread_is_through() -> None:
    threads = []

    def fail() -> None:
        with workers_starting(cast("SparkSession", object())) as thread:
            threads.append(thread)
            raise ValueError("the body's")

    with pytest.raises(ValueError, match="the body's"):
        fail()
    assert not threads[0].is_alive()


def test_batches_come_back() -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1, 2]})
    assert list(load(iter([batch]))) == [batch]
