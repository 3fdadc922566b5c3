"""Rows of `stuck_members` that only logs show: REJECTED_LOOP (measures.md, Stuck; evidence.md,
Refusals), from what every request was answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.expected.refusals import HOUR_MS, Run, came_of, runs_of
from tests.simulator.expected.unavailable import life_of
from tests.simulator.tables import Row
from tests.support.stuck_rows import runs

REASON: Final = "REJECTED_LOOP"
COUNT, WINDOW_MS, BURST_MS = 3, 600_000, 10_000
_LONGEST: Final = 256
_STAYS: Final = frozenset(
    {
        *("JOIN_GROUP", "SYNC_GROUP", "HEARTBEAT"),
        *("CONSUMER_GROUP_HEARTBEAT", "SHARE_GROUP_HEARTBEAT", "STREAMS_GROUP_HEARTBEAT"),
    }
)
"""Requests to join or to stay; one to leave the newer protocols is one of these."""


def _wanted(history: History) -> dict[Key, Wanted]:
    newest = newest_line_at(history)
    wanted: dict[Key, Wanted] = {}
    for group_id, answers in history.truth.answers.of_groups.items():
        for run in runs_of(group_id, answers, came_of(answers)):
            if run.first.api in _STAYS and run.subject:
                wanted |= _loops(history, run, newest)
    return wanted


def _loops(history: History, run: Run, newest: int) -> dict[Key, Wanted]:
    """Of the refusals of one asker."""
    times = [each.at for each in run.attempts][-_LONGEST:]
    if run.last.at - run.first.at < BURST_MS:
        return {}
    can_go_on = not run.is_over and newest - run.last.at <= HOUR_MS
    loops: dict[Key, Wanted] = {}
    for first, last in runs(times, COUNT, WINDOW_MS):
        is_last = last == len(times) - 1
        is_open = can_go_on and is_last and newest - times[last] <= WINDOW_MS
        values = _row(history, run, times[first], times[last], is_open)
        values |= life_of(history, run.group_id) | {"repetitions": last - first + 1}
        key = (run.group_id, run.subject, run.first.error_name, times[first])
        loops[key] = Wanted(values, ())
    return loops


def _row(history: History, run: Run, since: int, last: int, is_open: bool) -> dict[str, Any]:
    until = history.truth.as_of_ms if is_open else last
    return {
        "to_offset": None,
        "start_observed": True,
        "member_id": run.latest("member_id") or run.subject,
        "instance_id": run.last.instance_id,
        "client_id": run.last.client_id,
        "client_host": run.last.client_host,
        "reason": REASON,
        "since_at": since,
        "until_at": None if is_open else last,
        "stuck_ms": until - since,
        "blocked_by": [],
        "partitions_waiting": None,
        "partitions_held": None,
        "deadline_at": None,
        "is_open": is_open,
        "detail_code": "REFUSED",
        "error": run.first.error_name,
    }


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [{**row, "error": _error_of(row)} for row in rows if row["reason"] == REASON]


def _error_of(row: Row) -> Any:
    return dict(row["detail_params"] or ()).get("error")


def _key_of(history: History, row: Row) -> Key:
    subject = row["instance_id"] or row["member_id"]
    return row["group_id"], subject, _error_of(row), row["since_at"]


CHECK: Final = Check("rejected", _wanted, _key_of, gathered=_gathered)
