"""Rules about groups that no recording shows, and what follows from several.

Holds report/readiness/of_groups.py.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig, ReadinessConfig
from groupreplay.report.brokers import brokers_of
from groupreplay.report.readiness.known import Criteria, Refused
from groupreplay.report.readiness.rows import group_of
from groupreplay.report.readiness.verdict import judged, rule_order
from tests.report.readiness.judging import DAY, NOW, absences, fired, group, judge, member, only


def test_a_group_without_findings_is_ready_after_a_day() -> None:
    assert judge(group(member())).verdict == "READY"
    assert judge(group(member(), unbroken_since_at=NOW - DAY + 1)).verdict == "UNKNOWN"
    assert judge(group(member(), unbroken_since_at=None)).verdict == "UNKNOWN"
    assert judge(group(member(), member("n", profile_offset=None))).verdict == "UNKNOWN"


@pytest.mark.parametrize(
    ("given", "brokers", "rule", "severity", "verdict"),
    [
        ({"protocol_type": "connect"}, {}, "R1", "NA", "NOT_APPLICABLE"),
        ({"protocol_name": "mine"}, {}, "R3b", "CHECK", "WARN"),
        ({"protocol_name": "stream"}, {}, "R4", "NA", "NOT_APPLICABLE"),
        ({"members_total": 3}, {"max_size": 2}, "R11", "BLOCK", "BLOCKED"),
        ({}, {"migration_policy": "disabled"}, "R14", "BLOCK_ONLINE", "READY_OFFLINE"),
        ({}, {"migration_policy": "downgrade"}, "R14", "BLOCK_ONLINE", "READY_OFFLINE"),
        ({"recreated_at": NOW - DAY}, {}, "R15", "INFO", "READY"),
        ({"epoch_times_at": [NOW - 1] * 11}, {}, "R16", "FIX", "WARN"),
        ({"loops_at": [[NOW - 600_000, NOW - 5, NOW]]}, {}, "R16", "FIX", "WARN"),
        ({}, {"version": "3.9.2"}, "R17", "BLOCK", "BLOCKED"),
        ({}, {"version": "4.1.1"}, "R17", "INFO", "READY"),
    ],
)
def test_rules_of_groups(
    given: dict[str, Any], brokers: dict[str, Any], rule: str, severity: str, verdict: str
) -> None:
    found = judge(group(member(), **given), BrokersConfig(**brokers))
    assert (fired(found), found.verdict) == ({rule: severity}, verdict)


@pytest.mark.parametrize(
    ("given", "brokers"),
    [
        ({"protocol_name": "cooperative-sticky"}, {}),
        ({}, {"max_size": 1}),
        ({}, {"migration_policy": "upgrade"}),
        ({"recreated_at": NOW - 31 * DAY}, {}),
        ({"epoch_times_at": [NOW - 1] * 10}, {}),
        ({"epoch_times_at": [NOW - 3_600_000] * 16}, {}),
        ({"loops_at": [[NOW - 600_001, NOW - 5, NOW]]}, {}),
        ({"loops_at": [[NOW - 1, NOW]]}, {}),
        ({"loops_at": [[NOW - 3_600_003, NOW - 3_600_002, NOW - 3_600_001]]}, {}),
        ({}, {"version": "4.2.0"}),
    ],
)
def test_rules_of_groups_that_do_not_fire(given: dict[str, Any], brokers: dict[str, Any]) -> None:
    assert fired(judge(group(member(), **given), BrokersConfig(**brokers))) == {}


def test_a_record_that_says_goodbye_is_no_takeover() -> None:
    static = member(instance_id="i")
    left = absences((DAY, 3_000, "ABSORBED")) | {"static_gap_low_ms": [3_000]}
    assert fired(judge(group(static, **left))) == {}
    assert fired(judge(group(static, **absences((DAY, 3_000, "ABSORBED"))))) == {"R7": "CHECK"}


def test_refusals_of_upgrades_count_for_a_week() -> None:
    place: dict[str, Any] = {"source": "server_log", "input": "s", "position": 3}
    said: dict[str, Any] = {"error_code": 69, "refusal": "UPGRADE_REFUSED", "message": "MALFORMED"}
    fresh = Refused(last_at=NOW - 7 * DAY, **said, **place)
    found = judge(group(member(), refusals=[fresh]))
    assert (found.verdict, only(found, "R18").evidence) == ("READY_OFFLINE", place)
    old = Refused(last_at=NOW - 7 * DAY - 1, **said, **place)
    assert judge(group(member(), refusals=[old])).verdict == "READY"


def test_instance_conflicts_count_of_tonight_alone() -> None:
    place: dict[str, Any] = {"source": "request_log", "input": "r", "position": 3}
    said: dict[str, Any] = {
        "error_code": 82,
        "refusal": "FENCED_INSTANCE_ID",
        "last_at": NOW,
        **place,
    }
    assert fired(judge(group(member(), refusals=[Refused(**said)]))) == {"R6": "FIX"}
    unreleased = said | {"error_code": 111, "refusal": "UNRELEASED_INSTANCE_ID", "attempts": 4}
    conflict = only(judge(group(member(), refusals=[Refused(**unreleased)])), "R6")
    assert (conflict.value, conflict.evidence) == (4, place)
    earlier = Refused(**said, is_tonight=False)
    assert fired(judge(group(member(), refusals=[earlier]))) == {}


def test_brokers_that_differ_count_by_the_least_favourable() -> None:
    settings = {
        "version": ["4.10.0", "4.9.1"],
        "group.consumer.session.timeout.ms": ["45000", "30000"],
        "group.consumer.min.session.timeout.ms": ["30000", "20000"],
        "group.consumer.max.session.timeout.ms": ["60000", "45000"],
        "group.consumer.heartbeat.interval.ms": ["5000", "9000"],
        "group.consumer.migration.policy": ["BIDIRECTIONAL", "disabled"],
        "group.coordinator.rebalance.protocols": ["[classic, consumer]", "[classic]"],
    }
    found = brokers_of(BrokersConfig(), settings)
    assert (found.version, found.policy, found.known) == ("4.9.1", "disabled", "LOGS")
    assert (found.session_ms, found.max_session_ms, found.heartbeat_ms) == (30_000, 45_000, 9_000)
    assert (found.min_session_ms, found.protocols) == (30_000, "[classic]")
    own = brokers_of(BrokersConfig(max_session_timeout_ms=1), settings)
    assert (own.max_session_ms, own.known) == (1, "LOGS")
    assert brokers_of(BrokersConfig(max_session_timeout_ms=1), {}).known == "ASSUMED"


def test_a_rule_says_so_where_brokers_differ() -> None:
    settings = {
        "version": ["3.9.2", "4.3.1"],
        "group.consumer.session.timeout.ms": ["45000", "50000"],
        "group.consumer.max.size": ["1"],
    }
    short = group(member(session_timeout_ms=6_000), member("n", session_timeout_ms=6_000))
    found = judged(short, brokers_of(BrokersConfig(), settings), Criteria())
    says = {each.rule: "brokers differ" in each.detail for each in found.findings}
    assert says == {"R5b": True, "R11": False, "R17": True}
    own = brokers_of(BrokersConfig(version="4.3.1", session_timeout_ms=45_000), settings)
    assert own.differing == set()
    bounds = {"group.consumer.min.session.timeout.ms": ["6000", "9000"]}
    bounded = judged(short, brokers_of(BrokersConfig(), bounds), Criteria())
    assert "brokers differ" in only(bounded, "R5b").detail


def test_a_feature_that_is_off_blocks() -> None:
    settings = {"version": ["4.3.1"], "group.version": ["0"]}
    found = judged(group(member()), brokers_of(BrokersConfig(), settings), Criteria())
    assert (fired(found), found.verdict) == ({"R17": "BLOCK"}, "BLOCKED")
    assert "group.version is 0" in only(found, "R17").detail
    on = brokers_of(BrokersConfig(), settings | {"group.version": ["1"]})
    assert judged(group(member()), on, Criteria()).verdict == "READY"


def test_rules_are_ordered_by_their_numbers() -> None:
    names = ["R10", "R5b", "R3", "R5", "R3c", "R5a"]
    assert sorted(names, key=rule_order) == ["R3", "R3c", "R5", "R5a", "R5b", "R10"]


def test_history_that_was_not_seen_is_named() -> None:
    hidden = group(member(instance_id="i"), history_complete=False)
    assert {"R7", "R15", "R19"} <= set(judge(hidden).rules_unseen)
    short = ReadinessConfig(lookback_ms=DAY)
    assert not {"R7", "R15", "R19"} & set(judge(hidden, readiness=short).rules_unseen)


def test_a_group_of_another_kind_without_members_has_none_either() -> None:
    found = judge(group(phase="NOT_APPLICABLE", protocol_type="connect", members_total=0))
    assert fired(found) == {"R1": "NA", "R15": "INFO"}
    assert found.verdict == "NOT_APPLICABLE"


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_the_assignor_of_a_mixed_group_does_not_hang_on_the_order_of_rows(
    names: tuple[str, ...],
) -> None:
    offers = {"a": ["range"], "b": ["sticky", "range"]}
    members = [dataclasses.asdict(member(name, protocols=offers[name])) for name in names]
    row = {"now_ms": NOW, "before_ms": -1, "protocol": "consumer", "phase": "MIGRATING"}
    assert group_of(row | {"members": members}).assignor == "range"
