"""`is_stalled` of `migration_progress`: mixed for long (measures.md, phase and progress)."""

from __future__ import annotations

from typing import Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.criteria import STALLED_MS
from tests.simulator.expected import migration_progress
from tests.simulator.expected.history import Check, History


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for key, row in migration_progress.CHECK.wanted(history).items():
        since_at = row.values["mixed_since_at"]
        is_long = since_at is not None and row.values["as_of_at"] - since_at >= STALLED_MS
        wanted[key] = Wanted({"is_stalled": is_long}, row.offsets, row.left_out)
    return wanted


CHECK: Final = Check("mixed", _wanted, lambda history, row: (row["group_id"],))
