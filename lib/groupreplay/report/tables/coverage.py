"""Table `coverage`: what was read and what became of it.

`landed` and `left_out` are counted from the rows that landing wrote. The other three are counted
from what replay made of these rows, so that their sum is a check and no identity.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.records.log_events import SERVER_LOG
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.columns import instant, night
from groupreplay.report.joins.group_choice import is_left_out
from groupreplay.report.joins.unit_rows import (
    COUNTS,
    joined_sources,
    landed_units,
    log_name,
    read_stretches,
)
from groupreplay.report.stuck.evidence_stalls import unseen_reasons
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.workers.fact_frames import Counts

_LOGGERS = "map<string,bigint>"
NO_SOURCE = "none"
"""`source` of what no source of the run can show."""

NEEDS_OF_DECISIONS: Final = {
    "readiness.R6": "request_log",
    "readiness.R8": "request_log",
    "readiness.R13": "request_log",
    "readiness.R14": "server_log or brokers.migration_policy",
    "readiness.R17": "server_log or brokers.version",
    "readiness.R18": "request_log or server_log",
    "departure_waves.est_ms": "request_log",
    "coordinator_failovers.phase": "server_log",
}
"""What tables of decisions say by logs of brokers alone -> what can show it: kinds of sources, or
keys of the configuration. R6 is of classic groups here, R8 without the embedded version, est_ms of
eager groups and phases of classic ones.
"""

_OUTCOMES = ("landed", "decoded", "unknown", "undecoded")
_SUMMED = (*_OUTCOMES, *COUNTS, "left_out")


def coverage(inputs: TableInputs) -> DataFrame:
    staged, raw, lines, context = inputs.staged, inputs.raw, inputs.lines, inputs.context
    parts = (
        _units(raw)
        .unionByName(_landed(raw, context), allowMissingColumns=True)
        .unionByName(_replayed(staged), allowMissingColumns=True)
    )
    if lines is not None:
        parts = parts.unionByName(_files(lines), allowMissingColumns=True)
    else:
        parts = parts.withColumn("loggers", sf.lit(None).cast(_LOGGERS))
    sums = [sf.coalesce(sf.sum(name), sf.lit(0)).alias(name) for name in _SUMMED]
    by_input = parts.groupBy("input").agg(
        joined_sources(),
        sf.min("first_offset").alias("first_offset"),
        sf.max("next_offset").alias("next_offset"),
        sf.min("first_ms").alias("first_ms"),
        sf.max("last_ms").alias("last_ms"),
        _summed(sf.collect_list("loggers")).alias("loggers"),
        sf.max("log_incarnation").alias("log_incarnation"),
        *sums,
    )
    told = by_input.withColumn("detail", sf.lit(None).cast("string"))
    return told.unionByName(_unseen(staged, context), allowMissingColumns=True).select(
        *night(context),
        "source",
        "input",
        "first_offset",
        "next_offset",
        instant(sf.col("first_ms"), "first_at"),
        instant(sf.col("last_ms"), "last_at"),
        *_OUTCOMES,
        *COUNTS,
        "loggers",
        "log_incarnation",
        "detail",
        "left_out",
    )


def _unseen(staged: DataFrame, context: ReportContext) -> DataFrame:
    """One row for each reason of being stuck, and each part of a decision, that broker logs could
    show and the sources of this run do not.
    """
    unseen = unseen_reasons(context.log_kinds) | unseen_decisions(context)
    reasons = sf.create_map(
        *[sf.lit(each) for pair in unseen.items() for each in pair],
        sf.lit(""),
        sf.lit(""),
    )
    needs = (
        staged.sparkSession.range(1)
        .select(sf.explode(reasons).alias("input", "needs"))
        .where(sf.col("input") != "")
    )
    zeros = [sf.lit(0).cast("bigint").alias(name) for name in _SUMMED]
    detail = sf.concat(sf.lit("not observable: needs "), "needs").alias("detail")
    return needs.select(sf.lit(NO_SOURCE).alias("source"), "input", detail, *zeros)


def unseen_decisions(context: ReportContext) -> dict[str, str]:
    """What tables of decisions lack because no broker log shows it, each with the log it needs."""
    configured = {
        "brokers.migration_policy": context.brokers.migration_policy,
        "brokers.version": context.brokers.version,
    }
    known = context.log_kinds | {name for name, value in configured.items() if value is not None}
    return {
        what: needs
        for what, needs in NEEDS_OF_DECISIONS.items()
        if not known & set(needs.split(" or "))
    }


def is_unseen_reason() -> Column:
    """Whether a row is a reason of being stuck that no source of the night can show."""
    return (sf.col("source") == NO_SOURCE) & ~sf.col("input").contains(".")


def _files(lines: DataFrame) -> DataFrame:
    """Logs of brokers: a line is what a row is of a partition's log."""
    told = {
        "landed": sf.col("told.lines"),
        "decoded": sf.col("told.matched") + sf.col("told.continuation"),
        "unknown": sf.col("told.unmatched") + sf.col("told.passed"),
        "undecoded": sf.col("told.damaged") + sf.col("told.too_long"),
        "reduced": sf.col("told.reduced"),
        "left_out": sf.lit(0).cast("bigint"),
    }
    return read_stretches(lines).select(
        "input",
        "source",
        sf.col("told.from_position").alias("first_offset"),
        sf.coalesce("told.next_position", "told.from_position").alias("next_offset"),
        *[
            sf.when(sf.col(f"told.{name}") >= 0, sf.col(f"told.{name}")).alias(name)
            for name in ("first_ms", "last_ms")
        ],
        *[column.alias(name) for name, column in told.items()],
        sf.when(
            sf.col("source") == SERVER_LOG,
            sf.coalesce("told.loggers", sf.create_map().cast(_LOGGERS)),
        ).alias("loggers"),
    )


