"""Table `revocation_latencies`: every partition asked back from a member, and how long each step
took.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import HandOver
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import GROUP, TOPIC
from groupreplay.report.joins.columns import fact_columns, instants, integer, sane_ms
from groupreplay.report.joins.lines.departures import (
    FENCED,
    LEFT_OR_FENCED,
    end_columns,
    sharpened,
    since_when,
    with_departure,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.tables.topics import with_topic_names


def _revoke_ms(context: ReportContext) -> Column:
    """While OPEN, as long as it has lasted at as-of (docs/measures.md); no duration from a
    start that was not seen, and none below 0.
    """
    lasted = sf.lit(context.as_of_ms) - sane_ms(sf.col("requested_at"))
    is_measurable = (sf.col("outcome") == "OPEN") & sf.col("start_observed") & (lasted >= 0)
    return sf.coalesce(sf.col("revoke_ms"), sf.when(is_measurable, lasted)).alias("revoke_ms")


def revocation_latencies(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    hand_overs = with_topic_names(
        inputs.staged.where(sf.col("kind") == HandOver.KIND), inputs.stored.so_far("topics")
    )
    is_removed = sf.col("outcome").isin(LEFT_OR_FENCED, FENCED)
    ended = sf.col("ended_at")
    since = since_when(sf.col("requested_at"), ended)
    known = with_departure(hand_overs, context.evidence, is_removed, since, ended, None)
    return known.select(
        *fact_columns(context),
        integer("epoch"),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        "topic",
        "topic_id",
        integer("partition"),
        *instants("target_at", "requested_at", "ended_at", "acked_at", "granted_at"),
        "granted_to",
        *instants("first_commit_at"),
        "notify_ms",
        _revoke_ms(context),
        "grant_ms",
        "resume_ms",
        "unowned_ms",
        "timeout_ms",
        sharpened("outcome"),
        "is_censored",
        *end_columns("outcome"),
        "is_final",
    )


SPEC: Final = TableSpec(
    name="revocation_latencies",
    build=revocation_latencies,
    facts=(HandOver,),
    tables=("topics",),
    earlier=("topics",),
    is_owned=True,
    digest=(
        *GROUP,
        "epoch",
        "member_id",
        "member_protocol",
        TOPIC,
        "topic_id",
        "partition",
        "target_at",
        "requested_at",
        "ended_at",
        "acked_at",
        "granted_at",
        "granted_to",
        "first_commit_at",
        "notify_ms",
        "revoke_ms",
        "grant_ms",
        "resume_ms",
        "unowned_ms",
        "timeout_ms",
        "outcome",
        "is_censored",
    ),
)
