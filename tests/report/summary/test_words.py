"""Words that the lines of the summary are made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupreplay.report.summary.text import summary_lines
from groupreplay.report.summary.words import (
    WIDTH,
    count,
    lasted,
    named,
    printable,
    team,
    wrapped,
)
from tests.report.summary.small_night_summary import SUMMARY


def test_one_is_no_plural() -> None:
    assert [count(number, "group") for number in (0, 1, 1_234)] == [
        "0 groups",
        "1 group",
        "1,234 groups",
    ]
    assert count(2, "process", "processes") == "2 processes"
    assert named([("a", 1, "row"), ("b", 2, "row")]) == "a (1 row), b (2 rows)"


def test_a_list_goes_on_in_another_line_where_there_is_no_room() -> None:
    parts = ["x" * 50] * 3
    lines = wrapped("  ", parts)
    assert lines == ["  " + ", ".join(parts[:2]), "  " + parts[2]]
    assert all(len(line) <= WIDTH for line in lines)
    assert wrapped("  ", []) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders", "orders"),
        ("a\tb\u202e", "a\\tb\\u202e"),
        ("", '""'),
        ("x" * 11, "x" * 8 + ".."),
    ],
)
def test_a_name_is_one_line_and_no_longer_than_it_may_be(text: str, shown: str) -> None:
    assert printable(text, 10) == shown


def test_a_group_without_an_owner_says_nothing_of_one() -> None:
    assert (team(None), team("payments")) == ("", " (payments)")


def test_a_duration_is_said_as_on_pages() -> None:
    assert lasted(None) == "?"
    assert lasted(65_000) == "65.0 s"


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(0, "1970-01-01 00:00:00"), (2**62, "4,611,686,018,427,387,904 ms after 1970")],
)
def test_a_time_that_no_calendar_has_is_shown_too(ms: int, shown: str) -> None:
    assert summary_lines(replace(SUMMARY, as_of_ms=ms))[0].endswith(f", as of {shown} UTC")
