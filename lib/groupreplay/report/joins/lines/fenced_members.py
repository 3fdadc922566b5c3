"""Named step: members whose session ended while others joined a rebalance, and whose process joined
the same generation under another id.

A process is known by its instance id, else by client id and host where no other member of the
generation has both. A line of a removal names the member id alone; who it was is in the member's
own requests.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import SESSION_EXPIRED, Departure, Rejoin
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.lines.departures import SLACK_MS
from groupreplay.report.joins.lines.rejoin_times import answered_by, is_let_in

_PLACE: Final = ("group_id", "source", "input", "position")


def with_members_back(rebalances: DataFrame, context: ReportContext) -> DataFrame:
    """rebalances with `members_back`: member ids, sorted. NULL where no request log shows who
    joined, or which process it was.

    rebalances: rows of `Rebalance`, so there are lines.
    """
    evidence = context.evidence
    assert evidence is not None, "rebalances come from lines"
    fenced, joins = _fenced(rebalances, evidence), _joins(evidence)
    found = rebalances.join(fenced, [*_PLACE], "left").join(
        joins,
        (sf.col("group_id") == sf.col("_group_id"))
        & (sf.col("broker") == sf.col("_broker"))
        & (sf.col("generation") == sf.col("_before")),
        "left",
    )
    in_phase = sf.filter("_joins", lambda each: is_let_in(each["at"], each["answered_at"]))
    told = found.withColumn("_joins", in_phase)
    return told.withColumn("members_back", _back()).drop(
        "_group_id", "_broker", "_before", "_joins", "_fenced"
    )


def _process() -> Column:
    client = sf.when(
        sf.col("client_id").isNotNull() & sf.col("client_host").isNotNull(),
        sf.struct(
            sf.lit(None).cast("string").alias("instance"),
            sf.col("client_id").alias("client"),
            sf.col("client_host").alias("host"),
        ),
    )
    nothing = sf.lit(None).cast("string")
    of_instance = sf.struct(
        sf.col("instance_id").alias("instance"), nothing.alias("client"), nothing.alias("host")
    )
    return sf.when(sf.col("instance_id").isNotNull(), of_instance).otherwise(client)


def _fenced(rebalances: DataFrame, evidence: DataFrame) -> DataFrame:
    """_PLACE of a rebalance, and `_fenced`: who was removed from its start, or by what started it,
    to the end of its join phase.
    """
    ended = evidence.where(
        (sf.col("kind") == Departure.KIND) & (sf.col("source") == "server_log")
    ).select(
        sf.col("group_id").alias("_group_id"),
        sf.col("broker").alias("_broker"),
        sf.struct("ended_at", "position").alias("_line"),
        (sf.col("end_detail") == SESSION_EXPIRED).alias("_is_expired"),
        sf.struct("member_id", sf.col("ended_at").alias("at"), _process().alias("who")).alias("_m"),
    )
    at, started_at = sf.col("_m")["at"], sf.col("started_at")
    just_before = at.between(started_at - SLACK_MS, started_at)
    began_it = (sf.col("cause") == "FENCED") & (sf.col("_m")["member_id"] == sf.col("cause_member"))
    is_in_phase = at.between(started_at, sf.col("joined_at")) | (began_it & just_before)
    may_end_protocol = (sf.col("cause") == "DOWNGRADE") & just_before
    last = sf.max(sf.when(may_end_protocol, sf.struct("_line", "_is_expired", "_m")))
    phase = rebalances.select(
        *(*_PLACE, "broker", "started_at", "joined_at", "cause"),
        sf.col("cause_member_id").alias("cause_member"),
    )
    return (
        phase.join(
            ended,
            (sf.col("group_id") == sf.col("_group_id"))
            & (sf.col("broker") == sf.col("_broker"))
            & (is_in_phase | may_end_protocol),
        )
        .groupBy(*_PLACE)
        .agg(
            sf.collect_set(sf.when(is_in_phase & sf.col("_is_expired"), sf.col("_m"))).alias("_in"),
            last.alias("_last"),
        )
        .select(*_PLACE, _with_last().alias("_fenced"))
    )


def _with_last() -> Column:
    """A group is a classic one again when its last member of the consumer protocol is gone, whom
    the reason does not name: its own line comes last before.

    Source: GroupMetadataManager.convertToClassicGroup.
    """
    last = sf.array(sf.col("_last")["_m"])
    with_last = sf.array_union("_in", last)
    return sf.when(sf.col("_last")["_is_expired"], with_last).otherwise(sf.col("_in"))


def _joins(evidence: DataFrame) -> DataFrame:
    """Who joined each generation of a group, by the broker that answered."""
    joined = sf.struct(
        *("member_id", "is_new", "answered_at"),
        sf.col("joined_at").alias("at"),
        _process().alias("who"),
    )
    return (
        evidence.where(
            (sf.col("kind") == Rejoin.KIND)
            & sf.col("joined_at").isNotNull()
            & sf.col("new_generation").isNotNull()
        )
        .groupBy(
            sf.col("group_id").alias("_group_id"),
            answered_by().alias("_broker"),
            (sf.col("new_generation") - 1).alias("_before"),
        )
        .agg(sf.collect_list(joined).alias("_joins"))
    )


def _back() -> Column:
    is_unclear = sf.exists(
        "_fenced",
        lambda gone: gone["who"].isNull() | (_has_joined(gone) & ~_is_alone(gone)),
    )
    back = sf.array_sort(
        sf.transform(sf.filter("_fenced", _has_joined), lambda gone: gone["member_id"])
    )
    nobody = sf.array().cast("array<string>")
    return (
        sf.when(sf.coalesce(sf.size("_joins"), sf.lit(0)) <= 0, None)
        .when(sf.col("_fenced").isNull(), nobody)
        .when(is_unclear, None)
        .otherwise(back)
    )


def _has_joined(gone: Column) -> Column:
    """Whether the process is in the generation, under an id that is new."""
    return sf.exists(
        "_joins",
        lambda each: (
            each["who"].eqNullSafe(gone["who"]) & each["is_new"] & (each["at"] >= gone["at"])
        ),
    )


def _is_alone(gone: Column) -> Column:
    """Whether no other member was, or came as, the same process."""
    others = sf.exists(
        "_fenced",
        lambda each: each["who"].eqNullSafe(gone["who"]) & (each["member_id"] != gone["member_id"]),
    )
    came = sf.filter("_joins", lambda each: each["who"].eqNullSafe(gone["who"]))
    ids = sf.size(sf.array_distinct(sf.transform(came, lambda each: each["member_id"])))
    return ~others & (ids == 1)
