"""Named step: what each departure of a wave was: by the line of a broker, else by what the records
prove, else by how long the member had been silent against its own timeouts.

A member that leaves says so at once, so its last commit is no older than its commit interval. One
whose session expired was silent for its session timeout. One that did not poll in time was silent
for its rebalance timeout (`max.poll.interval.ms` of the Java client). This needs commits that come
more often than the timeouts: where a group commits seldom it is what silence looks like, and
INFERRED.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.decisions.modes import EAGER
from groupreplay.report.context import ReportContext
from groupreplay.report.departure_codes import EXPIRED, LEFT, POLL_TIMEOUT, UNKNOWN
from groupreplay.report.joins.lines.departures import EXACT, says_poll_timeout, with_departure
from groupreplay.report.joins.lines.member_contacts import alive_at, with_contact
from groupreplay.report.joins.lines.rejoin_times import with_told
from groupreplay.report.joins.lines.settings_in_force import HEARTBEAT_MS, SESSION_MS, with_brokers

SESSION_SLACK_MS: Final = 1_000
"""A coordinator looks after sessions now and then, and clients commit each second or seldomer."""

_HEARTBEATS: Final = ("HEARTBEAT", "CONSUMER_GROUP_HEARTBEAT")
_NO_COORDINATOR: Final = (14, 15, 16)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""

_END_TYPE: Final = (
    "struct<place: int, kind: string, end: string, is_exact: boolean, removed: bigint,"
    " silent_ms: bigint, unread_ms: bigint, unheard_ms: bigint, absent_ms: bigint>"
)
WAVE_KEY: Final = ("group_id", "log_incarnation", "offsets_partition", "incarnation", "from_offset")


def with_ends(waves: DataFrame, context: ReportContext) -> DataFrame:
    """waves with `ends_told`, one element a departure or takeover, in any order. Fields are NULL
    where they are not known.

    place, kind: its place in the lists gone_*, and its kind there.
    end: what a departure was.
    is_exact: that is known for sure.
    removed: how many of its partitions got another holder.
    silent_ms: for how long it had read nothing when it was removed.
    unread_ms: what these partitions had lost by then, in partition-ms.
    unheard_ms: time since its last heartbeat was answered.
    absent_ms: time since it was last alive for sure.
    """
    gone = sf.arrays_zip(*[name for name in waves.columns if name.startswith("gone_")])
    whole = sf.struct(*[name for name in waves.columns if not name.startswith("gone_")])
    each = waves.select(
        *WAVE_KEY, whole.alias("_whole"), sf.posexplode_outer(gone).alias("_place", "_gone")
    ).select(
        *WAVE_KEY,
        # On one of its rows alone: with a copy on each, a wave of thousands of events would cost
        # the square of them.
        sf.when(sf.coalesce("_place", sf.lit(0)) == 0, sf.col("_whole")).alias("_wave"),
        "_place",
        "_gone",
        sf.col("_gone.gone_member_ids").alias("member_id"),
    )
    ended = sf.col("_gone.gone_times_at")
    since = ended - sf.coalesce("_gone.gone_silences_ms", sf.lit(MAX_CHAIN_GAP_MS))
    is_gone = sf.col("member_id").isNotNull()
    told = with_departure(each, context.evidence, is_gone, since, ended, None)
    heard = with_contact(told, context, ended - MAX_CHAIN_GAP_MS, ended)
    asked = with_brokers(with_told(heard, context, ended), context)
    end = sf.when(is_gone, _end(context)).cast(_END_TYPE)
    return (
        asked.withColumn("_end", end)
        .groupBy(*WAVE_KEY)
        .agg(
            sf.first("_wave", ignorenulls=True).alias("_wave"),
            sf.collect_list("_end").alias("ends_told"),
        )
        .select("_wave.*", "ends_told")
    )


def _end(context: ReportContext) -> Column:
    detail = sf.col("departure.end_detail")
    by_line = sf.when(_gave_up_polling(detail), POLL_TIMEOUT).otherwise(detail)
    is_guess = (detail == "LEAVE_HEARTBEAT") & sf.col("_gone.gone_rejoins")
    by_record = sf.col("_gone.gone_ends")
    end = sf.coalesce(by_line, by_record, _by_silence(context))
    is_exact = sf.when(
        detail.isNotNull(), (sf.col("departure.confidence") == EXACT) & ~is_guess
    ).otherwise(sf.coalesce(by_record == "REBALANCE_TIMEOUT", sf.lit(False)))
    removed_at = sf.col("_gone.gone_times_at")
    unheard = removed_at - sf.col("contact.last_heartbeat_at")
    absent = removed_at - alive_at(_committed_at())
    silent = _silent_ms()
    return sf.struct(
        sf.col("_place").alias("place"),
        sf.col("_gone.gone_kinds").alias("kind"),
        end.alias("end"),
        is_exact.alias("is_exact"),
        sf.col("_gone.gone_removed").alias("removed"),
        silent.alias("silent_ms"),
        _unread_ms(silent).alias("unread_ms"),
        sf.when(unheard >= 0, unheard).alias("unheard_ms"),
        sf.when(unheard >= 0, absent).alias("absent_ms"),
    )


def _gave_up_polling(detail: Column) -> Column:
    """`unsubscribe()` of a member that subscribes again looks like the second."""
    comes_back = (detail == "LEAVE_HEARTBEAT") & sf.col("_gone.gone_rejoins")
    return says_poll_timeout() | comes_back


def _by_silence(context: ReportContext) -> Column:
    silence = sf.col("_gone.gone_silences_ms")
    own = sf.col("_gone.gone_sessions_ms") - context.brokers.classic_heartbeat_ms
    usual = sf.col(SESSION_MS) - sf.col(HEARTBEAT_MS) - SESSION_SLACK_MS
    session = sf.when(
        sf.col("_gone.gone_protocols") == "classic", sf.coalesce(own, usual)
    ).otherwise(usual)
    return (
        sf.when(silence.isNull(), UNKNOWN)
        .when(silence >= sf.col("_gone.gone_rebalances_ms"), POLL_TIMEOUT)
        .when(silence >= session, EXPIRED)
        .otherwise(LEFT)
    )


def _silent_ms() -> Column:
    """From when it stopped reading to its removal. A member that was told to join again stopped
    then, whatever it did later. Of one that was taken over no record shows the end: it read on
    after its last sign of life, whether commit or heartbeat.

    A wait for a generation counts from when the join came, for those members alone that read on
    meanwhile. Who is new had nothing yet, and what eager members lost is counted where the
    generation stops.

    Whose coordinator was away read on as long as its heartbeats asked for it.
    """
    removed_at, by_commit = sf.col("_gone.gone_times_at"), _committed_at()
    is_expired = sf.col("departure.end_detail") == "SESSION_EXPIRED"
    answered_at, begun_at = sf.col("contact.last_heartbeat_at"), sf.col("contact.first_at")
    is_eager = sf.col("_gone.gone_modes") == EAGER
    is_new = sf.coalesce(begun_at >= sf.col("contact.last_alive_at"), sf.lit(False))
    alive = sf.when(is_eager | is_new, answered_at).otherwise(alive_at(by_commit))
    by_line = sf.when(sf.col("departure.outcome") == LEFT, sf.col("departure.first_at")).when(
        is_expired, sf.greatest(alive, _turned_away_at(removed_at))
    )
    # least() and greatest() pass over NULLs.
    by_sign = sf.when(sf.col("_gone.gone_kinds") == "R", sf.greatest(by_commit, alive)).otherwise(
        sf.coalesce(by_line, by_commit)
    )
    stopped_at = sf.least(by_sign, sf.col("told_at"))
    return sf.when(stopped_at.isNotNull(), sf.greatest(removed_at - stopped_at, sf.lit(0)))


def _turned_away_at(removed_at: Column) -> Column:
    """When a broker last told a member's heartbeat that it is not its coordinator, or not yet. NULL
    where none did, and where one did so after the removal too: only the last time is known.
    """
    at = sf.transform(
        sf.arrays_zip(*[f"contact.error_{name}" for name in ("apis", "codes", "last_at")]),
        lambda each: sf.when(
            each["error_apis"].isin(*_HEARTBEATS)
            & each["error_codes"].isin(*_NO_COORDINATOR)
            & each["error_last_at"].between(0, removed_at),
            each["error_last_at"],
        ),
    )
    return sf.array_max(at)


def _unread_ms(silent_ms: Column) -> Column:
    """A partition lost nothing by this member before that had it: the time before is in the price
    of the change of hands that brought it.
    """
    kept = sf.arrays_zip("_gone.gone_kept_ms", "_gone.gone_kept")
    before = sf.aggregate(
        kept,
        sf.lit(0).cast("bigint"),
        lambda total, each: (
            total + each["gone_kept"] * sf.greatest(sf.lit(0), silent_ms - each["gone_kept_ms"])
        ),
    )
    return sf.col("_gone.gone_removed") * silent_ms - before


def _committed_at() -> Column:
    """Its last commit."""
    return sf.col("_gone.gone_times_at") - sf.col("_gone.gone_silences_ms")
