"""Rules of readiness that no recording shows, and what follows from several."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig, ReadinessConfig
from groupreplay.records.log_events import REQUEST_LOG
from groupreplay.report.brokers import brokers_of
from groupreplay.report.departure_codes import EXPIRED, LEFT, POLL_TIMEOUT, UNKNOWN
from groupreplay.report.readiness.known import Case, Criteria, FiredRule, Group, Member, Refused
from groupreplay.report.readiness.of_members import departure
from groupreplay.report.readiness.rows import group_of
from groupreplay.report.readiness.verdict import Judged, judged, rule_order
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


@pytest.mark.parametrize(
    ("given", "rule", "severity", "value"),
    [
        ({"assignment_user_data": 5}, "R3", "BLOCK_ONLINE", 5),
        ({"subscription_user_data": None}, "R3c", "BLOCK_ONLINE", None),
        ({"assignment_user_data": None}, "R3c", "BLOCK_ONLINE", None),
        ({"session_timeout_ms": 6_000}, "R5b", "INFO", 0),
        ({"session_timeout_ms": 60_000}, "R5c", "INFO", None),
        ({"embedded_version": 2}, "R8", "CHECK", None),
        ({"rack_id": "r"}, "R10", "CHECK", 1),
        ({"subscription_hash": 2}, "R12", "CHECK", 2),
    ],
)
def test_rules_of_members(
    given: dict[str, Any], rule: str, severity: str, value: int | None
) -> None:
    found = judge(group(member(), member("n", profile_offset=8, **given)))
    assert fired(found) == {rule: severity}
    finding = only(found, rule)
    assert finding.value == value
    about_one = rule != "R12"
    assert [each.member_id for each in finding.members] == (["n"] if about_one else ["m", "n"])
    assert finding.evidence_offset == (8 if about_one else 9)


@pytest.mark.parametrize(
    ("own_ms", "least_ms", "remedy"),
    [
        (6_000, None, "no consumer.session.timeout.ms of the group can make it less"),
        (6_000, 30_000, "consumer.session.timeout.ms of the group can make it 30 s"),
        (12_000, 10_000, "consumer.session.timeout.ms of the group can make it 12 s"),
        (5_000, 1_000, "consumer.session.timeout.ms of the group can make it 5.001 s"),
    ],
)
def test_what_a_group_can_set_against_blindness(
    own_ms: int, least_ms: int | None, remedy: str
) -> None:
    brokers = BrokersConfig(min_session_timeout_ms=least_ms)
    found = judge(group(member(session_timeout_ms=own_ms)), brokers)
    said = f"a crash will be noticed after 45 s instead of {own_ms // 1000} s; {remedy}"
    assert only(found, "R5b").detail == said


def absences(*gaps: tuple[int, int, str]) -> dict[str, list[Any]]:
    """(how long ago it ended, ms; how long it was at most, ms; outcome)."""
    return {
        "static_ended_at": [NOW - ago for ago, _, _ in gaps],
        "static_gap_low_ms": [0 for _ in gaps],
        "static_gap_high_ms": [gap for _, gap, _ in gaps],
        "static_outcomes": [outcome for _, _, outcome in gaps],
    }


@pytest.mark.parametrize(
    ("own_ms", "gap_ms", "rule", "severity", "suggested"),
    [
        (300_000, 56_000, "R5", "FIX", 60_000),
        (300_000, 55_000, "R5", "CHECK", 60_000),
        (60_000, 40_001, "R5a", "CHECK", 46_000),
        (60_000, 40_000, "R5a", "INFO", None),
    ],
)
def test_sessions_that_shrink(
    own_ms: int, gap_ms: int, rule: str, severity: str, suggested: int | None
) -> None:
    """The clock of the consumer protocol starts at the last heartbeat, so 5 s more must fit."""
    static = member(instance_id="i", session_timeout_ms=own_ms)
    found = judge(group(static, **absences((DAY, gap_ms, "ABSORBED"))))
    assert fired(found)[rule] == severity
    assert found.suggested_session_timeout_ms == suggested


def test_only_absences_that_were_absorbed_and_are_not_too_old_count() -> None:
    static = member(instance_id="i", session_timeout_ms=300_000)
    gaps = absences((DAY, 200_000, "EXPIRED"), (31 * DAY, 200_000, "ABSORBED"))
    found = judge(group(static, **gaps))
    assert (fired(found)["R5"], only(found, "R5").value) == ("CHECK", 0)
    assert "R7" not in fired(found)
    assert found.suggested_session_timeout_ms == 60_000, "its own session says what it needs"


def test_a_record_that_says_goodbye_is_no_takeover() -> None:
    static = member(instance_id="i")
    left = absences((DAY, 3_000, "ABSORBED")) | {"static_gap_low_ms": [3_000]}
    assert fired(judge(group(static, **left))) == {}
    assert fired(judge(group(static, **absences((DAY, 3_000, "ABSORBED"))))) == {"R7": "CHECK"}


@pytest.mark.parametrize(
    ("name", "version", "says"),
    [
        ("apache-kafka-java", "4.0.0", None),
        ("apache-kafka-java", "3.9.2", "early access"),
        ("apache-kafka-java", "3.6.0", "without the consumer protocol"),
        ("confluent-kafka-python", "2.3.0-rdkafka-2.12.0", None),
        ("confluent-kafka-python", "2.13.0-rdkafka-2.3.0", "without the consumer protocol"),
        ("librdkafka", "2.10.1", "early access"),
        ("sarama", "1.43", "not known here"),
    ],
)
def test_clients(name: str, version: str, says: str | None) -> None:
    given = member(software_name=name, software_version=version)
    found = judge(group(given), log_kinds=frozenset({REQUEST_LOG}))
    if says is None:
        assert fired(found) == {}
    else:
        assert says in only(found, "R8").detail
    assert "R8" not in found.rules_unseen
    assert "R8" in judge(group(member())).rules_unseen


def rejoin(rejoin_ms: int, position: int = 1) -> dict[str, Any]:
    """Times of a member with a rebalance timeout of 300 s."""
    place = {"source": REQUEST_LOG, "input": "kafka-request.log", "position": position}
    return {"rejoin": {"rejoin_ms": rejoin_ms, **place}}


def test_who_is_slow_to_rejoin_is_named() -> None:
    slow = member("slow", profile_offset=8, **rejoin(150_000, 5))
    found = judge(group(member(), member("quick", **rejoin(149_999)), slow))
    assert (fired(found), found.verdict) == ({"R13": "CHECK"}, "WARN")
    finding = only(found, "R13")
    assert [each.member_id for each in finding.members] == ["slow"]
    assert (finding.value, finding.limit, finding.evidence_offset) == (150_000, 300_000, 8)
    assert finding.evidence == {
        "source": REQUEST_LOG,
        "input": "kafka-request.log",
        "position": 5,
    }
    assert finding.detail.startswith("took 150 s to join again; ")


def test_the_slowest_is_it_by_its_own_timeout() -> None:
    mine = member("mine", rebalance_timeout_ms=10_000, **rejoin(9_000, 3))
    other = member("other", **rejoin(160_000, 4))
    unknown = member("unknown", rebalance_timeout_ms=-1, **rejoin(10**9))
    finding = only(judge(group(mine, other, unknown)), "R13")
    assert [each.member_id for each in finding.members] == ["mine", "other"]
    assert (finding.value, finding.limit, finding.detail) == (
        9_000,
        10_000,
        "took 9 s to join again; after the flip a member that takes longer than its own rebalance"
        " timeout, 10 s, is fenced",
    )


def test_slow_members_are_unseen_without_their_requests() -> None:
    seen: dict[str, Any] = {"log_kinds": frozenset({REQUEST_LOG})}
    assert "R13" in judge(group(member())).rules_unseen
    assert "R13" in judge(group(member()), **seen).rules_unseen, "of this group no line tells"
    heard = member(software_name="apache-kafka-java", software_version="4.0.0")
    assert "R13" not in judge(group(heard), **seen).rules_unseen
    new = member(member_protocol="consumer")
    assert "R13" not in judge(group(new)).rules_unseen, "nobody is to be flipped"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"end_detail": "SESSION_EXPIRED", "silent_ms": 1}, EXPIRED),
        ({"end_detail": "LEAVE_GROUP", "silent_ms": 400_000}, LEFT),
        ({"silent_ms": None}, UNKNOWN),
        ({"silent_ms": 41_999}, LEFT),
        ({"silent_ms": 42_000}, EXPIRED),
        ({"silent_ms": 300_000}, POLL_TIMEOUT),
        ({"silent_ms": 38_999, "member_protocol": "consumer"}, LEFT),
        ({"silent_ms": 39_000, "member_protocol": "consumer"}, EXPIRED),
        ({"silent_ms": 42_000, "session_timeout_ms": None}, UNKNOWN),
    ],
)
def test_what_a_departure_was(given: dict[str, Any], expected: str) -> None:
    case = Case(group=group(), brokers=brokers_of(BrokersConfig(), {}), criteria=Criteria())
    assert departure(member(**given), case) == expected


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


def test_a_subscription_that_changed_is_asked_about() -> None:
    """A generation that another subscription caused, or a client that says so, of tonight alone."""
    row = {
        **dataclasses.asdict(group(member())),
        "before_ms": NOW - DAY,
        "members": [],
        "ended": None,
        "refusals": None,
    }
    for name in ("changed_at", "said_at"):
        found = judge(group_of(row | {name: [NOW - DAY, NOW - DAY + 1]}))
        finding = only(found, "R12")
        assert (finding.severity, finding.value, finding.members) == ("CHECK", 0, [])
        assert finding.detail.startswith("subscriptions changed: ")
        assert "R12" not in fired(judge(group_of(row | {name: [NOW - DAY]})))


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
