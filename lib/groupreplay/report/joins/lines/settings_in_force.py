"""Named step: what the brokers are set to: as configured, else as they printed it when they
started, else Kafka's default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.config.model import BrokersConfig
from groupreplay.evidence.evidence_facts import SEEN, BrokerSetting
from groupreplay.report.brokers import brokers_of, settings_of
from groupreplay.report.context import ReportContext

SESSION_MS: Final = "_broker_session_ms"
MAX_SESSION_MS: Final = "_broker_max_session_ms"
HEARTBEAT_MS: Final = "_broker_heartbeat_ms"
"""Columns of `with_brokers`, BIGINT."""

GONE_MS: Final = 7 * 86_400_000
"""A broker writes lines every hour, and logs may come some nights late."""

_TIMES: Final = (SESSION_MS, MAX_SESSION_MS, HEARTBEAT_MS)


def with_brokers(rows: DataFrame, context: ReportContext) -> DataFrame:
    """rows with the session timeout of the consumer protocol, its upper bound, and its heartbeat
    interval, ms.
    """
    if context.evidence is None:
        times = _times(context.brokers, ())
        return rows.withColumns({name: sf.lit(ms).cast("bigint") for name, ms in times.items()})
    told = broker_settings(context.evidence).mapInArrow(
        _each_told(context.brokers), ", ".join(f"{name} BIGINT" for name in _TIMES)
    )
    return rows.crossJoin(sf.broadcast(told))


def broker_settings(evidence: DataFrame) -> DataFrame:
    """One row: the settings that brokers were last started with, each value once. A broker that was
    not seen for GONE_MS, while others were, is no longer one of them.
    """
    last = (
        newest_settings(evidence)
        .groupBy("broker")
        .agg(
            sf.max("occurred_at").alias("seen_at"),
            sf.collect_list(
                sf.when(sf.col("setting") != SEEN, sf.struct("setting", "value"))
            ).alias("own"),
        )
    )
    brokers = last.agg(
        sf.max("seen_at").alias("newest"),
        sf.collect_list(sf.struct("seen_at", "own")).alias("brokers"),
    )
    there = sf.filter("brokers", lambda each: each["seen_at"] >= sf.col("newest") - GONE_MS)
    own = sf.transform(there, lambda each: each["own"])
    return brokers.select(sf.array_distinct(sf.flatten(own)).alias("settings"))


def newest_settings(evidence: DataFrame) -> DataFrame:
    """broker, setting, value, occurred_at: the last value of each setting of each broker."""
    place = sf.struct("occurred_at", "input", "position")
    return (
        evidence.where(sf.col("kind") == BrokerSetting.KIND)
        .groupBy("broker", "setting")
        .agg(sf.max_by("value", place).alias("value"), sf.max("occurred_at").alias("occurred_at"))
    )


def _times(config: BrokersConfig, told: Iterable[dict[str, str]]) -> dict[str, int]:
    brokers = brokers_of(config, settings_of(told))
    times = (brokers.session_ms, brokers.max_session_ms, brokers.heartbeat_ms)
    return dict(zip(_TIMES, times, strict=True))


def _each_told(
    config: BrokersConfig,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` takes: the row of `broker_settings`."""

    def each_told(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [_times(config, row["settings"]) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(
                rows, schema=pa.schema([(name, pa.int64()) for name in _TIMES])
            )

    return each_told
