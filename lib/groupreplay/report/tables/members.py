"""Table `members`: each life of a member, how it ended, and what client it was."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Contact
from groupreplay.replay.facts import MemberLife
from groupreplay.report.joins.columns import fact_columns, instant, instants
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.departures import (
    LEFT_OR_FENCED,
    end_columns,
    sharpened,
    with_departure,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.tables.refusals import error_name

_CONTACT: Final = (
    *(
        "principal",
        "software_name",
        "software_version",
        "last_heartbeat_at",
        "longest_gap_ms",
        "heartbeats",
    ),
    *("error_codes", "error_counts"),
)
_ERRORS_TYPE: Final = "array<struct<error_code: int, error: string, requests: bigint>>"


def members(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    lives = inputs.staged.where(sf.col("kind") == MemberLife.KIND)
    is_removed = sf.col("end_reason") == LEFT_OR_FENCED
    known = with_departure(
        lives, context.evidence, is_removed, sf.col("joined_at"), sf.col("ended_at"), None
    )
    end_detail, end_confidence, place = end_columns("end_reason")
    return _with_contact(known, context).select(
        *fact_columns(context),
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "member_protocol",
        *instants("joined_at", "ended_at"),
        sharpened("end_reason"),
        end_detail,
        sf.col("departure.client_reason").alias("client_reason"),
        end_confidence,
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
    )


def _with_contact(lives: DataFrame, context: ReportContext) -> DataFrame:
    """lives with `contact`: of the contacts under the same id the one that began last before the
    life's end.
    """
    fields = sf.struct(sf.col("first_at"), *_CONTACT)
    if context.evidence is None:
        empty = (
            "struct<principal: string, software_name: string, software_version: string,"
            " last_heartbeat_at: bigint, longest_gap_ms: bigint, "
        )
        return lives.withColumn(
            "contact",
            sf.lit(None).cast(
                f"{empty}heartbeats: bigint, error_codes: array<bigint>, error_counts:"
                " array<bigint>>"
            ),
        )
    contacts = (
        context.evidence.where(sf.col("kind") == Contact.KIND)
        .groupBy(sf.col("group_id").alias("_group_id"), sf.col("member_id").alias("_member_id"))
        .agg(sf.collect_list(fields).alias("_contacts"))
    )
    joined = lives.join(
        contacts,
        (sf.col("group_id") == sf.col("_group_id")) & (sf.col("member_id") == sf.col("_member_id")),
        "left",
    )
    ended = sf.coalesce("ended_at", sf.lit(2**62))
    begun = sf.filter(
        "_contacts",
        lambda each: (
            (each["first_at"] <= ended) & (each["last_heartbeat_at"] >= sf.col("joined_at"))
        ),
    )
    return joined.withColumn("contact", sf.array_max(begun)).drop(
        "_group_id", "_member_id", "_contacts"
    )


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


SPEC: Final = TableSpec(
    name="members",
    build=members,
    facts=(MemberLife,),
    is_owned=True,
    texts=frozenset({"client_reason"}),
)
