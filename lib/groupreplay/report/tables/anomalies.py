"""Table `anomalies`: broken rules, those of the protocol from the machines, those of the sources
from landing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Anomaly
from groupreplay.report.joins.columns import fact_columns, instant, instants, integer, night
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.digest import GROUP
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.wire.segments.raw_rows import CLOCK, CONFLICT, LATE, OTHER_LOG

REPLICA_CONFLICT = "REPLICA_CONFLICT"
"""Two replicas hold different bytes at one offset; the higher leader epoch was believed."""

CLOCK_JUMP = "CLOCK_JUMP"
"""A batch whose time is a day off from both of its neighbours; it does not count for as-of."""


LATE_RECORDS = "LATE_RECORDS"
"""Records that turned up where earlier nights had met a hole: kept, and replayed when all nights
are rebuilt.
"""


TOPIC_RECREATED = "TOPIC_RECREATED"
"""The log in a partition's place is another than was read before: groups of the old one ended
unobserved, and the new one was read from its start.
"""


def anomalies(inputs: TableInputs) -> DataFrame:
    of_groups = _of_groups(inputs.staged, inputs.context)
    return of_groups.unionByName(_of_sources(inputs.raw, inputs.context))


def _of_groups(staged: DataFrame, context: ReportContext) -> DataFrame:
    return staged.where(sf.col("kind") == Anomaly.KIND).select(
        *fact_columns(context),
        "rule",
        "severity",
        *instants("detected_at"),
        integer("offsets_partition").alias("evidence_partition"),
        "evidence_offset",
        "detail",
        sf.lit(None).cast("string").alias("path"),
        "is_final",
    )


def _of_sources(raw: DataFrame, context: ReportContext) -> DataFrame:
    """One row an offset and what was found there, however many replicas show it: `detail` is part
    of the key, so no file is named in it.
    """
    rules = {
        "conflict": REPLICA_CONFLICT,
        "clock": CLOCK_JUMP,
        "late": LATE_RECORDS,
        "other_log": TOPIC_RECREATED,
    }

    def field(name: str) -> str:
        return f"get_json_object(detail, '$.{name}')"

    found = sf.expr(
        f"concat('kept leader epoch ', {field('kept_leader_epoch')}, ', dropped ',"
        f" {field('dropped_leader_epoch')})"
    )
    jumped = sf.expr(
        f"concat('record time ', {field('ts_ms')}, ' ms is a day off from both neighbours')"
    )
    late = sf.expr(
        f"concat({field('records')}, ' records of offsets ', {field('filled')}, ' came after their"
        " night; rebuild_nights replays them')"
    )
    texts = {"conflict": found, "clock": jumped, "late": late, "other_log": sf.expr(field("found"))}
    rows = raw.where(sf.col("kind").isin(*rules)).select(
        _by_kind({kind: sf.lit(rule) for kind, rule in rules.items()}).alias("rule"),
        "offsets_partition",
        "offset",
        "ts_ms",
        sf.coalesce(_by_kind(texts), "detail", sf.lit("")).alias("text"),
        sf.expr(field("path")).alias("path"),
    )
    once = rows.groupBy("rule", "offsets_partition", "offset", "text").agg(
        sf.max("ts_ms").alias("ts_ms"), sf.min("path").alias("path")
    )
    return once.select(
        *night(context),
        sf.lit(None).cast("string").alias("group_id"),
        sf.lit(None).cast("bigint").alias("incarnation"),
        "offsets_partition",
        sf.col("offset").alias("from_offset"),
        sf.lit(None).cast("bigint").alias("to_offset"),
        sf.lit(True).alias("start_observed"),
        "rule",
        sf.when(sf.col("rule") == TOPIC_RECREATED, "ERROR").otherwise("WARN").alias("severity"),
        # A log that is empty so far has no time of its own.
        instant(
            sf.when(sf.col("ts_ms") >= 0, sf.col("ts_ms")).otherwise(sf.lit(context.as_of_ms)),
            "detected_at",
        ),
        sf.col("offsets_partition").alias("evidence_partition"),
        sf.col("offset").alias("evidence_offset"),
        sf.col("text").alias("detail"),
        "path",
        sf.lit(True).alias("is_final"),
    )


def _by_kind(columns: Mapping[str, Column]) -> Column:
    return sf.coalesce(
        *[sf.when(sf.col("kind") == kind, column) for kind, column in columns.items()]
    )


SPEC: Final = TableSpec(
    name="anomalies",
    build=anomalies,
    facts=(Anomaly,),
    raw=frozenset({CONFLICT, CLOCK, LATE, OTHER_LOG}),
    is_owned=True,
    texts=frozenset({"detail"}),
    digest=(
        *GROUP,
        "rule",
        "severity",
        "detected_at",
        "evidence_partition",
        "evidence_offset",
        "detail",
    ),
)
