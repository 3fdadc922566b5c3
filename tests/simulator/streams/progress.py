"""`migration_progress` of groups that are, or once were, streams groups: such a group cannot migrate
to the consumer protocol, and what it was converted to and from counts nowhere (docs/measures.md).
"""

from __future__ import annotations

from typing import Final

from tests.simulator.compare import Comparison, Key, Wanted, compare
from tests.simulator.expected import migration_progress
from tests.simulator.expected.history import History
from tests.simulator.streams.history import StreamsHistory, StreamsLife
from tests.simulator.tables import Row, Tables
from tests.simulator.truth import STREAMS

TABLE: Final = migration_progress.CHECK.table


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
    there = (
        (each.at, {member.instance_id for member in each.members.values()}) for each in life.steps
    )
    values = migration_progress.not_applicable(history.truth, STREAMS) | {
        "incarnation": incarnation,
        "offsets_partition": last.offsets_partition,
        "from_offset": incarnation,
        "streams_protocol": STREAMS,
        "history_complete": True,
        "members_total": len(last.members),
        "members_static": sum(each.instance_id is not None for each in last.members.values()),
        "instances_gone": migration_progress.instances_gone(history.truth, life.group_id, there),
        "group_epoch": last.epoch,
    }
    return Wanted(values, (last.first_offset,))


def compared(history: StreamsHistory, rows: list[Row]) -> Comparison:
    """rows: of groups that once were streams groups."""
    return compare(TABLE, progress(history), rows, lambda row: (row["group_id"],), lambda _: "")


def check_progress(history: StreamsHistory, tables: Tables, named: str = "") -> list[Comparison]:
    if named not in TABLE:
        return []
    rows = [row for row in tables.rows(TABLE) if row["group_id"] in history.steps]
    return [compared(history, rows)]
