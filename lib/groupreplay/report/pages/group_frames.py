"""The tables of a night -> what the pages of single groups ask of them: rows of the chosen groups
that reach into the time that is shown. Where there are too many, these are the rows that last
still, and the newest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from groupreplay.page.model import life as model
from groupreplay.page.model import life_of_tasks as tasks
from groupreplay.page.model.read import LEFT_OUT
from groupreplay.report.pages.asked import LIFE, WAITS_FOR, PageNights, as_one, rows_as
from groupreplay.report.pages.decision_frames import STOPPED


class GroupQuery(NamedTuple):
    """One list of a group.

    kind: a field of `GroupLife`.
    table: name of the table that it asks.
    cls: what its rows are.
    begin, end: when a row begins and ends, as SQL; one without an end lasts. None: rows have no
        time.
    most: most rows of a group.
    made: columns that are not the table's own, as SQL.
    """

    kind: str
    table: str
    cls: type[Any]
    begin: str | None
    end: str | None
    most: int
    made: Mapping[str, str] = {}  # nobody writes to it


_OF_LIFE: Final = {"life": LIFE}
_MEMBER: Final = {
    **_OF_LIFE,
    "software": "nullif(concat_ws(' ', software_name, software_version), '')",
}
_RULES: Final = "transform(rules, each -> array(each.rule, each.severity, each.detail))"
_OF_GROUP: Final = {
    **_OF_LIFE,
    "member_id": "CAST(NULL AS STRING)",
    "client_id": "CAST(NULL AS STRING)",
    "blocked_by": "CAST(NULL AS ARRAY<STRING>)",
}
_BEGAN: Final = "coalesce(join_ended_at, decided_at, scheduled_at)"

QUERIES: Final = (
    GroupQuery("state", "migration_progress", model.State, None, None, 1, {"waits_for": WAITS_FOR}),
    GroupQuery("members", "members", model.Member, "joined_at", "ended_at", 500, _MEMBER),
    GroupQuery("spans", "member_states", model.Span, "from_at", "to_at", 3_000, _OF_LIFE),
    GroupQuery(
        "held", "member_assignments", model.Held, "assigned_at", "released_at", 3_000, _OF_LIFE
    ),
    GroupQuery("epochs", "group_epochs", model.Epoch, "started_at", "superseded_at", 500, _OF_LIFE),
    GroupQuery(
        "hand_overs",
        "revocation_latencies",
        model.HandOver,
        "requested_at",
        "coalesce(granted_at, ended_at)",
        1_000,
        _OF_LIFE,
    ),
    GroupQuery("stuck", "stuck_members", model.Stuck, "since_at", "until_at", 200, _OF_LIFE),
    GroupQuery("stuck", "stuck_groups", model.Stuck, "since_at", "until_at", 200, _OF_GROUP),
    GroupQuery(
        "conversions",
        "group_conversions",
        model.Conversion,
        "converted_at",
        "converted_at",
        100,
        _OF_LIFE,
    ),
    GroupQuery(
        "rebalances",
        "rebalances",
        model.Rebalance,
        "started_at",
        "coalesce(synced_at, joined_at)",
        300,
        {"missing": "size(members_missing)"},
    ),
    GroupQuery("refusals", "refusals", model.Refusal, "first_at", "last_at", 200),
    GroupQuery(
        "waves",
        "departure_waves",
        model.GroupWave,
        "started_at",
        "coalesce(settled_at, ended_at)",
        200,
        STOPPED,
    ),
    GroupQuery(
        "days",
        "group_days",
        model.GroupDay,
        "from_at",
        "to_at",
        90,
        {**_OF_LIFE, "day": "CAST(day AS STRING)"},
    ),
    GroupQuery("what_if", "what_if", model.PricedWave, "started_at", "started_at", 300),
    GroupQuery("failovers", "coordinator_failovers", model.Failover, "last_at", "first_at", 100),
    GroupQuery(
        "absences",
        "static_accounting",
        model.Absence,
        "coalesce(left_at, removed_at, returned_at)",
        "coalesce(returned_at, removed_at)",
        300,
        _OF_LIFE,
    ),
    GroupQuery("verdict", "readiness", model.Verdict, None, None, 1, {"rules": _RULES}),
    GroupQuery(
        "processes",
        "streams_processes",
        tasks.Process,
        "joined_at",
        "left_at",
        200,
        _OF_LIFE,
    ),
    GroupQuery(
        "streams_epochs",
        "streams_rebalances",
        tasks.StreamsEpoch,
        _BEGAN,
        _BEGAN,
        500,
        {**_OF_LIFE, "began_at_ms": f"unix_millis({_BEGAN})"},
    ),
    GroupQuery(
        "tasks",
        "task_assignments",
        tasks.TaskSpan,
        "assigned_at",
        "released_at",
        3_000,
        _OF_LIFE,
    ),
    GroupQuery(
        "task_moves",
        "task_handovers",
        tasks.TaskMove,
        "coalesce(requested_at, released_at, granted_at)",
        "granted_at",
        1_000,
        _OF_LIFE,
    ),
)

GROUP_TABLES: Final = tuple(dict.fromkeys(query.table for query in QUERIES))
"""All that the page of a group asks."""


def group_frame(
    tables: Mapping[str, DataFrame],
    of: PageNights,
    since_ms: int | None,
    rows: Mapping[str, int],
    share: int,
) -> DataFrame:
    """kind, group_id, row: the rows of all groups. Whoever asks for some groups says so on this
    frame: Spark takes a condition on `group_id` down to the files of each table.

    tables: rows of the nights that are shown.
    since_ms: rows that ended before are left out, None: none.
    rows: table -> how many rows it has; one with none is not asked, one that is not in it is.
    share: most rows of a group and table, beside the limits of the lists.
    """
    frames = [
        (query.kind, _frame(query, tables[query.table], of, since_ms, rows, share))
        for query in QUERIES
        if rows.get(query.table, 1)
    ]
    return as_one(frames, "group_id")


def _frame(
    query: GroupQuery,
    table: DataFrame,
    of: PageNights,
    since_ms: int | None,
    rows: Mapping[str, int],
    share: int,
) -> DataFrame:
    if query.begin is None or query.end is None:
        chosen = table.where(sf.col("logical_date") == sf.lit(of.last))
        return rows_as(chosen, query.cls, "group_id", **query.made)
    chosen = table.where(_lasts_after(query, since_ms))
    most = min(query.most, share)
    if rows.get(query.table, most + 1) <= most:
        return rows_as(chosen, query.cls, "group_id", **query.made)
    timed = (f"({query.end}) IS NOT NULL AS _is_over", f"unix_millis({query.begin}) AS _begin_ms")
    return most_telling(rows_as(chosen, query.cls, "group_id", *timed, **query.made), most)


def most_telling(rows: DataFrame, most: int) -> DataFrame:
    """Rows of each group: what lasts still, the longest first, and then the newest. Columns that a
    page shows decide between rows that began together, so that the same ones are left out each
    time.

    The first row of a group says how many are left out.
    """
    shown = [name for name in rows.columns if name not in ("_is_over", "_begin_ms")]
    of_group = Window.partitionBy("group_id")
    begin_ms = sf.col("_begin_ms")
    in_order = of_group.orderBy(
        "_is_over", sf.when(sf.col("_is_over"), -begin_ms).otherwise(begin_ms), *shown
    )
    place, left_out = sf.col("_place"), sf.count(sf.lit(1)).over(of_group) - sf.lit(most)
    return (
        rows.select(
            *shown, sf.row_number().over(in_order).alias("_place"), left_out.alias("_left_out")
        )
        .where(place <= most)
        .select(
            *shown,
            sf.when((place == 1) & (sf.col("_left_out") > 0), sf.col("_left_out")).alias(LEFT_OUT),
        )
    )


def _lasts_after(query: GroupQuery, since_ms: int | None) -> Column:
    if since_ms is None:
        return sf.lit(True)
    end = sf.expr(f"unix_millis({query.end})")
    return sf.coalesce(end > sf.lit(since_ms), sf.lit(True))
