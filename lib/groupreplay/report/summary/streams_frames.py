"""What the summary asks of Kafka Streams applications: as `frames`, whose queries these are too."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

LOOPS: Final = ("PROBING_LOOP", "REBALANCE_LOOP", "HANDOVER_BOUNCED")
"""Reasons of an application that rebalances and gets nowhere."""


def apps(rebalances: DataFrame, _: int) -> DataFrame:
    return (
        _newest(rebalances)
        .groupBy("protocol")
        .agg(
            sf.count(sf.lit(1)).alias("apps"),
            *[sf.sum(name).alias(name) for name in ("processes", "members", "tasks")],
            sf.coalesce(sf.sum("tasks_misplaced"), sf.lit(0)).alias("tasks_misplaced"),
            sf.count_if(sf.col("tasks_misplaced") > 0).alias("apps_misplaced"),
        )
    )


def misplaced(rebalances: DataFrame, top: int) -> DataFrame:
    return (
        _newest(rebalances)
        .where(sf.col("tasks_misplaced") > 0)
        .orderBy(sf.desc("tasks_misplaced"), "group_id")
        .limit(top)
        .select("group_id", "team", "tasks", "tasks_misplaced", "next_kind", "next_at_ms")
    )


def _newest(rebalances: DataFrame) -> DataFrame:
    """The newest row of each application that has members. A row is open while it is the newest."""
    order = sf.struct(sf.coalesce("log_incarnation", sf.lit(0)), "incarnation", "from_offset")
    fields = sf.struct(
        "protocol",
        "team",
        "processes",
        "members",
        "tasks",
        "tasks_misplaced",
        "next_kind",
        sf.unix_millis("next_at").alias("next_at_ms"),
    )
    newest = rebalances.where(~sf.col("is_final")).groupBy("group_id")
    return (
        newest.agg(sf.max_by(fields, order).alias("_newest"))
        .select("group_id", "_newest.*")
        .where(sf.col("members") > 0)
    )


def learners(tasks: DataFrame, top: int) -> DataFrame:
    """Those that learn the longest, those first."""
    return (
        tasks.where(_is_learning())
        .orderBy("assigned_at", "group_id", "task_id", "member_id")
        .limit(top)
        .select(
            "group_id",
            "team",
            "task_id",
            "client_id",
            "client_host",
            sf.unix_millis("assigned_at").alias("since_at_ms"),
            "probes",
        )
    )


def learners_total(tasks: DataFrame, _: int) -> DataFrame:
    return tasks.agg(sf.count_if(_is_learning()).alias("learners"))


def _is_learning() -> Column:
    return (sf.col("role") == "WARMUP") & (sf.col("end_reason") == "OPEN")


def moves(hand_overs: DataFrame, _: int) -> DataFrame:
    return hand_overs.groupBy("kind", "outcome").agg(sf.count(sf.lit(1)).alias("tasks"))


def idlest(hand_overs: DataFrame, top: int) -> DataFrame:
    return (
        hand_overs.where(sf.col("idle_ms").isNotNull())
        .orderBy(sf.desc("idle_ms"), "group_id", "task_id", "from_offset")
        .limit(top)
        .select("group_id", "team", "task_id", "kind", "outcome", "idle_ms")
    )


def loops(stuck: DataFrame, top: int) -> DataFrame:
    return (
        stuck.where(sf.col("is_open") & sf.col("reason").isin(*LOOPS))
        .orderBy("since_at", "group_id", "reason")
        .limit(top)
        .select(
            "group_id",
            "team",
            "reason",
            sf.unix_millis("since_at").alias("since_at_ms"),
            "repetitions",
        )
    )
