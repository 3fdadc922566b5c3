"""What a night is given: where it begins, and which nights came before."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, cast

from groupreplay.night.earlier.history import PastNight
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.night.plans.night import Night
from groupreplay.report.words.privacy import HashKeys

FIRST, SECOND, THIRD = (date(2026, 11, day) for day in (20, 21, 22))


def past(logical_date: date, rows: int, lines: LinesLanding | None = None) -> PastNight:
    return PastNight(logical_date, True, RecordsLanding(rows=rows), {}, lines)


def night(logical_date: date, *nights: PastNight, keys: HashKeys | None = None) -> Night:
    nothing = cast(Any, None)
    return Night(nothing, nothing, nothing, logical_date, nights, nothing, keys)


def test_a_first_night_begins_with_nothing() -> None:
    first = night(FIRST)
    assert first.earlier is None
    assert first.records_before() == RecordsLanding()
    assert first.lines_before() is None


def test_a_night_begins_where_the_one_before_ended() -> None:
    lines = LinesLanding(rows=5, sources=("server_log",))
    third = night(THIRD, past(FIRST, 1), past(SECOND, 2, lines))
    assert third.earlier is not None
    assert third.earlier.logical_date == SECOND
    assert third.records_before() == RecordsLanding()
    assert third.lines_before() == replace(lines, rows=0)


def test_a_night_that_ran_before_goes_on_with_what_it_landed() -> None:
    own = LinesLanding(rows=7)
    again = night(SECOND, past(FIRST, 1), past(SECOND, 2, own))
    assert again.records_before().rows == 2
    assert again.lines_before() == own


def test_a_night_that_landed_no_lines_yet_begins_with_those_of_the_night_before() -> None:
    lines = LinesLanding(rows=5, sources=("server_log",))
    again = night(SECOND, past(FIRST, 1, lines), past(SECOND, 2))
    assert again.lines_before() == replace(lines, rows=0)


def test_what_is_hidden_is_known_by_its_keys() -> None:
    assert night(FIRST).hashed == ""
