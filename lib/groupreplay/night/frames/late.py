"""Records that came late, in their true order: for nights that are rebuilt.

A night lands what earlier nights had missed under kinds of their own
(`wire.segments.raw_rows.LATE_KINDS`) and replays none of it, for its groups have moved on. A
rebuild gives each such row to the night whose stretch of the log it lies in, whenever it was
landed, and takes back the holes that it filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.watermark import NO_HOLE, PartitionWatermark
from groupreplay.wire.segments.holes import MISSING_MAX
from groupreplay.wire.segments.raw_rows import LATE_KINDS

_LONG_AGO: Final = date(1970, 1, 1)
_WINDOW: Final = {
    "late_partition": pa.int32(),
    "late_log": pa.int32(),
    "late_first": pa.int64(),
    "late_end": pa.int64(),
}


def has_late(landing: RecordsLanding) -> bool:
    """Whether anything came late, up to that night."""
    return any(each.filled for each in landing.watermarks.values())


def as_of_with_late(landing: RecordsLanding, newest: RecordsLanding) -> int:
    """Greatest record time up to a night, in ms, as if no record had come late: the clock of the
    leader that wrote one may be ahead of all others.

    newest: what the newest night had landed.
    """
    found = _of_same_logs(newest, landing)
    late = [
        late_ms
        for partition, landed in found.watermarks.items()
        for first, late_ms in landed.filled_ms.items()
        if first < landing.watermarks[partition].next_position
    ]
    return max([landing.as_of_ms, *late])


def with_late(
    raw: DataFrame, logical_date: date, before: RecordsLanding | None, landing: RecordsLanding
) -> DataFrame:
    """The rows of `raw_records` up to this night, as they would be if no record had come late. A
    late row belongs to this night if it lies in the stretch that this night read, and else to a
    night long ago.

    raw: rows of `raw_records` of one cluster.
    before: what the night before had landed, None for the first.
    landing: what this night had landed.
    """
    bounds = (
        {
            (partition, each.log_incarnation): each.next_position
            for partition, each in before.watermarks.items()
        }
        if before
        else {}
    )
    logs = [
        (partition, each.log_incarnation, each.next_position)
        for partition, each in landing.watermarks.items()
    ]
    windows = [
        (partition, log, bounds.get((partition, log), 0), end) for partition, log, end in logs
    ]
    columns = {
        name: pa.array([window[place] for window in windows], kind)
        for place, (name, kind) in enumerate(_WINDOW.items())
    }
    table = raw.sparkSession.createDataFrame(pa.table(columns))
    usual: dict[Any, Any] = {late: kind for kind, late in LATE_KINDS.items()}
    is_of_log = (sf.col("offsets_partition") == sf.col("late_partition")) & (
        sf.coalesce("log_incarnation", sf.lit(0)) == sf.col("late_log")
    )
    is_tonight = sf.col("offset") >= sf.col("late_first")
    late = (
        raw.where(sf.col("kind").isin(*usual))
        .join(sf.broadcast(table), is_of_log & (sf.col("offset") < sf.col("late_end")))
        .withColumn(
            "logical_date", sf.when(is_tonight, sf.lit(logical_date)).otherwise(sf.lit(_LONG_AGO))
        )
        .replace(usual, subset=["kind"])
        .drop(*_WINDOW)
    )
    return raw.where(~sf.col("kind").isin(*usual)).unionByName(late)


def with_holes_filled(records: DataFrame, newest: RecordsLanding) -> DataFrame:
    """A row whose `last_hole` was filled since has the next hole below that instead.

    newest: what the newest night had landed.
    """
    changed = {(partition, hole): below for partition, hole, below in _filled_holes(newest)}
    if not changed:
        return records
    table = pa.table(
        {
            "filled_partition": pa.array([partition for partition, _ in changed], pa.int32()),
            "filled_hole": pa.array([hole for _, hole in changed], pa.int64()),
            "hole_below": pa.array(list(changed.values()), pa.int64()),
        }
    )
    is_filled = (sf.col("offsets_partition") == sf.col("filled_partition")) & (
        sf.col("last_hole") == sf.col("filled_hole")
    )
    found = records.join(
        sf.broadcast(records.sparkSession.createDataFrame(table)), is_filled, "left"
    )
    return found.withColumn("last_hole", sf.coalesce("hole_below", "last_hole")).drop(
        *table.column_names
    )


def landing_with_holes_filled(landing: RecordsLanding, newest: RecordsLanding) -> RecordsLanding:
    """The landing without the holes that were filled since: the next hole below takes the place of
    each. With all holes that are there still: a night names the last one of each unit alone, and
    the rows of a late unit know of none below them.

    newest: what the newest night had landed.
    """
    found = _of_same_logs(newest, landing)
    changed: Mapping[tuple[int, int], int] = {
        (partition, hole): below for partition, hole, below in _filled_holes(found)
    }
    watermarks = {
        partition: replace(each, last_hole=changed.get((partition, each.last_hole), each.last_hole))
        for partition, each in landing.watermarks.items()
    }
    holes = {(partition, changed.get((partition, hole), hole)) for partition, hole in landing.holes}
    holes |= set(_holes_left(landing, found))
    return replace(
        landing,
        watermarks=watermarks,
        holes=tuple(sorted((partition, hole) for partition, hole in holes if hole != NO_HOLE)),
    )


def _filled_holes(newest: RecordsLanding) -> Iterable[tuple[int, int, int]]:
    """(partition, last offset of a hole that was filled to its end, greatest offset below it that
    is missing still). Not where holes may have been forgotten: then one may lie between.
    """
    for partition, landed in newest.watermarks.items():
        for _, end in landed.filled if _knows_all_holes(landed) else ():
            # What lies below the log's beginning is no hole.
            below = [
                hole_end - 1
                for hole_first, hole_end in landed.missing
                if hole_first > 0 and hole_end <= end
            ]
            yield partition, end - 1, max(below, default=NO_HOLE)


def _holes_left(landing: RecordsLanding, newest: RecordsLanding) -> Iterable[tuple[int, int]]:
    """(partition, last offset) of the holes below where a night had read to. Where holes may have
    been forgotten, one may lie right below what came late.

    newest: what the newest night had landed of the same logs.
    """
    for partition, landed in newest.watermarks.items():
        ends = [end for first, end in landed.missing if first > 0]
        if not _knows_all_holes(landed):
            ends += [first for first, _ in landed.filled if first > 0]
        read_to = landing.watermarks[partition].next_position
        yield from ((partition, end - 1) for end in ends if end <= read_to)


def _knows_all_holes(landed: PartitionWatermark) -> bool:
    """Whether no hole of a log was forgotten. One that was filled is missing no more."""
    return len(landed.missing) + len(landed.filled) < MISSING_MAX


def _of_same_logs(newest: RecordsLanding, landing: RecordsLanding) -> RecordsLanding:
    """What the newest night had landed of the logs that another one read, not of those that took
    the place of one.
    """
    then = {partition: each.log_incarnation for partition, each in landing.watermarks.items()}
    watermarks = {
        partition: each
        for partition, each in newest.watermarks.items()
        if then.get(partition) == each.log_incarnation
    }
    return replace(newest, watermarks=watermarks)
