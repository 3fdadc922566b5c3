"""Named step: facts of failovers, and what lines of broker logs say of the same move: the load, the
rebalance that it cut off, who got another session, how long nobody answered.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import (
    SESSION_EXPIRED,
    Departure,
    Outage,
    Rebalance,
    ShardEvent,
)
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.lines.departures import EVIDENCE_TYPE, SLACK_MS, evidence_column
from groupreplay.report.joins.lines.rebalance_lines import REBALANCE_MS
from groupreplay.report.joins.lines.settings_in_force import SESSION_MS, with_brokers

REARMED_MS: Final = 1_000
"""A session that a load armed runs out so close to its time, by the clocks of one broker."""

SYNCED_MS: Final = 5_000
"""Members ask for what they were given by the next SyncGroup, which is answered at once: so long
after a generation all of them know it.
"""

_LOAD_TYPE: Final = (
    "struct<occurred_at: bigint, duration_ms: bigint, broker: bigint, moved_from: bigint,"
    f" leader_epoch: bigint, evidence: {EVIDENCE_TYPE}>"
)


def with_lines(facts: DataFrame, context: ReportContext) -> DataFrame:
    """facts with `load` (_LOAD_TYPE, NULL without a line), `rearmed`, `unavailable_ms`, and with
    `phase` as lines sharpen it.
    """
    if context.evidence is None:
        return facts.withColumns(
            {
                "load": sf.lit(None).cast(_LOAD_TYPE),
                "rearmed": sf.lit(None).cast("array<string>"),
                "unavailable_ms": sf.lit(None).cast("bigint"),
            }
        )
    loaded = _with_load(with_brokers(facts, context), context.evidence)
    told = loaded.join(_lines_of_groups(context.evidence), _same("group_id"), "left")
    return told.withColumns(
        {
            "rearmed": _rearmed(),
            "unavailable_ms": _unavailable_ms(),
            "phase": _phase(),
        }
    )


def _same(name: str) -> Column:
    return sf.col(name) == sf.col(f"_{name}")


# ---------------------------------------------------------------- the load


def _with_load(facts: DataFrame, evidence: DataFrame) -> DataFrame:
    """facts with `load`, the last of its partition near the move, and `_was_followed`: the load by
    the coordinator before was logged too, so that its log is given.

    Lines of Kafka 4 name the leader epoch; for others time alone decides.
    """
    names = ("occurred_at", "duration_ms", "broker", "moved_from", "leader_epoch")
    fields = sf.struct(*names, evidence_column().alias("evidence"))
    is_load = (sf.col("kind") == ShardEvent.KIND) & (sf.col("event") == "LOADED")
    loads = (
        evidence.where(is_load)
        .groupBy(sf.col("offsets_partition").alias("_offsets_partition"))
        .agg(sf.collect_set(fields.cast(_LOAD_TYPE)).alias("_loads"))
    )
    near = sf.filter(
        "_loads",
        lambda each: (
            (each["occurred_at"] > sf.col("last_at") - SLACK_MS)
            & (each["occurred_at"] <= sf.col("first_at") + SLACK_MS)
            & _is_of(each, "leader_epoch")
        ),
    )
    joined = facts.join(sf.broadcast(loads), _same("offsets_partition"), "left")
    followed = sf.exists(
        "_loads",
        lambda each: (
            (each["occurred_at"] <= sf.col("last_at")) & _is_of(each, "leader_epoch_before")
        ),
    )
    return joined.withColumns({"load": sf.array_max(near), "_was_followed": followed})


def _is_of(load: Column, epoch: str) -> Column:
    return load["leader_epoch"].isNull() | (load["leader_epoch"] == sf.col(epoch))


# ---------------------------------------------------------------- what lines say of the group


def _lines_of_groups(evidence: DataFrame) -> DataFrame:
    """_group_id, and arrays of what its lines show: _rebalances, _outages, _departures."""

    def told(kind: type[Rebalance | Outage | Departure], *names: str) -> Column:
        return sf.collect_set(sf.when(sf.col("kind") == kind.KIND, sf.struct(*names)))

    kinds = [kind.KIND for kind in (Rebalance, Outage, Departure)]
    return (
        evidence.where(sf.col("kind").isin(*kinds))
        .groupBy(sf.col("group_id").alias("_group_id"))
        .agg(
            told(Rebalance, "started_at", "generation", "joined_at", "outcome").alias(
                "_rebalances"
            ),
            told(Outage, "since_at", "until_at").alias("_outages"),
            told(Departure, "member_id", "ended_at", "end_detail").alias("_departures"),
        )
    )


def _unavailable_ms() -> Column:
    """From the first request that found no coordinator to the first answer after the last such
    stretch; NULL where none of it was logged, or the end.
    """
    near = sf.filter(
        "_outages",
        lambda each: (
            (each["since_at"] > sf.col("last_at") - SLACK_MS)
            & (each["since_at"] <= sf.col("first_at") + SLACK_MS)
        ),
    )
    last = sf.array_max(near)
    return last["until_at"] - sf.array_min(near)["since_at"]


def _rearmed() -> Column:
    """Lost members whose session ran out as the load had armed it; NULL where the load, or all who
    were lost, are not known.
    """
    lost = sf.arrays_zip("lost_member_ids", "lost_at", "lost_session_ms")
    found = sf.filter(lost, _is_rearmed)
    names = sf.array_sort(sf.transform(found, lambda each: each["lost_member_ids"]))
    is_known = sf.col("load").isNotNull() & sf.col("lost_after").isNotNull()
    return sf.when(is_known, names)


def _is_rearmed(member: Column) -> Column:
    """By the line of the session's end; without a line about the member, by its removal."""
    session = sf.coalesce(member["lost_session_ms"], SESSION_MS)
    due = sf.col("load.occurred_at") + session

    def is_due(at: Column) -> Column:
        return at.between(due - REARMED_MS, due + REARMED_MS)

    lines = sf.filter(
        "_departures",
        lambda each: (
            (each["member_id"] == member["lost_member_ids"])
            & (each["ended_at"] > sf.col("last_at"))
            & (each["ended_at"] <= member["lost_at"] + SLACK_MS)
        ),
    )
    by_line = sf.exists(
        lines, lambda each: (each["end_detail"] == SESSION_EXPIRED) & is_due(each["ended_at"])
    )
    has_line = sf.coalesce(sf.size(lines) > 0, sf.lit(False))
    return sf.when(has_line, by_line).otherwise(is_due(member["lost_at"]))


