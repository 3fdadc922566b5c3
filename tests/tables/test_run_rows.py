"""Rows of `runs` as Delta writes them into a file. What Spark reads of them is in `test_runs.py`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    DateType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from groupreplay.tables.run_rows import DONE, FAILED, PLANNED, STEPS, Run, runs_table

STRUCT = StructType(
    [
        StructField("cluster", StringType()),
        StructField("logical_date", DateType()),
        StructField("run_id", StringType()),
        StructField("started_at", TimestampType()),
        StructField("ended_at", TimestampType()),
        StructField("table_versions", MapType(StringType(), LongType())),
        StructField("a_later_column", StringType()),
    ]
)
RUN = Run(
    cluster="c",
    logical_date=date(2026, 11, 20),
    run_id="r",
    state=DONE,
    started_at=1_795_239_724_123,
    table_versions={"members": 3, "topics": 4},
    code_version="0.9",
    config_hash="h",
)


def table(*runs: Run) -> pa.Table:
    return runs_table(STRUCT, ["cluster", "logical_date"], runs)


def test_columns_of_the_partition_are_the_last() -> None:
    assert table(RUN).schema.names == [
        *("run_id", "started_at", "ended_at", "table_versions", "a_later_column"),
        *("cluster", "logical_date"),
    ]


def test_times_are_instants_whatever_the_zone_of_the_process() -> None:
    (row,) = table(RUN).to_pylist()
    assert row["started_at"] == datetime.fromtimestamp(1_795_239_724.123, UTC)
    assert row["ended_at"] is None


def test_a_map_and_a_column_that_no_field_has() -> None:
    (row,) = table(RUN).to_pylist()
    assert dict(row["table_versions"]) == {"members": 3, "topics": 4}
    assert row["a_later_column"] is None


def test_no_runs_are_a_table_without_rows() -> None:
    assert (table().num_rows, table().schema) == (0, table(RUN).schema)


@pytest.mark.parametrize(("state", "finished"), [(PLANNED, False), (DONE, True), (FAILED, True)])
def test_a_run_is_finished_when_no_step_goes_on_with_it(state: str, finished: bool) -> None:
    run = replace(RUN, state=state)
    assert run.is_finished is finished
    assert finished is (state not in STEPS)


def test_that_a_run_was_taken_over_makes_it_no_other_run() -> None:
    assert replace(RUN, resumed=True) == RUN
