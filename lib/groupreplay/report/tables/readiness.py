"""Table `readiness`: which groups can be flipped to the consumer protocol, which not, and why.

The rules are pure functions of one group (`report.readiness`); this gives them what they need, a
row a group, and compares groups of a cohort.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.replay.facts import Chain, Epoch, GroupSnapshot, MemberLife
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import LOG
from groupreplay.report.joins.columns import instant, integer, night
from groupreplay.report.joins.horizons import COVERAGE, NEVER_MS, horizons, with_horizon
from groupreplay.report.joins.lines.departures import LEFT_OR_FENCED, since_when, with_departure
from groupreplay.report.joins.lines.distinct_refusals import distinct_refusals
from groupreplay.report.joins.lines.member_contacts import with_own_contact
from groupreplay.report.joins.lines.rejoin_times import PLACE, rejoin_times
from groupreplay.report.joins.lines.settings_in_force import broker_settings
from groupreplay.report.readiness.known import Criteria, Member, Refused
from groupreplay.report.readiness.rows import JUDGED_DDL, judge_batches
from groupreplay.report.readiness.verdict import READY_OFFLINE
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

PROVEN: Final = 1
CANARY: Final = 2
WAITS: Final = 3
NOTHING_TO_ROLL: Final = 0
"""Values of flip_tier."""


def readiness(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    found = _known(inputs).mapInArrow(judge_batches(_criteria(context)), JUDGED_DDL)
    return _with_tier(_with_team(found, context)).select(
        *night(context),
        instant(sf.col("now_ms"), "as_of_at"),
        "group_id",
        "incarnation",
        integer("offsets_partition"),
        "from_offset",
        integer("log_incarnation"),
        "phase",
        "verdict",
        sf.col("flip_tier").cast("int").alias("flip_tier"),
        "cohort",
        integer("members_total"),
        integer("members_static"),
        integer("partitions_held").alias("partitions"),
        "assignor",
        sf.col("cooperative").alias("is_cooperative"),
        "suggested_assignor",
        "suggested_session_timeout_ms",
        sf.lit(None).cast("bigint").alias("suggested_heartbeat_ms"),
        "rules",
        "rules_unseen",
        "observed_ms",
        "broker_version",
        "migration_policy",
        "brokers_known",
        "checks",
    )


def _criteria(context: ReportContext) -> Criteria:
    return Criteria(
        readiness=context.readiness,
        brokers=context.brokers,
        clients=context.clients,
        thresholds=context.thresholds,
        log_kinds=context.log_kinds,
    )


# ---------------------------------------------------------------- what is known of a group


def _known(inputs: TableInputs) -> DataFrame:
    """A row a group that is classic or of the consumer protocol, with the fields of `Group`."""
    context = inputs.context
    snapshots = inputs.facts(GroupSnapshot, columns=_OF_SNAPSHOT)
    groups = snapshots.where(sf.col("protocol").isin("classic", "consumer"))
    groups = with_horizon(groups, horizons(inputs))
    now_ms = sf.when(sf.col("now_ms") > NEVER_MS, sf.col("now_ms")).otherwise(context.as_of_ms)
    groups = groups.select(*_OF_SNAPSHOT, "before_ms", now_ms.alias("now_ms"))
    for more in (_members(inputs), _past(inputs)):
        # A group id that ended and came back within a night has two lives in it.
        own = more.withColumnsRenamed({name: f"_{name}" for name in _LIFE})
        same = [sf.col(name).eqNullSafe(sf.col(f"_{name}")) for name in _LIFE]
        groups = groups.join(own, same, "left").drop(*[f"_{name}" for name in _LIFE])
    for more in _lines(context):
        own = more.withColumnRenamed("group_id", "_id")
        groups = groups.join(own, sf.col("group_id") == sf.col("_id"), "left").drop("_id")
    if context.evidence is None:
        return groups
    return groups.crossJoin(sf.broadcast(broker_settings(context.evidence)))


_LIFE: Final = ("group_id", "incarnation", "log_incarnation")

_OF_SNAPSHOT: Final = (
    *("group_id", "incarnation", "offsets_partition", "from_offset", "log_incarnation"),
    *("protocol", "phase", "history_complete", "members_total", "protocol_type", "protocol_name"),
    *("k2_offset", "cooperative", "unbroken_since_at", "partitions_held", "epoch_times_at"),
    *("recreated_at", "upgraded_at", "downgraded_at", "downgrade_offset"),
    *("static_ended_at", "static_gap_low_ms", "static_gap_high_ms", "static_outcomes"),
)


def _members(inputs: TableInputs) -> DataFrame:
    """Members of each life (those that live), ended (those that left or were fenced tonight)."""
    context = inputs.context
    lives = inputs.facts(MemberLife)
    is_removed = sf.col("end_reason") == LEFT_OR_FENCED
    ended = sf.col("ended_at")
    since = since_when(sf.col("joined_at"), ended)
    known = with_departure(lives, context.evidence, is_removed, since, ended, None)
    known = _with_rejoin(with_own_contact(known, context), context)
    told = {
        "end_detail": sf.col("departure.end_detail"),
        "software_name": sf.col("contact.software_name"),
        "software_version": sf.col("contact.software_version"),
        "rejoin": sf.col("rejoin"),
        **_client(),
    }
    names = [each.name for each in dataclasses.fields(Member)]
    member = sf.struct(*[told.get(name, sf.col(name)).alias(name) for name in names])
    return known.groupBy(*_LIFE).agg(
        sf.collect_list(sf.when(~sf.col("is_final"), member)).alias("members"),
        sf.collect_list(sf.when(is_removed, member)).alias("ended"),
    )


def _client() -> dict[str, Column]:
    """Who the process is: records keep the client of the first process of a classic instance, the
    contact has its own. client_inherited: the client is still, or may be, that of the first.
    """
    told = {name: sf.coalesce(f"contact.{name}", name) for name in ("client_id", "client_host")}
    is_told = sf.col("contact.client_id").isNotNull()
    return told | {"client_inherited": sf.col("client_inherited") & ~is_told}


def _with_rejoin(lives: DataFrame, context: ReportContext) -> DataFrame:
    """lives with `rejoin`: rejoin_ms and PLACE of the one time tonight that took longest; NULL
    where no line names any.
    """
    times = rejoin_times(context.evidence_tonight)
    if times is None:
        return lives.withColumn("rejoin", sf.lit(None).cast(_REJOIN_TYPE))
    longest = times.groupBy(
        sf.col("group_id").alias("_group_id"), sf.col("member_id").alias("_member_id")
    ).agg(sf.max(sf.struct("rejoin_ms", *PLACE)).alias("rejoin"))
    same = (sf.col("group_id") == sf.col("_group_id")) & (
        sf.col("member_id") == sf.col("_member_id")
    )
    return lives.join(longest, same, "left").drop("_group_id", "_member_id")


_REJOIN_TYPE: Final = "struct<rejoin_ms: bigint, source: string, input: string, position: bigint>"


_OF_PAST: Final = (*_LIFE, "reason", "is_final", "cause", "times_at", "started_at")


def _past(inputs: TableInputs) -> DataFrame:
    """What else facts of the night say of each life."""
    kind = sf.col("kind")
    is_loop = (kind == Chain.KIND) & (sf.col("reason") == "FENCE_LOOP") & ~sf.col("is_final")
    is_changed = (kind == Epoch.KIND) & (sf.col("cause") == "SUBSCRIPTION")
    return (
        inputs.facts(Chain, Epoch, columns=_OF_PAST)
        .groupBy(*_LIFE)
        .agg(
            sf.collect_list(sf.when(is_loop, sf.col("times_at"))).alias("loops_at"),
            sf.collect_list(sf.when(is_changed, sf.col("started_at"))).alias("changed_at"),
        )
    )


METADATA_CHANGED: Final = "%cached metadata has changed%"
"""What a client says that rejoins since the topics of its pattern changed: ConsumerCoordinator."""


def _lines(context: ReportContext) -> list[DataFrame]:
    """group_id with refusals, and with times at which clients said that their topics changed."""
    if context.evidence is None:
        return []
    names = [each.name for each in dataclasses.fields(Refused) if each.name != "is_tonight"]
    refusals = (
        distinct_refusals(context.evidence)
        .groupBy("group_id")
        .agg(sf.collect_list(sf.struct(*names)).alias("refusals"))
    )
    is_said = sf.col("client_reason").like(METADATA_CHANGED)
    said = (
        context.evidence.where((sf.col("kind") == Rebalance.KIND) & is_said)
        .groupBy("group_id")
        .agg(sf.collect_list("started_at").alias("said_at"))
    )
    return [refusals, said]


# ---------------------------------------------------------------- and beside each other


def _with_team(found: DataFrame, context: ReportContext) -> DataFrame:
    """With `_team`, `-` where nobody owns the group."""
    if context.owners is None:
        return found.withColumn("_team", sf.lit("-"))
    own = context.owners.select(sf.col("group_id").alias("_owned_id"), sf.col("team").alias("_own"))
    joined = found.join(sf.broadcast(own), sf.col("group_id") == sf.col("_owned_id"), "left").drop(
        "_owned_id"
    )
    return joined.withColumn("_team", sf.coalesce("_own", sf.lit("-"))).drop("_own")


def _cohort(software: Column) -> Column:
    return sf.concat_ws(" / ", sf.col("_team"), software)


def _with_tier(found: DataFrame) -> DataFrame:
    """The rows of the table, with cohort and flip_tier."""
    first = sf.coalesce(sf.get("software", sf.lit(0)), sf.lit("?"))
    own = sf.when(sf.col("is_row"), sf.array(_cohort(first))).otherwise(sf.array())
    proved = sf.transform("proves", _cohort)
    cohorts = found.withColumn("cohort", sf.explode(sf.concat(own, proved)))
    cohort = Window.partitionBy("cohort")
    is_canary = sf.row_number().over(
        cohort.orderBy(sf.col("is_eligible").desc_nulls_last(), "partitions_held", "group_id")
    )
    compared = cohorts.withColumns(
        {
            "_is_proven": sf.max(~sf.col("is_row")).over(cohort),
            "_is_rolling": sf.max(sf.col("is_row") & (sf.col("phase") == "MIGRATING")).over(cohort),
            "_place": is_canary,
        }
    )
    of_eligible = (
        sf.when(sf.col("_is_proven"), PROVEN)
        .when((sf.col("_place") == 1) & ~sf.col("_is_rolling"), CANARY)
        .otherwise(WAITS)
    )
    is_idle = (sf.col("verdict") == READY_OFFLINE) & (sf.col("phase") != "MIGRATING")
    tier = sf.when(sf.col("is_eligible"), of_eligible).when(is_idle, NOTHING_TO_ROLL)
    return compared.where("is_row").withColumn("flip_tier", tier)


SPEC: Final = TableSpec(
    name="readiness",
    build=readiness,
    facts=(GroupSnapshot,),
    beside=(MemberLife, Chain, Epoch),
    tables=COVERAGE,
    earlier=COVERAGE,
    is_owned=True,
    assignors=frozenset({"assignor"}),
    clear=frozenset(
        {"verdict", "cohort", "suggested_assignor", "rules_unseen", "migration_policy"}
        | {"broker_version", "brokers_known", "software", "detail", "checks"}
    ),
    digest=(
        "group_id",
        LOG,
        "incarnation",
        "offsets_partition",
        "phase",
        "members_total",
        "members_static",
        "partitions",
        "assignor",
        "is_cooperative",
        "suggested_assignor",
    ),
)
