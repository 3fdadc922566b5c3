"""The tables of a night, and of the nights before -> what the overview asks of them. Every list has
its limit in it; only the groups of the finder are many.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.config.sources import TEXT_KINDS
from groupreplay.page.model import fleet
from groupreplay.report.pages import decision_frames
from groupreplay.report.pages.asked import ROWS, WAITS_FOR, PageNights, Tables, as_one, rows_as
from groupreplay.report.summary import streams_frames
from groupreplay.report.tables.coverage import NO_SOURCE, is_unseen_reason

STUCK_ROWS: Final = 200
SLOW_ROWS: Final = 20
_SLOWEST_PARTITIONS: Final = 2_000
"""Only requests of the slowest partitions are looked at, as in the summary."""

_ON_CONSUMER: Final = ("MIGRATED", "NATIVE", "CONSUMER")
_ON_CLASSIC: Final = ("CLASSIC", "ROLLED_BACK")


class FleetQuery(NamedTuple):
    """One question.

    kind: what its rows are (`page.model.read`).
    tables: names of the tables that it asks; where all are empty it has no rows.
    frame: tables of this night, the same of all nights of the page, and these nights -> rows.
    is_history: whether it asks for all nights of the page.
    """

    kind: str
    tables: tuple[str, ...]
    frame: Callable[[Tables, Tables, PageNights], DataFrame]
    is_history: bool = False


def fleet_frame(
    queries: Sequence[FleetQuery], tonight: Tables, nights: Tables, of: PageNights
) -> DataFrame:
    """kind, row: the rows of these queries.

    tonight: table -> its rows of the last night.
    nights: table -> its rows of all nights of the page.
    """
    return as_one([(query.kind, query.frame(tonight, nights, of)) for query in queries])


def fleet_queries(empty: Collection[str], groups: int) -> list[FleetQuery]:
    """What the overview asks.

    empty: tables without rows; what asks such tables alone is left out.
    groups: how many groups are in the finder, at most.
    """

    def finder(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
        return _groups(tonight, of, empty).limit(groups)

    finds = FleetQuery("groups", ("migration_progress",), finder)
    return [finds, *(query for query in QUERIES if not set(query.tables) <= set(empty))]


def _nights(_: Tables, nights: Tables, of: PageNights) -> DataFrame:
    phase = sf.col("phase")
    is_consumer, is_classic = phase.isin(*_ON_CONSUMER), phase.isin(*_ON_CLASSIC)
    takes_part = is_consumer | is_classic | (phase == "MIGRATING")

    def members(name: str) -> Column:
        return sf.coalesce(sf.sum(sf.when(takes_part, sf.col(name))), sf.lit(0))

    counted = nights["migration_progress"].groupBy("logical_date")
    return counted.agg(
        sf.count_if(is_classic).alias("classic"),
        sf.count_if(phase == "MIGRATING").alias("mixed"),
        sf.count_if(is_consumer).alias("consumer"),
        sf.count_if(~takes_part).alias("left_out"),
        members("members_consumer").alias("members_consumer"),
        members("members_total").alias("members_total"),
    ).transform(rows_as, fleet.NightTotals, night="CAST(logical_date AS STRING)")


def _phases(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    return (
        tonight["migration_progress"]
        .groupBy("phase")
        .agg(
            sf.count(sf.lit(1)).alias("groups"),
            sf.count_if(_went_back(of)).alias("went_back"),
        )
    )


def _went_back(of: PageNights) -> Column:
    """Whether a group was downgraded in this night, whatever became of it since."""
    return sf.col("downgraded_at").isNotNull() & of.is_of_last("downgraded_at")


def _causes(_: Tables, nights: Tables, of: PageNights) -> DataFrame:
    began = nights["group_epochs"].where("start_observed")
    counted = began.select(
        of.night_of("started_at").alias("night"), "cause", "converge_ms", "outcome"
    )
    return (
        counted.where("night IS NOT NULL")
        .groupBy("night", "cause")
        .agg(
            sf.count(sf.lit(1)).alias("epochs"),
            sf.percentile_approx("converge_ms", 0.5, 1000).alias("converge_half_ms"),
            sf.count_if(sf.col("outcome") == "SUPERSEDED").alias("superseded"),
        )
        .transform(rows_as, fleet.CauseNight)
    )


def _latency(_: Tables, nights: Tables, of: PageNights) -> DataFrame:
    acked_ms = sf.when(sf.col("outcome") == "ACKED", sf.col("revoke_ms"))
    asked = nights["revocation_latencies"].select(
        of.night_of("requested_at").alias("night"), "outcome", acked_ms.alias("ms")
    )
    return (
        asked.where("night IS NOT NULL")
        .groupBy("night")
        .agg(
            sf.count(sf.lit(1)).alias("asked"),
            sf.count_if(sf.col("outcome") == "FENCED").alias("fenced"),
            sf.percentile_approx("ms", 0.5, 1000).alias("half_ms"),
            sf.percentile_approx("ms", 0.99, 1000).alias("most_ms"),
        )
        .transform(rows_as, fleet.LatencyNight)
    )


def _half_way(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    return (
        tonight["migration_progress"]
        .where(sf.col("phase") == "MIGRATING")
        .orderBy(sf.asc_nulls_last("mixed_since_at"), "group_id")
        .limit(ROWS)
        .transform(rows_as, fleet.HalfWay, waits_for=WAITS_FOR, blockers="size(blockers)")
    )


def _clients(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    """Client ids of blockers, with the software that most of their members are."""
    blockers = tonight["migration_progress"].select(
        "group_id", "team", sf.explode("blockers").alias("each")
    )
    members = (
        tonight["members"]
        .where("NOT is_final")
        .select(
            "group_id",
            "member_id",
            sf.concat_ws(" ", "software_name", "software_version").alias("software"),
        )
    )
    named = blockers.select(
        "group_id", "team", sf.col("each.member_id").alias("member_id"), "each.client_id"
    ).join(members, ["group_id", "member_id"], "left")
    return (
        named.groupBy("client_id")
        .agg(
            sf.max(sf.nullif("software", sf.lit(""))).alias("software"),
            sf.count_distinct("group_id").alias("groups"),
            sf.count(sf.lit(1)).alias("members"),
            sf.min("team").alias("team"),
        )
        .orderBy(sf.desc("groups"), "client_id")
        .limit(ROWS)
        .transform(rows_as, fleet.ClassicClient)
    )


_OF_MEMBERS: Final = ("member_id", "client_id", "client_host", "deadline_at", "blocked_by")
"""Columns of an episode that a group's has not."""


