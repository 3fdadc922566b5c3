"""Named step: what lines of broker logs show of members and groups that are stuck, in the shape of
the machines' stalls and chains.

Rows come out with the columns of `replayed`, so that `report.stuck.episodes` measures them as it
does the others. from_offset is the position of the line that began the row; incarnation and
offsets_partition are those of the group's last life, -1 where the topic knows none.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import (
    SEEN,
    AssignorFailure,
    BrokerSetting,
    Contact,
    Outage,
    Rebalance,
    Silence,
)
from groupreplay.records.log_events import REQUEST_LOG
from groupreplay.replay.facts import Chain, GroupSnapshot, MemberLife, Stall
from groupreplay.report.joins.lines.departures import evidence_column
from groupreplay.report.joins.lines.distinct_refusals import distinct_refusals, error_name
from groupreplay.report.stuck.thresholds import threshold
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.words.sentences import params_of

BURST_MS: Final = 10_000
"""Refusals that are over sooner are the bursts of a restart."""

MEMBERSHIP_APIS: Final = (
    *("JOIN_GROUP", "SYNC_GROUP", "HEARTBEAT"),
    *("CONSUMER_GROUP_HEARTBEAT", "SHARE_GROUP_HEARTBEAT", "STREAMS_GROUP_HEARTBEAT"),
)
"""Who is refused one of these is no member; refused commits are another matter."""

STREAMS_CLIENT: Final = "%-StreamThread-%"
"""Client ids of Kafka Streams. Its members on the classic protocol never say goodbye: their session
runs out whenever one is stopped.
"""

NEEDS: Final = {
    "NOT_HEARTBEATING": "request_log",
    "LATE_LEAVE": "request_log and server_log",
    "REJECTED_LOOP": "request_log or server_log",
    "UPGRADE_REFUSED": "request_log or server_log",
    "JOIN_NEVER_COMPLETES": "server_log",
    "SYNC_NEVER_COMPLETES": "server_log",
    "COORDINATOR_UNAVAILABLE": "request_log",
    "ASSIGNOR_FAILED": "server_log",
}
"""Reason -> the sources that can show it."""


def unseen_reasons(kinds: frozenset[str]) -> dict[str, str]:
    """Reasons that broker logs could show and the given kinds of sources cannot, each with the kind
    that it needs.
    """
    return {
        reason: needs
        for reason, needs in NEEDS.items()
        if not (
            kinds & set(needs.split(" or "))
            if " or " in needs
            else kinds.issuperset(needs.split(" and "))
        )
    }


def evidence_stalls(inputs: TableInputs) -> DataFrame | None:
    """Stalls and chains of the lines, None without broker logs."""
    context = inputs.context
    if context.evidence_tonight is None:
        return None
    tonight = context.evidence_tonight
    rows = _silences(tonight).unionByName(_rejected(tonight), allowMissingColumns=True)
    rows = rows.unionByName(_open_silences(tonight, inputs), allowMissingColumns=True)
    rows = rows.unionByName(_refused_upgrades(tonight), allowMissingColumns=True)
    rows = rows.unionByName(_phases(tonight), allowMissingColumns=True).unionByName(
        _outages(tonight), allowMissingColumns=True
    )
    rows = rows.unionByName(_assignor_failures(tonight), allowMissingColumns=True)
    return rows.join(_lives(inputs), "group_id", "left").select(
        "*",
        sf.coalesce("_life.incarnation", sf.lit(-1)).alias("incarnation"),
        sf.coalesce("_life.offsets_partition", sf.lit(-1)).alias("offsets_partition"),
        sf.nullif("_life.log", sf.lit(0)).alias("log_incarnation"),
        sf.col("position").alias("from_offset"),
        sf.lit(None).cast("bigint").alias("to_offset"),
        sf.lit(True).alias("start_observed"),
    )


def _lives(inputs: TableInputs) -> DataFrame:
    """group_id, _life: the newest incarnation, of the newest log, that tonight's facts are of."""
    log = sf.coalesce("log_incarnation", sf.lit(0)).alias("log")
    life = sf.max(sf.struct(log, "incarnation", "offsets_partition")).alias("_life")
    facts = inputs.facts(*inputs.kinds, columns=_OF_LIFE)
    return (
        facts.where(sf.col("incarnation").isNotNull() & sf.col("group_id").isNotNull())
        .groupBy("group_id")
        .agg(life)
    )


_OF_LIFE: Final = ("group_id", "incarnation", "offsets_partition", "log_incarnation")


def _stall(reason: Column, *more: Column) -> list[Column]:
    return [
        sf.lit(Stall.KIND).alias("kind"),
        sf.col("group_id"),
        reason.alias("reason"),
        sf.col("position"),
        sf.col("is_final"),
        evidence_column().alias("evidence"),
        *more,
    ]


