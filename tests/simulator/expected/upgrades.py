"""Rows of `stuck_groups` that only logs show: UPGRADE_REFUSED, from the first refusal on (measures.md,
Stuck), by what every request was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.expected.refusals import HOUR_MS, Run, came_of, runs_of
from tests.simulator.expected.stuck_by_lines import key_of, rows_of, values_of
from tests.simulator.tables import Row

REASON: Final = "UPGRADE_REFUSED"


def _wanted(history: History) -> dict[Key, Wanted]:
    newest = newest_line_at(history)
    return {
        (group_id, run.first.at): Wanted(_row(history, run, newest), ())
        for group_id, answers in history.truth.answers.of_groups.items()
        for run in runs_of(group_id, answers, came_of(answers))
        if not run.subject
    }


def _row(history: History, run: Run, newest: int) -> dict[str, Any]:
    is_open = not run.is_over and newest - run.last.at <= HOUR_MS
    return values_of(
        history,
        run.group_id,
        reason=REASON,
        since_at=run.first.at,
        until_at=None if is_open else run.last.at,
        is_final=not is_open,
        detail=(
            "NO_UPGRADE_SAYS",
            {"message": run.first.message, "attempts": str(len(run.attempts))},
        ),
    )


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return rows_of(rows, REASON)


CHECK: Final = Check("upgrades", _wanted, key_of, gathered=_gathered)
