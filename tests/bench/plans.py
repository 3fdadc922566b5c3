"""What one copy of a story writes: its records in order and their times, as arrays that all copies
of the story share.

* `whole`: the story as it is, and again as a new life of the same group id after its deletion,
  until there are enough records.
* `mostly_commits`: its beginning, as far as the wanted share of other records goes, each commit as
  often as it takes.
* `day_of_life`: what it writes on one day of many, when little changes.
* `lives`: what it writes on a day of churn, one life after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.bench.stories import HEADER_BYTES, TIMES_MAX, Story, Unit

Ints = npt.NDArray[np.int64]
BETWEEN_LIVES_MS = 5_000
REPEATED_EVERY_MS = 5_000
"""A consumer commits every five seconds."""
QUIET_MS = 30_000
"""A group that changes nothing for so long is not in the middle of a change."""
OTHERS_MIN = 10
"""A group needs about so many records to begin at all."""
DELTA_MAX = 63
"""Greatest offset delta of one byte."""


class Templates:
    """The templates of all stories as one table: a column an array, a record its row.

    bytes: the second half is the first again, with room for a batch's header before it.
    """

    def __init__(self, stories: Sequence[Story]) -> None:
        rows = [template for story in stories for template in story.templates]
        self.first = np.cumsum([0, *(len(story.templates) for story in stories)])
        blank = bytes(HEADER_BYTES)
        self.bytes = [row.data for row in rows] + [blank + row.data for row in rows]
        self.size = _ints(len(row.data) for row in rows)
        self.digits_at = _ints(row.digits_at for row in rows)
        self.offset_at = _ints(row.offset_at for row in rows)
        self.offset = _ints(row.offset for row in rows)
        self.delta_at = _ints(row.delta_at for row in rows)
        self.ts_delta = _ints(row.ts_delta for row in rows)
        padded = [[*row.times, *[(-1, 0)] * (TIMES_MAX - len(row.times))] for row in rows]
        self.time_at = [_ints(times[i][0] for times in padded) for i in range(TIMES_MAX)]
        self.time = [_ints(times[i][1] for times in padded) for i in range(TIMES_MAX)]


@dataclass(slots=True)
class Plan:
    """A unit is what is appended at once; several units of single commits may come to share a
    batch.

    unit_at: ms since the copy began.
    unit_count: records.
    unit_shares: may share a batch with others.
    template: of each record.
    shift_ms: what turns the story's times into those of a copy that began at 0.
    repeat: how many times its commit was written before.
    """

    unit_at: Ints
    unit_count: Ints
    unit_shares: npt.NDArray[np.bool_]
    template: Ints
    shift_ms: Ints
    repeat: Ints
    commits: int

    @property
    def records(self) -> int:
        return len(self.template)


def _ints(values: Any) -> Ints:
    return np.fromiter(values, np.int64)


class _Writer:
    """Gathers units of a plan."""

    def __init__(self, story: Story, first_template: int) -> None:
        self._story = story
        self._first = first_template
        self._units: list[tuple[int, int, bool]] = []
        self._records: list[tuple[int, int, int]] = []
        self._commits = 0

    @property
    def records(self) -> int:
        return len(self._records)

    def add(self, unit: Unit, later_ms: int, repeat: int = 0, shares: bool = False) -> None:
        self._units.append((unit.at_ms + later_ms, unit.count, shares))
        for number in range(unit.first, unit.first + unit.count):
            self._records.append((self._first + number, later_ms - self._story.began_ms, repeat))
            self._commits += self._story.is_commit[number]

    def plan(self) -> Plan:
        order = sorted(self._order(), key=lambda one: one[0][0])
        units = [unit for unit, _ in order]
        records = [record for _, members in order for record in members]
        at, count, shares = zip(*units, strict=True)
        template, shift, repeat = zip(*records, strict=True)
        return Plan(
            _ints(at),
            _ints(count),
            np.array(shares),
            _ints(template),
            _ints(shift),
            _ints(repeat),
            self._commits,
        )

    def _order(self) -> Iterator[tuple[tuple[int, int, bool], list[tuple[int, int, int]]]]:
        first = 0
        for unit in self._units:
            yield unit, self._records[first : first + unit[1]]
            first += unit[1]


def whole(story: Story, first_template: int, records: int) -> Plan:
    """The story, life after life, until a batch passes `records`."""
    writer = _Writer(story, first_template)
    later_ms = 0
    while True:
        for unit in story.units:
            writer.add(unit, later_ms)
            if writer.records >= records:
                return writer.plan()
        if story.ending is not None and story.ending.count:
            writer.add(story.ending, later_ms)
        later_ms += story.lasts_ms + BETWEEN_LIVES_MS


def mostly_commits(
    story: Story, first_template: int, records: int, others: int, shared: bool
) -> Plan | None:
    """The story's beginning with about `others` records that are no commits, and its commits again
    and again to make `records`.

    shared: commits stand alone, to share batches with those of other groups. None: it has no
        commit, or many more others before its first one.
    """
    beginning = list(_beginning(story, others))
    commits = [unit for unit in beginning if unit.commits and unit.count <= DELTA_MAX]
    if not commits:
        return None
    left = max(records - sum(unit.count for unit in beginning if not unit.commits), 1)
    while len(commits) > 1 and sum(unit.count for unit in commits) > left:
        commits.pop()
    writer = _Writer(story, first_template)
    singles = [
        Unit(unit.at_ms, number, 1, True)
        for unit in commits
        for number in range(unit.first, unit.first + unit.count)
    ]
    written = singles if shared else commits
    times, more = divmod(max(left, len(singles)), len(singles))
    for unit in beginning:
        if not unit.commits:
            writer.add(unit, 0)
    last_change = max((unit.at_ms for unit in beginning if not unit.commits), default=0)
    for index, unit in enumerate(written):
        repeats = times + (index < more)
        after = next(
            (one.at_ms for one in written[index + 1 :] if one.at_ms > unit.at_ms), unit.at_ms
        )
        gap = after - unit.at_ms if after <= last_change else REPEATED_EVERY_MS * repeats
        for repeat in range(repeats):
            writer.add(unit, gap * repeat // max(repeats, 1), repeat, shared)
    plan = writer.plan()
    return (
        plan
        if plan.records <= records * 1.1
        and plan.records - plan.commits <= max(others * 1.5, OTHERS_MIN)
        else None
    )


def day_of_life(
    story: Story, first_template: int, records: int, others: int, age: int, delay: int = 0
) -> Plan | None:
    """A group's records of one day: the part of the story that is due, then its last commits
    repeated.

    age: days since the group began; its first day has the story's beginning, later ones so much
        that a day has about `others` records that are no commits in the long run. When the story is
        over the group is deleted and begins anew.
    delay: days by which all that comes after the first is put off, so that not all groups of a
        story change on the same days. None where no commit has been made by then.
    """
    part, last = _due(story, max(others, 1), age, delay)
    if last is None:
        return None
    writer = _Writer(story, first_template)
    for unit, later_ms in part:
        writer.add(unit, later_ms)
    at_ms = part[-1][0].at_ms + part[-1][1] + REPEATED_EVERY_MS if part else REPEATED_EVERY_MS
    repeat = 0
    while writer.records < records:
        repeat += 1
        for number in range(last.first, last.first + last.count):
            writer.add(
                Unit(last.at_ms, number, 1, True), at_ms - last.at_ms, age * records + repeat, True
            )
        at_ms += REPEATED_EVERY_MS
    return writer.plan()


def lives(story: Story, first_template: int, count: int, again: bool) -> Plan:
    """The story so many times as it is, and the deletion of the group before each.

    again: also before the first, since it has lived before.
    """
    writer = _Writer(story, first_template)
    later_ms = 0
    for number in range(count):
        if (again or number) and story.ending is not None and story.ending.count:
            writer.add(story.ending, later_ms - story.ending.at_ms)
            later_ms += BETWEEN_LIVES_MS
        for unit in story.units:
            writer.add(unit, later_ms)
        later_ms += story.lasts_ms + BETWEEN_LIVES_MS
    return writer.plan()


_Part = list[tuple[Unit, int]]
"""Units of one day, each with what is added to its time to make it one since the day began."""


def _due(story: Story, others: int, age: int, delay: int) -> tuple[_Part, Unit | None]:
    """What changes on that day, and the group's last commits by its end."""
    due, last = 0, None
    for part in _parts(story, others):
        if due > age:
            break
        last = next(
            (unit for unit, _ in reversed(part) if unit.commits and unit.count <= DELTA_MAX), last
        )
        if due == age:
            return part, last
        changes = sum(_changes(story, unit) for unit, _ in part)
        due += max(-(-changes // others), 1) if due else 1 + delay
    return [], last


def _parts(story: Story, others: int) -> Iterator[_Part]:
    """Day after day, life after life."""
    days = _days(story, others)
    yield [(unit, -days[0][0].at_ms) for unit in days[0]]
    while True:
        for day in days[1:]:
            yield [(unit, -day[0].at_ms) for unit in day]
        ended: _Part = (
            [(story.ending, -story.ending.at_ms)]
            if story.ending is not None and story.ending.count
            else []
        )
        yield [*ended, *((unit, BETWEEN_LIVES_MS - days[0][0].at_ms) for unit in days[0])]


def _changes(story: Story, unit: Unit) -> int:
    return sum(not story.is_commit[number] for number in range(unit.first, unit.first + unit.count))


def _days(story: Story, others: int) -> list[list[Unit]]:
    """The story cut into days of at least `others` records that are no commits (the first
    OTHERS_MIN), where nothing is under way.
    """
    days: list[list[Unit]] = [[]]
    seen = changed_at = 0
    for unit in story.units:
        changes = _changes(story, unit)
        is_over = seen >= (others if len(days) > 1 else max(others, OTHERS_MIN))
        if changes and is_over and unit.at_ms - changed_at >= QUIET_MS:
            days.append([])
            seen = 0
        days[-1].append(unit)
        seen += changes
        changed_at = unit.at_ms if changes else changed_at
    return days


def _beginning(story: Story, others: int) -> Iterator[Unit]:
    """Units until one would pass the number of other records; the first one, and the first commits,
    in any case.
    """
    seen = 0
    seen_commit = False
    for unit in story.units:
        other = _changes(story, unit)
        if seen and seen_commit and seen + other > others:
            return
        seen += other
        seen_commit = seen_commit or unit.commits
        yield unit
