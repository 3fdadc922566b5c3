"""Groups, members and verdicts as tests of readiness write them down."""

from __future__ import annotations

from typing import Any

from groupreplay.config.model import BrokersConfig
from groupreplay.report.brokers import brokers_of
from groupreplay.report.readiness.known import Criteria, FiredRule, Group, Member
from groupreplay.report.readiness.verdict import Judged, judged
from tests.report.readiness.recorded import CLIENTS

NOW = 1_700_000_000_000
DAY = 86_400_000


def member(name: str = "m", **given: Any) -> Member:
    usual: dict[str, Any] = {
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 300_000,
        "profile_offset": 7,
        "embedded_version": 3,
        "subscription_hash": 1,
        "subscription_user_data": 0,
        "assignment_user_data": 0,
    }
    return Member(member_id=name, **usual | given)


def group(*members: Member, **given: Any) -> Group:
    usual: dict[str, Any] = {
        "now_ms": NOW,
        "protocol": "classic",
        "phase": "CLASSIC",
        "protocol_type": "consumer",
        "protocol_name": "range",
        "k2_offset": 9,
        "members_total": len(members),
        "unbroken_since_at": NOW - DAY,
    }
    return Group(members=list(members), **usual | given)


def judge(given: Group, brokers: BrokersConfig | None = None, **night: Any) -> Judged:
    config = brokers or BrokersConfig()
    own = Criteria(brokers=config, clients=CLIENTS, **night)
    return judged(given, brokers_of(config, {}), own)


def fired(found: Judged) -> dict[str, str]:
    return {each.rule: each.severity for each in found.findings}


def only(found: Judged, rule: str) -> FiredRule:
    (finding,) = [each for each in found.findings if each.rule == rule]
    return finding


def absences(*gaps: tuple[int, int, str]) -> dict[str, list[Any]]:
    """(how long ago it ended, ms; how long it was at most, ms; outcome)."""
    return {
        "static_ended_at": [NOW - ago for ago, _, _ in gaps],
        "static_gap_low_ms": [0 for _ in gaps],
        "static_gap_high_ms": [gap for _, gap, _ in gaps],
        "static_outcomes": [outcome for _, _, outcome in gaps],
    }
