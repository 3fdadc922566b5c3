"""Rows of `raw_lines` as they are gathered: events, damage that follows on, and what a file comes
to.
"""

from __future__ import annotations

import json
from typing import Any

from groupreplay.records.log_events import SERVER_LOG, LogEvent
from groupreplay.wire.text import text_rows
from groupreplay.wire.text.text_rows import COLUMNS, LINE_CAP, LineCounts, TextRows
from groupreplay.wire.text.text_units import TextUnit

UNIT = TextUnit(SERVER_LOG, "server.log", 12, 1, "UTC", "%m%n", None, None, "inode 7", 100)
EVENT = LogEvent(event="MEMBER_LEFT", at_ms=1_000, group_id="g", member_id="m")


def taken(rows: TextRows) -> list[dict[str, Any]]:
    columns = rows.take()
    assert tuple(columns) == COLUMNS
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_an_event_is_a_row_with_its_text() -> None:
    rows = TextRows(UNIT)
    rows.add_event(EVENT, 120, b"left \xff")
    (row,) = taken(rows)
    assert (row["kind"], row["source"], row["input"], row["broker"]) == (
        *("line", SERVER_LOG, "server.log"),
        1,
    )
    assert (row["event"], row["group_id"], row["at_ms"], row["last_ms"]) == (
        *("MEMBER_LEFT", "g"),
        *(1_000, 1_000),
    )
    assert (row["position"], row["last_position"], row["requests"]) == (120, 120, 1)
    assert row["line"] == "left \\xff"


def test_a_run_of_requests_is_a_row_without_its_text() -> None:
    rows = TextRows(UNIT)
    rows.add_run(EVENT, 120, 9_000, 5, 3_000, 700)
    (row,) = taken(rows)
    assert (row["at_ms"], row["last_ms"], row["requests"]) == (1_000, 9_000, 5)
    assert (row["longest_gap_ms"], row["last_position"], row["line"]) == (3_000, 700, None)


def test_long_texts_are_cut() -> None:
    rows = TextRows(UNIT)
    rows.add_event(EVENT, 0, b"x" * (LINE_CAP + 1))
    (row,) = taken(rows)
    assert row["line"] == "x" * LINE_CAP


def test_damaged_lines_that_follow_one_another_are_one_row() -> None:
    rows = TextRows(UNIT)
    rows.add_damage(10, "no layout", b"a", 2)
    rows.add_damage(12, "another reason", b"bb", 3)
    rows.end_damage()
    rows.add_damage(40, "no layout", b"c", 2)
    rows.end_damage()
    first, second = taken(rows)
    assert (first["kind"], first["position"], first["last_position"]) == ("damage", 10, 12)
    assert (first["detail"], first["line"], first["requests"]) == ("no layout", "a", 2)
    assert json.loads(first["counts"]) == {"lines": 2, "bytes": 5}
    assert (second["position"], second["requests"]) == (40, 1)


def test_what_was_taken_is_not_given_again() -> None:
    rows = TextRows(UNIT)
    rows.add_event(EVENT, 0, b"")
    assert len(taken(rows)) == 1
    assert taken(rows) == []
    rows.end_damage()
    assert taken(rows) == []


def test_a_file_row_has_every_count_and_where_to_go_on() -> None:
    counts = LineCounts(lines=5, matched=2, unmatched=1)
    counts.add_unmatched("kafka.server.KafkaServer")
    counts.saw(7_000)
    counts.saw(3_000)
    counts.saw(5_000)
    rows = TextRows(UNIT)
    rows.add_file(counts, 900, None)
    (row,) = taken(rows)
    told = json.loads(row["counts"])
    assert (row["kind"], row["position"]) == ("file", 100)
    assert (told["identity"], told["from_position"], told["next_position"]) == ("inode 7", 100, 900)
    assert (told["lines"], told["matched"], told["unmatched"]) == (5, 2, 2)
    assert (told["first_ms"], told["last_ms"]) == (3_000, 7_000)
    assert told["loggers"] == {"kafka.server.KafkaServer": 1}


def test_loggers_are_told_most_first_and_the_rest_together(monkeypatch: Any) -> None:
    """However many there are, few are held."""
    monkeypatch.setattr(text_rows, "LOGGERS_TOLD", 2)
    monkeypatch.setattr(text_rows, "_LOGGERS_HELD", 4)
    counts = LineCounts()
    for logger, times in (("a", 5), ("b", 3), ("c", 2), ("d", 1), ("e", 1), ("a", 1)):
        for _ in range(times):
            counts.add_unmatched(logger)
        assert len(counts.loggers) <= 4
    assert counts.told_loggers() == {"a": 6, "b": 3, "(others)": 4}
    assert counts.unmatched == 13
