"""Refusals that both logs of a broker show are one row."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import BrokerSetting, Refusal
from groupreplay.report.tables.refusals import refusals
from tests.report.conftest import Prove
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT
from tests.support.table_inputs import inputs_of


def test_a_refusal_in_both_logs_is_told_once(prove: Prove) -> None:
    lines = prove(
        evidence(Refusal, attempts=5, message=None),
        evidence(Refusal, source="request_log", attempts=5, message="owned"),
        evidence(Refusal, subject="other", error_code=4711, refusal="ERROR_4711"),
    )
    assert lines.evidence_tonight is not None
    rows = {
        row.subject: row for row in refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    }
    assert (rows["m"].error, rows["m"].message, rows["m"].evidence.source) == (
        "UNRELEASED_INSTANCE_ID",
        "owned",
        "request_log",
    )
    assert rows["other"].error == "ERROR_4711"


def test_a_fenced_instance_in_both_logs_is_told_once(prove: Prove) -> None:
    """Its line names no request: a member of the classic protocol inside of a consumer group sends
    others than one of the consumer protocol.
    """
    fenced = {"error_code": 82, "subject": "i", "refusal": "FENCED_INSTANCE_ID"}
    lines = prove(
        evidence(Refusal, api="CONSUMER_GROUP_HEARTBEAT", **fenced),
        evidence(Refusal, source="request_log", api="HEARTBEAT", **fenced),
        evidence(Refusal, api="CONSUMER_GROUP_HEARTBEAT", **fenced | {"subject": "alone"}),
    )
    assert lines.evidence_tonight is not None
    rows = refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    assert {(row.subject, row.api) for row in rows} == {
        ("i", "HEARTBEAT"),
        ("alone", "CONSUMER_GROUP_HEARTBEAT"),
    }


def test_so_is_one_that_another_thread_of_kafka_streams_owns(prove: Prove) -> None:
    """A streams group (4.4) writes the line of a consumer group."""
    owned = {"error_code": 111, "subject": "i", "refusal": "UNRELEASED_INSTANCE_ID"}
    lines = prove(
        evidence(Refusal, api="CONSUMER_GROUP_HEARTBEAT", **owned),
        evidence(Refusal, source="request_log", api="STREAMS_GROUP_HEARTBEAT", **owned),
    )
    assert lines.evidence_tonight is not None
    rows = refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    assert [row.api for row in rows] == ["STREAMS_GROUP_HEARTBEAT"]


def test_an_answer_without_a_text_gets_that_of_the_line(prove: Prove) -> None:
    """UNKNOWN_SERVER_ERROR is answered without a word; where lines of one asker differ, nobody
    knows which of them was this one.
    """
    failed = {"error_code": -1, "refusal": "UNKNOWN_SERVER_ERROR"}
    lines = prove(
        evidence(Refusal, source="request_log", **failed),
        evidence(Refusal, message="Index 1 out of bounds for length 1.", **failed),
        evidence(Refusal, source="request_log", subject="two", **failed),
        evidence(Refusal, subject="two", message="one", **failed),
        evidence(Refusal, subject="two", message="another", first_at=AT + 9_000_000, **failed),
    )
    assert lines.evidence_tonight is not None
    rows = {
        row.subject: (row.message, row.evidence.source)
        for row in refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    }
    assert rows == {
        "m": ("Index 1 out of bounds for length 1.", "request_log"),
        "two": (None, "request_log"),
    }


def test_the_bound_that_a_session_timeout_broke_is_named(prove: Prove) -> None:
    """By the broker that refused, as it was last started."""
    refused = {"source": "request_log", "api": "JOIN_GROUP", "error_code": 26}
    least, most = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
    started = {"occurred_at": AT, "group_id": ""}
    lines = prove(
        evidence(BrokerSetting, setting=least, value="3000", **started | {"occurred_at": AT - 1}),
        evidence(BrokerSetting, setting=least, value="6000", **started),
        evidence(BrokerSetting, setting=most, value="300000", **started),
        evidence(Refusal, subject="short", session_timeout_ms=5_000, **refused),
        evidence(Refusal, subject="long", session_timeout_ms=600_000, **refused),
        evidence(Refusal, subject="fits", session_timeout_ms=5_000, **refused | {"error_code": 81}),
        evidence(Refusal, subject="other", session_timeout_ms=5_000, broker=2, **refused),
    )
    assert lines.evidence_tonight is not None
    rows = {
        row.subject: (row.session_timeout_ms, row.broken_bound_ms)
        for row in refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    }
    assert rows == {
        "short": (5_000, 6_000),
        "long": (600_000, 300_000),
        "fits": (5_000, None),
        "other": (5_000, None),
    }
