"""`rebalances`: every generation of the topic is a rebalance that completed (evidence.md).

A generation without members is told by no sync, and rebalances that came to nothing wrote none.
"""

from __future__ import annotations

from typing import Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.holdings import is_new_generation
from tests.simulator.lives import is_conversion
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC

NO_GENERATION: Final = "rebalances that wrote no generation"

LATE_LEADER: Final = "rebalances of a leader that did not know yet that it was none"
LATE_MS: Final = 10_000
LOST: Final = "rebalances whose K2 is in no log"


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        for before, operation in life.steps():
            if operation.protocol != CLASSIC or operation.kind != "sync":
                continue
            if is_conversion(before, operation) or not is_new_generation(before, operation):
                continue
            # A generation is logged as the new one from `Stabilized` on: the row has the old one.
            values = {
                "generation": operation.epoch - 1,
                "members_joined": len(operation.members),
            }
            key = (life.group_id, operation.at)
            wanted[key] = Wanted(values, (operation.first_offset,))
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return (
        row["group_id"],
        row["synced_at"] if row["outcome"] == "COMPLETED" else None,
        *(() if row["outcome"] == "COMPLETED" else (row["started_at"],)),
    )


def _excuse(history: History, row: Row) -> str:
    if row["outcome"] != "COMPLETED":
        return NO_GENERATION
    synced = f"sync {row['synced_at']}"
    if any(
        (each.what, each.group_id, each.detail) == ("lost", row["group_id"], synced)
        for each in history.truth.injected
    ):
        return LOST
    operations = history.truth.operations.get(row["group_id"])
    partition = operations[0].offsets_partition if operations else -1
    resigned = (
        event.broker_at
        for (what, place, _), events in history.led.items()
        if (what, place) == ("resign", partition)
        for event in events
    )
    is_late = any(0 <= row["synced_at"] - at <= LATE_MS for at in resigned)
    return LATE_LEADER if is_late else ""


CHECK: Final = Check("rebalances", _wanted, _key_of, _excuse)
