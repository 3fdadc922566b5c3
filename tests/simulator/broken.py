"""Rows of one table of a history that are made wrong, to see whether the checker notices."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.check import compared
from tests.simulator.compare import Comparison, Key, Untold, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row

TRIES: Final = 3
"""Rows that are broken of each table and column."""

KEYS: Final = frozenset(
    {"group_id", "member_id", "partition", "input", "criteria", "topic_id", "scenario"}
)
"""Columns that say which row it is, where they are no value of it."""

UPPER_BOUNDS: Final = frozenset({"gap_high_ms", "high_ms"})
"""Columns that are wrong where they are too small."""


@dataclass(frozen=True, slots=True)
class Case:
    """One table of a history: what must be, and what is."""

    check: Check
    history: History
    wanted: Mapping[Key, Wanted]
    rows: Sequence[Row]

    def compare(self, rows: Sequence[Row]) -> Comparison:
        return compared(self.check, self.history, self.wanted, rows)

    def judged(self, column: str | None = None) -> list[int]:
        """Places of some rows that are right, and looked at, in this column if one is given."""
        wrong = {each.key for each in self.compare(self.rows).differences}
        found = []
        for place, row in enumerate(self.rows):
            key = self.check.key_of(self.history, row)
            must = self.wanted.get(key)
            if must is None or must.left_out or key in wrong:
                continue
            value = must.values.get(column or "", None if column in KEYS else Untold("not told"))
            if column is None or not isinstance(value, Untold):
                found.append(place)
        return random.Random(column).sample(found, min(TRIES, len(found)))

    def unnoticed(self, column: str) -> list[Row]:
        """Rows in which another value of this column is not noticed."""
        usual = self.compare(self.rows).differ.total()
        places = self.judged(column)
        assert places, f"no row to break in {column}: play a longer history"
        found = []
        for place in places:
            rows = list(self.rows)
            other = other_than(
                rows[place][column], by=-(10**9) if column in UPPER_BOUNDS else 10**9
            )
            rows[place] = {**rows[place], column: other}
            if self.compare(rows).differ.total() <= usual:
                found.append(self.rows[place])
        return found


def other_than(value: Any, by: int) -> Any:
    """Another value, far from this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + by
    if isinstance(value, list):
        return [*value, "another"]
    if isinstance(value, dict):
        name = "position" if "position" in value else "another"
        return {**value, name: value.get(name, 0) + by}
    return "another"
