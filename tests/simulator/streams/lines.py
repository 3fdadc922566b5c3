"""What lines of broker logs prove of groups of Kafka Streams: how members ended, and all that they
prove of any group (evidence.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tests.simulator.check import LOG_CHECKS, check_history
from tests.simulator.compare import Comparison, Key, OneOf, Wanted, compare
from tests.simulator.expected import member_ends
from tests.simulator.expected.history import History
from tests.simulator.streams.history import Step, StreamsHistory, StreamsLife
from tests.simulator.tables import Row, Tables

TABLE: Final = member_ends.CHECK.table
STILL_THERE: Final = "members that are still there"

_TIMERS: Final = {
    "session-timeout": "SESSION_EXPIRED",
    "rebalance-timeout": "REBALANCE_TIMEOUT",
}
"""Kafka's name of a timer -> the detail of the fence that it ends in."""

_SURE: Final = OneOf(("EXACT", "INFERRED"))
"""INFERRED where another line about the same member lies near."""


def _ending(life: StreamsLife, step: Step, member_id: str, heir: str | None) -> dict[str, Any]:
    """By the request or the timer that removed it."""
    is_sure: Any = _SURE
    if step.protocol is None:
        reason, detail, is_sure = "GROUP_REMOVED", None, "EXACT"
    elif heir is not None:
        reason, detail, is_sure = "REPLACED", None, "EXACT"
    elif step.kind == "leave" and step.asked_by == member_id:
        reason, detail = "LEFT", "LEAVE_HEARTBEAT"
    else:
        subject = re.escape(f"{life.group_id}-{member_id}")
        timer = re.fullmatch(rf"Timeout\((?:tp=[^,]*, )?key=([a-z-]+?)-{subject}\)", step.reason)
        reason, detail = "FENCED", _TIMERS[timer[1]] if timer else None
    return {"end_reason": reason, "end_detail": detail, "end_confidence": is_sure}


def ends(history: StreamsHistory) -> dict[Key, Wanted]:
    """(group, member, first offset of the operation that it joined in) -> how it ended."""
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        joined: dict[str, Step] = {}
        for before, step in life.pairs():
            was = before.members if before is not None else {}
            for member_id in was.keys() - step.members.keys():
                opened, member = joined.pop(member_id), was[member_id]
                told = _ending(life, step, member_id, step.heir_of(member))
                key = (life.group_id, member_id, opened.first_offset)
                offsets = (opened.first_offset, step.first_offset)
                wanted[key] = Wanted({"ended_at": step.at, **told}, offsets)
            for member_id in step.members.keys() - was.keys():
                joined[member_id] = step
    return wanted


class _OtherLives:
    """Rows of lines, without ends of members of streams groups."""

    def __init__(self, history: StreamsHistory, tables: Tables) -> None:
        self._history = history
        self._tables = tables

    def rows(self, table: str) -> Sequence[Row]:
        rows = self._tables.rows(table)
        if table != TABLE:
            return rows
        return [row for row in rows if self._history.of_row(row) is None]


def compared(history: StreamsHistory, rows: Sequence[Row]) -> Comparison:
    """Ends of members of streams groups. rows: of `member_ends`, of any group."""
    of_streams = [row for row in rows if history.of_row(row) is not None]

    def key_of(row: Row) -> Key:
        return row["group_id"], row["member_id"], history.opened_by(row)

    def excuse(row: Row) -> str:
        return STILL_THERE if row["end_reason"] == "OPEN" else ""

    return compare(f"streams {TABLE}", ends(history), of_streams, key_of, excuse)


def check_lines(history: StreamsHistory, tables: Tables, named: str = "") -> list[Comparison]:
    """Every table whose name has `named` in it."""
    others = _OtherLives(history, tables)
    found = check_history(History(history.truth), others, named, LOG_CHECKS)
    if named in TABLE:
        found.append(compared(history, tables.rows(TABLE)))
    return found
