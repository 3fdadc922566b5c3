"""Named step: how far each partition of the offsets topic was read, and which rows that closes.

A log of files was read to its newest record. A partition of a live topic was read to the time when
its end was taken, so a quiet one closes its rows too.

A stretch of a group that ended at `e` is final when its partition was read further than SETTLE_MS
past `e`: no later record can change it. One of that millisecond can: chains and absences go on at
just SETTLE_MS, and of records of one millisecond a night may have read the first alone. Without
this rule a silent group would stay open for ever. As-of of the cluster does not close it, because
the files of one partition may come later than those of others. The first night that read so far
writes the row, and no later one does.

A table that is closed in this way names coverage in its spec, `tables=COVERAGE, earlier=COVERAGE`,
and its function says

    rows = with_horizon(facts, horizons(inputs))
    rows = closed(rows, sf.col("ended_at"))

where `facts` has the columns offsets_partition and is_final as facts have them, and the ended_at of
one that is open is NULL. `now_ms`, which the first adds, is what open stretches are measured to:
behind it nothing of the partition was read.

Source: docs/measures.md, Days of groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.report.joins.unit_rows import OFFSETS_TOPIC
from groupreplay.report.table_inputs import TableInputs

SETTLE_MS: Final = MAX_CHAIN_GAP_MS
"""How long a row waits for a first commit, or for another event of a chain."""

COVERAGE: Final = ("coverage",)
"""What a table that is closed by horizon is made of besides."""

NEVER_MS: Final = -1
"""Horizon of a partition that was not read."""


def horizons(inputs: TableInputs) -> DataFrame:
    """_partition, before_ms, now_ms: up to when the nights before this one, and this one too, had
    read a partition; NEVER_MS where they had not. A row a partition.

    A night that read nothing of a partition leaves it as it was.
    """
    coverage, tonight = inputs.stored.so_far("coverage"), sf.lit(inputs.stored.logical_date)
    partition = sf.regexp_extract("input", rf"^{OFFSETS_TOPIC}-(\d+)$", 1)
    last_ms = sf.unix_millis("last_at")
    of_logs = coverage.where((partition != "") & sf.col("last_at").isNotNull()).select(
        partition.cast("bigint").alias("_partition"),
        last_ms.alias("now_ms"),
        sf.when(sf.col("logical_date") < tonight, last_ms).alias("before_ms"),
    )
    never = sf.lit(NEVER_MS).cast("bigint")
    until = inputs.context.read_until_ms
    if until:
        of_logs = of_logs.unionByName(_of_live_topic(coverage.sparkSession, until))
    return of_logs.groupBy("_partition").agg(
        sf.coalesce(sf.max("before_ms"), never).alias("before_ms"),
        sf.coalesce(sf.max("now_ms"), never).alias("now_ms"),
    )


def _of_live_topic(spark: SparkSession, until_ms: Mapping[int, tuple[int, int]]) -> DataFrame:
    """Horizons of partitions of a live topic.

    until_ms: `read_until_ms` of the context.
    """
    columns = {
        "_partition": list(until_ms),
        "before_ms": [before for before, _ in until_ms.values()],
        "now_ms": [now for _, now in until_ms.values()],
    }
    return spark.createDataFrame(
        pa.table({name: pa.array(each, pa.int64()) for name, each in columns.items()})
    )


def with_horizon(rows: DataFrame, known: DataFrame) -> DataFrame:
    """The rows, and before_ms and now_ms of their partition.

    known: what `horizons` gave.
    """
    never = sf.lit(NEVER_MS).cast("bigint")
    joined = rows.join(
        sf.broadcast(known), sf.col("offsets_partition") == sf.col("_partition"), "left"
    ).drop("_partition")
    return joined.withColumns({name: sf.coalesce(name, never) for name in ("before_ms", "now_ms")})


def closed(rows: DataFrame, ended_ms: Column) -> DataFrame:
    """Rows with their horizon that no earlier night wrote for good. A row is final too where its
    partition was read far enough.

    ended_ms: when the stretch of a row ended, ms since the epoch; NULL while it has not.
    """
    settled_ms = ended_ms + sf.lit(SETTLE_MS)
    is_new = ended_ms.isNull() | (settled_ms >= sf.col("before_ms"))
    is_settled = sf.coalesce(settled_ms < sf.col("now_ms"), sf.lit(False))
    return rows.where(is_new).withColumn("is_final", sf.col("is_final") | is_settled)
