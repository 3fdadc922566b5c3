"""Table `members`: each life of a member, how it ended, and what client it was."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import MemberLife
from groupreplay.report.joins.columns import fact_columns, instant, instants, integer
from groupreplay.report.joins.lines.departures import (
    LEFT_OR_FENCED,
    end_columns,
    sharpened,
    since_when,
    with_departure,
)
from groupreplay.report.joins.lines.distinct_refusals import error_name
from groupreplay.report.joins.lines.member_contacts import with_own_contact
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

_ERRORS_TYPE: Final = "array<struct<error_code: int, error: string, requests: bigint>>"


def members(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    lives = inputs.staged.where(sf.col("kind") == MemberLife.KIND)
    is_removed = sf.col("end_reason") == LEFT_OR_FENCED
    ended = sf.col("ended_at")
    since = since_when(sf.col("joined_at"), ended)
    known = with_departure(lives, context.evidence, is_removed, since, ended, None)
    detail, confidence, place = end_columns("end_reason")
    return with_own_contact(known, context).select(
        *fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        *instants("joined_at", "ended_at"),
        sharpened("end_reason"),
        detail,
        sf.col("departure.client_reason").alias("client_reason"),
        confidence,
        "replaced_by",
        *[
            sf.col(f"contact.{name}").alias(name)
            for name in ("principal", "software_name", "software_version")
        ],
        instant(sf.col("contact.last_heartbeat_at"), "last_heartbeat_at"),
        sf.col("contact.longest_gap_ms").alias("longest_gap_ms"),
        sf.col("contact.heartbeats").alias("heartbeats"),
        _errors(),
        place,
        "is_final",
        "process_id",
        *_profile(),
        sf.col("contact.error_apis").alias("error_apis"),
        *[_times(name) for name in ("error_first_at", "error_last_at")],
    )


def _profile() -> list[Column]:
    """As its last K2 entry or K5 has it."""
    return [
        *[sf.col(name) for name in ("session_timeout_ms", "rebalance_timeout_ms", "protocols")],
        sf.col("server_assignor"),
        integer("embedded_version"),
        sf.col("rack_id"),
        integer("topics_subscribed"),
        sf.col("subscription_hash"),
        sf.col("subscribed_regex"),
        integer("subscription_user_data"),
        integer("assignment_user_data"),
        *[sf.col(name) for name in ("lists_owned", "profile_offset", "client_inherited")],
        sf.col("silent_ms"),
    ]


def _errors() -> Column:
    pairs = sf.arrays_zip(
        sf.col("contact.error_codes").alias("code"),
        sf.col("contact.error_counts").alias("requests"),
    )

    def error(each: Column) -> Column:
        return sf.struct(
            each["code"].cast("int").alias("error_code"),
            error_name(each["code"]).alias("error"),
            each["requests"].alias("requests"),
        )

    return sf.transform(pairs, error).cast(_ERRORS_TYPE).alias("errors")


def _times(name: str) -> Column:
    return sf.transform(
        f"contact.{name}", lambda ms: sf.when(ms >= 0, sf.timestamp_millis(ms))
    ).alias(name)


SPEC: Final = TableSpec(
    name="members",
    build=members,
    facts=(MemberLife,),
    is_owned=True,
    quotes=frozenset({"client_reason"}),
    hosts=frozenset({"rack_id"}),
    assignors=frozenset({"protocols", "server_assignor"}),
    clear=frozenset({"subscribed_regex", "error_apis"}),
)
