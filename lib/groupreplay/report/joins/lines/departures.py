"""Named step: facts of members that were removed, and what lines of broker logs say of the same
member at that time.

A line is matched by group and member, by the group epoch that the removal began where both know it,
and lies between the row's beginning and its end; of several the nearest to the end. Time is only a
guard: the line was written by the broker that wrote the record, before it or, where an append was
tried again, some seconds away. Who was let in after the row's end, and goes then, is of a later
life under the same id.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import LEAVE_GROUP, Departure
from groupreplay.report.departure_codes import POLL_TIMEOUT

SLACK_MS: Final = 5_000
"""A write that timed out is answered with an error after 5 s and may still be committed."""

LINE_LATE_MS: Final = 100
"""Two lines of one broker about the same moment are not written further apart."""

BEFORE_MS: Final = 60_000
"""How long before its epoch a removal may lie: a classic member's removal shows in the next K2,
which its group's join phase can delay; that of any other member in the same operation.
"""

LEFT_OR_FENCED: Final = "LEFT_OR_FENCED"
FENCED: Final = "FENCED"
"""Outcome of a hand-over, by the topic alone: the member was removed when its rebalance timeout ran
out. It may have left in that very moment.
"""

EXACT: Final = "EXACT"
INFERRED: Final = "INFERRED"
NONE: Final = "NONE"

POLL_TIMEOUT_REASON: Final = "consumer poll timeout has expired."
"""What the Java client gives as its reason to leave, AbstractCoordinator.maybeLeaveGroup."""

EVIDENCE_TYPE: Final = "struct<source: string, input: string, position: bigint>"

DEPARTURE_TYPE: Final = (
    "struct<outcome: string, end_detail: string, client_reason: string, confidence: string,"
    f" ended_at: bigint, first_at: bigint, evidence: {EVIDENCE_TYPE}>"
)
"""ended_at: time of the line that fits best, ms.
first_at: time of the first line about the same end, ms.
"""

SAME_END_MS: Final = 1_000
"""A coordinator logs a removal before it answers the request, and both logs show it."""


def evidence_column() -> Column:
    """Where a row of `evidence` was read: the struct of the same name in the tables."""
    return sf.struct("source", "input", "position").cast(EVIDENCE_TYPE)


def since_when(since: Column, ended: Column) -> Column:
    """Since when a line may be of a row's end, ms. One operation writes the line and the tombstones
    of a member that is not of the classic protocol, by one clock. An earlier line is of a leave
    whose records were lost. A classic member's removal may show in a much later K2.

    Asks for `member_protocol`. Source: GroupMetadataManager.consumerGroupFenceMembers,
    streamsGroupFenceMember.
    """
    is_at_once = sf.col("member_protocol") != "classic"
    return sf.when(is_at_once, ended - SLACK_MS).otherwise(since)


def with_departure(
    facts: DataFrame,
    evidence: DataFrame | None,
    is_asked: Column,
    since: Column,
    ended: Column,
    epoch: Column | None,
) -> DataFrame:
    """facts with `departure` (DEPARTURE_TYPE), NULL where no line shows it, and for rows that do
    not ask.

    evidence: rows of the table of all nights, None without broker logs.
    is_asked: which rows ask.
    since, ended: the row's beginning and end, ms.
    epoch: group epoch that the end began, where the facts know it.
    """
    if evidence is None:
        return facts.withColumn("departure", sf.lit(None).cast(DEPARTURE_TYPE))
    told = sf.struct(
        "ended_at",
        "epoch",
        "outcome",
        "end_detail",
        "client_reason",
        "since_at",
        evidence_column().alias("evidence"),
        (sf.col("source") == "server_log").alias("is_line"),
    )
    told_of = (
        evidence.where(sf.col("kind") == Departure.KIND)
        .groupBy(sf.col("group_id").alias("_group_id"), sf.col("member_id").alias("_member_id"))
        .agg(sf.collect_set(told).alias("_told"))
    )
    asks = (
        is_asked
        & (sf.col("group_id") == sf.col("_group_id"))
        & (sf.col("member_id") == sf.col("_member_id"))
    )
    joined = facts.join(told_of, asks, "left")
    near = sf.filter(
        "_told",
        lambda each: (
            each["ended_at"].between(_earliest(each, since, ended), ended + SLACK_MS)
            & (each["since_at"].isNull() | (each["since_at"] <= ended + LINE_LATE_MS))
        ),
    )
    near = (
        near
        if epoch is None
        else sf.filter(
            near, lambda each: each["epoch"].isNull() | epoch.isNull() | (each["epoch"] == epoch)
        )
    )
    return joined.withColumn("departure", _nearest(near, ended, epoch)).drop(
        "_group_id", "_member_id", "_told"
    )


def _earliest(told: Column, since: Column, ended: Column) -> Column:
    """Since when a line may be of a row's end, ms. One before the row is of a row before, unless
    this one ended so soon, or the member left another broker, whose clock is behind: no member
    comes back under its id after a LeaveGroup of its own.
    """
    latest = ended - SLACK_MS
    is_leave = (told["end_detail"] == LEAVE_GROUP) & (since < latest)
    return sf.least(sf.when(is_leave, since - SLACK_MS).otherwise(since), latest)


def _nearest(told: Column, ended: Column, epoch: Column | None) -> Column:
    """The line that fits best: its epoch, then the coordinator's own word before a request's, then
    the time.
    """
    knows_epoch = (
        (lambda each: each["epoch"].isNotNull())
        if epoch is not None
        else (lambda each: sf.lit(False))
    )
    ranked = sf.transform(
        told,
        lambda each: sf.struct(
            (~knows_epoch(each)).alias("no_epoch"),
            sf.abs(each["ended_at"] - ended).alias("distance_ms"),
            (~each["is_line"]).alias("no_line"),
            each.alias("told"),
        ),
    )
    best = sf.array_min(ranked)
    agree = sf.size(sf.array_distinct(sf.transform(told, lambda each: each["outcome"]))) == 1
    confidence = sf.when(~best["no_epoch"] | agree, EXACT).otherwise(INFERRED)
    found = best["told"]
    same = sf.filter(
        told,
        lambda each: (
            (each["outcome"] == found["outcome"])
            & each["ended_at"].between(found["ended_at"] - SAME_END_MS, found["ended_at"])
        ),
    )
    departure = sf.struct(
        found["outcome"].alias("outcome"),
        found["end_detail"].alias("end_detail"),
        found["client_reason"].alias("client_reason"),
        confidence.alias("confidence"),
        found["ended_at"].alias("ended_at"),
        sf.array_min(sf.transform(same, lambda each: each["ended_at"])).alias("first_at"),
        found["evidence"].alias("evidence"),
    )
    return sf.when(best.isNotNull(), departure)


def sharpened(name: str) -> Column:
    """The column, with LEFT_OR_FENCED, and a FENCED concluded from a timeout, replaced by what the
    line says.
    """
    return (
        sf.when(_is_open_question(name), sf.coalesce("departure.outcome", sf.col(name)))
        .otherwise(sf.col(name))
        .alias(name)
    )


def _is_open_question(name: str) -> Column:
    """Whether the records alone do not prove the end."""
    return sf.col(name).isin(LEFT_OR_FENCED, FENCED)


def says_poll_timeout() -> Column:
    """Whether the member itself says that it left since it did not poll in time."""
    is_left = sf.col("departure.end_detail") == LEAVE_GROUP
    return is_left & (sf.col("departure.client_reason") == POLL_TIMEOUT_REASON)


def end_detail() -> Column:
    """How the member went, as the line says it, and as the member says it: it polled too late."""
    return sf.when(says_poll_timeout(), POLL_TIMEOUT).otherwise(sf.col("departure.end_detail"))


def end_columns(name: str) -> list[Column]:
    """end_detail, end_confidence, evidence of a row whose end is the column: what a line says never
    contradicts what the records prove.
    """
    is_asked = _is_open_question(name)
    by_records = sf.when(sf.col(name) == FENCED, INFERRED).otherwise(NONE)
    return [
        sf.when(is_asked, end_detail()).alias("end_detail"),
        sf.when(is_asked, sf.coalesce("departure.confidence", by_records))
        .otherwise(EXACT)
        .alias("end_confidence"),
        sf.when(is_asked, sf.col("departure.evidence")).alias("evidence"),
    ]
