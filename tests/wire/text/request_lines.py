"""Lines of the request log as recorded brokers wrote them, and such with other contents."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text.request_log import GROUP_APIS, RequestLogParser
from tests.support.yaml_text import safe_load

CASES = safe_load(
    (Path(__file__).parents[2] / "scenarios" / "request_lines.yaml").read_text(encoding="utf-8")
)["cases"]
LINES = [case["line"].encode() for case in CASES]
HEARTBEAT = next(
    case["line"]
    for case in CASES
    if case["events"][0]["event"] == "CONSUMER_GROUP_HEARTBEAT"
    and "instance_id" not in case["events"][0]
)
DOCUMENT = json.loads(HEARTBEAT[HEARTBEAT.index("{") : HEARTBEAT.rindex("}") + 1])
AT = "2026-11-21 06:17:45,983"
AT_MS = 1795241865983


def to_ms(text: str) -> int | None:
    """Kafka's own form of time, read as UTC."""
    try:
        elapsed = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f") - datetime(1970, 1, 1)
    except ValueError:
        return None
    return round(elapsed.total_seconds() * 1000)


PARSER = RequestLogParser(to_ms)


def document(key: int = 68, **changes: Any) -> dict[str, Any]:
    """A recorded heartbeat with another key, request, response or other top-level fields."""
    made: dict[str, Any] = deepcopy(DOCUMENT)
    made["requestHeader"] |= {
        "requestApiKey": key,
        "requestApiKeyName": GROUP_APIS.get(key, "FETCH"),
    }
    return made | changes


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def line(made: Any) -> bytes:
    return f"[{AT}] DEBUG Completed request:{compact(made)} (kafka.request.logger)".encode()


def events(parsed: object) -> list[LogEvent]:
    assert isinstance(parsed, list), parsed
    return parsed


def only(parsed: object) -> LogEvent:
    (event,) = events(parsed)
    return event


def told(event: LogEvent) -> dict[str, Any]:
    return {
        one.name: list(value) if isinstance(value, tuple) else value
        for one in fields(event)
        if (value := getattr(event, one.name)) not in (None, ())
    }
