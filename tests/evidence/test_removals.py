"""Departures of members that no line names alone: removed by their instance, or together for a sync
that never came.
"""

from __future__ import annotations

from typing import Any

from groupreplay.evidence.evidence_facts import Departure
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import LogEvent
from tests.support.log_lines import proved

ADMIN = "member was removed by an admin"


def told(*lines: Line) -> list[tuple[str, str, str]]:
    """(member, outcome, detail) of each departure."""
    facts = proved("g", list(lines), lines[-1].last_ms)
    return [
        (each.member_id, each.outcome, each.end_detail)
        for each in facts
        if isinstance(each, Departure)
    ]


def line(at: int, event: str, source: str = "server_log", **fields: Any) -> Line:
    return Line(
        LogEvent(event=event, at_ms=at, group_id="g", **fields), 1, source, "broker-1", at, at
    )


def test_an_admin_removes_a_static_member_by_its_instance() -> None:
    joined = line(1_000, "MEMBER_JOINED", member_id="A", instance_id="i", protocol="consumer")
    left = line(2_000, "MEMBER_LEFT", instance_id="i", protocol="classic", client_reason=ADMIN)
    request = line(
        2_001, "LEAVE_GROUP", "request_log", instance_id="i", error_code=0, client_reason=ADMIN
    )
    assert told(joined, left) == told(joined, request) == [("A", "LEFT", "ADMIN_REMOVAL")]


def test_an_instance_that_went_is_nobody() -> None:
    joined = line(1_000, "MEMBER_JOINED", member_id="A", instance_id="i", protocol="consumer")
    fenced = line(2_000, "MEMBER_FENCED", member_id="A", detail="SESSION_EXPIRED")
    left = line(9_000, "MEMBER_LEFT", instance_id="i", protocol="classic", client_reason=ADMIN)
    assert told(joined, fenced, left) == [("A", "FENCED", "SESSION_EXPIRED")]


def test_the_reason_of_a_rebalance_names_who_did_not_sync() -> None:
    began = line(1_000, "JOIN_PHASE_STARTED", epoch=3, detail="SYNC_TIMEOUT", member_ids=("A", "B"))
    assert told(began) == [("A", "FENCED", "SYNC_TIMEOUT"), ("B", "FENCED", "SYNC_TIMEOUT")]
