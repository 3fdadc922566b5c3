"""Rows of the table `runs`: a run, the states that it goes through, and how rows hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType, TimestampType

PLANNED, LANDED, REPLAYED, DONE, FAILED = "PLANNED", "LANDED", "REPLAYED", "DONE", "FAILED"
FINISHED = frozenset({DONE, FAILED})
STEPS: Mapping[str, str] = {
    PLANNED: "land_logs",
    LANDED: "replay_groups",
    REPLAYED: "build_reports",
}
"""State of a run -> the job that takes it to the next; in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A row of `runs`. `*_at`: ms since the epoch, UTC.

    holder: None where a step let go of the run for the next one to take.
    plan: JSON of the step plan.
    resumed: this process took the run over from one that died.
    """

    cluster: str
    logical_date: date
    run_id: str
    state: str
    as_of_at: int | None = None
    started_at: int
    ended_at: int | None = None
    holder: str | None = None
    renewed_at: int | None = None
    code_version: str
    config_hash: str
    plan: str | None = None
    table_versions: dict[str, int] | None = None
    counts: dict[str, int] | None = None
    timings: dict[str, int] | None = None
    digest: dict[str, str] | None = None
    digest_final: dict[str, str] | None = None
    error: str | None = None
    config: str | None = None
    core: str | None = None
    resumed: bool = field(default=False, compare=False)

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED


_COLUMNS = tuple(each.name for each in fields(Run) if each.name != "resumed")


def runs_frame(spark: SparkSession, struct: StructType, runs: Iterable[Run]) -> DataFrame:
    """Rows of `runs`.

    struct: its columns as declared; one that no field of `Run` has is NULL.
    """
    # By way of Arrow: rows of Python would start a job of their own.
    frame = spark.createDataFrame(_stored_table(struct, runs)).coalesce(1)
    return frame.select(
        *[
            _as_table(each) if each.name in _COLUMNS else sf.lit(None).alias(each.name)
            for each in struct
        ]
    )


def runs_table(
    struct: StructType, partition_columns: Sequence[str], runs: Iterable[Run]
) -> pa.Table:
    """The same rows as Delta writes them into a file: columns of the partition are the last."""
    declared = StructType(sorted(struct, key=lambda each: each.name in partition_columns))
    stored, types = _stored_table(struct, runs), to_arrow_schema(declared)
    columns = [
        _as_column(stored, each) if each.name in _COLUMNS else pa.nulls(len(stored), each.type)
        for each in types
    ]
    return pa.Table.from_arrays(columns, schema=types)


def _as_column(stored: pa.Table, column: pa.Field) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return stored[column.name]
    # Arrow does not cast a number to a time of another unit in one step.
    return stored[column.name].cast(pa.timestamp("ms", "UTC")).cast(column.type)


def stored_runs(rows: DataFrame, struct: StructType) -> list[Run]:
    """Inverse of `runs_frame`: starts a job."""
    of_runs = [_as_stored(each) for each in struct if each.name in _COLUMNS]
    return [_as_run(row) for row in rows.select(*of_runs).collect()]


# Times leave and enter Spark as ms, so that no time zone of this process has a say.


def _stored_table(struct: StructType, runs: Iterable[Run]) -> pa.Table:
    stored = to_arrow_schema(
        StructType(
            [StructField(each.name, _stored_type(each)) for each in struct if each.name in _COLUMNS]
        )
    )
    return pa.Table.from_pylist(
        [{name: _as_cell(getattr(run, name)) for name in stored.names} for run in runs], stored
    )


def _as_cell(value: Any) -> Any:
    """Arrow takes a map as its pairs."""
    return list(value.items()) if isinstance(value, Mapping) else value


def _stored_type(column: StructField) -> Any:
    return LongType() if isinstance(column.dataType, TimestampType) else column.dataType


def _as_stored(column: StructField) -> Any:
    return (
        sf.unix_millis(column.name).alias(column.name)
        if isinstance(column.dataType, TimestampType)
        else sf.col(column.name)
    )


def _as_table(column: StructField) -> Any:
    return (
        sf.timestamp_millis(column.name).alias(column.name)
        if isinstance(column.dataType, TimestampType)
        else sf.col(column.name)
    )


def _as_run(row: Row) -> Run:
    return Run(**row.asDict(recursive=True))
