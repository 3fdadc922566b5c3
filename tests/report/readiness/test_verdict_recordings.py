"""What the rules of readiness find of recorded groups, with broker logs (L) and without (T)."""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig, ReadinessConfig
from groupreplay.replay.facts import Conversion, GroupSnapshot
from tests.report.readiness.recorded import judged_groups
from tests.support.recordings import group
from tests.support.replaying import boundaries, replayed

ASSUMED = BrokersConfig()
Row = dict[str, Any]


def rules(row: Row) -> dict[str, tuple[str, float | None]]:
    return {each["rule"]: (each["severity"], each["value"]) for each in row["rules"]}


def rule(row: Row, name: str) -> Row:
    (found,) = [each for each in row["rules"] if each["rule"] == name]
    return dict(found)


def test_a_healthy_group_is_ready_once_it_was_watched_for_long_enough() -> None:
    row = judged_groups("migration-4.3", logs=True)["classic-forever"]
    assert (row["verdict"], row["assignor"], row["suggested_assignor"]) == (
        "READY",
        "range",
        "range",
    )
    assert (row["rules"], row["members_total"], row["software"]) == ([], 3, ["apache-kafka-java"])
    assert (row["brokers_known"], row["broker_version"]) == ("LOGS", "4.3.1")
    assert (row["migration_policy"], row["rules_unseen"]) == ("bidirectional", [])
    usual = judged_groups("migration-4.3", logs=True, readiness=ReadinessConfig())
    assert usual["classic-forever"]["verdict"] == "UNKNOWN"
    assert usual["classic-forever"]["observed_ms"] == 47_265


def test_what_the_topic_alone_cannot_show_is_named() -> None:
    row = judged_groups("migration-4.3", logs=False, brokers=ASSUMED)["classic-forever"]
    blind = rule(row, "R5b")
    assert (row["verdict"], row["brokers_known"]) == ("READY", "ASSUMED")
    assert (blind["severity"], blind["value"], blind["limit"]) == ("INFO", 0, 45_000)
    assert (blind["members_count"], blind["evidence_offset"]) == (3, 1)
    assert row["rules_unseen"] == ["R6", "R8", "R13", "R14", "R17", "R18"]


def test_user_data_and_streams_keep_a_group_from_it() -> None:
    row = judged_groups("migration-4.3", logs=True)["refused"]
    assert row["verdict"] == "NOT_APPLICABLE"
    assert rules(row).keys() >= {"R3", "R4", "R18"}
    assert (rule(row, "R3")["value"], rule(row, "R3")["evidence_offset"]) == (76, 1)
    assert rule(row, "R18")["detail"].endswith(": CUSTOM_ASSIGNOR")
    assert rule(row, "R18")["evidence"]["source"] == "request_log"


@pytest.mark.parametrize(
    ("group_id", "suggested", "found"),
    [
        ("rollback", "uniform", {"R16": ("FIX", 12), "R19": ("CHECK", 1795239709268)}),
        ("offline-upgrade", "range", {"R15": ("INFO", None), "R19": ("CHECK", 1795239704301)}),
        ("upgrade-crash", "uniform", {"R19": ("CHECK", 1795239708325)}),
    ],
)
def test_groups_that_went_back_are_asked_about(
    group_id: str, suggested: str, found: dict[str, Any]
) -> None:
    row = judged_groups("migration-4.3", logs=False)[group_id]
    assert (row["verdict"], row["suggested_assignor"]) == ("WARN", suggested)
    assert rules(row) == found
    assert [each["limit"] for each in row["rules"] if each["rule"] == "R16"] == [
        10 for name in found if name == "R16"
    ]
    assert row["is_eligible"] is ("R16" not in found)
    assert row["checks"] == [f"R19: {rule(row, 'R19')['detail']}"]


def test_who_went_back_is_told_by_the_conversion_on_later_nights_too() -> None:
    """The state keeps where it is; the night itself is in no way needed."""
    recorded = group("migration-4.3", "rollback")
    found = {
        (each.downgraded_at, each.downgrade_offset)
        for cut in boundaries(recorded.entries)[-4:]
        for each in replayed(recorded.entries, recorded.names, [cut], recorded.group_id, 0)
        if isinstance(each, GroupSnapshot)
    }
    (conversion,) = (
        each
        for each in replayed(recorded.entries, recorded.names, (), recorded.group_id, 0)
        if isinstance(each, Conversion) and each.direction == "DOWNGRADE"
    )
    assert found == {(conversion.converted_at, conversion.from_offset)}
    shown = rule(judged_groups("migration-4.3", logs=False)["rollback"], "R19")
    assert shown["evidence_offset"] == conversion.from_offset


def test_mixed_groups_have_a_row_and_migrated_ones_none() -> None:
    rows = judged_groups("migration-4.3", logs=True)
    for group_id in ("mixed-stall", "upgrade-slow"):
        row = rows[group_id]
        assert (row["phase"], row["verdict"]) == ("MIGRATING", "READY")
        assert (row["suggested_assignor"], row["is_eligible"]) == ("uniform", False)
    gone = {"upgrade-eager", "upgrade-coop", "static-upgrade", "upgrade-old-client"}
    assert not rows.keys() & gone


