"""Rows of `stuck_groups` that only logs show: UPGRADE_REFUSED, from the first refusal on (measures.md,
Stuck), by what every request was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.expected.refusals import HOUR_MS, Run, came_of, runs_of
from tests.simulator.expected.unavailable import life_of
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
    since, last = run.first.at, run.last.at
    is_open = not run.is_over and newest - last <= HOUR_MS
    until = history.truth.as_of_ms if is_open else last
    values = {
        "to_offset": None,
        "start_observed": True,
        "is_final": not is_open,
        "reason": REASON,
        "since_at": since,
        "until_at": None if is_open else last,
        "stuck_ms": until - since,
        "is_open": is_open,
        "repetitions": None,
        "detail_code": "NO_UPGRADE_SAYS",
        "detail_params": {"message": run.first.message, "attempts": str(len(run.attempts))},
    }
    return values | life_of(history, run.group_id)


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [
        {**row, "detail_params": dict(row["detail_params"])}
        for row in rows
        if row["reason"] == REASON
    ]


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["since_at"]


CHECK: Final = Check("upgrades", _wanted, _key_of, gathered=_gathered)
