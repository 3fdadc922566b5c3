"""The live topic was deleted and created anew between two nights: told, kept apart, never merged.
Without a broker.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import Config
from groupreplay.config.sources import KafkaSource
from groupreplay.night.landing import record_stream as land
from groupreplay.night.plans import clusters as live
from groupreplay.night.run import run_night
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.wire.segments.read_live import UNKNOWN_MS
from groupreplay.wire.segments.units import Unit
from groupreplay.workers.live_rows import read_live
from groupreplay.workers.read_units import DDL
from tests.wire.encode import commit

pytestmark = pytest.mark.soak

DAY, NEXT = date(2026, 11, 21), date(2026, 11, 22)
NOW_MS, LATER_MS = 1_795_240_000_000, 1_795_330_000_000
OLD, NEW = "AAAAAAAAQACAAAAAAAAAAQ", "AAAAAAAAQACAAAAAAAAAAg"
BEFORE = {0: ["a", "b"], 1: ["c"], 2: []}
AFTER: dict[int, list[str]] = {0: ["x", "a", "y", "z"], 1: [], 2: ["n"]}
"""Groups that committed, by partition and offset. Where the new log is longer than the old one was,
or empty, only the topic's id shows it.
"""


def test_a_topic_of_another_id_begins_logs_of_its_own(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(
        cluster="c",
        warehouse=str(tmp_path),
        sources=(KafkaSource(kind="kafka", bootstrap_servers="b:1"),),
    )

    def run(night: date, topic_id: str, log: dict[int, list[str]], as_of_ms: int) -> dict[str, Any]:
        topic = LiveTopic(
            "__consumer_offsets",
            topic_id,
            as_of_ms,
            {partition: (0, len(groups)) for partition, groups in log.items()},
            whole=tuple(log),
        )

        def rows(session: SparkSession, _: Any, __: LiveTopic, units: list[Unit]) -> DataFrame:
            read = [
                batch
                for unit in units
                for batch in read_live([unit], UNKNOWN_MS)([records(unit, log, as_of_ms)])
            ]
            return session.createDataFrame(pa.Table.from_batches(read).to_pylist(), DDL)

        monkeypatch.setattr(live, "live_topic", lambda *_: topic)
        monkeypatch.setattr(land, "live_rows", rows)
        done = run_night(spark, config, night).run
        assert done is not None
        return dict(json.loads(done.plan or ""))

    def table(name: str, *columns: str, where: str = "true") -> list[tuple[Any, ...]]:
        return sorted(
            map(
                tuple,
                spark.read.format("delta")
                .load(str(tmp_path / name))
                .where(where)
                .select(*columns)
                .collect(),
            ),
            key=repr,
        )

    monkeypatch.setattr(live, "check_connector", lambda _: None)
    run(DAY, OLD, BEFORE, NOW_MS)
    landing = run(NEXT, NEW, AFTER, LATER_MS)["landing"]
    assert (landing["topic_id"], landing["rows"]) == (NEW, 5)
    ends = {
        int(key): (each["next_offset"], each["log_incarnation"], each["read_until_ms"])
        for key, each in landing["partitions"].items()
    }
    assert ends == {0: (4, 1, LATER_MS), 1: (0, 1, LATER_MS), 2: (1, 0, LATER_MS)}
    told = table(
        "anomalies",
        "evidence_partition",
        "evidence_offset",
        "severity",
        "detail",
        "logical_date",
        where="rule = 'TOPIC_RECREATED'",
    )
    found = f"the id of its topic is {NEW}, and was {OLD}"
    assert told == [(0, 0, "ERROR", found, NEXT), (1, 0, "ERROR", found, NEXT)]
    logs = table(
        "raw_records",
        "offsets_partition",
        "log_incarnation",
        where=f"kind = 'unit' AND logical_date = DATE'{NEXT}'",
    )
    assert logs == [(0, 1), (1, 1), (2, None)]
    tonight = table("migration_progress", "group_id", where=f"logical_date = DATE'{NEXT}'")
    assert tonight == [("a",), ("n",), ("x",), ("y",), ("z",)], "b and c ended with their logs"
    covered = table(
        "coverage",
        "input",
        "next_offset",
        "log_incarnation",
        where=f"source = 'kafka' AND logical_date = DATE'{NEXT}'",
    )
    assert covered == [
        ("__consumer_offsets-0", 4, 1),
        ("__consumer_offsets-1", 0, 1),
        ("__consumer_offsets-2", 1, None),
    ]


def records(unit: Unit, log: dict[int, list[str]], ts_ms: int) -> pa.RecordBatch:
    """As Spark's source gives them."""
    offsets = range(unit.start_offset, unit.end_offset)
    pairs = [commit(log[unit.offsets_partition][offset], ts_ms=ts_ms) for offset in offsets]
    columns = {
        "partition": pa.array([unit.offsets_partition] * len(offsets), pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "ts_ms": pa.array([ts_ms] * len(offsets), pa.int64()),
        "key": pa.array([key for key, _ in pairs], pa.binary()),
        "value": pa.array([value for _, value in pairs], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)
