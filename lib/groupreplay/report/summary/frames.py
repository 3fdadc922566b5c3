"""The tables of one night -> the queries of its summary: small aggregates and top rows.

Their limits are part of them: nothing but top rows is ever collected.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from groupreplay.config.sources import TEXT_KINDS
from groupreplay.report.summary import decisions_frames, streams_frames
from groupreplay.report.summary.model import SEVERITIES, Coverage
from groupreplay.report.tables.coverage import NO_SOURCE, is_unseen_reason

_BLOCKERS_NAMED: Final = 3

_SLOWEST_PARTITIONS: Final = 2_000
"""If one request has more partitions than this, the list of the slowest is shorter than it could
be.
"""


@dataclass(frozen=True, slots=True)
class SummaryQuery:
    """One question to the tables of a night.

    tables: tables that it asks. Where all are empty it has no rows that say more than none.
    frame: these tables, in that order, and the rows that a list may have -> what to collect.
    """

    name: str
    tables: tuple[str, ...]
    frame: Callable[..., DataFrame]


def summary_frames(
    rows: Callable[[str], DataFrame], logical_date: date, top: int, empty: Collection[str] = ()
) -> dict[str, DataFrame]:
    """Query -> what to collect for it.

    rows: name of one of SUMMARY_TABLES -> its rows of one cluster.
    top: rows of each list.
    empty: tables that have no rows of this night; what asks only such tables is left out.
    """
    asked = [query for query in SUMMARY_QUERIES if not set(query.tables) <= set(empty)]
    night = {
        name: rows(name).where(sf.col("logical_date") == sf.lit(logical_date))
        for name in dict.fromkeys(name for query in asked for name in query.tables)
    }
    return {
        query.name: query.frame(*[night[name] for name in query.tables], top) for query in asked
    }


def summary_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """What was collected of one frame, as `read.night_summary` takes it."""
    return [row.asDict(recursive=True) for row in rows]


def _fleet(progress: DataFrame, _: int) -> DataFrame:
    return progress.groupBy("phase").agg(
        sf.count(sf.lit(1)).alias("groups"),
        sf.sum("members_total").alias("members"),
        sf.sum("members_consumer").alias("members_consumer"),
        sf.count_if("is_stalled").alias("stalled"),
        sf.count_if(~sf.col("history_complete")).alias("incomplete"),
    )


def _half_way(progress: DataFrame, top: int) -> DataFrame:
    """Groups with members of both protocols, the longest first."""
    mixed_since_at_ms = sf.unix_millis("mixed_since_at")
    groups = (
        progress.where(sf.col("phase") == "MIGRATING")
        .orderBy(sf.asc_nulls_last("mixed_since_at"), "group_id")
        .limit(top)
    )
    return groups.select(
        "group_id",
        "team",
        "progress_pct",
        mixed_since_at_ms.alias("mixed_since_at_ms"),
        (sf.unix_millis("as_of_at") - mixed_since_at_ms).alias("mixed_ms"),
        sf.slice("blockers", 1, _BLOCKERS_NAMED).alias("blockers"),
        sf.size("blockers").alias("blockers_total"),
    )


def _classic_clients(progress: DataFrame, top: int) -> DataFrame:
    """Client ids of classic members, those in the most groups first; `blockers` is empty where a
    group cannot take part.
    """
    clients = progress.select(
        "group_id",
        sf.explode(
            sf.array_distinct(sf.transform("blockers", lambda each: each["client_id"]))
        ).alias("client_id"),
    )
    counted = clients.groupBy("client_id").agg(
        sf.count(sf.lit(1)).alias("groups"), sf.min("group_id").alias("example")
    )
    return counted.orderBy(sf.desc("groups"), "client_id").limit(top)


def _hand_overs(hand_overs: DataFrame, _: int) -> DataFrame:
    acked_ms = sf.when(sf.col("outcome") == "ACKED", sf.col("revoke_ms"))
    return hand_overs.groupBy("outcome").agg(
        sf.count(sf.lit(1)).alias("partitions"),
        sf.percentile_approx(acked_ms, sf.array(sf.lit(0.5), sf.lit(0.99)), sf.lit(1000)).alias(
            "revoke_ms"
        ),
    )


def _slowest(hand_overs: DataFrame, top: int) -> DataFrame:
    """One row a request: partitions asked back together and given back together.

    Only requests of the slowest partitions are looked at: two scans, and no shuffle of the table.
    """
    request = ["group_id", "member_id", "requested_at", "outcome"]
    timed = hand_overs.where(sf.col("revoke_ms").isNotNull())
    partitions = (
        timed.select(*request, "revoke_ms")
        .orderBy(sf.desc("revoke_ms"), *request)
        .limit(_SLOWEST_PARTITIONS)
    )
    slow = (
        partitions.groupBy(*request)
        .agg(sf.max("revoke_ms").alias("revoke_ms"))
        .orderBy(sf.desc("revoke_ms"), *request)
        .limit(top)
    )
    requests = timed.join(sf.broadcast(slow.select(*request)), request, "left_semi").groupBy(
        *request
    )
    slowest = requests.agg(
        sf.unix_millis("requested_at").alias("requested_at_ms"),
        sf.count(sf.lit(1)).alias("partitions"),
        sf.min("topic").alias("topic"),
        sf.max("revoke_ms").alias("revoke_ms"),
        sf.max("unowned_ms").alias("unowned_ms"),
        sf.max("client_id").alias("client_id"),
        sf.max("client_host").alias("client_host"),
        sf.max("team").alias("team"),
    )
    return slowest.drop("requested_at")


def _episodes(members: DataFrame, groups: DataFrame, top: int) -> DataFrame:
    ranked = _stuck(members, groups).orderBy(
        sf.desc("is_open"), sf.desc("stuck_ms"), "group_id", "member_id", "reason"
    )
    return ranked.limit(top)


def _stuck_reasons(members: DataFrame, groups: DataFrame, _: int) -> DataFrame:
    counts = (
        sf.count_if("is_open").alias("open"),
        sf.count_if(~sf.col("is_open")).alias("ended"),
    )
    return _stuck(members, groups).groupBy("reason").agg(*counts)


def _stuck(members: DataFrame, groups: DataFrame) -> DataFrame:
    """Episodes of members and of groups alike; a group's have no member."""
    since = sf.unix_millis("since_at").alias("since_at_ms")
    of_groups = [name for name in _EPISODE if name in groups.columns]
    return members.select(*_EPISODE, since).unionByName(
        groups.select(*of_groups, since), allowMissingColumns=True
    )


