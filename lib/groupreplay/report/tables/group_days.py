"""Table `group_days`: what each group came to on each day, and how available its partitions were.

The machine adds up until a group's last operation. From there to the horizon of its partition
nothing changed, so the rates of its newest day go on: a silent group has its days too.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.limits import DAY_MS
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import instants, integer, night
from groupreplay.report.joins.horizons import COVERAGE, closed, horizons, with_horizon
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec

MAX_DAYS: Final = 400
"""A group that was silent for longer has no row for each day of that: a clock was wrong."""

LEAST_CHANGES: Final = 5
"""Below so many, how much of them was undone says nothing."""

_RATES: Final = {
    "members_ms": "rate_members",
    "partitions_ms": "rate_partitions",
    "unowned_ms": "rate_unowned",
    "away_ms": "rate_away",
    "rebalancing_ms": "int(is_rebalancing)",
    "empty_ms": "int(mode = 'EMPTY')",
    "mixed_ms": "int(mode = 'MIXED')",
    "consumer_ms": "int(mode = 'consumer')",
    "classic_ms": "int(mode = 'classic')",
}
"""Sum -> by how much it grows each ms while nothing happens."""

_COUNTS: Final = ("handovers", "moved", "returned")
_EVENTS: Final = ("joins", "departures", "replaced", "away")
_OF_THE_DAY: Final = (
    *("sync_ms", "longer_ms", "epochs_begun", "high_unknown", "transitions_hidden", "cycles"),
    *_COUNTS,
    *_EVENTS,
)
"""What happened, which does not happen again on the days that follow."""

_LISTS: Final = ("causes", "cause_counts", "handover_upper_ms", "handover_counts")
_TIMES: Final = ("handover_p50_ms", "handover_p95_ms", "handover_max_ms")


def group_days(inputs: TableInputs) -> DataFrame:
    context = inputs.context
    facts = inputs.staged.where(sf.col("kind") == GroupDay.KIND)
    days = _until_now(with_horizon(facts, horizons(inputs)))
    day_end = (sf.col("day") + 1) * DAY_MS
    ended_ms = sf.when(sf.col("is_final"), sf.least(day_end, "to_at")).otherwise(day_end)
    rows = closed(days, ended_ms).withColumns(
        {
            "low_ms": sf.col("unowned_ms") + sf.col("away_ms") + sf.col("sync_ms"),
            "date": sf.date_from_unix_date(sf.expr("try_cast(day AS INT)")),
        }
    )
    rows = rows.withColumn("high_ms", sf.col("low_ms") + sf.col("longer_ms"))
    return rows.select(
        *night(context),
        "group_id",
        "incarnation",
        integer("offsets_partition"),
        "from_offset",
        "start_observed",
        integer("log_incarnation"),
        sf.col("date").alias("day"),
        *instants("from_at", "to_at"),
        *("unobserved_ms", "members_ms"),
        integer("members_max"),
        *("empty_ms", "mixed_ms", "consumer_ms", "classic_ms"),
        integer("epochs_begun").alias("epochs"),
        _causes(),
        *("rebalancing_ms", "partitions_ms", "low_ms", "high_ms"),
        *("unowned_ms", "away_ms", "sync_ms"),
        integer("high_unknown"),
        *_availability(),
        *[integer(name) for name in _COUNTS],
        integer("transitions_hidden"),
        *_TIMES,
        _histogram(),
        *[integer(name) for name in _EVENTS],
        _flap_score(),
        "is_final",
    )


def _until_now(facts: DataFrame) -> DataFrame:
    """Days of groups that live, from the last operation to the horizon: the rest of the newest day,
    and a row for each one after it.
    """
    goes_on = sf.col("rate_members").isNotNull() & (sf.col("now_ms") > sf.col("to_at"))
    days_on = sf.least(sf.floor(sf.col("now_ms") / DAY_MS) - sf.col("day"), sf.lit(MAX_DAYS))
    last = sf.when(goes_on, sf.greatest(days_on, sf.lit(0))).otherwise(0)
    each = facts.withColumn("_on", sf.explode(sf.sequence(sf.lit(0), last.cast("int"))))
    is_first, day = sf.col("_on") == 0, sf.col("day") + sf.col("_on")
    begin = sf.when(is_first, sf.col("to_at")).otherwise(day * DAY_MS)
    end = sf.least("now_ms", (day + 1) * DAY_MS)
    passed = sf.when(goes_on, sf.greatest(end - begin, sf.lit(0))).otherwise(0)
    each = each.withColumns({"_passed": passed, "_begin": begin})
    return each.withColumns(
        {
            **{name: _grown(name, sf.expr(rate)) for name, rate in _RATES.items()},
            "unobserved_ms": _only_first("unobserved_ms", 0)
            + sf.when(sf.col("is_watched"), 0).otherwise(sf.col("_passed")),
            "members_max": sf.when(is_first, sf.col("members_max")).otherwise(
                sf.col("rate_members")
            ),
            **{name: _only_first(name, 0) for name in _OF_THE_DAY},
            **{name: _only_first(name, None) for name in (*_LISTS, *_TIMES)},
            "from_offset": sf.when(
                is_first | sf.col("rate_offset").isNull(), sf.col("from_offset")
            ).otherwise(sf.col("rate_offset")),
            "from_at": sf.when(is_first, sf.col("from_at")).otherwise(sf.col("_begin")),
            "to_at": sf.col("_begin") + sf.col("_passed"),
            "day": day,
        }
    )


def _only_first(name: str, otherwise: int | None) -> Column:
    return sf.when(sf.col("_on") == 0, sf.col(name)).otherwise(sf.lit(otherwise))


def _grown(name: str, rate: Column) -> Column:
    """A sum, and what it grew by since the last operation."""
    growth = sf.when(sf.col("is_watched"), rate * sf.col("_passed"))
    return _only_first(name, 0) + sf.coalesce(growth, sf.lit(0))


def _causes() -> Column:
    """MAP<STRING, INT>, by name, so that equal days are equal rows."""
    pairs = sf.array_sort(sf.arrays_zip("causes", "cause_counts"))
    counts = sf.transform(pairs, lambda pair: pair["cause_counts"].cast("int"))
    names = sf.transform(pairs, lambda pair: pair["causes"])
    empty = sf.create_map().cast("map<string,int>")
    return sf.coalesce(sf.map_from_arrays(names, counts), empty).alias("causes")


def _histogram() -> Column:
    pairs = sf.arrays_zip("handover_upper_ms", "handover_counts")
    buckets = sf.transform(
        pairs,
        lambda pair: sf.struct(
            pair["handover_upper_ms"].alias("upper_ms"), pair["handover_counts"].alias("n")
        ),
    )
    empty = sf.array().cast("array<struct<upper_ms:bigint,n:bigint>>")
    return sf.coalesce(buckets, empty).alias("handover_hist")


def _availability() -> list[Column]:
    """How much of the partition-time that was to be read was read, at most and at least."""
    partitions = sf.col("partitions_ms")

    def share(lost: str) -> Column:
        percent = sf.greatest(sf.lit(0.0), 100 * (1 - sf.col(lost) / partitions))
        return sf.when(partitions > 0, percent)

    least = sf.when(sf.col("high_unknown") == 0, share("high_ms"))
    return [
        share("low_ms").alias("availability_most_pct"),
        least.alias("availability_least_pct"),
    ]


def _flap_score() -> Column:
    """How much of what happened was undone: 100 where all of it was."""
    changes = sf.col("moved") + sf.col("joins") + sf.col("departures")
    undone = sf.col("returned") + 2 * sf.col("cycles")
    score = sf.round(100 * undone / changes).cast("int")
    return sf.when(changes >= LEAST_CHANGES, score).alias("flap_score")


SPEC: Final = TableSpec(
    name="group_days",
    build=group_days,
    facts=(GroupDay,),
    tables=COVERAGE,
    earlier=COVERAGE,
    is_owned=True,
    clear=frozenset({"causes"}),
    digest=(
        *[name for name in GROUP if name != "to_offset"],
        "day",
        "from_at",
        "to_at",
        *("unobserved_ms", "members_ms", "members_max"),
        *("empty_ms", "mixed_ms", "consumer_ms", "classic_ms"),
        "epochs",
        "to_json(causes)",
        *("rebalancing_ms", "partitions_ms", "low_ms", "high_ms"),
        *("unowned_ms", "away_ms", "sync_ms", "high_unknown"),
        *_COUNTS,
        "transitions_hidden",
        *_TIMES,
        "to_json(handover_hist)",
        *_EVENTS,
        "flap_score",
    ),
)
