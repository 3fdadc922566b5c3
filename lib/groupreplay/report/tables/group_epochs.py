"""Table `group_epochs`: every epoch or generation of a group."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Epoch
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.joins.lines.departures import (
    BEFORE_MS,
    EXACT,
    LEFT_OR_FENCED,
    end_detail,
    with_departure,
)
from groupreplay.report.joins.lines.rebalance_lines import with_rebalance
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

UNKNOWN: Final = "UNKNOWN"


def group_epochs(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    epochs = inputs.staged.where(sf.col("kind") == Epoch.KIND)
    is_removal = (sf.col("cause") == LEFT_OR_FENCED) & sf.col("cause_member_id").isNotNull()
    removed = epochs.withColumn("member_id", sf.col("cause_member_id"))
    begun = sf.col("started_at")
    known = with_rebalance(
        with_departure(
            removed, context.evidence, is_removal, begun - BEFORE_MS, begun, sf.col("epoch")
        ),
        context.evidence,
        begun,
    )
    return known.select(
        *fact_columns(context),
        integer("epoch"),
        "protocol",
        *instants("started_at"),
        *_cause_columns(),
        *instants("target_at", "converged_at", "superseded_at"),
        integer("members"),
        integer("members_classic"),
        integer("partitions_moved"),
        "assign_ms",
        "converge_ms",
        "outcome",
        *_reason_columns(),
        "is_final",
        *instants("joined_at"),
        "sync_ms",
        "cooperative",
        *[integer(name) for name in ("skipped", "partitions", "stopped")],
        "leader_member_id",
    )


def _cause_columns() -> list[Column]:
    """cause, cause_member_id, confidence. Lines name a cause where records only let one be
    inferred.
    """
    is_told = (
        (sf.col("confidence") != EXACT)
        & sf.col("rebalance.cause").isNotNull()
        & (sf.col("rebalance.cause") != UNKNOWN)
    )
    is_open_question = sf.col("cause").isin(LEFT_OR_FENCED, UNKNOWN)
    by_rebalance = sf.when(is_told & is_open_question, sf.col("rebalance.cause"))
    by_departure = sf.when(sf.col("cause") == LEFT_OR_FENCED, sf.col("departure.outcome"))
    confidence = sf.when(by_departure.isNotNull(), sf.col("departure.confidence")).when(
        by_rebalance.isNotNull(), EXACT
    )
    return [
        sf.coalesce(by_departure, by_rebalance, "cause").alias("cause"),
        sf.coalesce(
            "cause_member_id",
            sf.when(by_rebalance.isNotNull(), sf.col("rebalance.cause_member_id")),
        ).alias("cause_member_id"),
        sf.coalesce(confidence, "confidence").alias("confidence"),
    ]


def _reason_columns() -> list[Column]:
    """cause_detail, client_reason, evidence: the line of the cause, in full."""
    return [
        sf.coalesce(end_detail(), "rebalance.reason").alias("cause_detail"),
        sf.coalesce("departure.client_reason", "rebalance.client_reason").alias("client_reason"),
        sf.coalesce("departure.evidence", "rebalance.evidence").alias("evidence"),
    ]


SPEC: Final = TableSpec(
    name="group_epochs",
    build=group_epochs,
    facts=(Epoch,),
    is_owned=True,
    quotes=frozenset({"cause_detail", "client_reason"}),
    members=frozenset({"leader_member_id"}),
    digest=(
        *GROUP,
        "epoch",
        "protocol",
        "started_at",
        "cause",
        "cause_member_id",
        "confidence",
        "target_at",
        "converged_at",
        "superseded_at",
        "members",
        "members_classic",
        "partitions_moved",
        "assign_ms",
        "converge_ms",
        "outcome",
    ),
)
