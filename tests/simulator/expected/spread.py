"""Numbers that lie between two, where the truth does not say one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Spread(NamedTuple):
    """Any number from least to most, both included."""

    least: int
    most: int

    def plus(self, other: Spread) -> Spread:
        return Spread(self.least + other.least, self.most + other.most)

    def times(self, count: int) -> Spread:
        return Spread(self.least * count, self.most * count)

    def at_least(self, floor: int) -> Spread:
        return Spread(max(floor, self.least), max(floor, self.most))

    def admits(self, value: Any) -> bool:
        return isinstance(value, int) and self.least <= value <= self.most

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least}..{self.most}"


NOTHING = Spread(0, 0)


def exactly(number: int) -> Spread:
    return Spread(number, number)


def percentile(numbers: Sequence[Spread], share: float) -> Spread:
    """Between two of them in proportion, halves up. It is in no way less where any of them is
    more."""
    leasts, mosts = sorted(each.least for each in numbers), sorted(each.most for each in numbers)
    return Spread(_percentile(leasts, share), _percentile(mosts, share))


def _percentile(numbers: Sequence[int], share: float) -> int:
    place = share * (len(numbers) - 1)
    below = int(place)
    above = min(below + 1, len(numbers) - 1)
    between = numbers[below] + (place - below) * (numbers[above] - numbers[below])
    return int(between + 0.5)
