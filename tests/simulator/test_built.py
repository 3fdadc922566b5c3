"""What lines of broker logs add to tables by joins of Spark: classes and estimates of waves, what
moves of coordinators did, and groups whose coordinator was not there."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest
from pyspark.sql import SparkSession

from tests.simulator.broken import Case
from tests.simulator.built import BuiltTables
from tests.simulator.check import JOB_CHECKS, ROW_CHECKS, check_tables, differences
from tests.simulator.conftest import Play
from tests.simulator.expected import rejected, silences, unavailable
from tests.simulator.expected.history import Check, History
from tests.simulator.line_columns import COLUMNS_OF_LINES, STORED
from tests.simulator.played import Played
from tests.simulator.truth import read_truth

REASONS: Final = (
    unavailable.REASON,
    rejected.REASON,
    *silences.REASONS,
    "SYNC_NEVER_COMPLETES",
)
"""That only logs show, and that these histories have."""

HISTORIES: Final = (
    # Members of a classic group wait for a session that a load armed anew, and one that was heard
    # of again does not.
    Played(201, 14, 0.3, "failover", "4.0.2"),
    # A classic group is removed and comes back: its generations have the same numbers again, and
    # who was told to join the first of them says nothing of the second.
    Played(302, 14, 0.3, "classic", "4.4.0"),
    # A member of a cooperative group dies while its join waits for others, and its session is armed
    # when that is answered.
    Played(711, 16, 0.4, "classic", "4.3.1"),
    # Waves over offline conversions.
    Played(301, 14, 0.3, "migration", "4.3.1"),
)

SILENT: Final = (HISTORIES[0], HISTORIES[2])
"""Of which members that are stuck are told too, which takes its time."""

_OF_STUCK: Final = {
    table: tuple(each for each in COLUMNS_OF_LINES[table] if each != "detail_params")
    for table in ("stuck_phases", "silences", "rejected")
}

BY_JOINS: Final = {
    "failover_lines": ("gap_ms", "doc_phase", "is_final", "evidence"),
    "rebalance_joins": (
        *("evidence", "join_ms", "sync_ms", "first_joined_at", "last_joined_at"),
        *("last_joined_member_id", "members_back"),
    ),
    "event_groups": ("evidence", "groups", "group_ids", "epochs_after"),
}
"""Columns that no pure Python makes, and no other test breaks."""

BROKEN: Final = {HISTORIES[0]: BY_JOINS, HISTORIES[2]: _OF_STUCK}
"""History -> table -> columns of which a wrong value must be noticed there."""


def _checks_of(played: Played) -> list[Check]:
    """What is held in a history. Spark takes a second or more for each table: of rows that records
    make, lines are looked at in the last one alone."""

    def is_held(check: Check) -> bool:
        if check in ROW_CHECKS:
            return played is HISTORIES[-1]
        return played in SILENT or STORED[check.table] != "stuck_members"

    return [each for each in JOB_CHECKS if is_held(each)]


def _unnoticed(played: Played, history: History, tables: BuiltTables) -> list[str]:
    """Columns of which the checker does not notice a wrong value."""
    broken = BROKEN.get(played, {})
    found = []
    for check in JOB_CHECKS:
        columns = broken.get(check.table, ())
        if columns:
            case = Case(check, history, check.wanted(history), tables.rows(check.table))
            found += [f"{check.table}.{each}" for each in columns if case.unnoticed(each)]
    return found


@pytest.mark.long
def test_lines_complete_rows_as_the_coordinator_held_them(spark: SparkSession, play: Play) -> None:
    seen = Counter[str]()
    for history in HISTORIES:
        recording = play(history)
        truth, tables = read_truth(recording), BuiltTables(spark, recording)
        compared = check_tables(truth, tables, checks=_checks_of(history))
        assert _unnoticed(history, History(truth), tables) == []
        told = [line for each in compared for line in differences(each, truth, 2)]
        assert not told, "\n".join((history.command(), *told[:60]))
        for row in tables.rows("failover_lines"):
            seen.update(loads=row["loaded_at"] is not None, rearmed=len(row["rearmed"] or ()))
            seen["unavailable"] += row["unavailable_ms"] is not None
            seen[row["phase"]] += 1
        seen.update(
            back=sum(len(row["members_back"] or ()) for row in tables.rows("rebalance_joins"))
        )
        seen.update(row["reason"] for row in tables.rows("unavailable"))
        if history in SILENT:
            seen.update(row["reason"] for row in tables.rows("silences"))
        seen.update(row["class"] for row in tables.rows("wave_classes"))
        rows = tables.rows("wave_estimates")
        seen.update(estimates=sum(row["est_ms"] is not None for row in rows))
    few = {
        name: seen[name]
        for name in (
            "loads",
            "rearmed",
            "unavailable",
            "PREPARING",
            "STEADY",
            "HOST_SWAP",
            "estimates",
            *REASONS,
        )
        if not seen[name]
    }
    assert not few, "the histories show nothing of these"