_EPISODE: Final = (
    "group_id",
    "team",
    "member_id",
    "client_id",
    "client_host",
    "reason",
    "stuck_ms",
    "is_open",
    "blocked_by",
    "repetitions",
)


def _coverage(coverage: DataFrame, _: int) -> DataFrame:
    """Logs of the offsets topic, in records, and beside them logs of brokers, in lines; and what no
    source could show.
    """
    is_text, is_none = sf.col("source").isin(*TEXT_KINDS), sf.col("source") == NO_SOURCE
    of_text = {
        "texts": sf.count_if(is_text),
        "lines": sf.sum(sf.when(is_text, sf.col("landed"))),
        "others": sf.sum(sf.when(is_text, sf.col("unknown"))),
    }
    return coverage.agg(
        sf.count_if(~is_text & ~is_none).alias("inputs"),
        sf.count_if(is_unseen_reason()).alias("unseen_reasons"),
        sf.count_if(sf.col("holes") > 0).alias("inputs_with_holes"),
        *[sf.sum(sf.when(~is_text, sf.col(name))).alias(name) for name in _COUNTS],
        *[column.alias(name) for name, column in of_text.items()],
    )


_COUNTS: Final = tuple(
    each.name for each in fields(Coverage) if each.name not in ("inputs", "inputs_with_holes")
)
"""Columns of the table that are added up."""


def _undecoded(undecoded: DataFrame, top: int) -> DataFrame:
    return _counted(undecoded, "reason").orderBy(sf.desc("rows"), "reason").limit(top)


def _anomalies(anomalies: DataFrame, top: int) -> DataFrame:
    # 0 for a severity that is not known, so that it comes first.
    rank = sf.array_position(sf.array(*map(sf.lit, SEVERITIES)), sf.col("severity"))
    counted = _counted(anomalies, "severity", "rule")
    return counted.orderBy(rank, sf.desc("rows"), "severity", "rule").limit(top)


def _counted(frame: DataFrame, *by: str) -> DataFrame:
    return frame.groupBy(*by).agg(sf.count(sf.lit(1)).alias("rows"))


SUMMARY_QUERIES: Final = (
    SummaryQuery("fleet", ("migration_progress",), _fleet),
    SummaryQuery("half_way", ("migration_progress",), _half_way),
    SummaryQuery("classic_clients", ("migration_progress",), _classic_clients),
    SummaryQuery("hand_overs", ("revocation_latencies",), _hand_overs),
    SummaryQuery("slowest", ("revocation_latencies",), _slowest),
    SummaryQuery("stuck_reasons", ("stuck_members", "stuck_groups"), _stuck_reasons),
    SummaryQuery("stuck", ("stuck_members", "stuck_groups"), _episodes),
    SummaryQuery("streams_apps", ("streams_rebalances",), streams_frames.apps),
    SummaryQuery("misplaced", ("streams_rebalances",), streams_frames.misplaced),
    SummaryQuery("learners", ("task_assignments",), streams_frames.learners),
    SummaryQuery("learners_total", ("task_assignments",), streams_frames.learners_total),
    SummaryQuery("task_moves", ("task_handovers",), streams_frames.moves),
    SummaryQuery("idlest", ("task_handovers",), streams_frames.idlest),
    SummaryQuery("loops", ("stuck_groups",), streams_frames.loops),
    SummaryQuery("flip_tiers", ("readiness",), decisions_frames.tiers),
    SummaryQuery("flips", ("readiness",), decisions_frames.flips),
    SummaryQuery("costliest_wave", ("departure_waves",), decisions_frames.costliest_wave),
    SummaryQuery("worst_group", ("group_days",), decisions_frames.worst_group),
    SummaryQuery("coverage", ("coverage",), _coverage),
    SummaryQuery("undecoded", ("undecoded",), _undecoded),
    SummaryQuery("anomalies", ("anomalies",), _anomalies),
)

SUMMARY_TABLES: Final = tuple(
    dict.fromkeys(name for query in SUMMARY_QUERIES for name in query.tables)
)
"""All that these queries ask."""
