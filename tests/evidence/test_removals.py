"""Departures of members that no line names alone: removed by their instance, or together for a sync
that never came.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.evidence.evidence_facts import Departure
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import HEARTBEATS_WITH_EPOCH, LogEvent
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


@pytest.mark.parametrize("api", sorted(HEARTBEATS_WITH_EPOCH))
def test_a_leave_of_the_newer_protocols_is_a_heartbeat(api: str) -> None:
    """Also where the request log is all there is."""
    join, leave = (
        line(at, api, "request_log", member_id="A", epoch=epoch, error_code=0)
        for at, epoch in ((1_000, 0), (2_000, -1))
    )
    assert told(join, leave) == [("A", "LEFT", "LEAVE_HEARTBEAT")]


def test_an_instance_that_went_is_nobody() -> None:
    joined = line(1_000, "MEMBER_JOINED", member_id="A", instance_id="i", protocol="consumer")
    fenced = line(2_000, "MEMBER_FENCED", member_id="A", detail="SESSION_EXPIRED")
    left = line(9_000, "MEMBER_LEFT", instance_id="i", protocol="classic", client_reason=ADMIN)
    assert told(joined, fenced, left) == [("A", "FENCED", "SESSION_EXPIRED")]


def test_the_reason_of_a_rebalance_names_who_did_not_sync() -> None:
    began = line(1_000, "JOIN_PHASE_STARTED", epoch=3, detail="SYNC_TIMEOUT", member_ids=("A", "B"))
    assert told(began) == [("A", "FENCED", "SYNC_TIMEOUT"), ("B", "FENCED", "SYNC_TIMEOUT")]


def test_who_was_removed_is_known_by_its_own_requests() -> None:
    client = {"client_id": "app", "client_host": "/10.0.0.1", "protocol": "classic"}
    joined = line(1_000, "JOIN_GROUP", "request_log", member_id="A", error_code=0, **client)
    failed = [line(2_000, "MEMBER_FAILED", member_id=each) for each in ("A", "B")]
    facts = proved("g", [joined, *failed], 2_000)
    known = {
        each.member_id: (each.client_id, each.client_host)
        for each in facts
        if isinstance(each, Departure)
    }
    assert known == {"A": ("app", "/10.0.0.1"), "B": (None, None)}


@pytest.mark.parametrize(("converts", "epoch"), [(True, None), (False, 11)])
def test_a_conversion_bumps_no_epoch_of_who_went_before_it(
    converts: bool, epoch: int | None
) -> None:
    """A classic group removes members without one: the upgrade that follows has its own."""
    gone = line(1_000, "MEMBER_FAILED", member_id="A", protocol="classic")
    converted = line(1_900, "CONVERTED_TO_CONSUMER", detail="ONLINE")
    bumped = line(1_900, "GROUP_EPOCH_BUMPED", epoch=11)
    lines = [gone, *([converted] if converts else []), bumped]
    (found,) = (each for each in proved("g", lines, 9_000) if isinstance(each, Departure))
    assert found.epoch == epoch


@pytest.mark.parametrize(
    ("asked", "since_at"),
    [
        ([("JOIN_GROUP", 1, {})], 900),
        ([("JOIN_GROUP", 1, {}), ("HEARTBEAT", 1, {"epoch": 1})], 900),
        ([("CONSUMER_GROUP_HEARTBEAT", 1, {"epoch": 0})], 900),
        ([("CONSUMER_GROUP_HEARTBEAT", 1, {"epoch": 1})], None),
        ([("JOIN_GROUP", 1, {}), ("JOIN_GROUP", 1, {"error_code": 27})], 900),
        # By a clock that may differ from that of the broker that says how it went.
        ([("JOIN_GROUP", 2, {})], None),
        ([("JOIN_GROUP", 1, {}), ("HEARTBEAT", 2, {"epoch": 1})], None),
        ([("JOIN_GROUP", 1, {}), *[("HEARTBEAT", each, {"epoch": 1}) for each in (2, 1)]], None),
        ([("JOIN_GROUP", 2, {}), ("JOIN_GROUP", 1, {})], 1_900),
    ],
)
def test_since_when_who_goes_was_a_member(
    asked: list[tuple[str, int, dict[str, Any]]], since_at: int | None
) -> None:
    lines = [request(1_000 * (place + 1), *each) for place, each in enumerate(asked)] + [
        line(9_000, "MEMBER_FAILED", member_id="A")
    ]
    (found,) = (each for each in proved("g", lines, 9_000, (1,)) if isinstance(each, Departure))
    assert found.since_at == since_at


def request(at: int, api: str, broker: int, said: dict[str, Any]) -> Line:
    """It took 100 ms."""
    protocol = "consumer" if api in HEARTBEATS_WITH_EPOCH else "classic"
    fields = {"error_code": 0, "protocol": protocol, "started_ms": at - 100, **said}
    asked = line(at, api, "request_log", member_id="A", **fields)
    asked.broker = broker
    return asked