def _said(code: Column, **params: Column) -> list[Column]:
    return [code.alias("detail_code"), params_of(**params).alias("detail_params")]


def _member(protocol: str) -> list[Column]:
    return [
        sf.col("member_id"),
        sf.col("instance_id"),
        sf.col("client_id"),
        sf.col("client_host"),
        sf.col(protocol).alias("member_protocol"),
    ]


def _deadline(silent_since: str) -> Column:
    """When the session of a silent member runs out; NULL where no line says how long it is."""
    return sf.try_add(sf.col(silent_since), sf.col("session_timeout_ms")).alias("deadline_at")


def _says_goodbye() -> Column:
    is_streams = sf.coalesce(sf.col("client_id").like(STREAMS_CLIENT), sf.lit(False))
    return ~is_streams | sf.coalesce(sf.col("protocol") != "classic", sf.lit(False))


def _silences(tonight: DataFrame) -> DataFrame:
    """Silences that ended: the member came back, or was fenced for it."""
    reason = sf.when(sf.col("ended_by") == "LATE", "LATE_LEAVE").otherwise("NOT_HEARTBEATING")
    blocked_by = sf.array("member_id").alias("blocked_by")
    # Static members of the classic protocol do not say goodbye either; one that was frozen comes
    # back under its id.
    is_static = sf.col("instance_id").isNotNull() & (sf.col("protocol") == "classic")
    is_bounce = is_static & ((sf.col("ended_by") == "LATE") | ~sf.col("is_final"))
    is_shown = _says_goodbye() | (sf.col("ended_by") == "HEARTBEAT")
    rows = tonight.where((sf.col("kind") == Silence.KIND) & is_shown & ~is_bounce)
    rows = _with_log_end(rows, tonight, "broker")
    # Behind the end of the broker's request log nobody knows who was silent.
    is_seen = (sf.col("ended_by") == "HEARTBEAT") | (sf.col("until_at") <= sf.col(LOG_END))
    return rows.where(sf.coalesce(is_seen, sf.lit(True))).select(
        *_stall(
            reason,
            *_member("protocol"),
            sf.col("since_at"),
            sf.col("until_at"),
            blocked_by,
            _deadline("since_at"),
        )
    )


LOG_END: Final = "_log_end_ms"
CUT_MS: Final = 60_000
"""A request log that ends so long before the others is not all there: nobody knows what follows."""


def _with_log_end(rows: DataFrame, tonight: DataFrame, broker: str) -> DataFrame:
    """rows with LOG_END: time of the newest line of the request log of the broker in that column,
    NULL where no fact says so.
    """
    is_it = (sf.col("setting") == SEEN) & (sf.col("source") == REQUEST_LOG)
    ends = (
        tonight.where((sf.col("kind") == BrokerSetting.KIND) & is_it)
        .groupBy(sf.col("broker").alias("_of_broker"))
        .agg(sf.max("occurred_at").alias(LOG_END))
    )
    return rows.join(sf.broadcast(ends), sf.col(broker) == sf.col("_of_broker"), "left")


def _open_silences(tonight: DataFrame, inputs: TableInputs) -> DataFrame:
    """Members that are still in the group and have been silent up to the newest line."""
    context = inputs.context
    lives = inputs.facts(MemberLife, columns=("group_id", "member_id", "is_final"))
    alive = lives.where(~sf.col("is_final")).select("group_id", "member_id")
    groups = inputs.facts(GroupSnapshot, columns=("group_id", "phase"))
    applicable = groups.where(sf.col("phase") != "NOT_APPLICABLE").select("group_id")
    log_end = sf.coalesce(LOG_END, sf.lit(context.lines_as_of_ms))
    silent_ms = log_end - sf.col("last_seen_at")
    is_in_group = sf.col("ended_at").isNull() & ~sf.col("is_away") & ~sf.col("is_rejoining")
    twice_ms = 2 * sf.coalesce("heartbeat_interval_ms", sf.lit(0))
    is_silent = is_in_group & (
        silent_ms >= sf.greatest(threshold(context, "not_heartbeating_ms"), twice_ms)
    )
    contacts = tonight.where((sf.col("kind") == Contact.KIND) & _says_goodbye())
    rows = _with_log_end(contacts, tonight, "heard_by").where(is_silent)
    rows = rows.join(alive, ["group_id", "member_id"], "left_semi").join(
        applicable, "group_id", "left_semi"
    )
    is_cut = sf.lit(context.lines_as_of_ms) - sf.col(LOG_END) >= CUT_MS
    since, until = (
        sf.col("last_seen_at").alias("since_at"),
        sf.when(is_cut, sf.col(LOG_END)).alias("until_at"),
    )
    blocked_by = sf.array("member_id").alias("blocked_by")
    return rows.select(
        *_stall(
            sf.lit("NOT_HEARTBEATING"),
            *_member("protocol"),
            since,
            until,
            blocked_by,
            _deadline("last_heartbeat_at"),
        )
    )