def _listed(episodes: DataFrame) -> DataFrame:
    return (
        episodes.where("is_open")
        .orderBy(
            sf.col("reason") == "MIGRATION_STALLED",
            sf.desc("stuck_ms"),
            "group_id",
            "member_id",
            "reason",
            "since_at",
        )
        .limit(STUCK_ROWS)
    )


def _episodes(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    return _listed(_stuck(tonight)).transform(rows_as, fleet.Episode)


def _holders(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    """Client ids of the members that listed episodes wait for."""
    waits_for = sf.explode(sf.slice("blocked_by", 1, fleet.HELD_BY)).alias("member_id")
    held_by = _listed(tonight["stuck_members"]).select("group_id", waits_for).distinct()
    members = tonight["members"].select("group_id", "member_id", "client_id")
    return (
        held_by.join(members, ["group_id", "member_id"])
        .groupBy("group_id", "member_id")
        .agg(sf.max("client_id").alias("client_id"))
        .transform(rows_as, fleet.Holder)
    )


def _reasons(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    return (
        _stuck(tonight)
        .groupBy("reason")
        .agg(
            sf.count_if("is_open").alias("open"),
            sf.count_if(~sf.col("is_open") & of.is_of_last("until_at")).alias("ended"),
        )
        .transform(rows_as, fleet.ReasonCount)
    )


def _stuck(tonight: Tables) -> DataFrame:
    """Episodes of members and of groups alike."""
    members, groups = tonight["stuck_members"], tonight["stuck_groups"]
    shared = ["group_id", "team", "reason", "since_at", "until_at", "stuck_ms", "is_open"]
    shared += ["repetitions", "detail"]
    return members.select(*shared, *_OF_MEMBERS).unionByName(
        groups.select(*shared), allowMissingColumns=True
    )


def _slow(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    """One row a request, as in the summary; of this night alone."""
    request = ["group_id", "member_id", "requested_at", "outcome"]
    timed = tonight["revocation_latencies"].where(
        sf.col("revoke_ms").isNotNull() & of.is_of_last("requested_at")
    )
    in_order = [*request, "topic", "partition"]
    slowest = timed.orderBy(sf.desc("revoke_ms"), *in_order).limit(_SLOWEST_PARTITIONS)
    longest = [
        sf.max(name).alias(name) for name in ("notify_ms", "revoke_ms", "unowned_ms", "resume_ms")
    ]
    return (
        slowest.groupBy(*request)
        .agg(
            sf.count(sf.lit(1)).alias("partitions"),
            sf.min("topic").alias("topic"),
            *[sf.max(name).alias(name) for name in ("client_id", "client_host", "team")],
            *longest,
            sf.bool_or("is_censored").alias("is_censored"),
        )
        .orderBy(sf.desc("revoke_ms"), *request)
        .limit(SLOW_ROWS)
        .transform(rows_as, fleet.SlowRequest)
    )


def _groups(tonight: Tables, of: PageNights, empty: Collection[str]) -> DataFrame:
    """All groups, those in trouble first."""
    found = tonight["migration_progress"].withColumn("went_back", _went_back(of))
    began = tonight["group_epochs"].where(sf.col("start_observed") & of.is_of_last("started_at"))
    counts = [
        began.groupBy("group_id").agg(
            sf.count(sf.lit(1)).alias("epochs"),
            sf.count_if(sf.col("outcome") == "SUPERSEDED").alias("superseded"),
        )
    ]
    if not {"stuck_members", "stuck_groups"} <= set(empty):
        counts.append(
            _stuck(tonight)
            .where("is_open")
            .groupBy("group_id")
            .agg(sf.count(sf.lit(1)).alias("stuck"))
        )
    if "anomalies" not in empty:
        errors = tonight["anomalies"].where(
            (sf.col("severity") == "ERROR") & of.is_of_last("detected_at")
        )
        counts.append(errors.groupBy("group_id").agg(sf.count(sf.lit(1)).alias("errors")))
    for counted in counts:
        found = found.join(counted, "group_id", "left")
    missing = {
        name: sf.lit(None).cast("bigint")
        for name in ("stuck", "errors")
        if name not in found.columns
    }
    rank = sf.when(sf.col("phase") == "MIGRATING", 0).when(sf.col("phase") == "ROLLED_BACK", 1)
    return (
        found.withColumns(missing)
        .orderBy(sf.desc_nulls_last("stuck"), sf.coalesce(rank, sf.lit(2)), "group_id")
        .transform(rows_as, fleet.GroupLine)
    )


# ---------------------------------------------------------------- Kafka Streams


def _as_summary(
    frame: Callable[[DataFrame, int], DataFrame], table: str
) -> Callable[[Tables, Tables, PageNights], DataFrame]:
    """A query of the summary: both say the same."""

    def rows(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
        return frame(tonight[table], ROWS)

    return rows


_REBALANCES, _TASKS, _MOVES = "streams_rebalances", "task_assignments", "task_handovers"
_STREAMS: Final = (
    FleetQuery("streams_apps", (_REBALANCES,), _as_summary(streams_frames.apps, _REBALANCES)),
    FleetQuery("misplaced", (_REBALANCES,), _as_summary(streams_frames.misplaced, _REBALANCES)),
    FleetQuery("learners", (_TASKS,), _as_summary(streams_frames.learners, _TASKS)),
    FleetQuery("learners_total", (_TASKS,), _as_summary(streams_frames.learners_total, _TASKS)),
    FleetQuery("task_moves", (_MOVES,), _as_summary(streams_frames.moves, _MOVES)),
    FleetQuery("idlest", (_MOVES,), _as_summary(streams_frames.idlest, _MOVES)),
    # Only applications loop so, and each has a row there while it is one.
    FleetQuery("loops", (_REBALANCES,), _as_summary(streams_frames.loops, "stuck_groups")),
)


# ---------------------------------------------------------------- seen


def _seen(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    is_text, is_none = sf.col("source").isin(*TEXT_KINDS), sf.col("source") == NO_SOURCE
    unseen = sf.sort_array(sf.collect_set(sf.when(is_unseen_reason(), sf.col("input"))))
    sums = ("undecoded", "holes", "late", "left_out")
    counted = tonight["coverage"].agg(
        sf.count_if(~is_text & ~is_none).alias("inputs"),
        sf.count_if(is_text).alias("texts"),
        *[sf.coalesce(sf.sum(name), sf.lit(0)).alias(name) for name in sums],
        unseen.alias("unseen"),
    )
    return counted.transform(rows_as, fleet.Seen)


def _broken_rules(tonight: Tables, _: Tables, of: PageNights) -> DataFrame:
    counted = tonight["anomalies"].where(of.is_of_last("detected_at")).groupBy("severity", "rule")
    return (
        counted.agg(
            sf.count(sf.lit(1)).alias("times"), sf.count_distinct("group_id").alias("groups")
        )
        .orderBy("severity", sf.desc("times"), "rule")
        .limit(ROWS)
        .transform(rows_as, fleet.BrokenRule)
    )


def _undecoded(tonight: Tables, _: Tables, __: PageNights) -> DataFrame:
    counted = tonight["undecoded"].groupBy("reason").agg(sf.count(sf.lit(1)).alias("rows"))
    return (
        counted.orderBy(sf.desc("rows"), "reason")
        .limit(5)
        .transform(rows_as, fleet.UndecodedReason)
    )


QUERIES: Final = (
    FleetQuery("nights", ("migration_progress",), _nights, is_history=True),
    FleetQuery("phases", ("migration_progress",), _phases),
    FleetQuery("causes", ("group_epochs",), _causes, is_history=True),
    FleetQuery("latency", ("revocation_latencies",), _latency, is_history=True),
    FleetQuery("half_way", ("migration_progress",), _half_way),
    FleetQuery("clients", ("migration_progress", "members"), _clients),
    FleetQuery("stuck", ("stuck_members", "stuck_groups"), _episodes),
    # Members alone have somebody to wait for.
    FleetQuery("holders", ("stuck_members",), _holders),
    FleetQuery("reasons", ("stuck_members", "stuck_groups"), _reasons),
    FleetQuery("slow", ("revocation_latencies",), _slow),
    FleetQuery("verdicts", ("readiness",), decision_frames.verdicts),
    FleetQuery("flips", ("readiness",), decision_frames.flips),
    FleetQuery("rules", ("readiness",), decision_frames.rules),
    FleetQuery("waves", ("departure_waves",), decision_frames.waves),
    FleetQuery("wave_counts", ("departure_waves",), decision_frames.wave_counts),
    FleetQuery("cost_days", ("group_days",), decision_frames.cost_days, is_history=True),
    FleetQuery("cost_groups", ("group_days",), decision_frames.cost_groups),
    *_STREAMS,
    FleetQuery("seen", ("coverage",), _seen),
    FleetQuery("broken_rules", ("anomalies",), _broken_rules),
    FleetQuery("undecoded", ("undecoded",), _undecoded),
)

FLEET_TABLES: Final = tuple(dict.fromkeys(name for query in QUERIES for name in query.tables))
"""All that the overview asks."""

HISTORY_TABLES: Final = tuple(
    dict.fromkeys(name for query in QUERIES if query.is_history for name in query.tables)
)
"""Those of which it asks all nights of the page."""
