"""Rows that must be, by the truth, against rows that a table has: key by key, column by column."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.simulator.tables import Row

Key = tuple[Hashable, ...]
"""What tells rows of a table apart; the group's id comes first."""


class Expectation(Protocol):
    """What a value may be, where the truth allows more than one."""

    def admits(self, value: Any) -> bool: ...


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of these values."""

    values: tuple[Any, ...]

    def admits(self, value: Any) -> bool:
        return value in self.values

    def __str__(self) -> str:
        return " or ".join(map(str, self.values))


@dataclass(frozen=True, slots=True)
class AllOf:
    """What all of these say: values, or what they may be."""

    wanted: tuple[Any, ...]

    def admits(self, value: Any) -> bool:
        return all(
            each == value or (hasattr(each, "admits") and each.admits(value))
            for each in self.wanted
        )

    def __str__(self) -> str:
        return " and ".join(map(str, self.wanted))


@dataclass(frozen=True, slots=True)
class Between:
    """A number from first to last, both included: an offset in an operation."""

    first: int
    last: int

    def admits(self, value: Any) -> bool:
        return isinstance(value, int) and self.first <= value <= self.last

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a bracket around a true number: not above it by more than the slack, of a lower
    one, nor below it, of an upper one. None where the table has none, which is true as well."""

    true: float
    is_lower: bool
    slack: float = 0

    def admits(self, value: Any) -> bool:
        if not isinstance(value, int | float):
            return value is None
        over = value - self.true if self.is_lower else self.true - value
        return bool(over <= self.slack)

    def __str__(self) -> str:
        return f"at {'most' if self.is_lower else 'least'} {self.true}, or {self.slack} off"


@dataclass(frozen=True, slots=True)
class Untold:
    """Anything: the truth cannot tell, and why."""

    why: str

    def admits(self, value: Any) -> bool:
        return True

    def __str__(self) -> str:
        return f"untold ({self.why})"


@dataclass(frozen=True, slots=True)
class LineAt:
    """Evidence: the line that begins at a byte of a log of this kind. Which of the files it is, paths
    of a run say."""

    source: str
    position: int

    def admits(self, value: Any) -> bool:
        is_place = isinstance(value, dict)
        return is_place and (value["source"], value["position"]) == (self.source, self.position)

    def __str__(self) -> str:
        return f"{self.source} at {self.position}"


@dataclass(slots=True)
class Wanted:
    """A row that must be. values: column -> value or Expectation. offsets: where in the group's log
    to look when it is not so.

    left_out: why the row is not judged at all, "" where it is.
    """

    values: Mapping[str, Any]
    offsets: tuple[int, ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it must be. column: its name, or MISSING, NEVER_WAS, TWICE of a
    whole row."""

    table: str
    column: str
    key: Key
    wanted: str
    got: str
    offsets: tuple[int, ...]


MISSING, NEVER_WAS, TWICE = "(missing)", "(never was)", "(twice)"
ROWS = "(rows)"


@dataclass(slots=True)
class Comparison:
    """What came of one table. agree, differ: column -> values; ROWS: rows that are on both sides.
    left_out: why -> rows."""

    table: str
    agree: Counter[str] = field(default_factory=Counter)
    differ: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def add_difference(self, difference: Difference) -> None:
        self.differ[difference.column] += 1
        self.differences.append(difference)


def compare(
    table: str,
    wanted: Mapping[Key, Wanted],
    rows: Iterable[Row],
    key_of: Callable[[Row], Key],
    excuse: Callable[[Row], str],
) -> Comparison:
    """Holds a table's rows against those that must be. excuse: why a row that must not be is left
    out, "" where it is not."""
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[key_of(row)].append(row)
    result = Comparison(table)
    for key, must in wanted.items():
        got = found.pop(key, [])
        if must.left_out:
            result.left_out[must.left_out] += 1
        elif not got:
            told = _told(must.values)
            result.add_difference(Difference(table, MISSING, key, told, "no row", must.offsets))
        else:
            _add_extra(result, key, got[1:], TWICE)
            result.agree[ROWS] += 1
            _compare_values(result, key, must, got[0])
    for key, extra in found.items():
        for row in extra:
            if why := excuse(row):
                result.left_out[why] += 1
            else:
                _add_extra(result, key, [row], NEVER_WAS)
    return result


def _add_extra(result: Comparison, key: Key, rows: Iterable[Row], column: str) -> None:
    for row in rows:
        offsets = (row.get("from_offset") or 0,)
        result.add_difference(
            Difference(result.table, column, key, "no such row", _told(row), offsets)
        )


def _compare_values(result: Comparison, key: Key, must: Wanted, got: Row) -> None:
    for column, value in must.values.items():
        if value == got[column] or (hasattr(value, "admits") and value.admits(got[column])):
            result.agree[column] += 1
        else:
            result.add_difference(
                Difference(result.table, column, key, str(value), str(got[column]), must.offsets)
            )


def _told(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
