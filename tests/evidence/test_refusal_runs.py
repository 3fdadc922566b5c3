"""Requests that a broker's own lines say were answered with an error."""

from __future__ import annotations

import pytest

from groupreplay.evidence.evidence_facts import Refusal
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import LogEvent
from tests.support.log_lines import proved

AT = 1_795_300_000_000


@pytest.mark.parametrize(
    ("protocol", "api"),
    [
        ("classic", "JOIN_GROUP"),
        ("consumer", "CONSUMER_GROUP_HEARTBEAT"),
        ("streams", "STREAMS_GROUP_HEARTBEAT"),
    ],
)
def test_a_request_that_met_an_exception_was_refused(protocol: str, api: str) -> None:
    """Whatever an assignor throws: the broker answers UNKNOWN_SERVER_ERROR without a text, and
    writes down why.
    """
    said = "Index 1 out of bounds for length 1."
    events = [
        LogEvent(
            event="OPERATION_FAILED",
            at_ms=AT + after,
            group_id="g",
            member_id="m",
            protocol=protocol,
            detail=said,
        )
        for after in (0, 5_000)
    ]
    lines = [
        Line(event, 1, "server_log", "server.log", event.at_ms - AT, event.at_ms)
        for event in events
    ]
    (run,) = proved("g", lines, AT + 5_000)
    assert isinstance(run, Refusal)
    assert (run.api, run.error_code, run.refusal, run.message) == (
        api,
        -1,
        "UNKNOWN_SERVER_ERROR",
        said,
    )
    assert (run.subject, run.attempts, run.last_at - run.first_at) == ("m", 2, 5_000)
