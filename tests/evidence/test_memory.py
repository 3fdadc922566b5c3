"""What every fact of evidence begins with, and when it is final."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import BrokerSetting
from groupreplay.evidence.memory import Evidence, Line, Proofs, came_at, place
from groupreplay.records.log_events import LogEvent


def test_a_fact_says_whose_it_is_and_which_line_shows_it() -> None:
    line = Line(LogEvent(event="MEMBER_LEFT", at_ms=1_000), 3, "request_log", "a.log", 42, 1_000)
    assert place(Evidence("g"), line) == {
        "group_id": "g",
        "broker": 3,
        "source": "request_log",
        "input": "a.log",
        "position": 42,
    }


def test_what_is_emitted_is_final() -> None:
    output = Proofs()
    line = Line(LogEvent(event="BROKER_SETTING", at_ms=1_000), 3, "server_log", "a.log", 42, 1_000)
    fields = place(Evidence(""), line)
    fact = BrokerSetting(**fields, setting="a", value="b", occurred_at=1_000)  # type: ignore[arg-type]
    assert not fact.is_final
    output.emit(fact)
    assert output.facts == [fact]
    assert fact.is_final


def test_a_request_came_before_it_was_answered() -> None:
    answered = LogEvent(event="JOIN_GROUP", at_ms=1_000)
    assert came_at(answered) == 1_000
    answered.started_ms = 400
    assert came_at(answered) == 400
