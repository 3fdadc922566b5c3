"""Table `static_accounting`: processes that were gone, and what their absence cost or saved."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.decision_facts import Absence
from groupreplay.replay.decisions.absences import (
    ABSORBED,
    DYNAMIC,
    EXPIRED,
    EXPIRED_RETURNED,
    STATIC,
    STILL_AWAY,
    UNOBSERVED,
)
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import fact_columns, instant, instants, integer
from groupreplay.report.joins.horizons import COVERAGE, closed, horizons, with_horizon
from groupreplay.report.joins.lines.departures import since_when, with_departure
from groupreplay.report.joins.lines.member_contacts import alive_at, with_contact
from groupreplay.report.joins.lines.settings_in_force import (
    HEARTBEAT_MS,
    MAX_SESSION_MS,
    SESSION_MS,
    with_brokers,
)
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

LEFT: Final = "LEFT"
LEFT_RETURNED: Final = "LEFT_RETURNED"
"""What a line makes of EXPIRED and EXPIRED_RETURNED: the member said goodbye."""

AWAY_RECORD: Final = "AWAY_RECORD"
LEAVE: Final = "LEAVE"
HEARTBEAT: Final = "HEARTBEAT"
COMMIT: Final = "COMMIT"
NONE: Final = "NONE"
"""What shows when it left."""

FENCED_INSTANCE_ID: Final = 82
"""Error code of a member whose instance another one took."""


def static_accounting(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    rows = with_horizon(inputs.staged.where(sf.col("kind") == Absence.KIND), horizons(inputs))
    # Who is away may come back at any time; who was removed, for an hour.
    is_open = sf.col("outcome").isin(STILL_AWAY, UNOBSERVED)
    absences = closed(rows, sf.when(~is_open, sf.coalesce("returned_at", "removed_at")))
    told = _told(with_brokers(absences, context), context)
    return _measured(told, context.brokers.classic_heartbeat_ms).select(
        *fact_columns(context),
        "identity",
        "instance_id",
        "member_id",
        "returned_as",
        _of_contact("client_id"),
        _of_contact("client_host"),
        "member_protocol",
        "membership",
        _outcome(),
        instant(sf.col("_left_ms"), "left_at"),
        sf.col("_shown_by").alias("left_shown_by"),
        *instants("removed_at", "returned_at"),
        *[sf.col(f"_{name}").alias(name) for name in ("gap_low_ms", "gap_ms", "gap_high_ms")],
        sf.col("_own_ms").alias("own_timeout_ms"),
        _absorbed_own(),
        _absorbed(45_000).alias("absorbed_45s"),
        _absorbed(60_000).alias("absorbed_60s"),
        _is_cliff(),
        integer("partitions"),
        sf.when(_is(ABSORBED), 2 * sf.col("partitions"))
        .otherwise(0)
        .cast("int")
        .alias("avoided_moves"),
        sf.col("epochs_opened").cast("int").alias("epochs"),
        integer("moved"),
        sf.col("_blind_ms").alias("blind_ms"),
        sf.when(sf.col("membership") == STATIC, sf.col("_blind_ms")).alias("blind_extra_ms"),
        _owner_was_alive(),
        sf.col("departure.evidence").alias("evidence"),
        "is_final",
    )


def _told(absences: DataFrame, context: ReportContext) -> DataFrame:
    """absences with `departure` and `contact`, as the lines show them of the member that went."""
    ended = sf.coalesce("removed_at", "returned_at", "left_at")
    since = sf.coalesce("left_at", "last_commit_at", ended - MAX_CHAIN_GAP_MS)
    is_removed = sf.col("removed_at").isNotNull()
    told_since = since_when(since, ended)
    known = with_departure(absences, context.evidence, is_removed, told_since, ended, None)
    return with_contact(known, context, ended - MAX_CHAIN_GAP_MS, ended)


def _measured(told: DataFrame, classic_heartbeat_ms: int) -> DataFrame:
    """With since when it was gone, by what, and for how long at least, at most, and as it seems.

    classic_heartbeat_ms: heartbeat interval of classic members.
    """
    heard = alive_at(sf.col("last_commit_at"))
    gone_by = sf.coalesce("removed_at", "returned_at")
    signs = {
        AWAY_RECORD: sf.col("left_at"),
        LEAVE: sf.when(
            sf.col("departure.outcome") == LEFT, sf.least("departure.first_at", gone_by)
        ),
        HEARTBEAT: sf.when(heard <= gone_by, heard),
        COMMIT: sf.col("last_commit_at"),
    }
    shown_by = sf.lit(NONE)
    for name, sign in reversed(signs.items()):
        shown_by = sf.when(sign.isNotNull(), name).otherwise(shown_by)
    known = told.withColumns(
        {
            "_left_ms": sf.coalesce(*signs.values()),
            "_shown_by": shown_by,
            "_own_ms": sf.coalesce("own_session_ms", SESSION_MS),
        }
    )
    until = sf.when(_is(STILL_AWAY), sf.col("now_ms")).otherwise(sf.col("removed_at"))
    blind = sf.when(~sf.col("outcome").isin(ABSORBED, UNOBSERVED), until - sf.col("_left_ms"))
    return _with_gaps(known, classic_heartbeat_ms).withColumn("_blind_ms", _not_negative(blind))


def _with_gaps(known: DataFrame, classic_heartbeat_ms: int) -> DataFrame:
    """Until it was back: exact where its own record says when it left."""
    returned, shown_by = sf.col("returned_at"), sf.col("_shown_by")
    is_exact = shown_by == AWAY_RECORD
    gap = sf.when(
        shown_by.isin(AWAY_RECORD, LEAVE, HEARTBEAT), _not_negative(returned - sf.col("_left_ms"))
    )
    # It may have died later than its last request came: while that waited for its answer, whatever
    # that was, or since.
    answered = sf.greatest("contact.last_heartbeat_at", "contact.last_seen_at")
    unheard = returned - answered
    by_heartbeat = sf.when(shown_by == HEARTBEAT, unheard - _next_due_ms(classic_heartbeat_ms))
    low = (
        sf.when(is_exact | (shown_by == LEAVE), gap)
        .when(sf.col("membership") == DYNAMIC, _not_negative(returned - sf.col("removed_at")))
        .otherwise(sf.greatest(by_heartbeat, sf.lit(0)))
    )
    low = sf.when(returned.isNotNull(), low)
    by_commit = _not_negative(returned - sf.col("last_commit_at"))
    # The clock of the broker that wrote the commit may be ahead of the one that wrote the return.
    high = sf.when(by_commit.isNotNull(), sf.greatest(by_commit, low))
    return known.withColumns(
        {
            "_gap_ms": gap,
            "_gap_low_ms": low,
            "_gap_high_ms": sf.when(is_exact, gap).otherwise(high),
        }
    )


def _next_due_ms(classic_heartbeat_ms: int) -> Column:
    """After a request the next one was due within its longest time between two; of a member that
    was seen to join alone, within its heartbeat interval.
    """
    is_classic = sf.col("member_protocol") == "classic"
    beats = sf.when(is_classic & (sf.coalesce("contact.beats", sf.lit(0)) > 0), 0)
    interval = sf.coalesce(
        beats,
        sf.when(is_classic, sf.lit(classic_heartbeat_ms)),
        "contact.heartbeat_interval_ms",
        HEARTBEAT_MS,
    )
    return sf.greatest("contact.longest_gap_ms", interval)


def _of_contact(name: str) -> Column:
    """As it told the broker; records keep that of the first process of a classic instance."""
    return sf.coalesce(f"contact.{name}", name).alias(name)


def _not_negative(ms: Column) -> Column:
    """Clocks of two brokers can make a duration negative: it is then not known."""
    return sf.when(ms >= 0, ms)


def _is(outcome: str) -> Column:
    return sf.col("outcome") == outcome


def _outcome() -> Column:
    is_left = sf.col("departure.outcome") == LEFT
    return (
        sf.when(is_left & _is(EXPIRED), LEFT)
        .when(is_left & _is(EXPIRED_RETURNED), LEFT_RETURNED)
        .otherwise(sf.col("outcome"))
        .alias("outcome")
    )


# ---------------------------------------------------------------- under another timeout


def _absorbed(timeout: Column | int) -> Column:
    """Whether a session timeout, in ms, would have lasted until the return; NULL where what is
    known of the gap does not decide it.

    Epoch -2 re-arms no timer: the session of a consumer member runs from its last heartbeat.
    """
    slack = sf.when(sf.col("member_protocol") == "classic", 0).otherwise(sf.col(HEARTBEAT_MS))
    limit = timeout if isinstance(timeout, Column) else sf.lit(timeout)
    longest = sf.coalesce("_gap_ms", "_gap_high_ms")
    return sf.when(longest + slack <= limit, True).when(sf.col("_gap_low_ms") > limit, False)


def _absorbed_own() -> Column:
    """What the records say, where they do."""
    is_removed = sf.col("outcome").isin(EXPIRED, EXPIRED_RETURNED)
    is_left = sf.coalesce(sf.col("departure.outcome") == LEFT, sf.lit(False))
    return (
        sf.when(_is(ABSORBED), True)
        .when(is_removed & ~is_left, False)
        .otherwise(_absorbed(sf.col("_own_ms")))
        .alias("absorbed_own")
    )


def _is_cliff() -> Column:
    """A classic static member's bounce that no timeout of the consumer protocol would absorb."""
    longest = sf.coalesce("_gap_ms", "_gap_high_ms")
    can_be = _is(ABSORBED) & (sf.col("member_protocol") == "classic")
    return (
        sf.when(
            can_be & (sf.col("membership") == STATIC),
            longest + sf.col(HEARTBEAT_MS) > sf.col(MAX_SESSION_MS),
        )
        .otherwise(False)
        .alias("is_cliff")
    )


def _owner_was_alive() -> Column:
    """Who is fenced by its own instance id still asks, under the id that it had."""
    told = sf.array_contains(sf.col("contact.error_codes"), sf.lit(FENCED_INSTANCE_ID))
    is_taken = _is(ABSORBED) & (sf.col("membership") == STATIC)
    return sf.when(is_taken, told).alias("owner_was_alive")


SPEC: Final = TableSpec(
    name="static_accounting",
    build=static_accounting,
    facts=(Absence,),
    tables=COVERAGE,
    earlier=COVERAGE,
    is_owned=True,
    members=frozenset({"returned_as"}),
    identities=frozenset({"identity"}),
    clear=frozenset({"membership", "left_shown_by"}),
    digest=(
        *GROUP,
        "identity",
        "member_id",
        "instance_id",
        "returned_as",
        "membership",
        "removed_at",
        "returned_at",
        "partitions",
        "epochs",
    ),
)
