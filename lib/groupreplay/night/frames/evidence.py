"""Step replay, second grouped map: a night's lines of broker logs and the states of the night
before -> what they prove, into table `evidence`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import SEEN, BrokerSetting
from groupreplay.records.log_events import BROKER_SETTING
from groupreplay.workers.evidence_slices import (
    BROKER,
    EVENT_FIELDS,
    EVIDENCE,
    GROUP,
    INPUT,
    PARTITION,
    evidence_slice_replay,
)

EVIDENCE_TABLE: Final = "evidence"


def proved(
    lines: DataFrame | None, states: DataFrame | None, newest_ms: int, slices: int
) -> DataFrame | None:
    """Rows of `evidence` without night and cluster; None without lines and states.

    lines: rows of `raw_lines` that the night replays, None if there are none.
    states: subject and state_bytes of the night before, None if there are none.
    newest_ms: time of the newest line of all nights so far, -1 for none.
    """
    parts = []
    if lines is not None:
        parts.append(_line_rows(lines))
    if states is not None:
        parts.append(_state_rows(states))
    if not parts:
        return None
    rows = parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])
    in_order = (
        rows.withColumn("slice", sf.pmod(sf.xxhash64("subject"), sf.lit(slices)).cast("int"))
        .repartitionById(slices, sf.col("slice"))
        .sortWithinPartitions("slice", "subject", "at_ms", "broker", "input", "position")
    )
    facts = (
        in_order.select("slice", *INPUT)
        .groupBy("slice")
        .applyInPandas(evidence_slice_replay(newest_ms), EVIDENCE.ddl)
    )
    if lines is None:
        return facts
    return facts.unionByName(seen(lines, newest_ms), allowMissingColumns=True)


def seen(lines: DataFrame, newest_ms: int) -> DataFrame:
    """A fact a broker and kind of log that has lines: when it was there. A file of which no line is
    of interest has no times; that it grew shows that the broker was there.
    """
    counted = sf.from_json("counts", "lines BIGINT, last_ms BIGINT")
    last_ms = sf.when(counted["last_ms"] >= 0, counted["last_ms"]).otherwise(newest_ms)
    place = sf.struct(last_ms.alias("at"), "input", "position")
    newest = (
        lines.where((sf.col("kind") == "file") & (counted["lines"] > 0))
        .groupBy("broker", "source")
        .agg(sf.max(place).alias("newest"))
    )
    return newest.select(
        sf.lit(BrokerSetting.KIND).alias("kind"),
        sf.lit("").alias("group_id"),
        "broker",
        "source",
        *[sf.col(f"newest.{name}").alias(name) for name in ("input", "position")],
        sf.lit(True).alias("is_final"),
        sf.lit(SEEN).alias("setting"),
        sf.col("newest.at").cast("string").alias("value"),
        sf.col("newest.at").alias("occurred_at"),
    )


def _line_rows(lines: DataFrame) -> DataFrame:
    """Lines that name a group or a partition, or are about the broker itself, by subject."""
    of_group = sf.concat(sf.lit(GROUP), "group_id")
    of_partition = sf.concat(sf.lit(PARTITION), sf.col("offsets_partition").cast("string"))
    broker = sf.concat(sf.lit(BROKER), sf.col("broker").cast("string"))
    of_broker = sf.when(sf.col("event") == BROKER_SETTING, broker)
    subject: Column = sf.coalesce(of_group, of_partition, of_broker)
    rows = lines.where((sf.col("kind") == "line") & subject.isNotNull())
    columns: dict[str, Column] = {name: sf.col(name) for name in INPUT}
    columns |= {
        "subject": subject,
        "event_json": sf.to_json(sf.struct(*EVENT_FIELDS)),
        "state_bytes": sf.lit(None).cast("binary"),
    }
    return rows.select(*[column.alias(name) for name, column in columns.items()])


def _state_rows(states: DataFrame) -> DataFrame:
    """First of their subjects: before any time."""

    def number(value: int) -> Column:
        return sf.lit(value).cast("bigint")

    columns: dict[str, Column] = {
        "subject": sf.col("subject"),
        "at_ms": number(-(2**62)),
        "broker": sf.lit(-1),
        "source": sf.lit(""),
        "input": sf.lit(""),
        "position": number(-1),
        "last_ms": number(-1),
        "requests": number(0),
        "longest_gap_ms": number(0),
        "event_json": sf.lit(None).cast("string"),
        "state_bytes": sf.col("state_bytes"),
    }
    return states.select(*[columns[name].alias(name) for name in INPUT])
