"""Commits of transactions that end in a later unit, or a later night, than they were made in.

A unit that does not see the marker of a transaction lands its commits as `open_commit`, and lands
the first marker of every producer as `marker`. A producer has one transaction at a time in a
partition, so its first marker above a commit decides that commit. On COMMIT the commit enters the
replay of the marker's night, at the marker's offset and time, where it began to count. On ABORT it
never does. Nor does it where a commit of its key that was written after it, or a tombstone, counts
by then (`wire.segments.reduction.open_commits`). What a unit lands shows that to all units before
it: of each key it has the first commit that counts.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

OWN_OFFSET = "own_offset"
"""Where a commit stood itself: commits that share a marker are replayed in this order."""


_LOG: Final = "_log"
"""Which log of a partition a row is of: a marker ends no transaction of another log."""

_OF_KEY: Final = ["offsets_partition", _LOG, "encoding", "key"]


def settled_commits(raw: DataFrame, since: date) -> DataFrame:
    """Raw rows of kind `record`, and OWN_OFFSET: commits whose COMMIT marker was landed on that
    night or later. Their logical_date is that of the marker.

    raw: `raw_records` of one cluster, nights up to the one that is replayed.
    """
    committed = sf.get_json_object("detail", "$.committed") == "true"
    in_logs = _in_logs(raw)
    markers = in_logs.where(sf.col("kind") == "marker").select(
        "offsets_partition",
        _LOG,
        "producer_id",
        sf.col("offset").alias("marker_offset"),
        sf.struct(
            "logical_date", committed.alias("committed"), "ts_ms", "leader_epoch", "last_hole"
        ).alias("marker"),
    )
    commits = in_logs.where(sf.col("kind") == "open_commit")
    above = commits.join(markers, ["offsets_partition", _LOG, "producer_id"]).where(
        sf.col("marker_offset") > sf.col("offset")
    )
    decided_by_first = Window.partitionBy("offsets_partition", _LOG, "offset").orderBy(
        "marker_offset"
    )
    decided = above.withColumn("_rank", sf.row_number().over(decided_by_first)).where(
        sf.col("_rank") == 1
    )
    written_later = (
        Window.partitionBy(*_OF_KEY)
        .orderBy(sf.desc("offset"))
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    others_count_at = sf.min("marker_offset").over(written_later)
    settled = (
        decided.where("marker.committed")
        .withColumn("_others_count_at", others_count_at)
        .where("_others_count_at IS NULL OR _others_count_at > marker_offset")
        .where(sf.col("marker.logical_date") >= sf.lit(since))
    )
    visible = _not_outdone(settled, in_logs.where(sf.col("kind") == "record"))
    at_marker = {
        OWN_OFFSET: sf.col("offset"),
        "offset": sf.col("marker_offset"),
        "batch_base_offset": sf.col("marker_offset"),
        "ts_ms": sf.col("marker.ts_ms"),
        "leader_epoch": sf.col("marker.leader_epoch"),
        "last_hole": sf.col("marker.last_hole"),
        "kind": sf.lit("record"),
        "logical_date": sf.col("marker.logical_date"),
    }
    columns = [column for column in raw.columns if column not in at_marker]
    return visible.select(*columns, *[value.alias(name) for name, value in at_marker.items()])


def _not_outdone(settled: DataFrame, records: DataFrame) -> DataFrame:
    """The settled commits but those of whose key a record counts by their marker that was written
    later.

    records: rows of kind `record`; of nights before `own_offset` was kept, a commit that stands at
        its marker outdoes none.
    """
    is_at_marker = (sf.col("producer_id") >= 0) & sf.col("value").isNotNull()
    own_offset = sf.get_json_object("detail", "$.own_offset").cast("bigint")
    of_these = records.join(sf.broadcast(settled.select(*_OF_KEY).distinct()), _OF_KEY, "left_semi")
    others = of_these.select(
        *[sf.col(name).alias(f"_{name}") for name in _OF_KEY],
        sf.when(is_at_marker, own_offset).otherwise(sf.col("offset")).alias("_written_at"),
        sf.col("offset").alias("_counts_from"),
    )
    outdoes = [sf.col(name) == sf.col(f"_{name}") for name in _OF_KEY]
    outdoes += [
        sf.col("_written_at") > sf.col("offset"),
        sf.col("_counts_from") <= sf.col("marker_offset"),
    ]
    return settled.join(others, outdoes, "left_anti")


def undecided_commits(raw: DataFrame) -> DataFrame:
    """Raw rows before a night that it or a later one may still replay: commits whose transaction
    had not ended in their own log.
    """
    in_logs = _in_logs(raw)
    commits = in_logs.where(sf.col("kind") == "open_commit")
    markers = in_logs.where(sf.col("kind") == "marker").select(
        "offsets_partition", _LOG, "producer_id", sf.col("offset").alias("marker_offset")
    )
    same = [commits[name] == markers[name] for name in ("offsets_partition", _LOG, "producer_id")]
    ends = [*same, markers["marker_offset"] > commits["offset"]]
    return commits.join(markers, ends, "left_anti").drop(_LOG)


def _in_logs(raw: DataFrame) -> DataFrame:
    return raw.withColumn(_LOG, sf.coalesce("log_incarnation", sf.lit(0)))
