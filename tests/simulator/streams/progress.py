"""`migration_progress` of groups that are, or once were, streams groups: such a group cannot migrate
to the consumer protocol, and what it was converted to and from counts nowhere (docs/measures.md).
"""

from __future__ import annotations

from typing import Any, Final

from tests.simulator.compare import Comparison, Key, Wanted, compare
from tests.simulator.expected import migration_progress
from tests.simulator.expected.history import History
from tests.simulator.streams.history import StreamsHistory, StreamsLife
from tests.simulator.tables import Row, Tables
from tests.simulator.truth import STREAMS

TABLE: Final = migration_progress.CHECK.table

_NOT_APPLICABLE: Final[dict[str, Any]] = {
    "protocol": STREAMS,
    "streams_protocol": STREAMS,
    "phase": "NOT_APPLICABLE",
    "history_complete": True,
    "members_consumer": 0,
    "members_classic": 0,
    "conversions": 0,
    "blockers": [],
    **dict.fromkeys(("last_phase", "progress_pct", "mixed_since_at", "upgraded_at")),
    "downgraded_at": None,
}


def progress(history: StreamsHistory) -> dict[Key, Wanted]:
    """One row a group that is there at the end."""
    known = History(history.truth)
    of_all = migration_progress.CHECK.wanted(known)
    wanted = {key: row for key, row in of_all.items() if key[0] in history.steps}
    last_lives = {life.group_id: life for life in history.lives}
    for group_id, life in last_lives.items():
        if life.end is None:
            wanted[group_id,] = _row(history, life)
        elif history.steps[group_id][-1] is life.end and life.is_removed:
            # It is gone, but for what was committed since.
            wanted.pop((group_id,), None)
            if history.truth.live_offsets.get(group_id):
                wanted[group_id,] = migration_progress.simple_row(known, group_id)
    return wanted


def _row(history: StreamsHistory, life: StreamsLife) -> Wanted:
    last, incarnation = life.steps[-1], history.incarnation(life)
    values = {
        **_NOT_APPLICABLE,
        "incarnation": incarnation,
        "offsets_partition": last.offsets_partition,
        "from_offset": incarnation,
        "as_of_at": history.truth.as_of_ms,
        "members_total": len(last.members),
        "members_static": sum(each.instance_id is not None for each in last.members.values()),
        "instances_gone": _instances_gone(history, life),
        "group_epoch": last.epoch,
    }
    return Wanted(values, (last.first_offset,))


def _instances_gone(history: StreamsHistory, life: StreamsLife) -> int:
    """Instance ids that lost their member within the last hour of the group, and have none."""
    gone: dict[str | None, int] = {}
    for before, step in life.pairs():
        was = before.members.values() if before is not None else ()
        now = {each.instance_id for each in step.members.values()}
        gone |= {each.instance_id: step.at for each in was if each.instance_id not in now}
        for instance_id in now:
            gone.pop(instance_id, None)
    gone.pop(None, None)
    commits = [
        each.at
        for key, found in history.truth.commits.items()
        for each in found
        if key.group_id == life.group_id
    ]
    last_at = max([*commits, life.steps[-1].at])
    return sum(at >= last_at - migration_progress.HOUR_MS for at in gone.values())


def compared(history: StreamsHistory, rows: list[Row]) -> Comparison:
    """rows: of groups that once were streams groups."""
    return compare(TABLE, progress(history), rows, lambda row: (row["group_id"],), lambda _: "")


def check_progress(history: StreamsHistory, tables: Tables, named: str = "") -> list[Comparison]:
    if named not in TABLE:
        return []
    rows = [row for row in tables.rows(TABLE) if row["group_id"] in history.steps]
    return [compared(history, rows)]