# ---------------------------------------------------------------- phases of classic groups


def _phase() -> Column:
    """Phase of a classic group, by the last rebalance that the coordinator before the move began.

    PREPARING: members were told to join, or joined. COMPLETING: all had joined, and the K2 of the
    generation was never written: it is lost. SYNCED: its K2 was written a short while before. What
    a hole hides stays UNKNOWN (`epoch` is NULL), and so does a group of whose former coordinator no
    line is there. A group that never had a generation is EMPTY, and has no `epoch` either.
    """
    moved_at = sf.least("load.occurred_at", "first_at")
    begun = sf.filter(
        "_rebalances",
        lambda each: each["started_at"].between(sf.col("last_at") - REBALANCE_MS, moved_at),
    )
    last = sf.array_max(begun)
    epoch = sf.coalesce("epoch", sf.when(sf.col("phase") == "EMPTY", 0))
    is_lost = (last["generation"] >= epoch) & ~last["outcome"].isin("EMPTY", "CONVERTED")
    is_new = sf.col("epoch_at") > sf.col("last_at") - SYNCED_MS
    at_rest = sf.when(sf.col("phase") == "EMPTY", "EMPTY")
    sharpened = (
        sf.when(is_lost & last["joined_at"].isNull(), "PREPARING")
        .when(is_lost, "COMPLETING")
        .otherwise(sf.coalesce(at_rest, sf.when(is_new, "SYNCED"), sf.lit("STEADY")))
    )
    is_told = sf.col("_was_followed") & sf.col("load").isNotNull() & epoch.isNotNull()
    is_classic = sf.col("protocol") == "classic"
    return sf.when(is_classic & is_told, sharpened).otherwise(sf.col("phase"))
