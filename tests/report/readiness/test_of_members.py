"""Rules about members that no recording shows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig
from groupreplay.records.log_events import REQUEST_LOG
from groupreplay.report.brokers import brokers_of
from groupreplay.report.departure_codes import EXPIRED, LEFT, POLL_TIMEOUT, UNKNOWN
from groupreplay.report.readiness.known import Case, Criteria
from groupreplay.report.readiness.of_members import departure
from groupreplay.report.readiness.rows import group_of
from tests.report.readiness.judging import DAY, NOW, absences, fired, group, judge, member, only


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


@pytest.mark.parametrize(("is_complete", "expected"), [(True, set()), (False, {"R12"})])
def test_what_clients_said_in_an_earlier_life_is_not_of_this_one(
    is_complete: bool, expected: set[str]
) -> None:
    """Lines name the group alone; a life that is not seen to begin may be the same one (simulated,
    troubled 4.3.1, 12 groups, 0.3 hours, seed 990850100: classic-8 expires and comes back)."""
    row = {
        **dataclasses.asdict(group(member())),
        "before_ms": NOW - DAY,
        "members": [],
        "ended": None,
        "refusals": None,
        "unbroken_since_at": NOW - 5_000,
        "history_complete": is_complete,
        "said_at": [NOW - 5_001],
    }
    assert fired(judge(group_of(row))).keys() & {"R12"} == expected
    assert "R12" in fired(judge(group_of(row | {"said_at": [NOW - 5_000]})))
