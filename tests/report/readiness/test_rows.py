"""Rows of what is known of groups become rows of what is found."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

from groupreplay.report.readiness.known import MAX_MEMBERS, Criteria
from groupreplay.report.readiness.rows import JUDGED_DDL, group_of, judge, judge_batches

NOW = 1_700_000_000_000
BEFORE = NOW - 86_400_000


def row(**more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "group_id": "g",
        "incarnation": 10,
        "offsets_partition": 3,
        "from_offset": 10,
        "log_incarnation": None,
        "now_ms": NOW,
        "before_ms": BEFORE,
        "protocol": "classic",
        "phase": "CLASSIC",
        "members_total": 1,
        "partitions_held": 4,
        "cooperative": None,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "k2_offset": 40,
        "unbroken_since_at": BEFORE,
        "upgraded_at": None,
        "members": [{"member_id": "m", "session_timeout_ms": 45_000, "profile_offset": 40}],
    }
    return made | more


def refusal(last_at: int) -> dict[str, Any]:
    place = {"source": "request_log", "input": "a", "position": 9}
    return {"error_code": 81, "refusal": "GROUP_MAX_SIZE_REACHED", "last_at": last_at, **place}


def test_what_is_null_is_the_default_of_its_field() -> None:
    group = group_of(row(ended=None, refusals=None, loops_at=None))
    assert (group.ended, group.refusals, group.loops_at) == ([], [], [])
    assert [each.member_id for each in group.members] == ["m"]


def test_what_came_after_the_night_before_is_of_tonight() -> None:
    refusals = [refusal(BEFORE), refusal(BEFORE + 1)]
    changes = {"changed_at": [BEFORE, NOW], "said_at": [BEFORE + 1]}
    group = group_of(row(refusals=refusals, **changes))
    assert [each.is_tonight for each in group.refusals] == [False, True]
    assert group.subscription_changes == 2


def test_a_classic_group_is_a_row_with_a_verdict() -> None:
    found = judge(row(), Criteria())
    assert (found["is_row"], found["group_id"], found["partitions_held"]) == (True, "g", 4)
    assert found["verdict"]
    assert found["brokers_known"] == "ASSUMED"
    assert found["assignor"] == "range"


def test_settings_of_brokers_are_those_that_their_logs_say() -> None:
    settings = [{"setting": "version", "value": "4.1.2"}]
    assert judge(row(), Criteria())["broker_version"] is None
    assert judge(row(settings=settings), Criteria())["broker_version"] == "4.1.2"


@pytest.mark.parametrize(
    ("phase", "upgraded_at", "proves"),
    [
        ("MIGRATED", NOW - Criteria().readiness.proven_ms, ["apache-kafka-java"]),
        ("MIGRATED", NOW - Criteria().readiness.proven_ms + 1, []),
        ("MIGRATED", None, []),
        ("NATIVE", BEFORE, []),
    ],
)
def test_a_group_that_was_upgraded_long_enough_ago_proves_its_clients(
    phase: str, upgraded_at: int | None, proves: list[str]
) -> None:
    member = {
        "member_id": "m",
        "member_protocol": "consumer",
        "software_name": "apache-kafka-java",
        "software_version": "4.0.0",
    }
    found = judge(
        row(protocol="consumer", phase=phase, upgraded_at=upgraded_at, members=[member]), Criteria()
    )
    assert (found["is_row"], found["proves"]) == (False, proves)


def test_a_rule_names_so_many_members_and_counts_all() -> None:
    members = [
        {"member_id": f"m{number:02}", "subscription_user_data": 9, "profile_offset": 40}
        for number in range(MAX_MEMBERS + 5)
    ]
    found = judge(row(members=members, members_total=len(members)), Criteria())
    counted = [each for each in found["rules"] if each["members_count"] == len(members)]
    assert counted
    assert {len(each["members"]) for each in counted} == {MAX_MEMBERS}


def test_batches_have_the_columns_that_spark_is_told() -> None:
    batch = pa.RecordBatch.from_pylist([row(), row(protocol="consumer", phase="NATIVE")])
    (found,) = judge_batches(Criteria())([batch])
    assert re.findall(r"`(\w+)` ", JUDGED_DDL) == found.schema.names
    assert found.column("is_row").to_pylist() == [True, False]
