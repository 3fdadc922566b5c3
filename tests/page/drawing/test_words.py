"""Numbers, times and enums as a person reads them."""

from __future__ import annotations

import pytest

from groupreplay.page.drawing import words as w


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (None, "–"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (99_949, "99.9 s"),
        (99_951, "1 min 40 s"),
        (3_600_000, "1 h"),
        (5_400_000, "1 h 30 min"),
        (90_000_000, "1 d 1 h"),
        (10**17, "1,157,407,407 d 9 h"),
    ],
)
def test_durations(ms: int | None, shown: str) -> None:
    assert w.lasted(ms) == shown.replace(" ", w.NB)


def test_a_time_that_no_calendar_has_is_shown_too() -> None:
    assert w.at(10**18) == "1,000,000,000,000,000,000 ms"
    assert w.when(10**18).endswith("ms after 1970")
    assert w.when(0) == "1 Jan 00:00:00"
    assert (w.at(None), w.when(None)) == ("–", "–")


def test_what_is_nearly_always_there_is_not_rounded_up() -> None:
    assert w.availability(99.9999) == "99.999" + w.NB + "%"
    assert w.availability(100.0) == "100" + w.NB + "%"
    assert w.availability(None) == "–"


def test_an_enum_that_is_new_is_shown_as_it_is() -> None:
    assert w.word(w.REASON, "A_NEW_ONE") == "A_NEW_ONE"
    assert w.word(w.REASON, None) == "–"


def test_plurals() -> None:
    assert (w.some(1, "group"), w.some(2_000, "group")) == ("1 group", "2,000 groups")
