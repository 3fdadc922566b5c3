"""Units of text logs, as the plan of a night sends them to tasks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.wire.text.text_units import END_OF_FILE, TextUnit

UNIT = TextUnit(SERVER_LOG, "/logs/s\u00e9rver.log", 12, 1, "UTC", "%m%n", None, None, "inode 7")


@pytest.mark.parametrize(
    "unit",
    [
        UNIT,
        replace(UNIT, start_position=5, end_position=9, last_ms=1_700_000_000_000),
        replace(UNIT, kind=REQUEST_LOG, message_field="message", time_field="@timestamp"),
        replace(UNIT, identity="", failure='cannot be opened: "no"'),
    ],
)
def test_a_unit_comes_back_from_its_text(unit: TextUnit) -> None:
    assert TextUnit.from_json(unit.to_json()) == unit


def test_a_unit_is_a_whole_file_that_was_not_read_before() -> None:
    assert (UNIT.start_position, UNIT.end_position, UNIT.last_ms) == (0, END_OF_FILE, -1)


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "server_log"}', '{"unknown": 1}'])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        TextUnit.from_json(text)
