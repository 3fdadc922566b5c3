"""Rows of `raw_lines` as they are gathered: events, damage that follows on, and what a file comes
to.
"""

from __future__ import annotations

import json
from typing import Any

from groupreplay.records.log_events import SERVER_LOG, LogEvent
from groupreplay.wire.text.text_rows import COLUMNS, LINE_CAP, LOGGERS_TOLD, LineCounts, TextRows
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


def test_loggers_are_told_most_first_and_the_rest_together() -> None:
    counts = LineCounts()
    loggers = [f"logger {number:02}" for number in range(LOGGERS_TOLD + 2)]
    for logger in [*loggers, *loggers, loggers[-1], loggers[1]]:
        counts.add_unmatched(logger)
    told = counts.told_loggers()
    assert list(told.items())[:3] == [(loggers[1], 3), (loggers[-1], 3), (loggers[0], 2)]
    assert told["(others)"] == 4
    assert len(told) == LOGGERS_TOLD + 1


def test_however_many_loggers_there_are_few_are_held_and_none_is_lost() -> None:
    counts = LineCounts()
    for number in range(12_000):
        counts.add_unmatched("often" if number % 3 == 0 else f"{number} " + "x" * 300)
    assert len(counts.loggers) <= 5_000
    assert all(len(logger) <= 200 for logger in counts.loggers)
    told = counts.told_loggers()
    assert sum(told.values()) == counts.unmatched == 12_000
    assert next(iter(told)) == "often"
