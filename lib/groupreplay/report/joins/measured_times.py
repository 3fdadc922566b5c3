"""Named steps: how long the steps of rebalances took this night, by records and by lines.

Rows of each: _id (of the group), measure (of `what_if.times`), ms.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import Contact, Rebalance, Rejoin
from groupreplay.replay.facts import Epoch, HandOver, HeldPartition
from groupreplay.report.joins.horizons import horizons, with_horizon
from groupreplay.report.joins.lines.departures import SLACK_MS
from groupreplay.report.joins.lines.rejoin_times import rejoin_times
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.what_if.times import (
    BEAT,
    CALLBACK,
    CLASSIC_BEAT,
    JOIN,
    REJOIN,
    REVOKE,
    SYNC,
    TAKEN,
)

LEAST_BEATS: Final = 10
"""Fewer times between heartbeats do not show the interval that a member was set to."""

ROUNDED_TO: Final = -2
"""Heartbeats are set in round numbers and come some ms late: to hundreds of ms."""


_OF_STEPS: Final = (
    *("group_id", "offsets_partition", "outcome", "member_protocol", "revoke_ms"),
    *("started_at", "sync_ms"),
)
_OF_EPOCH: Final = (
    *("group_id", "epoch", "protocol", "cooperative", "stopped", "joined_at", "started_at"),
)
_OF_HELD: Final = ("group_id", "member_id", "released_epoch", "released_at", "next_assigned_at")


def record_times(inputs: TableInputs) -> DataFrame:
    """REVOKE, SYNC and TAKEN. A generation that an earlier night saw begin goes on tonight, and
    says nothing of it.

    inputs: with facts of hand-overs, epochs and held partitions.
    """
    kind = sf.col("kind")
    is_acked = (kind == HandOver.KIND) & (sf.col("outcome") == "ACKED")
    is_revoke = is_acked & (sf.col("member_protocol") == "consumer")
    is_sync = (kind == Epoch.KIND) & (sf.col("started_at") > sf.col("before_ms"))
    ms = sf.when(is_revoke, sf.col("revoke_ms")).when(is_sync, sf.col("sync_ms"))
    facts = inputs.facts(HandOver, Epoch, columns=_OF_STEPS)
    facts = with_horizon(facts, horizons(inputs))
    told = facts.where((is_revoke | is_sync) & (ms >= 0)).select(
        sf.col("group_id").alias("_id"),
        sf.when(is_revoke, REVOKE).otherwise(SYNC).alias("measure"),
        ms.alias("ms"),
    )
    return told.unionByName(_taken(inputs))


def _taken(inputs: TableInputs) -> DataFrame:
    """Times of partitions that one generation of a cooperative group took and the next gave out:
    each such pair of generations once. What members of a consumer group had let go before it was
    converted no generation took.
    """
    generations = _generations(inputs)
    taking = generations.select(
        sf.col("group_id").alias("_of"),
        sf.col("epoch").alias("_taken"),
        sf.col("started_at").alias("_taken_at"),
    )
    is_taken = (
        (sf.col("group_id") == sf.col("_of"))
        & (sf.col("released_epoch") == sf.col("_taken"))
        & (sf.col("released_at") == sf.col("_taken_at"))
    )
    generations = generations.where(_IS_JOINED_READING).select(
        sf.col("group_id").alias("_id"),
        sf.col("epoch").alias("_epoch"),
        sf.col("started_at").alias("_given_at"),
    )
    revoked = _revoked(inputs).where(sf.col("next_assigned_at") > sf.col("released_at"))
    revoked = revoked.join(taking, is_taken, "left_semi")
    is_next = (
        (sf.col("group_id") == sf.col("_id"))
        & (sf.col("released_epoch") + 1 == sf.col("_epoch"))
        & (sf.col("next_assigned_at") == sf.col("_given_at"))
    )
    pairs = revoked.join(generations, is_next).select("group_id", "released_at", "_given_at")
    return _measured(pairs.distinct(), TAKEN, sf.col("_given_at") - sf.col("released_at"))


def _cooperative(inputs: TableInputs) -> DataFrame:
    """Epochs of groups whose members were seen to read on."""
    return inputs.facts(Epoch, columns=_OF_EPOCH).where("coalesce(cooperative, false)")


def _generations(inputs: TableInputs) -> DataFrame:
    """Epochs of classic groups."""
    return inputs.facts(Epoch, columns=_OF_EPOCH).where(sf.col("protocol") == "classic")


_IS_JOINED_READING: Final = "joined_at IS NOT NULL AND coalesce(cooperative, stopped IS NULL)"
"""Whether members read on when they joined a generation, or their assignor says so, where nobody
had anything to list. Nobody joins the one that a downgrade begins.
"""


def _revoked(inputs: TableInputs) -> DataFrame:
    """Partitions that a member gave up while it stayed."""
    held = inputs.facts(HeldPartition, columns=(*_OF_HELD, "end_reason"))
    return held.where(sf.col("end_reason") == "REVOKED").select(*_OF_HELD)


def line_times(lines: DataFrame, inputs: TableInputs) -> DataFrame:
    """JOIN and REJOIN of eager groups, CALLBACK, BEAT and CLASSIC_BEAT.

    lines: rows of `evidence` that the night wrote.
    inputs: with facts of epochs and held partitions.
    """
    return (
        _joins(lines, inputs)
        .unionByName(_callbacks(lines, inputs))
        .unionByName(_beats(lines))
        .unionByName(_classic_beats(lines))
    )


def _joins(lines: DataFrame, inputs: TableInputs) -> DataFrame:
    """A join phase of a group that had nobody lasts as long as the broker waits for more
    (group.initial.rebalance.delay.ms), and shows nothing of its members. Members of cooperative
    groups join before they give anything up.
    """
    cooperative = _cooperative(inputs).select(sf.col("group_id").alias("_id")).distinct()
    lasted = sf.col("joined_at") - sf.col("started_at")
    is_first = sf.col("generation") <= 0
    phases = lines.where((sf.col("kind") == Rebalance.KIND) & ~is_first & (lasted >= 0))
    joins = _measured(phases, JOIN, lasted)
    rejoins = rejoin_times(lines)
    if rejoins is not None:
        joins = joins.unionByName(_measured(rejoins, REJOIN, sf.col("rejoin_ms")))
    return joins.join(cooperative, "_id", "left_anti")


def _callbacks(lines: DataFrame, inputs: TableInputs) -> DataFrame:
    """From when a member had its assignment, without partitions that it had before, to when it came
    to join the next generation without being told to, and read on what it kept. Members of eager
    groups, and of mixed ones, come untold for reasons of their own. Another life of the group has
    generations of the same numbers: a join is answered between the end of the join phase and the K2
    of its own.
    """
    rejoins = lines.where(sf.col("kind") == Rejoin.KIND)
    synced = rejoins.where(sf.col("synced_at").isNotNull()).select(
        "group_id", "member_id", sf.col("new_generation").alias("_epoch"), "synced_at"
    )
    untold = sf.col("told_at").isNull() & sf.col("joined_at").isNotNull()
    came = rejoins.where(untold).select(
        "group_id",
        "member_id",
        (sf.col("new_generation") - 1).alias("_epoch"),
        sf.col("joined_at").alias("_came_at"),
        "answered_at",
    )
    gave_up = _revoked(inputs).select(
        "group_id", "member_id", sf.col("released_epoch").alias("_epoch")
    )
    key = ["group_id", "member_id", "_epoch"]
    joined = _generations(inputs).where(_IS_JOINED_READING)
    joined = joined.select(
        sf.col("group_id").alias("_id"),
        (sf.col("epoch") - 1).alias("_before"),
        (sf.col("joined_at") - SLACK_MS).alias("_since"),
        (sf.col("started_at") + SLACK_MS).alias("_until"),
    )
    is_its_own = (
        (sf.col("group_id") == sf.col("_id"))
        & (sf.col("_epoch") == sf.col("_before"))
        & sf.col("answered_at").between(sf.col("_since"), sf.col("_until"))
    )
    came = came.join(joined, is_its_own, "left_semi")
    pairs = synced.join(came, key).where(sf.col("_came_at") >= sf.col("synced_at"))
    return _measured(
        pairs.join(gave_up.distinct(), key), CALLBACK, sf.col("_came_at") - sf.col("synced_at")
    )


def _beats(lines: DataFrame) -> DataFrame:
    told = (sf.col("kind") == Contact.KIND) & (sf.col("heartbeat_interval_ms") > 0)
    return _measured(lines.where(told), BEAT, sf.col("heartbeat_interval_ms"))


def _classic_beats(lines: DataFrame) -> DataFrame:
    heard = (sf.col("kind") == Contact.KIND) & (sf.col("beats") >= LEAST_BEATS)
    mean = sf.round(sf.col("beats_ms") / sf.col("beats"), ROUNDED_TO).cast("bigint")
    return _measured(lines.where(heard), CLASSIC_BEAT, mean).where(sf.col("ms") > 0)


def _measured(rows: DataFrame, measure: str, ms: Column) -> DataFrame:
    return rows.select(
        sf.col("group_id").alias("_id"), sf.lit(measure).alias("measure"), ms.alias("ms")
    )
