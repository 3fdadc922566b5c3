"""Which part of which story a group writes on a day: the kinds of nights that a log can grow by.

* steady: groups live on, a little of their story each day; one record in a hundred is no commit.
* churn: groups live their stories as they are, life after life, as often as their share of a day's
  records allows; some fifth is no commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.bench.generate import MEMBERSHIP_SHARE
from tests.bench.plans import Plan, Templates, day_of_life, lives
from tests.bench.stories import Story

DELAYS = 20
"""Days over which the groups of one story spread their changes."""
AGES_TRIED = 40
UNFINISHED = frozenset({"stuck-open"})
"""Recorded up to the middle of a hand-over, which no broker leaves open for a day: these stories
cannot go on the next one.
"""


class SteadyDays:
    """Of stories that can fill a day, and no more than one."""

    def __init__(self, stories: Sequence[Story], templates: Templates) -> None:
        self._stories = stories
        self._templates = templates
        self._usable: list[int] = []
        self._records = 0
        self._plans: dict[tuple[int, int, int], Plan | None] = {}

    def of_group(self, number: int, age: int, records: int) -> tuple[int, Plan | None]:
        """Which story the group of that number lives, and what it writes when it is so many days
        old; about so many records.
        """
        if records != self._records:
            self._records = records
            self._plans.clear()
        if not self._usable:
            self._usable = [
                index for index in range(len(self._stories)) if self._fills_a_day(index)
            ]
        index = self._usable[number % len(self._usable)]
        return index, self._plan(index, age, number // len(self._usable) % DELAYS)

    def _plan(self, index: int, age: int, delay: int = 0) -> Plan | None:
        key = index, age, delay
        if key not in self._plans:
            others = int(self._records * MEMBERSHIP_SHARE["steady"])
            self._plans[key] = day_of_life(
                self._stories[index],
                int(self._templates.first[index]),
                self._records,
                others,
                age,
                delay,
            )
        return self._plans[key]

    def _fills_a_day(self, index: int) -> bool:
        if self._stories[index].name in UNFINISHED:
            return False
        plans = [self._plan(index, age) for age in range(AGES_TRIED)]
        return all(plan is not None and plan.records <= self._records * 1.1 for plan in plans)


class ChurnDays:
    """Of whole lives: what a day has left is saved for the next, so that a long story is told every
    few days.
    """

    def __init__(self, stories: Sequence[Story], templates: Templates) -> None:
        self._stories = stories
        self._templates = templates
        self._usable = [
            index for index, story in enumerate(stories) if story.name not in UNFINISHED
        ]
        self._life = [
            sum(unit.count for unit in story.units)
            + (story.ending.count if story.ending is not None else 0)
            for story in stories
        ]
        self._saved: dict[int, float] = {}
        self._lived: set[int] = set()
        self._plans: dict[tuple[int, int, bool], Plan] = {}

    def of_group(self, number: int, age: int, records: int) -> tuple[int, Plan | None]:
        """As of SteadyDays, in order of age. None: the group writes nothing on that day."""
        index = self._usable[number % len(self._usable)]
        if age == 0:
            self._saved[number] = (
                self._life[index] * (number // len(self._usable) % DELAYS) / DELAYS
            )
        count, self._saved[number] = divmod(self._saved[number] + records, self._life[index])
        if not count:
            return index, None
        key = index, int(count), number in self._lived
        self._lived.add(number)
        if key not in self._plans:
            self._plans[key] = lives(
                self._stories[index], int(self._templates.first[index]), key[1], again=key[2]
            )
        return index, self._plans[key]


DAYS: Final[dict[str, type[SteadyDays] | type[ChurnDays]]] = {
    "steady": SteadyDays,
    "churn": ChurnDays,
}
