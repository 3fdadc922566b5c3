"""Open days: which one a time counts for, and stretches of time that midnight cuts."""

from __future__ import annotations

from groupreplay.limits import DAY_MS
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.decisions.calendar import Calendar, day_of
from groupreplay.replay.life import CONSUMER, Life


def life() -> Life:
    return Life("g", 3, 10, CONSUMER, last_change_offset=40, birth_seen=True)


def test_a_day_begins_at_midnight_utc() -> None:
    assert [day_of(at) for at in (-1, 0, DAY_MS - 1, DAY_MS)] == [-1, 0, 0, 1]


def test_a_day_is_made_once_and_in_order() -> None:
    days: list[GroupDay] = []
    calendar = Calendar(life(), days)
    fifth = calendar.day(5 * DAY_MS + 7)
    assert calendar.day(6 * DAY_MS - 1) is fifth
    third, sixth = calendar.day(3 * DAY_MS), calendar.day(6 * DAY_MS)
    assert days == [third, fifth, sixth]
    assert (fifth.day, fifth.from_offset, fifth.start_observed) == (5, 40, True)
    assert (fifth.from_at, fifth.to_at) == (5 * DAY_MS, 5 * DAY_MS)


def test_a_day_that_is_counted_already_begins_where_the_count_stands() -> None:
    one, days = life(), list[GroupDay]()
    one.days_clock = 5 * DAY_MS + 900
    assert Calendar(one, days).day(5 * DAY_MS + 1_000).from_at == 5 * DAY_MS + 900
    assert Calendar(one, days).day(4 * DAY_MS).from_at == 4 * DAY_MS


def test_what_belongs_to_a_day_that_was_told_counts_for_the_oldest_open_one() -> None:
    one, days = life(), list[GroupDay]()
    one.days_told = 4
    calendar = Calendar(one, days)
    assert calendar.day(2 * DAY_MS).day == 5
    assert calendar.day(6 * DAY_MS).day == 6
    assert calendar.day(2 * DAY_MS) is days[0]


def spread(begin: int, end: int, first_day: int = 0) -> list[tuple[int, int]]:
    days: list[GroupDay] = []
    Calendar(life(), days).spread("members_ms", begin, end, first_day)
    return [(each.day, each.members_ms) for each in days]


def test_a_stretch_is_cut_at_midnights() -> None:
    assert spread(2 * DAY_MS - 30, 4 * DAY_MS + 50) == [(1, 30), (2, DAY_MS), (3, DAY_MS), (4, 50)]
    assert spread(100, 100) == []
    assert spread(100, 90) == []


def test_what_lies_in_days_before_the_first_counts_for_it() -> None:
    assert spread(2 * DAY_MS - 30, 3 * DAY_MS + 50, first_day=3) == [(3, 30 + DAY_MS + 50)]
