"""Step land: units -> raw rows, in one commit that may be repeated.

Both streams, records of the offsets topic and lines of brokers' logs, are landed by this one
algorithm. What each unit saw comes back with the commit, so nothing is read twice to know how far
the logs were read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as sf

from groupreplay.night.landing.landed import Landing
from groupreplay.tables.row_range import RowRange
from groupreplay.tables.schemas import OPTIONAL
from groupreplay.tables.warehouse import NO_VERSION, Warehouse
from groupreplay.wire.segments.raw_rows import DAMAGE

L = TypeVar("L", bound=Landing)

ReadUnits = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Found(NamedTuple):
    """What a commit added to its night.

    summaries: what each of its units saw, as values of the stream's `summary_columns`.
    damaged: partitions of the offsets topic with damage.
    kinds: kinds of its rows.
    rows: how many of its rows are of the stream's `row_kind`.
    """

    summaries: frozenset[tuple[Any, ...]]
    damaged: frozenset[int]
    kinds: frozenset[str]
    rows: int


class Stream(Protocol[L]):
    """The units of one stream, and what differs between the two.

    table: name of the table of its raw rows.
    row_kind: kind of the rows that are counted.
    summary_kind: kind of the row that says what one unit saw, once a unit.
    summary_columns: columns that say it.
    """

    table: ClassVar[str]
    row_kind: ClassVar[str]
    summary_kind: ClassVar[str]
    summary_columns: ClassVar[tuple[str, ...]]

    def raw_rows(self, spark: SparkSession) -> DataFrame:
        """The rows of all units, without night and cluster, not yet read."""

    def labels(self, before: L) -> Mapping[str, Column]:
        """Columns of a row besides night and cluster."""

    def reading(self) -> AbstractContextManager[None]:
        """Around the commit: raises SourceUnreadable for errors of Spark that mean it."""

    def rows_left(self, found: Found) -> pa.Table | None:
        """Rows of units that gave none of their own, None where all did."""

    def after(self, before: L, found: Found, logical_date: date) -> L:
        """`before` with what was found. What all streams have in common is added elsewhere."""


def land(
    warehouse: Warehouse,
    logical_date: date,
    stream: Stream[L],
    before: L,
    user_metadata: Mapping[str, Any],
    *,
    resumed: bool = False,
) -> L:
    """Lands the units of a stream into a night, in one commit. It may be repeated: the commit
    replaces the whole night by these units and what the night had landed before.

    before: what the nights before it landed and, where it ran before, what it landed itself.
    resumed: the run was begun by a process that died. If it had committed, that commit counts and
        nothing is read: the files may be gone by now.

    Raises SourceUnreadable for a live topic that cannot be read.
    """
    if stream.table in OPTIONAL:
        warehouse.create_all([stream.table])
    night = _Night(warehouse, logical_date, stream.table)
    version = NO_VERSION
    if resumed:
        version = warehouse.version_of_run(stream.table, user_metadata, before.raw_version)
    labels = {**night.labels, **stream.labels(before)}
    if version != NO_VERSION:
        found = _found_in(night, version, stream, before)
    else:
        observation = Observation(stream.table)
        rows = warehouse.shaped(
            stream.table, stream.raw_rows(warehouse.spark).withColumns(labels)
        ).observe(observation, *_aggregates(stream))
        if before.raw_version >= 0:
            rows = rows.unionByName(night.rows(before.raw_version))
        with stream.reading():
            version = warehouse.replace(stream.table, rows, night.range, user_metadata)
        found = _found(observation.get)
    if (left := stream.rows_left(found)) is not None:
        # Which ones they are is known after the read. Until the run is LANDED nobody reads what the
        # first commit left. A run that is taken over between the two commits passes here, too.
        kinds = sorted({stream.summary_kind, *left.column("kind").to_pylist()})
        of_kinds = replace(night.range, kinds=tuple(kinds))
        rows = warehouse.spark.createDataFrame(left).withColumns(labels)
        rows = rows.unionByName(warehouse.rows(stream.table, of_kinds, version))
        version = warehouse.replace(stream.table, rows, of_kinds, user_metadata)
        found = _with_rows(found, left, stream)
    return replace(
        stream.after(before, found, logical_date),
        kinds=tuple(sorted({*before.kinds, *found.kinds})),
        raw_version=version,
    )


def mapped_units(
    spark: SparkSession, tasks: Sequence[Sequence[str]], read: ReadUnits, ddl: str
) -> DataFrame:
    """The rows that `read` makes of the units of each task, given as JSON in a column `unit`."""
    table = pa.table(
        {
            "task": pa.array(
                [task for task, packed in enumerate(tasks) for _ in packed], pa.int64()
            ),
            "unit": pa.array([unit for packed in tasks for unit in packed], pa.string()),
        }
    )
    planned = spark.createDataFrame(table)
    # One row, and so one task, for each pack: a range is cut into just as many partitions, and a
    # broadcast join leaves them as they are.
    numbered = spark.range(0, len(tasks), 1, len(tasks)).withColumnRenamed("id", "task")
    return numbered.join(sf.broadcast(planned), "task").select("unit").mapInArrow(read, ddl)


class _Night(NamedTuple):
    """The rows of one night in a table of raw rows."""

    warehouse: Warehouse
    logical_date: date
    table: str

    @property
    def range(self) -> RowRange:
        return RowRange(self.warehouse.cluster, self.logical_date)

    @property
    def labels(self) -> dict[str, Column]:
        return {
            "cluster": sf.lit(self.warehouse.cluster),
            "logical_date": sf.lit(self.logical_date),
        }

    def rows(self, version: int) -> DataFrame:
        return self.warehouse.rows(self.table, self.range, version)


def _aggregates(stream: Stream[L]) -> list[Column]:
    """Aggregates of raw rows, for `_found`."""
    kind = sf.col("kind")
    summary = sf.when(kind == stream.summary_kind, sf.struct(*stream.summary_columns))
    damaged = sf.when(kind == DAMAGE, sf.col("offsets_partition"))
    return [
        sf.collect_list(summary).alias("summaries"),
        sf.collect_set(damaged).alias("damaged"),
        sf.collect_set("kind").alias("kinds"),
        sf.count_if(kind == stream.row_kind).alias("rows"),
    ]


def _found(aggregated: Mapping[str, Any]) -> Found:
    return Found(
        frozenset(tuple(each) for each in aggregated["summaries"]),
        frozenset(aggregated["damaged"]),
        frozenset(aggregated["kinds"]),
        aggregated["rows"],
    )


def _found_in(night: _Night, version: int, stream: Stream[L], before: L) -> Found:
    """What a commit added to its night, read from the table.

    before: what that commit found there.
    """

    def own(rows: DataFrame) -> DataFrame:
        """What a later commit of the night does not repeat."""
        columns = dict.fromkeys(("kind", "offsets_partition", *stream.summary_columns))
        return rows.where(sf.col("kind").isin(stream.summary_kind, DAMAGE)).select(*columns)

    def counted(rows: DataFrame) -> Row:
        return rows.agg(*_aggregates(stream)[2:]).collect()[0]

    rows = night.rows(version)
    now, added, rows_before = counted(rows), own(rows), 0
    if before.raw_version >= 0:
        earlier = night.rows(before.raw_version)
        added, rows_before = added.exceptAll(own(earlier)), counted(earlier)["rows"]
    summaries = added.agg(*_aggregates(stream)).collect()[0].asDict()
    return _found({**summaries, "kinds": now["kinds"], "rows": now["rows"] - rows_before})


def _with_rows(found: Found, left: pa.Table, stream: Stream[L]) -> Found:
    rows = left.to_pylist()
    summaries = {
        tuple(row[name] for name in stream.summary_columns)
        for row in rows
        if row["kind"] == stream.summary_kind
    }
    return found._replace(
        summaries=found.summaries | summaries, kinds=found.kinds | {row["kind"] for row in rows}
    )
