"""Reasons that the logs of a night cannot show."""

from __future__ import annotations

from groupreplay.report.stuck.evidence_stalls import unseen_reasons


def test_unseen_reasons() -> None:
    assert unseen_reasons(frozenset({"server_log", "request_log"})) == {}
    of_lines = {"LATE_LEAVE", "JOIN_NEVER_COMPLETES", "SYNC_NEVER_COMPLETES", "ASSIGNOR_FAILED"}
    assert unseen_reasons(frozenset({"request_log"})).keys() == of_lines
    assert unseen_reasons(frozenset({"server_log"})).keys() == {
        "NOT_HEARTBEATING",
        "LATE_LEAVE",
        "COORDINATOR_UNAVAILABLE",
    }
