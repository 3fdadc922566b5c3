"""Table `coordinator_events`: partitions of the offsets topic between brokers, and the groups that
live in them.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import ShardEvent
from groupreplay.replay.facts import Epoch, GroupSnapshot
from groupreplay.report.joins.columns import instants, integer, night
from groupreplay.report.joins.lines.departures import evidence_column
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

AFTER_MS: Final = 60_000
"""Epochs that begin so soon after a load may be its work: timers were armed again, clients had to
find the coordinator.
"""

GROUPS_NAMED: Final = 100


def coordinator_events(inputs: TableInputs) -> DataFrame:
    """A group that was removed in the night counts by its epochs: these count too."""
    events = inputs.evidence.where(sf.col("kind") == ShardEvent.KIND)
    partition = sf.col("offsets_partition").alias("_partition")
    groups = (
        inputs.facts(GroupSnapshot, Epoch, columns=("group_id", "offsets_partition"))
        .groupBy(partition)
        .agg(sf.sort_array(sf.collect_set("group_id")).alias("_groups"))
    )
    epochs = (
        inputs.facts(Epoch, columns=("offsets_partition", "start_observed", "started_at"))
        .where("start_observed")
        .groupBy(partition)
        .agg(sf.collect_list("started_at").alias("_epochs"))
    )
    known = groups.join(epochs, "_partition", "full")
    at = sf.col("_at_ms")
    joined = events.join(
        known, sf.col("offsets_partition") == sf.col("_partition"), "left"
    ).withColumn("_at_ms", sf.col("occurred_at"))
    after = sf.filter(
        sf.coalesce("_epochs", sf.array().cast("array<bigint>")),
        lambda each: each.between(at, at + AFTER_MS),
    )
    of_partition = sf.coalesce("_groups", sf.array().cast("array<string>"))
    return joined.select(
        *night(inputs.context),
        integer("offsets_partition"),
        integer("broker"),
        "event",
        *instants("occurred_at"),
        "duration_ms",
        "records",
        integer("moved_from"),
        "detail",
        sf.size(of_partition).alias("groups"),
        sf.slice(of_partition, 1, GROUPS_NAMED).alias("group_ids"),
        sf.size(after).alias("epochs_after"),
        evidence_column().alias("evidence"),
    )


SPEC: Final = TableSpec(
    name="coordinator_events",
    build=coordinator_events,
    evidence=(ShardEvent,),
    beside=(GroupSnapshot, Epoch),
    quotes=frozenset({"detail"}),
)
