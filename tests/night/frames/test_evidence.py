"""When each broker was there, by the lines that a night landed."""

from __future__ import annotations

import json

from pyspark.sql import SparkSession

from groupreplay.night.frames.evidence import seen
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG

NEWEST_MS = 900


def test_a_broker_was_there_when_it_wrote_its_last_line(spark: SparkSession) -> None:
    files = [
        (1, SERVER_LOG, "a", {"lines": 5, "last_ms": 300}),
        (1, REQUEST_LOG, "b", {"lines": 1, "last_ms": 400}),
        (2, SERVER_LOG, "c", {"lines": 3, "last_ms": -1}),  # none of them of interest
        (3, SERVER_LOG, "d", {"lines": 0, "last_ms": -1}),  # it did not grow
    ]
    rows: list[tuple[object, ...]] = [
        ("file", broker, source, name, 0, json.dumps(told)) for broker, source, name, told in files
    ]
    rows.append(("line", 4, SERVER_LOG, "e", 7, None))
    lines = spark.createDataFrame(
        rows, "kind STRING, broker INT, source STRING, input STRING, position BIGINT, counts STRING"
    )
    found = seen(lines, NEWEST_MS).collect()
    assert {(row.broker, row.setting, row.input, row.occurred_at, row.value) for row in found} == {
        (1, "seen", "a", 300, "300"),
        (1, "seen", "b", 400, "400"),
        (2, "seen", "c", NEWEST_MS, "900"),
    }
