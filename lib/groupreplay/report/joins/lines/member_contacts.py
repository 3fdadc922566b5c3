"""Named step: facts of members, and the contact (the requests under one member id) that the request
log has of the same member at that time.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Contact
from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.lines.departures import SLACK_MS

_FIELDS: Final = {
    "first_at": "bigint",
    "principal": "string",
    "software_name": "string",
    "software_version": "string",
    "last_heartbeat_at": "bigint",
    "last_alive_at": "bigint",
    "longest_gap_ms": "bigint",
    "heartbeats": "bigint",
    "error_codes": "array<bigint>",
    "error_counts": "array<bigint>",
    "error_apis": "array<string>",
    "error_first_at": "array<bigint>",
    "error_last_at": "array<bigint>",
    "client_id": "string",
    "client_host": "string",
    "last_seen_at": "bigint",
    "heartbeat_interval_ms": "bigint",
    "beats": "bigint",
    "ended_at": "bigint",
}
CONTACT_TYPE: Final = f"struct<{', '.join(f'{name}: {type_}' for name, type_ in _FIELDS.items())}>"


def with_contact(
    facts: DataFrame,
    context: ReportContext,
    since: Column,
    ended: Column,
    joined: Column | None = None,
) -> DataFrame:
    """facts with `contact` (CONTACT_TYPE, times in ms): of the contacts under the same id the one
    that began last before the row's end. NULL where no line shows it.

    since: it was heard of after this, ms.
    ended: the row's end, ms.
    joined: the row's beginning, ms, where it is known: what ended before it is of another life.
    """
    if context.evidence is None:
        return facts.withColumn("contact", sf.lit(None).cast(CONTACT_TYPE))
    contacts = (
        context.evidence.where(sf.col("kind") == Contact.KIND)
        .groupBy(sf.col("group_id").alias("_group_id"), sf.col("member_id").alias("_member_id"))
        .agg(sf.collect_list(sf.struct(*_FIELDS)).alias("_contacts"))
    )
    known = facts.join(
        contacts,
        (sf.col("group_id") == sf.col("_group_id")) & (sf.col("member_id") == sf.col("_member_id")),
        "left",
    )

    def is_of_row(each: Column) -> Column:
        is_heard = (each["first_at"] <= ended) & (each["last_heartbeat_at"] >= since)
        if joined is None:
            return is_heard
        return is_heard & sf.coalesce(each["ended_at"] >= joined - SLACK_MS, sf.lit(True))

    begun = sf.filter("_contacts", is_of_row)
    return known.withColumn("contact", sf.array_max(begun)).drop(
        "_group_id", "_member_id", "_contacts"
    )


def with_own_contact(lives: DataFrame, context: ReportContext) -> DataFrame:
    """Lives of members with `contact`. A member of a classic group is in no record before the K2
    of its generation: who dies while it waits for that is not heard of any more.
    """
    joined, ended = sf.col("joined_at"), sf.coalesce("ended_at", sf.lit(2**62))
    return with_contact(lives, context, joined - MAX_CHAIN_GAP_MS, ended, joined)


def alive_at(committed_at: Column) -> Column:
    """When the member of `contact` was last alive for sure, ms: not when the coordinator answered
    what it had let wait, but when that came, or the member's last commit meanwhile. NULL without a
    heartbeat.

    committed_at: time of its last commit, ms; NULL where none is known.
    """
    answered_at = sf.col("contact.last_heartbeat_at")
    came_at = sf.coalesce("contact.last_alive_at", answered_at)
    # least() and greatest() pass over NULLs.
    return sf.when(
        answered_at.isNotNull(), sf.least(answered_at, sf.greatest(came_at, committed_at))
    )
