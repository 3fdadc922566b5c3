"""Named step: stalls and chains of the machines -> stuck episodes past their thresholds, for
`stuck_members` and `stuck_groups`.

A stall is one stretch and gives one episode or none. Where the log began inside a stretch it gives
none: nothing is measured from there and nobody is charged (docs/measures.md).

A chain is a list of repetitions, and an episode is a run of them. Each repetition of an episode
lies in a window of `*_window_ms` that holds at least `*_count` of them, and no two neighbours are
further apart than the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import FACTS, Chain, GroupSnapshot, MemberLife, Stall
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.columns import fact_columns, instant, integer, sane_ms
from groupreplay.report.joins.lines.departures import EVIDENCE_TYPE
from groupreplay.report.stuck.evidence_stalls import evidence_stalls
from groupreplay.report.stuck.thresholds import threshold
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import StagedFacts
from groupreplay.workers.fact_frames import UnionSchema

STALL_THRESHOLDS: Final = {
    "SLOW_REVOCATION": "slow_revocation_ms",
    "WAITING_ON_HOLDER": "waiting_on_holder_ms",
    "NOT_RECONCILING": "not_reconciling_ms",
    "STATIC_LIMBO": "static_limbo_ms",
    "ASSIGNED_NOT_CONSUMING": "assigned_not_consuming_ms",
    "ASSIGNING_STALLED": "assigning_stalled_ms",
    "MIGRATION_STALLED": "migration_stalled_ms",
    "NOT_HEARTBEATING": "not_heartbeating_ms",
    "LATE_LEAVE": "not_heartbeating_ms",
    "UPGRADE_REFUSED": "upgrade_refused_ms",
    "JOIN_NEVER_COMPLETES": "join_never_completes_ms",
    "SYNC_NEVER_COMPLETES": "sync_never_completes_ms",
    "COORDINATOR_UNAVAILABLE": "coordinator_unavailable_ms",
    "ASSIGNOR_FAILED": "assignor_failed_ms",
    "LEARNER_NEVER_READY": "learner_ms",
    "TASK_UNASSIGNED": "task_unassigned_ms",
    "FOLLOWUP_MISSING": "followup_missing_ms",
    "PROBE_MISSED": "probe_missed_ms",
    "VERSION_MIXED": "version_mixed_ms",
    "RESTORING": "restoring_ms",
    "ASSIGNMENT_ERROR": "assignment_error_ms",
    "SHUTDOWN_REQUESTED": "shutdown_requested_ms",
    "DUPLICATE_PROCESS_ID": "duplicate_process_id_ms",
    "TOPOLOGY_NOT_READY": "topology_not_ready_ms",
    "STALE_TOPOLOGY": "stale_topology_ms",
}
"""Reason -> field of Thresholds, ms."""

COUNT_THRESHOLDS: Final = {
    "LEARNER_NEVER_READY": "learner_probes",
    "PROBING_LOOP": "probing_loop_count",
}
"""Reason -> field of Thresholds: how often what the stall counts must have happened. A reason that
is above too must reach both; a stall of a reason in neither gives no rows.
"""

CHAIN_THRESHOLDS: Final = {
    "FENCE_LOOP": ("fence_loop_count", "fence_loop_window_ms"),
    "EPOCH_STORM": ("epoch_storm_count", "epoch_storm_window_ms"),
    "REJECTED_LOOP": ("rejected_loop_count", "rejected_loop_window_ms"),
    "HANDOVER_BOUNCED": ("bounce_count", "bounce_window_ms"),
    "REBALANCE_LOOP": ("rebalance_loop_count", "rebalance_loop_window_ms"),
}
"""Reason -> fields of Thresholds: repetitions, and the window they must fall into, ms."""

FACTS_BESIDE_EVIDENCE: Final = StagedFacts(
    FACTS, frozenset(UnionSchema((Stall, Chain, MemberLife, GroupSnapshot)).columns)
)
"""What `stuck_episodes` asks of all facts where there are broker logs, which do not say which life
of a group there is, and who is in it.
"""

_EPOCHS_APART: Final = "map('epoch', string(epochs[0]), 'target_epoch', string(epochs[1]))"
_EPISODES = "array<struct<since_ms: bigint, until_ms: bigint, repetitions: int>>"
_SPANS = "array<struct<first: int, last: int>>"


def stuck_episodes(inputs: TableInputs, *, of_members: bool) -> DataFrame:
    """Rows of `replayed`, one an episode, with `episode`: since_ms, until_ms (NULL while open),
    repetitions (NULL for stalls that count nothing).

    of_members: gives episodes of members, else those of whole groups (member_id NULL).
    """
    context, is_member = inputs.context, sf.col("member_id").isNotNull()
    facts = _with_details(inputs.facts(Stall, Chain))
    of_lines = evidence_stalls(inputs)
    if of_lines is not None:
        facts = facts.unionByName(of_lines, allowMissingColumns=True)
    facts = facts.where(is_member if of_members else ~is_member)
    is_stall = sf.col("kind") == Stall.KIND
    episodes = sf.when(is_stall, _stall_episodes(context)).otherwise(_chain_episodes(context))
    return facts.withColumn("episode", sf.explode(episodes))


def _with_details(facts: DataFrame) -> DataFrame:
    """facts with what the tables say of them: detail_code, detail_params; evidence is NULL."""
    is_apart = sf.size("epochs") == 2
    params = sf.when(
        sf.col("detail_code").isNotNull(), sf.map_from_arrays("detail_names", "detail_values")
    )
    return facts.withColumns(
        {
            "evidence": sf.lit(None).cast(EVIDENCE_TYPE),
            "detail_params": sf.when(is_apart, sf.expr(_EPOCHS_APART)).otherwise(params),
            "detail_code": sf.when(is_apart, "EPOCHS_APART").otherwise(sf.col("detail_code")),
        }
    ).drop("detail_names", "detail_values")


def episode_columns(context: ReportContext) -> list[Column]:
    """since_at, until_at, stuck_ms of `episode`."""
    since, until = sf.col("episode.since_ms"), sf.col("episode.until_ms")
    stuck_ms = sf.coalesce(until, sf.lit(context.as_of_ms)) - since
    return [instant(since, "since_at"), instant(until, "until_at"), stuck_ms.alias("stuck_ms")]


def stuck_fact_columns(context: ReportContext) -> list[Column]:
    """As fact_columns: an episode that is open has no closing record, whatever its chain has."""
    closed = sf.when(sf.col("episode.until_ms").isNotNull(), sf.col("to_offset")).alias("to_offset")
    return [
        closed if name == "to_offset" else column
        for name, column in zip(_FACT_NAMES, fact_columns(context), strict=True)
    ]


_FACT_NAMES: Final = (
    "cluster",
    "logical_date",
    "group_id",
    "incarnation",
    "offsets_partition",
    "from_offset",
    "to_offset",
    "start_observed",
    "log_incarnation",
)


def _by_reason(fields: Mapping[str, str], context: ReportContext) -> Column:
    """fields: reason -> field of Thresholds; of other reasons NULL."""
    usual = {reason: getattr(context.thresholds, name) for reason, name in fields.items()}
    limit = sf.element_at(
        sf.create_map(*[sf.lit(each) for pair in usual.items() for each in pair]), sf.col("reason")
    )
    differing = {name for each in context.thresholds_by_group for name in each.limits}
    # Branches and no map, whose values would all be computed for every row.
    for reason, name in fields.items():
        if name in differing:
            limit = sf.when(sf.col("reason") == reason, threshold(context, name)).otherwise(limit)
    return limit


def _stall_episodes(context: ReportContext) -> Column:
    limit = _by_reason(STALL_THRESHOLDS, context)
    least = _by_reason(COUNT_THRESHOLDS, context)
    times = sf.col("repetitions")
    since, until = sane_ms(sf.col("since_at")), sane_ms(sf.col("until_at"))
    lasted_ms = sf.coalesce(until, sf.lit(context.as_of_ms)) - since
    has_limit = limit.isNotNull() | least.isNotNull()
    is_long = limit.isNull() | (lasted_ms >= limit)
    is_often = least.isNull() | (sf.coalesce(times, sf.lit(0)) >= least)
    is_stuck = sf.col("start_observed") & has_limit & is_long & is_often
    whole = sf.array(
        sf.struct(since.alias("since_ms"), until.alias("until_ms"), integer("repetitions"))
    )
    return sf.when(is_stuck, whole).otherwise(sf.array().cast(_EPISODES))


def _chain_episodes(context: ReportContext) -> Column:
    """One fold over the repetitions that close a full window: linear, and told by places in the
    arrays, so that nothing is copied but the spans.
    """
    count = _by_reason({reason: fields[0] for reason, fields in CHAIN_THRESHOLDS.items()}, context)
    window = _by_reason({reason: fields[1] for reason, fields in CHAIN_THRESHOLDS.items()}, context)
    times, length = sf.col("times_at"), sf.size("times_at")

    def apart_ms(earlier: Column, later: Column) -> Column:
        return sf.try_subtract(sf.get(times, later), sf.get(times, earlier))

    def extend(spans: Column, last: Column) -> Column:
        first, newest = last - count + 1, sf.get(spans, sf.size(spans) - 1)
        goes_on = (first <= newest["last"] + 1) & (apart_ms(newest["last"], first) <= window)
        longer = sf.concat(
            sf.slice(spans, sf.lit(1), sf.size(spans) - 1),
            sf.array(sf.struct(newest["first"].alias("first"), last.alias("last"))),
        )
        another = sf.concat(spans, sf.array(sf.struct(first.alias("first"), last.alias("last"))))
        return sf.when(goes_on, longer).otherwise(another).cast(_SPANS)

    places = sf.when(length >= count, sf.sequence(count - 1, length - 1)).otherwise(
        sf.array().cast("array<int>")
    )
    closing = sf.filter(places, lambda last: apart_ms(last - count + 1, last) <= window)
    spans = sf.aggregate(closing, sf.array().cast(_SPANS), extend)
    return sf.transform(spans, lambda span: _chain_episode(span, window, context)).cast(_EPISODES)


def _chain_episode(span: Column, window: Column, context: ReportContext) -> Column:
    """Open: the chain can still go on, and its last repetition lies within the window before
    as-of.
    """
    first_at = sane_ms(sf.get(sf.col("times_at"), span["first"]))
    last_at = sane_ms(sf.get(sf.col("ends_at"), span["last"]))
    is_last = span["last"] == sf.size("times_at") - 1
    is_open = ~sf.col("is_final") & is_last & (sf.lit(context.as_of_ms) - last_at <= window)
    return sf.struct(
        first_at.alias("since_ms"),
        sf.when(~is_open, last_at).alias("until_ms"),
        (span["last"] - span["first"] + 1).alias("repetitions"),
    )
