"""The live topic -> raw rows, by Spark's own Kafka source in batch mode: offsets as they were
planned, no group, nothing committed or written.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.sources import KafkaSource
from groupreplay.sources.live_planning import LiveTopic, read_at_once, whole_since_ms
from groupreplay.wire.segments.units import Unit
from groupreplay.workers.live_rows import read_live
from groupreplay.workers.read_units import DDL

_API_TIMEOUT: Final = "default.api.timeout.ms"


def live_rows(
    spark: SparkSession, source: KafkaSource, live: LiveTopic, units: Sequence[Unit]
) -> DataFrame:
    """The raw rows of units, without night and cluster: lazily, one task a unit. A unit of which no
    record is left gives none, not even its own.
    """
    reads = [_records(spark, source, live, together) for together in read_at_once(units)]
    since_ms = whole_since_ms(live, int(time.time() * 1000))
    return reduce(DataFrame.unionAll, reads).mapInArrow(read_live(units, since_ms), DDL)


def _records(
    spark: SparkSession, source: KafkaSource, live: LiveTopic, units: Sequence[Unit]
) -> DataFrame:
    """partition, offset, ts_ms, key, value of units of different partitions."""
    log_starts = {partition: first for partition, (first, _) in live.offsets.items()}
    starts = {
        unit.offsets_partition: min(
            max(unit.start_offset, log_starts.get(unit.offsets_partition, 0)), unit.end_offset
        )
        for unit in units
    }
    options: dict[str, Any] = {
        **{f"kafka.{name}": value for name, value in source.options.items()},
        "kafka.bootstrap.servers": source.bootstrap_servers,
        "kafka.isolation.level": "read_committed",
        "assign": json.dumps({live.topic: sorted(starts)}),
        "startingOffsets": _by_partition(live.topic, starts),
        "endingOffsets": _by_partition(
            live.topic, {unit.offsets_partition: unit.end_offset for unit in units}
        ),
        # What retention takes between plan and read is a hole, and reported as one.
        "failOnDataLoss": "false",
    }
    if _API_TIMEOUT in source.options:
        # A broker that dies lets a poll wait: no longer than its other calls do.
        options["kafkaConsumer.pollTimeoutMs"] = source.options[_API_TIMEOUT]
    rows = spark.read.format("kafka").options(**options).load()
    return rows.select(
        "partition",
        "offset",
        sf.coalesce(sf.unix_millis("timestamp"), sf.lit(-1)).alias("ts_ms"),
        "key",
        "value",
    )


def _by_partition(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})
