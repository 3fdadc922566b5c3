"""What brokers say of themselves when they start."""

from __future__ import annotations

from groupreplay.evidence.broker_settings import replay_setting
from groupreplay.evidence.evidence_facts import BrokerSetting
from groupreplay.evidence.memory import Evidence, Line, Proofs
from groupreplay.records.log_events import BROKER_SETTING, LogEvent


def proved(event: str, detail: str | None) -> list[tuple[str, str | None]]:
    output = Proofs()
    line = Line(LogEvent(event=event, at_ms=7_000, detail=detail), 3, "server_log", "a", 9, 7_000)
    replay_setting(Evidence(""), line, output)
    rows = [each for each in output.facts if isinstance(each, BrokerSetting)]
    assert all((each.broker, each.occurred_at, each.is_final) == (3, 7_000, True) for each in rows)
    return [(each.setting, each.value) for each in rows]


def test_a_setting_is_a_name_and_what_stands_behind_the_first_sign() -> None:
    name = "group.consumer.assignors"
    assert proved(BROKER_SETTING, f"{name} = [a = b, c]") == [(name, "[a = b, c]")]


def test_another_line_is_none() -> None:
    assert proved("SHARD_LOADED", "a = b") == []
    assert proved(BROKER_SETTING, None) == []