@pytest.mark.parametrize("recording", ["classic-3.9", "scala-3.9"])
def test_brokers_without_the_protocol_block_every_group(recording: str) -> None:
    rows = judged_groups(recording, logs=True)
    assert len(rows) >= 5
    for group_id, row in rows.items():
        is_streams = row["assignor"] == "stream"
        assert row["verdict"] == ("NOT_APPLICABLE" if is_streams else "BLOCKED"), group_id
        assert (rules(row)["R17"], row["broker_version"]) == (("BLOCK", None), "3.9.2")


def test_an_instance_that_two_processes_share_is_fixed_first() -> None:
    row = judged_groups("classic-3.9", logs=True)["classic-fenced-instance"]
    assert rules(row)["R6"] == ("FIX", 3)
    assert rules(row)["R7"] == ("CHECK", 2)
    assert not row["is_eligible"]


@pytest.mark.parametrize(
    ("logs", "process", "is_inherited"), [(True, "n", False), (False, "m", True)]
)
def test_an_instance_that_was_taken_over_has_the_client_of_the_process_that_lives(
    logs: bool, process: str, is_inherited: bool
) -> None:
    row = judged_groups("classic-3.9", logs=logs)["classic-static"]
    assert [
        (each["instance_id"], each["client_id"], each["client_host"], each["client_inherited"])
        for each in rule(row, "R7")["members"]
    ] == [
        (f"classic-static-i{i}", f"classic-static-{process}{i}", "/127.0.0.1", is_inherited)
        for i in (0, 1)
    ]


@pytest.mark.parametrize(
    ("group_id", "verdict", "found"),
    [
        ("classic-eager", "WARN", {"R5b": ("CHECK", 1)}),
        ("classic-coop", "READY", {"R5b": ("INFO", 0)}),
        ("classic-static", "WARN", {"R5b": ("CHECK", 1), "R7": ("CHECK", 3)}),
        ("classic-slow-join", "READY", {"R5b": ("INFO", 0)}),
    ],
)
def test_crashes_are_told_by_silence(group_id: str, verdict: str, found: dict[str, Any]) -> None:
    row = judged_groups("classic-3.9", logs=False, brokers=ASSUMED)[group_id]
    assert (row["verdict"], rules(row)) == (verdict, found)


def test_absences_that_would_not_fit_are_counted() -> None:
    short = BrokersConfig(
        session_timeout_ms=3_000,
        max_session_timeout_ms=3_000,
        min_session_timeout_ms=1_000,
        heartbeat_interval_ms=1,
    )
    row = judged_groups("other-groups-4.2", logs=False, brokers=short)["classic-static"]
    shrinks = rule(row, "R5")
    assert (shrinks["severity"], shrinks["value"], shrinks["limit"]) == ("FIX", 3, 3_000)
    assert shrinks["members_count"] == 2
    assert (row["brokers_known"], row["suggested_session_timeout_ms"]) == ("CONFIG", 3_000)


def test_kinds_of_groups_without_the_protocol() -> None:
    rows = judged_groups("other-groups-4.2", logs=True)
    assert (rows["classic-static"]["verdict"], rules(rows["classic-static"])) == (
        "WARN",
        {"R7": ("CHECK", 3)},
    )
    assert rows["classic-static"]["suggested_assignor"] == "range"
    assert (rows["transactions-tx"]["verdict"], rows["transactions-tx"]["phase"]) == (
        "READY_OFFLINE",
        "EMPTY",
    )
    assert rows["streams-classic"]["verdict"] == "NOT_APPLICABLE"
    assert not rows.keys() & {"simple-commit", "share", "streams-new", "deleted"}
    connect = judged_groups("expiry-4.3", logs=False)["connect"]
    assert (connect["verdict"], rules(connect)) == ("NOT_APPLICABLE", {"R1": ("NA", None)})


def test_cooperative_is_what_members_do() -> None:
    eager = judged_groups("info-4.3", logs=True)["classic-eager-i"]
    assert (eager["verdict"], eager["suggested_assignor"]) == ("READY", "range")
    assert eager["cooperative"] is False
    killed = judged_groups("brokers-killed-4.2", logs=True)
    coop = killed["classic-coop-a"]
    assert (coop["verdict"], coop["suggested_assignor"]) == ("READY", "uniform")
    assert coop["cooperative"] is True
    assert killed["churn-mixed-a"]["verdict"] == "WARN"
    assert rules(killed["churn-mixed-a"]).keys() == {"R16", "R19"}


@pytest.mark.parametrize("group_id", ["rollback", "classic-static"])
def test_what_the_cleaner_took_is_not_guessed(group_id: str) -> None:
    rows = judged_groups("compacted-4.3", logs=False, readiness=ReadinessConfig())
    assert rows[group_id]["verdict"] == "UNKNOWN"
    assert {"R15", "R16", "R19"} <= set(rows[group_id]["rules_unseen"])
