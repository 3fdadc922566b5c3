"""The open days of one life, and how stretches of time are shared out among them."""

from __future__ import annotations

from groupreplay.limits import DAY_MS
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.life import Life


def day_of(at: int) -> int:
    """The day (UTC) that a time is in, as a number."""
    return at // DAY_MS


class Calendar:
    """Days that are open, in order. What belongs to a day whose row was emitted goes to the oldest
    one that is open: no sum loses it.

    days: the list that is kept up.
    """

    def __init__(self, life: Life, days: list[GroupDay]) -> None:
        self._life = life
        self._days = days

    def day(self, at: int) -> GroupDay:
        """The open day that a time counts for, made if need be."""
        days, number = self._days, at // DAY_MS
        if days and days[-1].day == number:
            return days[-1]
        number = max(number, self._life.days_told + 1)
        for place in range(len(days) - 1, -1, -1):
            if days[place].day == number:
                return days[place]
            if days[place].day < number:
                return self._insert(place + 1, number)
        return self._insert(0, number)

    def spread(self, field: str, begin: int, end: int, first_day: int = 0) -> None:
        """Adds a stretch of time to a field of each day that it lies in, cut at midnights.

        first_day: what lies in days before it counts for it.
        """
        while begin < end:
            until = min(end, (day_of(begin) + 1) * DAY_MS)
            day = self.day(max(begin, first_day * DAY_MS))
            setattr(day, field, getattr(day, field) + until - begin)
            begin = until

    def _insert(self, place: int, number: int) -> GroupDay:
        life, begin = self._life, number * DAY_MS
        at = max(begin, life.days_clock) if day_of(life.days_clock) == number else begin
        day = GroupDay(
            **life.place,
            from_offset=max(life.last_change_offset, life.incarnation),
            start_observed=life.birth_seen,
            day=number,
            from_at=at,
            to_at=at,
        )
        self._days.insert(place, day)
        return day
