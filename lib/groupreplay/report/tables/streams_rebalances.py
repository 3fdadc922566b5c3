"""Table `streams_rebalances`: every rebalance of a Kafka Streams group, what it was for and what it
did to tasks.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.streams_facts import StreamsRebalance
from groupreplay.report.digest import GROUP, unordered
from groupreplay.report.joins.columns import durations, fact_columns, instants, integer
from groupreplay.report.joins.lines.departures import (
    BEFORE_MS,
    EXACT,
    LEFT_OR_FENCED,
    with_departure,
)
from groupreplay.report.joins.lines.rebalance_lines import with_rebalance
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

UNKNOWN: Final = "UNKNOWN"

CLIENT_SAYS: Final = {
    r"triggered followup rebalance scheduled for 0\.?": "FOLLOWUP",
    r"triggered followup rebalance scheduled for [0-9]+(?:ms)?\.?": "PROBING",
    r"need to revoke partitions and re-join\.?": "FOLLOWUP",
    r"Shutdown requested\.?": "SHUTDOWN",
    r"Active tasks corrupted\.?": "TASKS_CORRUPTED",
}
"""What the member that began a rebalance gave as its reason -> cause. Source: StreamThread of Kafka
Streams and ConsumerCoordinator.
"""

_OF_MEMBERS: Final = ("JOIN", "LEFT", "FENCED")
"""Causes that the coordinator's own reason proves."""


def streams_rebalances(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    facts = inputs.staged.where(sf.col("kind") == StreamsRebalance.KIND)
    is_removal = (sf.col("cause") == LEFT_OR_FENCED) & sf.col("cause_member_id").isNotNull()
    removed = facts.withColumn("member_id", sf.col("cause_member_id"))
    begun = sf.when(
        sf.col("protocol") == "classic", sf.coalesce("decided_at", "join_ended_at")
    ).otherwise(sf.coalesce("join_ended_at", "decided_at"))
    known = with_rebalance(
        with_departure(
            removed, context.evidence, is_removal, begun - BEFORE_MS, begun, sf.col("epoch")
        ),
        context.evidence,
        begun,
    )
    return known.withColumn("_said", _said_cause()).select(
        *fact_columns(context),
        integer("epoch"),
        "protocol",
        *_cause_columns(),
        "cause_process_id",
        sf.coalesce("also", sf.array().cast("array<string>")).alias("also"),
        *instants("scheduled_at", "join_ended_at", "decided_at"),
        *durations("join_ms", "sync_ms", "commit_gap_ms"),
        "leader_member_id",
        "leader_process_id",
        *map(integer, _COUNTS),
        sf.expr("try_cast(imbalance_tenths / 10 AS DECIMAL(6,1))").alias("imbalance_pct"),
        *instants("next_at"),
        "next_kind",
        "next_member_id",
        "assignor",
        "assignor_confidence",
        *durations("probing_interval_ms"),
        *map(integer, ("min_version", "max_version", "common_version")),
        "error_code",
        integer("joins"),
        "outcome",
        "is_final",
    )


def _said_cause() -> Column:
    """What the line says that the rebalance is for; NULL without a line, and where it says nothing
    of it.
    """
    said, cause = sf.col("rebalance.client_reason"), sf.col("rebalance.cause")
    by_client = sf.lit(None).cast("string")
    for text, its in reversed(CLIENT_SAYS.items()):
        by_client = sf.when(said.rlike(rf"\A{text}\z"), its).otherwise(by_client)
    # Members of Kafka Streams never join again with the metadata of before: that it differs says
    # nothing.
    by_server = sf.when(cause == "SUBSCRIPTION", "REJOIN").when(cause != UNKNOWN, cause)
    return sf.coalesce(sf.when(cause.isin(*_OF_MEMBERS), cause), by_client, by_server)


def _cause_columns() -> list[Column]:
    """cause, cause_member_id, confidence, evidence. A line names a cause where records only let one
    be inferred, and proves one that says the same.
    """
    said, cause = sf.col("_said"), sf.col("cause")
    is_inferred = sf.col("confidence") != EXACT
    is_removal = cause == LEFT_OR_FENCED
    answers = (
        (cause == UNKNOWN) | (said == cause) | (is_removal & said.isin("LEFT", "FENCED"))
    ) & is_inferred
    by_line = sf.when(answers, said)
    by_departure = sf.when(is_removal, sf.col("departure.outcome"))
    confidence = sf.when(by_departure.isNotNull(), sf.col("departure.confidence")).when(
        by_line.isNotNull(), EXACT
    )
    evidence = sf.when(by_departure.isNotNull(), sf.col("departure.evidence")).when(
        by_line.isNotNull(), sf.col("rebalance.evidence")
    )
    named = sf.when(by_line.isNotNull(), sf.col("rebalance.cause_member_id"))
    return [
        sf.coalesce(by_departure, by_line, cause).alias("cause"),
        sf.coalesce("cause_member_id", named).alias("cause_member_id"),
        sf.coalesce(confidence, "confidence").alias("confidence"),
        evidence.alias("evidence"),
    ]


_COUNTS: Final = (
    "members",
    "processes",
    "tasks",
    "tasks_active",
    "tasks_owed",
    "tasks_missing",
    "standby_copies",
    "warmup_copies",
    "warmups_started",
    "warmups_dropped",
    "tasks_ready",
    "tasks_revoked",
    "tasks_granted",
    "tasks_returned",
    "tasks_misplaced",
)

SPEC: Final = TableSpec(
    name="streams_rebalances",
    build=streams_rebalances,
    facts=(StreamsRebalance,),
    is_owned=True,
    members=frozenset({"cause_process_id", "leader_member_id", "leader_process_id"}),
    clear=frozenset({"also", "next_kind", "assignor", "assignor_confidence", "error_code"}),
    digest=(
        *GROUP,
        "epoch",
        "protocol",
        "cause",
        "cause_member_id",
        "cause_process_id",
        "confidence",
        unordered("also"),
        "scheduled_at",
        "join_ended_at",
        "decided_at",
        "join_ms",
        "sync_ms",
        "commit_gap_ms",
        "leader_member_id",
        "leader_process_id",
        *_COUNTS,
        "imbalance_pct",
        "next_at",
        "next_kind",
        "next_member_id",
        "assignor",
        "assignor_confidence",
        "probing_interval_ms",
        "min_version",
        "max_version",
        "common_version",
        "error_code",
        "joins",
        "outcome",
    ),
)