def _summed(maps: Column) -> Column:
    """The sum of maps, key by key; NULL of none."""

    def add(one: Column, other: Column) -> Column:
        return sf.map_zip_with(
            one,
            other,
            lambda _, left, right: sf.coalesce(left, sf.lit(0)) + sf.coalesce(right, sf.lit(0)),
        )

    return sf.when(sf.size(maps) > 0, sf.aggregate(maps, sf.create_map().cast(_LOGGERS), add))


def _units(raw: DataFrame) -> DataFrame:
    def time(name: str) -> Column:
        return sf.when(sf.col(f"unit.{name}") >= 0, sf.col(f"unit.{name}"))

    return landed_units(raw).select(
        "input",
        "source",
        "unit.first_offset",
        "unit.next_offset",
        time("first_ts_ms").alias("first_ms"),
        time("last_ts_ms").alias("last_ms"),
        *[f"unit.{name}" for name in COUNTS],
        "log_incarnation",
    )


def _landed(raw: DataFrame, context: ReportContext) -> DataFrame:
    """Rows that must become something: records, and stretches of bytes that are damage from the
    start.

    Counted on their own, because there are millions: numbers alone aggregate in a hash map, texts
    beside them would make Spark sort.
    """
    rows = raw.where(sf.col("kind").isin("record", "damage")).groupBy("input")
    is_record = sf.col("kind") == "record"
    left_out = (
        sf.count_if(is_record & is_left_out(sf.col("group_id"), context.groups))
        if context.groups
        else sf.lit(0).cast("bigint")
    )
    return rows.agg(
        sf.count(sf.lit(1)).alias("landed"),
        sf.count_if(sf.col("kind") == "damage").alias("undecoded"),
        left_out.alias("left_out"),
    )


def _replayed(staged: DataFrame) -> DataFrame:
    """Slices count partitions of groups that had no news, too: these are no inputs of the night."""
    counts = staged.where(
        (sf.col("kind") == "counts")
        & (sf.col("decoded") + sf.col("unknown") + sf.col("undecoded") > 0)
    )
    return counts.select(
        log_name(sf.col("offsets_partition")).alias("input"), "decoded", "unknown", "undecoded"
    )


SPEC: Final = TableSpec(
    name="coverage",
    build=coverage,
    facts=(Counts,),
    is_built_always=True,
    clear=frozenset({"detail"}),
)
