"""Silences of members: whose they are where a group has had another coordinator, whose log may be
missing.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.evidence.evidence_facts import Silence
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent
from tests.support.log_lines import proved

AT = 1_795_300_000_000


def asked(
    after_s: int,
    broker: int = 1,
    error: int = 0,
    api: str = "HEARTBEAT",
    until_s: int | None = None,
) -> Line:
    """One connection has the same name at both brokers, which lie behind one address. until_s: of
    the last request of a run."""
    at = AT + 1_000 * after_s
    who: dict[str, Any] = {"group_id": "g", "member_id": "m", "connection": "10.1.0.1:9092-h:1-0"}
    said: dict[str, Any] = {
        "protocol": "classic",
        "epoch": 3,
        "error_code": error,
        "started_ms": at,
    }
    event = LogEvent(event=api, at_ms=at, **who, **said)
    last_at = at if until_s is None else AT + 1_000 * until_s
    return Line(event, broker, REQUEST_LOG, f"requests-{broker}", at, last_at)


def fenced(after_s: int, broker: int = 1) -> Line:
    at = AT + 1_000 * after_s
    event = LogEvent(event="MEMBER_FAILED", at_ms=at, group_id="g", member_id="m")
    return Line(event, broker, SERVER_LOG, f"server-{broker}", at, at)


def moved(after_s: int, event: str, broker: int = 1) -> Line:
    at = AT + 1_000 * after_s
    told = LogEvent(event=event, at_ms=at, group_id="g")
    return Line(told, broker, SERVER_LOG, f"server-{broker}", at, at)


@pytest.mark.parametrize(
    ("lines", "silences"),
    [
        ([asked(0), asked(40)], [(0, 40, "HEARTBEAT")]),
        # It may have asked any broker between, and one that sent it away the one that it left.
        ([asked(0), asked(40, broker=2)], []),
        ([asked(0), asked(1, error=16), asked(40)], []),
        ([asked(0), asked(1, error=16), asked(2), asked(40)], [(2, 40, "HEARTBEAT")]),
        ([asked(0), moved(5, "GROUP_UNLOADED"), asked(40)], []),
        ([asked(0), moved(39, "GROUP_LOADED"), asked(40)], []),
        ([asked(0), moved(5, "GROUP_LOADED", broker=2), asked(40)], [(0, 40, "HEARTBEAT")]),
        ([moved(0, "GROUP_LOADED"), asked(1), asked(40)], [(1, 40, "HEARTBEAT")]),
        ([asked(0), moved(5, "GROUP_UNLOADED"), fenced(45)], []),
        ([asked(0), fenced(45)], [(0, 45, "LATE")]),
        ([asked(0), fenced(45, broker=2)], []),
        ([asked(0), asked(1, error=14), fenced(45)], []),
        # It is back, and refused: another broker may have let it in meanwhile.
        ([asked(0), moved(5, "GROUP_LOADED"), asked(8, error=111), fenced(45)], []),
        ([asked(0), asked(1, error=16), asked(8, error=111), fenced(45)], []),
        ([asked(0), asked(8, error=111), fenced(45)], [(0, 45, "LATE")]),
        ([asked(0), asked(1, error=16), asked(8), fenced(45)], [(8, 45, "LATE")]),
        ([asked(0), asked(9, broker=2), fenced(54, broker=2)], [(9, 54, "LATE")]),
        # The same broker is the coordinator again, and hears it as before.
        (
            [asked(0, until_s=9), moved(5, "GROUP_UNLOADED"), moved(6, "GROUP_LOADED"), fenced(54)],
            [(9, 54, "LATE")],
        ),
        ([asked(0, until_s=9), moved(12, "GROUP_UNLOADED"), fenced(54)], []),
    ],
)
def test_a_silence_is_of_a_member_that_had_no_other_broker_to_ask(
    lines: list[Line], silences: list[tuple[int, int, str]]
) -> None:
    found = [
        each for each in proved("g", lines, AT + 10_000_000, (1,)) if isinstance(each, Silence)
    ]
    told = [(each.since_at, each.until_at, each.ended_by) for each in found]
    assert told == [(AT + 1_000 * a, AT + 1_000 * b, by) for a, b, by in silences]
