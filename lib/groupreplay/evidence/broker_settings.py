"""What brokers say of themselves when they start: `wire.text.startup_lines` reads the lines."""

from __future__ import annotations

from typing import Any

from groupreplay.evidence.evidence_facts import BrokerSetting
from groupreplay.evidence.memory import Evidence, Line, Proofs, place
from groupreplay.records.log_events import BROKER_SETTING


def replay_setting(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes a line that says `name = value`."""
    event = line.event
    if event.event != BROKER_SETTING or event.detail is None:
        return
    setting, _, value = event.detail.partition(" = ")
    fields: dict[str, Any] = place(evidence, line)
    output.emit(BrokerSetting(**fields, setting=setting, value=value, occurred_at=event.at_ms))
