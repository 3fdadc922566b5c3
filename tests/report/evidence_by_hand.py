"""Facts of lines with everything a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from groupreplay.evidence.evidence_facts import (
    AssignorFailure,
    BrokerSetting,
    Contact,
    Departure,
    EvidenceFact,
    Outage,
    Rebalance,
    Refusal,
    Rejoin,
    ShardEvent,
    Silence,
)
from tests.report.facts_by_hand import AT

_USUAL: dict[type[EvidenceFact], dict[str, Any]] = {
    Departure: {
        "member_id": "m",
        "instance_id": None,
        "ended_at": AT,
        "outcome": "LEFT",
        "end_detail": "LEAVE_HEARTBEAT",
        "client_reason": None,
    },
    Refusal: {
        "member_id": "m",
        "instance_id": None,
        "client_id": "app",
        "client_host": "/10.0.0.1",
        "subject": "m",
        "api": "CONSUMER_GROUP_HEARTBEAT",
        "error_code": 111,
        "refusal": "UNRELEASED_INSTANCE_ID",
        "message": None,
        "first_at": AT,
        "last_at": AT,
        "attempts": 1,
        "times_at": [AT],
    },
    Rebalance: {
        "generation": 6,
        "started_at": AT,
        "group_state": "Stable",
        "reason": "NEW_MEMBER",
        "cause": "JOIN",
        "cause_member_id": "m",
        "client_reason": None,
        "members_missing": [],
        "members_dropped": [],
    },
    Rejoin: {
        "member_id": "m",
        "instance_id": None,
        "client_id": "app",
        "client_host": "/10.0.0.1",
    },
    Contact: {
        "member_id": "m",
        "instance_id": None,
        "client_id": "app",
        "client_host": "/10.0.0.1",
        "principal": "User:app",
        "software_name": "apache-kafka-java",
        "software_version": "4.3.1",
        "protocol": "consumer",
        "first_at": AT,
        "error_codes": [],
        "error_counts": [],
    },
    Silence: {
        "member_id": "m",
        "instance_id": None,
        "client_id": "app",
        "client_host": "/10.0.0.1",
        "protocol": "consumer",
        "since_at": AT,
        "until_at": AT + 12_000,
        "ended_by": "FENCED",
    },
    BrokerSetting: {"setting": "version", "value": "4.3.1", "occurred_at": AT},
    Outage: {"since_at": AT, "last_at": AT, "attempts": 1},
    AssignorFailure: {
        "epoch": 7,
        "reason": "Partitions were left unassigned.",
        "first_at": AT,
        "last_at": AT,
        "attempts": 1,
    },
    ShardEvent: {
        "offsets_partition": 3,
        "event": "LOADED",
        "occurred_at": AT,
        "duration_ms": 5,
        "records": 10,
        "moved_from": None,
        "detail": None,
    },
}


def evidence(kind: type[Any], **given: Any) -> Any:
    """A fact of that kind, of group "g" on broker 1."""
    usual = {
        "group_id": "g",
        "broker": 1,
        "source": "server_log",
        "input": "server.log",
        "position": 7,
    }
    return kind(**{**usual, **_USUAL[kind], **given})
