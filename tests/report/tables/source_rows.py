"""Raw rows of one night: what units saw, damage, and files of lines."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.report.facts_by_hand import AT


def unit(partition: int, source: str = "segments", **counts: int) -> dict[str, Any]:
    detail = json.dumps(
        {
            "first_offset": 0,
            "next_offset": 10,
            "first_ts_ms": AT,
            "last_ts_ms": AT + 5,
            "batch_crc": 1,
            **counts,
        }
    )
    return {
        "kind": "unit",
        "offsets_partition": partition,
        "input": f"__consumer_offsets-{partition}",
        "source": source,
        "detail": detail,
    }


DAMAGE = {
    "kind": "damage",
    "value": b"\x00\x01",
    "detail": json.dumps({"reason": "wrong CRC", "path": "/a.log", "position": 7, "bytes": 4000}),
}


LINES_DDL = (
    "kind STRING, source STRING, input STRING, position BIGINT, detail STRING, requests BIGINT,"
    " line STRING, counts STRING"
)


def file_row(
    source: str, input_name: str, position: int, loggers: dict[str, int], **counts: int
) -> tuple[Any, ...]:
    names = (
        "lines",
        "matched",
        "unmatched",
        "continuation",
        "passed",
        "damaged",
        "too_long",
        "reduced",
    )
    told = (
        dict.fromkeys(names, 0)
        | {
            "from_position": position,
            "next_position": position + 100,
            "first_ms": AT,
            "last_ms": AT + 5,
        }
        | counts
    )
    return (
        "file",
        source,
        input_name,
        position,
        None,
        None,
        None,
        json.dumps({**told, "loggers": loggers, "identity": "i", "failure": None}),
    )


def lines_of_brokers(spark: SparkSession) -> DataFrame:
    """Two files of two kinds, a line, and what was no line and what was too long of one."""
    seen = {"lines": 9, "matched": 1, "unmatched": 3, "continuation": 2, "damaged": 2}
    no_line, too_long = ({"lines": 2, "bytes": 9}, {"lines": 1, "bytes": 5_000})
    rows = [
        file_row("server_log", "/s", 0, {"a": 1, "b": 2}, **seen, too_long=1),
        file_row("server_log", "/s", 100, {"b": 5}, lines=5, unmatched=5, first_ms=-1, last_ms=-1),
        file_row("request_log", "/r", 0, {}, lines=8, matched=3, passed=5, reduced=2),
        ("line", "server_log", "/s", 7, None, 1, "a line", None),
        ("damage", "server_log", "/s", 40, "no line", 2, "xx", json.dumps(no_line)),
        ("damage", "server_log", "/s", 60, "too long", 1, "y", json.dumps(too_long)),
    ]
    return spark.createDataFrame(rows, LINES_DDL)
