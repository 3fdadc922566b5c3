"""Which date a run is of, and which nights it entails."""

from __future__ import annotations

from datetime import date

import pytest

from groupreplay.errors import ConfigError
from groupreplay.night.earlier.history import (
    PastNight,
    check_newest,
    default_date,
    nights_to_run,
)
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.watermark import NO_TIME_MS

FIRST, BETWEEN, NEWEST, NEXT = (date(2026, 11, day) for day in (20, 21, 22, 23))
NEWEST_NOON_MS = 1_795_348_800_000


def night(logical_date: date, *, as_of_ms: int = NO_TIME_MS, is_done: bool = True) -> PastNight:
    landing = RecordsLanding(watermarks={}, as_of_ms=as_of_ms, open_commits=0)
    return PastNight(logical_date, is_done, landing, {})


def test_a_run_without_a_date_is_of_the_day_of_its_newest_record() -> None:
    assert default_date([], NEWEST_NOON_MS) == NEWEST
    assert default_date([night(FIRST, as_of_ms=NEWEST_NOON_MS)], NO_TIME_MS) == NEWEST
    assert default_date([night(NEXT)], NEWEST_NOON_MS) == NEXT
    with pytest.raises(ConfigError) as caught:
        default_date([], NO_TIME_MS)
    assert str(caught.value) == (
        "--logical-date: is missing, and the sources hold no record yet to take the date from"
    )


@pytest.mark.parametrize(
    ("landed", "said"),
    [
        ((FIRST, NEWEST), "no run landed 2026-11-21, and it is before the newest night"),
        ((FIRST, BETWEEN, NEWEST), "2026-11-21 is before the newest night"),
    ],
    ids=["never run", "run"],
)
def test_a_night_before_the_newest_gets_no_new_records(landed: tuple[date, ...], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_newest([night(each) for each in landed], BETWEEN)
    assert str(caught.value) == (
        f"--logical-date: {said}, 2026-11-22: new records belong to 2026-11-22 or to a later date"
    )


def test_the_newest_night_and_a_later_one_get_new_records() -> None:
    nights = [night(FIRST), night(NEWEST)]
    for logical_date in (NEWEST, NEXT):
        check_newest(nights, logical_date)
    check_newest([], FIRST)


def test_a_run_entails_nights_that_wait_before_it_and_all_after_it() -> None:
    nights = [night(FIRST, is_done=False), night(BETWEEN), night(NEWEST)]
    assert nights_to_run(nights, BETWEEN) == [FIRST, BETWEEN, NEWEST]
    assert nights_to_run(nights, NEXT) == [FIRST, NEXT]
    with pytest.raises(ConfigError):
        nights_to_run([night(FIRST), night(NEWEST)], BETWEEN)
