"""Table `departure_waves`: what a run of joins and departures was, and what it cost."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.decision_facts import Churn
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import GROUP, unordered
from groupreplay.report.joins.columns import fact_columns, instants, integer
from groupreplay.report.joins.horizons import COVERAGE, closed, horizons, with_horizon
from groupreplay.report.joins.lines.departure_ends import WAVE_KEY, with_ends
from groupreplay.report.joins.lines.rejoin_times import with_stopped
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.workers.waves.wave_frames import CHAIN_COLUMNS, WAVES_DDL, cutting
from groupreplay.workers.waves.waves import WaveLimits

_OUT_OF_TIME: Final = ("POLL_TIMEOUT", "REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "SYNC_TIMEOUT")
_EXPIRED: Final = ("EXPIRED", "SESSION_EXPIRED")
_WHATEVER_THE_ENDS: Final = ("BOUNCE", "AWAY", "START", "STOP", "RECREATE", "SCALE_UP")
_CLIENTS: Final = (
    "array<struct<client_id: string, client_host: string, instance_id: string, departed: int,"
    " joined: int>>"
)


def departure_waves(inputs: TableInputs) -> DataFrame:
    context, known = inputs.context, horizons(inputs)
    chains = with_horizon(inputs.staged.where(sf.col("kind") == Churn.KIND), known)
    waves = closed(with_horizon(_waves(chains, context), known), sf.col("chain_ended_at"))
    told = with_ends(with_stopped(waves, WAVE_KEY, context), context)
    return _with_class(told, context).select(
        *fact_columns(context),
        *instants("started_at", "ended_at", "settled_at"),
        "class",
        _confidence().alias("class_confidence"),
        *map(integer, ("members_before", "members_after", "members_low")),
        *map(integer, ("joined", "departed", "replaced", "away", "cycles", "touched")),
        _counted(),
        "hosts_out",
        "hosts_in",
        _clients(),
        *map(integer, ("epochs", "moved", "returned", "moves_floor")),
        "low_ms",
        _est_ms().alias("est_ms"),
        _high_ms().alias("high_ms"),
        sf.when(_est_ms().isNotNull(), _is_partial()).alias("est_is_partial"),
        integer("high_unknown"),
        "longest_idle_ms",
        *map(integer, ("epochs_registration", "epochs_expansion")),
        "registration_pending",
        "is_cut",
        "is_final",
    )


def _waves(chains: DataFrame, context: ReportContext) -> DataFrame:
    limits = WaveLimits(
        gap_ms=context.waves.gap_ms,
        registration_ms=context.static.registration_ms,
        expansion_ms=context.static.expansion_ms,
    )
    return chains.select(*CHAIN_COLUMNS, "now_ms").mapInArrow(cutting(limits), WAVES_DDL)


# ---------------------------------------------------------------- what it was


def _with_class(waves: DataFrame, context: ReportContext) -> DataFrame:
    """The first class that applies."""
    joined, departed = sf.col("joined"), sf.col("departed")
    expired, late = _ended(_EXPIRED), _ended(_OUT_OF_TIME)
    tenth = sf.greatest(sf.lit(1), sf.floor(sf.col("members_before") / 10))
    is_still = (joined == 0) & (departed == 0)
    tried = (
        ("BOUNCE", is_still & (sf.col("replaced") > 0)),
        ("AWAY", is_still),
        ("START", sf.col("members_before") == 0),
        ("FLAPPING", sf.col("cycles_most") >= context.waves.flap_cycles),
        ("POLL_TIMEOUT", (departed > 0) & (late == departed)),
        ("CRASH", (departed > 0) & (2 * expired >= departed)),
        ("HOST_SWAP", sf.col("has_new_hosts") & (joined == departed)),
        ("RECREATE", sf.col("rose_from_0")),
        ("STOP", sf.col("members_after") == 0),
        ("ROLLOUT", (departed >= 2) & (joined >= 1) & (sf.abs(joined - departed) <= tenth)),
        ("RESTART", (departed == 1) & (joined == 1)),
        ("SCALE_UP", joined > departed),
        ("SCALE_DOWN", joined < departed),
    )
    found = sf.lit("MIXED")
    for name, applies in reversed(tried):
        found = sf.when(applies, name).otherwise(found)
    return waves.withColumn("class", found)


def _ended(ends: tuple[str, ...]) -> Column:
    return sf.size(sf.filter(_departed(), lambda each: each["end"].isin(*ends)))


def _departed() -> Column:
    """What is told of members that went, and were not taken over."""
    return sf.filter("ends_told", lambda each: each["kind"] == "G")


def _confidence() -> Column:
    are_exact = sf.forall(_departed(), lambda each: each["is_exact"])
    is_exact = sf.col("class").isin(*_WHATEVER_THE_ENDS) | are_exact
    return sf.when(is_exact, "EXACT").otherwise("INFERRED")


def _counted() -> Column:
    """End -> how many departures ended so."""
    ends = sf.transform(_departed(), lambda each: each["end"])

    def pair(end: Column) -> Column:
        count = sf.size(sf.filter(ends, lambda each: each == end))
        return sf.struct(end.alias("key"), count.alias("value"))

    distinct = sf.sort_array(sf.array_distinct(ends))
    return sf.map_from_entries(sf.transform(distinct, pair)).alias("ends")


def _clients() -> Column:
    names = ("client_ids", "client_hosts", "instance_ids", "clients_out", "clients_in")
    return sf.arrays_zip(*names).cast(_CLIENTS).alias("clients")


# ---------------------------------------------------------------- what it cost


def _est_ms() -> Column:
    """NULL where members of an eager group stopped and no line shows when they heard of it."""
    unread = sf.aggregate(
        "ends_told",
        sf.lit(0).cast("bigint"),
        lambda total, each: total + sf.coalesce(each["unread_ms"], sf.lit(0)),
    )
    est = sf.col("asked_ms") + sf.col("removed_ms") + sf.col("gap_ms") + unread
    est += sf.col("told_stopped_ms")
    is_known = sf.col("low_ms").isNotNull() & est.isNotNull()
    return sf.when(is_known, sf.greatest(sf.col("low_ms"), est))


def _high_ms() -> Column:
    """Members that commit when they are told to join again stopped earlier than commits show."""
    is_known = sf.col("high_ms").isNotNull()
    return sf.when(is_known, sf.greatest(sf.col("high_ms"), _est_ms()))


def _is_partial() -> Column:
    return sf.exists("ends_told", lambda each: (each["removed"] > 0) & each["silent_ms"].isNull())


SPEC: Final = TableSpec(
    name="departure_waves",
    build=departure_waves,
    facts=(Churn,),
    tables=COVERAGE,
    earlier=COVERAGE,
    is_owned=True,
    hosts=frozenset({"hosts_out", "hosts_in"}),
    clear=frozenset({"class", "class_confidence", "ends"}),
    digest=(
        *GROUP,
        "started_at",
        "ended_at",
        "members_before",
        "members_after",
        "members_low",
        "joined",
        "departed",
        "replaced",
        "away",
        "cycles",
        "touched",
        unordered("hosts_out"),
        unordered("hosts_in"),
        "epochs",
        "moved",
        "returned",
        "low_ms",
        "high_ms",
    ),
)