def _rejected(tonight: DataFrame) -> DataFrame:
    """Askers that are refused membership again and again."""
    is_loop = (
        sf.col("api").isin(*MEMBERSHIP_APIS)
        & (sf.col("refusal") != "UPGRADE_REFUSED")
        & (sf.col("last_at") - sf.col("first_at") >= BURST_MS)
    )
    member = sf.coalesce("member_id", "subject").alias("member_id")
    return (
        distinct_refusals(tonight)
        .where(is_loop)
        .select(
            sf.lit(Chain.KIND).alias("kind"),
            "group_id",
            sf.lit("REJECTED_LOOP").alias("reason"),
            "position",
            "is_final",
            evidence_column().alias("evidence"),
            member,
            "instance_id",
            "client_id",
            "client_host",
            "times_at",
            sf.col("times_at").alias("ends_at"),
            *_said(
                sf.lit("REFUSED"),
                error=error_name(sf.col("error_code")),
                message=sf.col("message"),
            ),
        )
    )


def _refused_upgrades(tonight: DataFrame) -> DataFrame:
    """Classic groups that turned members of the consumer protocol down; one that was over at once
    too, since it never repairs itself.
    """
    rows = distinct_refusals(tonight).where(sf.col("refusal") == "UPGRADE_REFUSED")
    code = sf.when(sf.col("message").isNull(), "NO_UPGRADE").otherwise("NO_UPGRADE_SAYS")
    said = _said(code, message=sf.col("message"), attempts=sf.col("attempts").cast("string"))
    return rows.select(
        *_stall(
            sf.lit("UPGRADE_REFUSED"),
            sf.col("first_at").alias("since_at"),
            _until("last_at"),
            *said,
        )
    )


def _phases(tonight: DataFrame) -> DataFrame:
    """Phases of classic rebalances that do not end, and those that ended late."""
    rows = tonight.where(
        (sf.col("kind") == Rebalance.KIND)
        & ~sf.col("outcome").isin("CONVERTED", "INTERRUPTED", "EMPTY")
    )
    lists = {
        name: sf.when(sf.size(name) > 0, sf.to_json(name))
        for name in ("members_missing", "members_dropped")
    }
    nobody = sf.when(sf.col("nobody_joined"), "nobody")
    said = _said(sf.lit("REBALANCING"), reason=sf.col("reason"), joined=nobody, **lists)
    joins = rows.where(sf.col("joined_at").isNull())
    until = sf.col("ended_at").alias("until_at")
    join_rows = joins.select(
        *_stall(
            sf.lit("JOIN_NEVER_COMPLETES"), sf.col("started_at").alias("since_at"), until, *said
        )
    )
    syncs = rows.where(sf.col("joined_at").isNotNull() & sf.col("synced_at").isNull())
    return join_rows.unionByName(
        syncs.select(
            *_stall(
                sf.lit("SYNC_NEVER_COMPLETES"), sf.col("joined_at").alias("since_at"), until, *said
            )
        )
    )


def _outages(tonight: DataFrame) -> DataFrame:
    rows = tonight.where(sf.col("kind") == Outage.KIND)
    said = _said(sf.lit("NOT_THERE"), attempts=sf.col("attempts").cast("string"))
    return rows.select(
        *_stall(sf.lit("COORDINATOR_UNAVAILABLE"), sf.col("since_at"), sf.col("until_at"), *said)
    )


def _assignor_failures(tonight: DataFrame) -> DataFrame:
    """Groups that the coordinator could compute no target for; one that got one at once too, since
    a member was turned away.
    """
    rows = tonight.where(sf.col("kind") == AssignorFailure.KIND)
    until = sf.coalesce("until_at", _until("last_at")).alias("until_at")
    said = _said(
        sf.lit("NO_TARGET"),
        attempts=sf.col("attempts").cast("string"),
        epoch=sf.col("epoch").cast("string"),
        reason=sf.col("reason"),
    )
    return rows.select(
        *_stall(sf.lit("ASSIGNOR_FAILED"), sf.col("first_at").alias("since_at"), until, *said)
    )


def _until(name: str) -> Column:
    """The end of a run: none while another attempt can lengthen it."""
    return sf.when(sf.col("is_final"), sf.col(name)).alias("until_at")
