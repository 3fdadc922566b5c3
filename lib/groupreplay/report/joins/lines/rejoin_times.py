"""Named steps: when members of the classic protocol were told to join again, and how long they
took, by the request log.

A member of an eager group reads nothing from when it is told to join again until it has its new
assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.columns import duration_ms
from groupreplay.report.joins.lines.departures import LINE_LATE_MS, SLACK_MS
from groupreplay.report.joins.lines.rebalance_lines import REBALANCE_MS

_BY_MEMBER: Final = ("member_ids", "partitions", "read_ms")

PLACE: Final = ("source", "input", "position")


def rejoin_ms() -> Column:
    """How long a member took to rejoin, of a row of `Rejoin`: its last batch, its callback, the way
    of its JoinGroup. NULL where it was not told to, or did not join.
    """
    return duration_ms("told_at", "joined_at")


def rejoin_times(evidence: DataFrame | None) -> DataFrame | None:
    """group_id, member_id, rejoin_ms and PLACE of the line, a row each time that a member was told
    to join again and did. None without broker logs.

    evidence: rows of the table: `ReportContext.evidence_tonight` for times of one night.
    """
    if evidence is None:
        return None
    are_known = sf.col("told_at").isNotNull() & sf.col("joined_at").isNotNull()
    return evidence.where((sf.col("kind") == Rejoin.KIND) & are_known).select(
        "group_id", "member_id", rejoin_ms().alias("rejoin_ms"), *PLACE
    )


CAME_LATE_MS: Final = 20
"""When a request came is the time of its line less its total time: by as much the line is late."""


def with_joins(rebalances: DataFrame, context: ReportContext) -> DataFrame:
    """rebalances with `first_joined_at`, `last_joined_at` (ms) and `last_joined_member_id`: of the
    members that were let into the next generation when the join phase ended, by when their
    JoinGroups came; of several that came last the smallest id. NULL where the request log has none.

    rebalances: rows of `Rebalance`, so there are lines.
    """
    assert context.evidence is not None, "rebalances come from lines"
    came = sf.struct(
        (-sf.col("joined_at")).alias("_before"),
        *("member_id", "joined_at", "answered_at"),
        answered_by().alias("broker"),
    )
    joins = (
        context.evidence.where(
            (sf.col("kind") == Rejoin.KIND)
            & sf.col("joined_at").isNotNull()
            & sf.col("new_generation").isNotNull()
        )
        .groupBy(
            sf.col("group_id").alias("_group_id"), (sf.col("new_generation") - 1).alias("_before")
        )
        .agg(sf.collect_list(came).alias("_joins"))
    )
    same = (sf.col("group_id") == sf.col("_group_id")) & (sf.col("generation") == sf.col("_before"))
    its_own = sf.filter(
        "_joins",
        lambda each: (
            (each["broker"] == sf.col("broker")) & is_let_in(each["joined_at"], each["answered_at"])
        ),
    )
    last = sf.array_min(its_own)
    first_at = sf.array_min(sf.transform(its_own, lambda each: each["joined_at"]))
    return (
        rebalances.join(joins, same, "left")
        .withColumns(
            {
                "first_joined_at": first_at,
                "last_joined_at": last["joined_at"],
                "last_joined_member_id": last["member_id"],
            }
        )
        .drop("_group_id", "_before", "_joins")
    )


def answered_by() -> Column:
    """The broker that answered the join of a row of `Rejoin`."""
    return sf.coalesce("answered_by", "broker")


def is_let_in(came_at: Column, answered_at: Column) -> Column:
    """Whether a join was among those that a broker answered when the join phase of a rebalance
    ended. Another rebalance of the broker can begin with the same generation, where its first one
    was cut off; and who comes later is answered at once, and nobody waited for it. NULL where the
    phase never ended.
    """
    ended_at = sf.col("joined_at")
    return (came_at <= ended_at + CAME_LATE_MS) & (answered_at >= ended_at - LINE_LATE_MS)


def with_told(facts: DataFrame, context: ReportContext, removed_at: Column) -> DataFrame:
    """facts with `told_at`, ms: when a member that was removed had been told to join and never did:
    it stopped reading then, and only later gave up. NULL where no line shows it.

    facts: rows with group_id and member_id.
    removed_at: when the member was removed, ms since the epoch.
    """
    if context.evidence is None:
        return facts.withColumn("told_at", sf.lit(None).cast("bigint"))
    told = (
        context.evidence.where((sf.col("kind") == Rejoin.KIND) & sf.col("joined_at").isNull())
        .groupBy(sf.col("group_id").alias("_group_id"), sf.col("member_id").alias("_member_id"))
        .agg(sf.collect_list("told_at").alias("_told"))
    )
    joined = facts.join(
        told,
        (sf.col("group_id") == sf.col("_group_id")) & (sf.col("member_id") == sf.col("_member_id")),
        "left",
    )
    before = sf.filter("_told", lambda at: at.between(removed_at - MAX_CHAIN_GAP_MS, removed_at))
    return joined.withColumn("told_at", sf.array_max(before)).drop(
        "_group_id", "_member_id", "_told"
    )


def with_stopped(waves: DataFrame, key: tuple[str, ...], context: ReportContext) -> DataFrame:
    """waves with `told_stopped_ms`, partition-ms: for how long partitions of eager generations were
    not read by members that stayed, from when each was told to the K2. A member that was told
    before it had its assignment counts from when it was told to join that generation, or the first
    such generation in a row: no K2 shows a generation whose leader sent nothing. Nobody counts from
    before the K2 before. Members of which no line says it count as those that were told, in the
    mean. 0 where there are none; NULL where no line names a generation.

    A group that was removed and came back has generations of the same numbers again: what counts
    is who had not been answered when the K2 was written.
    """
    if context.evidence is None:
        none_stopped = sf.when(sf.col("stopped") == 0, sf.lit(0).cast("bigint"))
        return waves.withColumn("told_stopped_ms", none_stopped)
    is_told = sf.col("told_at").isNotNull() & sf.col("new_generation").isNotNull()
    ended = sf.coalesce("synced_at", "answered_at")
    told = (
        context.evidence.where((sf.col("kind") == Rejoin.KIND) & is_told)
        .groupBy(
            sf.col("group_id").alias("_group_id"), sf.col("new_generation").alias("_generation")
        )
        .agg(
            sf.collect_list(
                sf.struct(
                    *("member_id", "told_at", "is_unassigned", "unassigned_since"),
                    ended.alias("ended_at"),
                )
            ).alias("_told")
        )
    )
    stops = sf.arrays_zip(*[name for name in waves.columns if name.startswith("stop_")])
    each = waves.select(
        *key,
        sf.struct(*[n for n in waves.columns if not n.startswith("stop_")]).alias("_wave"),
        sf.explode_outer(stops).alias("_stop"),
    )
    same = (sf.col("group_id") == sf.col("_group_id")) & (
        sf.col("_stop.stop_generations") == sf.col("_generation")
    )
    is_stop = sf.col("_stop").isNotNull()
    summed = (
        each.join(told, same, "left")
        .withColumn("_ms", sf.when(is_stop, _stop_ms()).otherwise(0))
        .groupBy(*key)
        .agg(
            sf.first("_wave").alias("_wave"),
            sf.sum("_ms").alias("_sum"),
            sf.bool_and(sf.col("_ms").isNotNull()).alias("_are_told"),
        )
    )
    known = sf.when(sf.col("_are_told"), sf.col("_sum"))
    return summed.select("_wave.*", known.alias("told_stopped_ms"))


def _stop_ms() -> Column:
    """How long one generation stopped its members."""
    written_at = sf.col("_stop.stop_times_at")
    near = sf.filter(
        "_told",
        lambda each: (
            each["told_at"].between(written_at - REBALANCE_MS, written_at + SLACK_MS)
            & sf.coalesce(each["ended_at"] >= written_at - SLACK_MS, sf.lit(True))
        ),
    )
    waited = sf.transform(
        near,
        lambda each: sf.struct(
            each["member_id"].alias("member_id"),
            sf.greatest(sf.lit(0), written_at - each["told_at"]).alias("ms"),
            each["is_unassigned"].alias("is_unassigned"),
            (written_at - each["unassigned_since"]).alias("unassigned_ms"),
        ),
    )
    mean = sf.when(sf.size(near) > 0, _total(waited, lambda each: each["ms"]) / sf.size(near))
    by_member = sf.arrays_zip(*[f"_stop.stop_{name}" for name in _BY_MEMBER])
    known = _total(by_member, lambda each: each["stop_partitions"])
    own = _total(by_member, lambda each: each["stop_partitions"] * _member_ms(waited, each, mean))
    return sf.round(own + (sf.col("_stop.stop_counts") - known) * mean).cast("bigint")


def _member_ms(waited: Column, stopped: Column, mean: Column) -> Column:
    """How long one member did not read."""
    own = sf.filter(waited, lambda each: each["member_id"] == stopped["stop_member_ids"])
    since_told = sf.coalesce(sf.array_max(sf.transform(own, lambda each: each["ms"])), mean)
    unassigned_ms = sf.array_max(sf.transform(own, lambda each: each["unassigned_ms"]))
    read_ms = stopped["stop_read_ms"]
    is_unassigned = sf.exists(own, lambda each: each["is_unassigned"]) & read_ms.isNotNull()
    return sf.when(is_unassigned, sf.least(read_ms, unassigned_ms)).otherwise(
        sf.least(since_told, read_ms)
    )


def _total(elements: Column, value: Callable[[Column], Column]) -> Column:
    return sf.aggregate(
        elements, sf.lit(0.0), lambda total, each: total + value(each).cast("double")
    )
