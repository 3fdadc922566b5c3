"""What the checks of all tables begin with: the truth, its lives, and where a row begins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tests.simulator.compare import Key, Wanted
from tests.simulator.lives import Life, lives_of
from tests.simulator.tables import Row
from tests.simulator.truth import Operation, Truth


@dataclass
class History:
    """One recording, as all checks see it."""

    truth: Truth
    lives: list[Life] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lives = lives_of(self.truth)

    @cached_property
    def _first_offsets(self) -> dict[str, list[int]]:
        return {
            group_id: [each.first_offset for each in operations]
            for group_id, operations in self.truth.operations.items()
        }

    def opened_by(self, row: Row) -> int:
        """Which operation of its group a row begins in, by the first offset of it; a row that
        begins in none has its own offset, negative."""
        operation = self.operation_at(row["group_id"], row["from_offset"])
        return -1 - row["from_offset"] if operation is None else operation.first_offset

    def operation_at(self, group_id: str, offset: int) -> Operation | None:
        """The operation of a group that a record at this offset is of."""
        place = bisect_right(self._first_offsets.get(group_id, []), offset) - 1
        operation = self.truth.operations[group_id][place] if place >= 0 else None
        return operation if operation is not None and offset <= operation.last_offset else None

    def name_of(self, row: Row) -> str:
        """The topic's true name, though the product may know the id alone."""
        name: str = self.truth.names.get(row["topic_id"] or "", row["topic"])
        return name


@dataclass(frozen=True, slots=True)
class Check:
    """The check of one table: which rows must be, and what tells its rows apart."""

    table: str
    wanted: Callable[[History], Mapping[Key, Wanted]]
    key_of: Callable[[History, Row], Key]
