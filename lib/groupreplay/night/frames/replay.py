"""Step replay: a night's records and the states of the night before -> facts and states, in one
pass over hash slices of groups.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.night.frames.left_out import LeftOut
from groupreplay.night.frames.transactions import OWN_OFFSET, settled_commits
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.watermark import NO_HOLE
from groupreplay.workers.packed import DDL
from groupreplay.workers.slices import (
    ENDED_ENCODING,
    FIRST_LOGS,
    INPUT,
    STATE_ENCODING,
    STATE_OFFSET,
    LogIncarnations,
    slice_replay,
)

SLICE_ROWS: Final = 150_000
"""A slice takes seconds, so tasks even out; an empty one costs some 10 ms."""

SLICES_MAX: Final = 4096


class Hole(NamedTuple):
    """A hole, and the rows of the partition that lie above it: offsets in [first, end); end None:
    all from first on.
    """

    partition: int
    first: int
    end: int | None
    hole: int


def slices_for(rows: int, cores: int) -> int:
    """How many hash slices of groups `rows` are cut into. Shows in no output."""
    return min(max(-(-rows // SLICE_ROWS), 2 * cores), SLICES_MAX)


def night_records(
    raw: DataFrame, logical_date: date, landing: RecordsLanding, left_out: LeftOut
) -> DataFrame:
    """The raw rows that a night replays, with OWN_OFFSET: the rows that it landed, commits that its
    markers settled, as kind `record`, and records of earlier nights, of groups that were left out
    then and come back. Rows of groups that it leaves out are among them.

    raw: `raw_records` of one cluster.
    landing: what the night landed.
    """
    night = sf.col("logical_date")
    is_own = night == sf.lit(logical_date)
    wanted = is_own
    if left_out.since is not None:
        wanted |= (
            (night < sf.lit(logical_date)) & (sf.col("kind") == "record") & left_out.is_missed()
        )
    rows = raw.where(wanted).withColumn(OWN_OFFSET, sf.col("offset"))
    if landing.open_commits and (
        landing.markers or any(each.markers for each in left_out.landings)
    ):
        settled = settled_commits(
            raw.where(night <= sf.lit(logical_date)), left_out.since or logical_date
        )
        rows = rows.unionByName(
            settled.where(is_own if left_out.since is None else is_own | left_out.is_missed())
        )
    return rows


def replayed(
    spark: SparkSession,
    records: DataFrame,
    states: DataFrame | None,
    holes: Sequence[Hole],
    names: Mapping[str, str],
    slices: int,
    logs: LogIncarnations = FIRST_LOGS,
) -> DataFrame:
    """Rows of `replayed` without night and cluster.

    records: rows that `night_records` gives, without groups that are left out.
    states: group_id, offsets_partition, state_bytes of the groups alive, None if there are none.
    logs: log incarnations of the records, and of the states where they differ.
    """
    rows = _with_earlier_holes(spark, records.where(sf.col("kind") == "record"), holes).select(
        *INPUT, OWN_OFFSET
    )
    if states is not None:
        rows = rows.unionByName(_state_rows(states, logs.ended))
    slice_number = sf.pmod(sf.xxhash64("group_id"), sf.lit(slices)).cast("int")
    # Sorted last, right before the grouped map, by the slice first: so it adds no exchange and no
    # sort of its own, and the order holds. The key decides where two commits of one transaction
    # were made in one unit: any order would do, but always the same.
    in_order = (
        rows.withColumn("slice", slice_number)
        .repartitionById(slices, sf.col("slice"))
        .sortWithinPartitions("slice", "group_id", "offsets_partition", "offset", OWN_OFFSET, "key")
    )
    by_slice = in_order.select("slice", *INPUT).groupBy("slice")
    return by_slice.applyInPandas(slice_replay(names, logs), DDL)


def known_holes(before: RecordsLanding, *landings: RecordsLanding) -> list[Hole]:
    """The holes below the rows of a replay, as stretches of rows with the same hole below them. A
    row itself has the last hole of its own unit alone.

    before: what had been landed before the first night whose rows are replayed.
    landings: landings of the nights whose rows are replayed.
    """
    offsets: dict[int, set[int]] = {
        partition: {each.last_hole}
        for partition, each in before.watermarks.items()
        if each.last_hole != NO_HOLE
    }
    for partition, last_hole in (hole for landing in landings for hole in landing.holes):
        offsets.setdefault(partition, set()).add(last_hole)
    found = []
    for partition in sorted(offsets):
        holes = sorted(offsets[partition])
        ends: list[int | None] = [*[hole + 1 for hole in holes[1:]], None]
        found += [
            Hole(partition, hole + 1, end, hole) for hole, end in zip(holes, ends, strict=True)
        ]
    return found


def _with_earlier_holes(
    spark: SparkSession, records: DataFrame, holes: Sequence[Hole]
) -> DataFrame:
    if not holes:
        return records
    names = {
        "hole_partition": pa.int32(),
        "hole_from": pa.int64(),
        "hole_end": pa.int64(),
        "earlier_hole": pa.int64(),
    }
    table = pa.table(
        {
            name: pa.array([each[index] for each in holes], kind)
            for index, (name, kind) in enumerate(names.items())
        }
    )
    inside = (
        (sf.col("offsets_partition") == sf.col("hole_partition"))
        & (sf.col("offset") >= sf.col("hole_from"))
        & (sf.col("hole_end").isNull() | (sf.col("offset") < sf.col("hole_end")))
    )
    with_hole = records.join(sf.broadcast(spark.createDataFrame(table)), inside, "left")
    return with_hole.withColumn("last_hole", sf.greatest("last_hole", "earlier_hole")).drop(*names)


def _state_rows(states: DataFrame, ended: Collection[int]) -> DataFrame:
    def number(value: int) -> Column:
        return sf.lit(value)

    columns: dict[str, Column] = {
        "group_id": sf.col("group_id"),
        "offsets_partition": sf.col("offsets_partition"),
        "offset": number(STATE_OFFSET).cast("bigint"),
        "ts_ms": number(-1).cast("bigint"),
        "leader_epoch": number(-1),
        "batch_base_offset": number(-1).cast("bigint"),
        "last_hole": number(NO_HOLE).cast("bigint"),
        "encoding": sf.when(sf.col("offsets_partition").isin(*ended), ENDED_ENCODING).otherwise(
            STATE_ENCODING
        ),
        "key": sf.lit(b""),
        "value": sf.col("state_bytes"),
        OWN_OFFSET: number(STATE_OFFSET).cast("bigint"),
    }
    return states.select(*[value.alias(name) for name, value in columns.items()])
