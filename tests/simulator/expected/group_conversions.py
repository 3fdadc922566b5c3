"""`group_conversions`: every change between the two protocols (measures.md, conversions)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.lives import Life, is_conversion, is_offline
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER, Operation


@dataclass(frozen=True, slots=True)
class Conversion:
    """before: the operation of the group before it. life: the one that it stays in or begins."""

    before: Operation
    operation: Operation
    life: Life

    @property
    def direction(self) -> str:
        return "UPGRADE" if self.operation.protocol == CONSUMER else "DOWNGRADE"

    @property
    def is_online(self) -> bool:
        return not is_offline(self.before, self.operation)


def conversions_of(history: History) -> list[Conversion]:
    """Every conversion, group by group in order."""
    life_of = {id(each): life for life in history.lives for each in life.operations}
    return [
        Conversion(before, operation, life_of[id(operation)])
        for operations in history.truth.operations.values()
        for before, operation in pairwise(operations)
        if is_conversion(before, operation)
    ]


def trigger_of(conversion: Conversion) -> Any:
    """The member that joined, or the one that was removed; None for an offline downgrade."""
    was, now = conversion.before.members, conversion.operation.members
    if conversion.direction == "UPGRADE":
        candidates = now.keys() - was.keys()
    elif conversion.is_online:
        candidates = was.keys() - now.keys()
    else:
        return None
    asked = {conversion.operation.asked_by} & candidates
    return OneOf(tuple(sorted(asked or candidates)))


def _row(history: History, conversion: Conversion) -> tuple[Key, Wanted]:
    operation = conversion.operation
    offsets = Between(operation.first_offset, operation.last_offset)
    values: dict[str, Any] = {
        "incarnation": history.incarnation(conversion.life),
        "offsets_partition": operation.offsets_partition,
        "from_offset": offsets,
        "to_offset": offsets,
        "start_observed": True,
        "is_final": True,
        "converted_at": operation.at,
        "direction": conversion.direction,
        "mode": "ONLINE" if conversion.is_online else "OFFLINE",
        "trigger_member_id": trigger_of(conversion),
        "epoch_before": conversion.before.epoch or None,
        "epoch_after": operation.epoch or None,
    }
    return (operation.group_id, operation.first_offset), Wanted(values, (operation.first_offset,))


def _wanted(history: History) -> dict[Key, Wanted]:
    return dict(_row(history, each) for each in conversions_of(history))


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], history.opened_by(row)


CHECK: Final = Check("group_conversions", _wanted, _key_of)
