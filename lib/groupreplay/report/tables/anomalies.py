"""Table `anomalies`: broken rules, those of the protocol from the machines, those of the sources
from landing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.replay.facts import Anomaly
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import GROUP
from groupreplay.report.joins.columns import fact_columns, instant, instants, integer, night
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import Sentence, TableSpec
from groupreplay.report.words.sentences import said_columns, sorted_params
from groupreplay.wire.segments import other_logs
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


class _Found(NamedTuple):
    """Rows that landing wrote down.

    rule, code: what they break, and the sentence of it.
    fields: parameter -> field of the row's detail.
    is_coded: the detail names the code too, in `shown_by`.
    """

    kind: str
    rule: str
    code: str
    fields: Mapping[str, str]
    is_coded: bool = False


_FOUND: Final = (
    _Found(
        CONFLICT,
        REPLICA_CONFLICT,
        "KEPT_AND_DROPPED",
        {
            "kept_leader_epoch": "kept_leader_epoch",
            "dropped_leader_epoch": "dropped_leader_epoch",
        },
    ),
    _Found(CLOCK, CLOCK_JUMP, "FAR_OFF_TIME", {"ts_ms": "ts_ms"}),
    _Found(LATE, LATE_RECORDS, "CAME_LATE", {"records": "records", "offsets": "filled"}),
    *(
        _Found(OTHER_LOG, TOPIC_RECREATED, code, {name: name for name in names}, is_coded=True)
        for code, names in (
            (other_logs.LEADER_EPOCH, ("offset", "leader_epoch", "known_leader_epoch")),
            (other_logs.SAME_OFFSET_LATER, ("offset", "ts_ms", "known_ts_ms")),
            (other_logs.LOWER_OFFSET_LATER, ("offset", "ts_ms", "next_offset", "newest_ms")),
            (other_logs.TOPIC_ID, ("topic_id", "known_topic_id")),
            (other_logs.LOWER_END, ("end_offset", "next_offset")),
        )
    ),
    _Found(OTHER_LOG, TOPIC_RECREATED, "OTHER_LOG", {"found": "found"}),
)


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
        *said_columns(sf.col("detail_code"), _params()),
        sf.lit(None).cast("string").alias("path"),
        "is_final",
    )


def _params() -> Column:
    return sf.map_from_arrays("detail_names", "detail_values")


def _of_sources(raw: DataFrame, context: ReportContext) -> DataFrame:
    """One row an offset and what was found there, however many replicas show it: the parameters
    are part of the key, so no file is named in them.
    """
    kind = sf.col("kind")
    found = [sf.when(_is(each), sf.struct(*_values(each))) for each in _FOUND]
    rows = raw.where(kind.isin([each.kind for each in _FOUND])).select(
        sf.coalesce(*found).alias("found"),
        "offsets_partition",
        "offset",
        "ts_ms",
        "log_incarnation",
        sf.get_json_object("detail", "$.path").alias("path"),
    )
    place = ("offsets_partition", "offset", "log_incarnation")
    once = (
        rows.select("found.*", "*")
        .groupBy("rule", "detail_code", "detail_names", "detail_values", *place)
        .agg(sf.max("ts_ms").alias("ts_ms"), sf.min("path").alias("path"))
    )
    return once.select(
        *night(context),
        sf.lit(None).cast("string").alias("group_id"),
        sf.lit(None).cast("bigint").alias("incarnation"),
        "offsets_partition",
        sf.col("offset").alias("from_offset"),
        sf.lit(None).cast("bigint").alias("to_offset"),
        sf.lit(True).alias("start_observed"),
        "log_incarnation",
        "rule",
        sf.when(sf.col("rule") == TOPIC_RECREATED, "ERROR").otherwise("WARN").alias("severity"),
        # A log that is empty so far has no time of its own.
        instant(
            sf.when(sf.col("ts_ms") >= 0, sf.col("ts_ms")).otherwise(sf.lit(context.as_of_ms)),
            "detected_at",
        ),
        sf.col("offsets_partition").alias("evidence_partition"),
        sf.col("offset").alias("evidence_offset"),
        *said_columns(sf.col("detail_code"), _params()),
        "path",
        sf.lit(True).alias("is_final"),
    )


def _is(found: _Found) -> Column:
    is_kind = sf.col("kind") == found.kind
    if not found.is_coded:
        return is_kind
    return is_kind & (sf.get_json_object("detail", "$.shown_by") == found.code)


def _values(found: _Found) -> list[Column]:
    """rule and detail_* of the rows of a kind."""
    values = [sf.get_json_object("detail", f"$.{field}") for field in found.fields.values()]
    return [
        sf.lit(found.rule).alias("rule"),
        sf.lit(found.code).alias("detail_code"),
        sf.array(*map(sf.lit, found.fields)).alias("detail_names"),
        sf.array(*values).alias("detail_values"),
    ]


SPEC: Final = TableSpec(
    name="anomalies",
    build=anomalies,
    facts=(Anomaly,),
    raw=frozenset({CONFLICT, CLOCK, LATE, OTHER_LOG}),
    is_owned=True,
    sentences=(Sentence("detail_code", "detail_params", "detail"),),
    digest=(
        *GROUP,
        "rule",
        "severity",
        "detected_at",
        "evidence_partition",
        "evidence_offset",
        "detail_code",
        sorted_params("detail_params"),
    ),
)
