"""Units of logs of brokers, made of a few lines, and the rows that workers read from them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text.contact_runs import ContactRun
from groupreplay.wire.text.text_rows import EVENT_FIELDS
from groupreplay.wire.text.text_units import END_OF_FILE, TextUnit
from groupreplay.workers.read_text_units import read_text_units
from tests.support.contact_runs import merge

LEFT = (
    "[GroupCoordinator id=1 topic=__consumer_offsets partition=7] [GroupId g] Member m-{} left the"
    " consumer group."
)
LOGGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"


def server_line(second: int, message: str = "", logger: str = "kafka.server.KafkaServer") -> bytes:
    return (
        f"[2026-11-20 10:{second // 60 % 60:02}:{second % 60:02},000] INFO"
        f" {message or 'all is well'} ({logger})\n".encode()
    )


def event_line(second: int) -> bytes:
    return server_line(second, LEFT.format(second), LOGGER)


def request_line(
    second: int, key: int = 68, member: str = "m", epoch: int = 3, error: int = 0, padding: int = 0
) -> bytes:
    header = {
        "requestApiKey": key,
        "requestApiVersion": 0,
        "correlationId": second,
        "clientId": "c",
        "requestApiKeyName": "X",
    }
    document = {
        "requestHeader": header,
        "request": {
            "groupId": "g",
            "memberId": member,
            "memberEpoch": epoch,
            "topics": "x" * padding,
        },
        "response": {
            "throttleTimeMs": 0,
            "errorCode": error,
            "errorMessage": None,
            "memberId": member,
            "memberEpoch": epoch,
        },
        "connection": "127.0.0.1:9092-127.0.0.1:5000-0-1",
        "totalTimeMs": 1.5,
        "principal": "User:ANONYMOUS",
        "clientInformation": {"softwareName": "java", "softwareVersion": "4.3"},
    }
    text = json.dumps(document, separators=(",", ":"))
    return (
        f"[2026-11-20 10:{second // 60 % 60:02}:{second % 60:02},000] DEBUG Completed"
        f" request:{text} (kafka.request.logger)\n".encode()
    )


def unit(
    path: Path, kind: str = "server_log", start: int = 0, end: int = END_OF_FILE, **others: Any
) -> TextUnit:
    fields: dict[str, Any] = {
        "timezone": "UTC",
        "layout": "[%d] %p %m (%c)%n",
        "message_field": None,
        "time_field": None,
        "identity": "i",
        "broker": 1,
    }
    size = path.stat().st_size if path.exists() else 0
    return TextUnit(
        kind=kind,
        path=str(path),
        size=size,
        start_position=start,
        end_position=end,
        **(fields | others),
    )


def rows_of(*units: TextUnit) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_pydict({"unit": [each.to_json() for each in units]})
    return [row for found in read_text_units([batch]) for row in found.to_pylist()]


def of_kind(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == kind]


def told(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = of_kind(rows, "file")
    return dict(json.loads(row["counts"]))


def adds_up(counts: dict[str, Any]) -> bool:
    outcomes = ("matched", "unmatched", "continuation", "passed", "damaged", "too_long")
    return bool(counts["lines"] == sum(counts[name] for name in outcomes))


def requests(seed: int) -> bytes:
    chance = random.Random(seed)
    lines = []
    for second in range(200):
        key = chance.choice([1, 0, 3, 68, 68])
        line = request_line(
            second,
            key,
            chance.choice("ab"),
            chance.choice([3] * 9 + [0]),
            chance.choice([0] * 9 + [110]),
            chance.randrange(50),
        )
        lines.append(
            line if chance.random() > 0.1 else chance.choice([b"\n", b"\xff\n", line[:300] + b"\n"])
        )
    return b"".join(lines)


def contacts(rows: list[dict[str, Any]]) -> list[Any]:
    """Rows of single events as they are, runs of one member put together."""
    found: list[Any] = []
    open_runs: dict[str, ContactRun] = {}
    for row in sorted(of_kind(rows, "line"), key=lambda row: row["position"]):
        fields = {name: row[name] for name in EVENT_FIELDS}
        event = LogEvent(**fields | {"member_ids": tuple(fields["member_ids"] or ())})
        if row["line"] is not None:
            found.append(
                (row["position"], row["event"], row["member_id"], row["error_code"], row["at_ms"])
            )
            if run := open_runs.pop(row["member_id"], None):
                found.append(
                    (
                        run.position,
                        run.last_position,
                        run.requests,
                        run.longest_gap_ms,
                        run.first_ms,
                        run.last_ms,
                    )
                )
            continue
        run = ContactRun(
            event,
            row["position"],
            row["at_ms"],
            row["last_ms"],
            row["requests"],
            row["longest_gap_ms"],
            row["last_position"],
        )
        before = open_runs.get(row["member_id"])
        open_runs[row["member_id"]] = merge(before, run) if before else run
    return sorted(
        [
            *found,
            *(
                (run.position, run.last_position, run.requests, run.longest_gap_ms)
                for run in open_runs.values()
            ),
        ],
        key=str,
    )
