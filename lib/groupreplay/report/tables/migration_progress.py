"""Table `migration_progress`: how far each group is, at the end of the night."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import GroupSnapshot
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import LOG
from groupreplay.report.joins.columns import instant, instants, integer, night, sane_ms
from groupreplay.report.stuck.thresholds import threshold
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

_BLOCKER_FIELDS = {
    "member_id": "blocker_member_ids",
    "instance_id": "blocker_instance_ids",
    "client_id": "blocker_client_ids",
    "client_host": "blocker_client_hosts",
}


def _progress_pct() -> Column:
    """In tenths; NULL without members and for groups that cannot take part."""
    is_defined = (sf.col("phase") != "NOT_APPLICABLE") & (sf.col("members_total") > 0)
    return sf.when(
        is_defined, sf.round(100.0 * sf.col("members_consumer") / sf.col("members_total"), 1)
    ).alias("progress_pct")


def _blockers() -> Column:
    together = sf.arrays_zip(*_BLOCKER_FIELDS.values())
    structs = sf.transform(
        together,
        lambda each: sf.struct(
            *[each[source].alias(name) for name, source in _BLOCKER_FIELDS.items()]
        ),
    )
    return (
        sf.when(sf.col("phase") != "NOT_APPLICABLE", structs)
        .otherwise(sf.array().cast(_BLOCKERS_TYPE))
        .alias("blockers")
    )


_BLOCKERS_TYPE = (
    "array<struct<member_id: string, instance_id: string, client_id: string, client_host: string>>"
)


def _is_stalled(context: ReportContext) -> Column:
    mixed_ms = sf.lit(context.as_of_ms) - sane_ms(sf.col("mixed_since_at"))
    return sf.coalesce(mixed_ms >= threshold(context, "migration_stalled_ms"), sf.lit(False)).alias(
        "is_stalled"
    )


def migration_progress(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    return inputs.staged.where(sf.col("kind") == GroupSnapshot.KIND).select(
        *night(context),
        instant(sf.lit(context.as_of_ms), "as_of_at"),
        "group_id",
        "incarnation",
        integer("offsets_partition"),
        "from_offset",
        "protocol",
        "phase",
        "last_phase",
        "history_complete",
        integer("members_total"),
        integer("members_consumer"),
        integer("members_classic"),
        _progress_pct(),
        *instants("mixed_since_at", "upgraded_at", "downgraded_at"),
        integer("conversions"),
        _blockers(),
        _is_stalled(context),
        integer("group_epoch"),
        integer("log_incarnation"),
        "streams_protocol",
        integer("members_static"),
        integer("instances_gone"),
    )


SPEC: Final = TableSpec(
    name="migration_progress",
    build=migration_progress,
    facts=(GroupSnapshot,),
    is_owned=True,
    clear=frozenset({"streams_protocol"}),
    digest=(
        "group_id",
        LOG,
        "incarnation",
        "offsets_partition",
        "protocol",
        "phase",
        "last_phase",
        "history_complete",
        "members_total",
        "members_consumer",
        "members_classic",
        "progress_pct",
        "mixed_since_at",
        "upgraded_at",
        "downgraded_at",
        "conversions",
        "to_json(sort_array(blockers))",
        "is_stalled",
        "group_epoch",
    ),
)
