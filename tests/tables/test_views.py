"""Views as files, and their text over given rows."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from groupreplay.tables.schemas import PUBLIC
from groupreplay.tables.views import TABLES_OF_VIEWS, VIEWS, over, temporary_views


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_says_what_it_answers_and_what_a_row_is(name: str) -> None:
    view = VIEWS[name]
    assert re.match(r"[A-Z].*\? Grain: an? ", view.comment)
    assert view.tables
    assert set(view.tables) <= set(PUBLIC) - {"runs"}
    assert "cluster" not in view.select, "who runs it says whose rows the tables have"
    assert name.endswith(("_now", "_7d"))
    is_of_days = "INTERVAL 7 DAYS" in view.select
    assert is_of_days == name.endswith("_7d")


def test_a_view_is_laid_over_the_rows_that_its_tables_stand_for() -> None:
    view = VIEWS["stuck_now"]
    assert view.tables == ("stuck_groups", "stuck_members")
    text = over(view, {name: f"SELECT * FROM lake.{name}" for name in PUBLIC})
    assert text.startswith(
        "WITH stuck_groups AS (SELECT * FROM lake.stuck_groups), stuck_members AS (SELECT * FROM"
        " lake.stuck_members) SELECT * FROM (\nSELECT group_id"
    )
    assert "lake.runs" not in text


def test_temporary_views_are_all_made() -> None:
    text = temporary_views()
    assert re.findall(r"^CREATE OR REPLACE TEMPORARY VIEW (\w+) AS$", text, re.M) == list(VIEWS)
    assert {table for view in VIEWS.values() for table in view.tables} == TABLES_OF_VIEWS


AS_OF = datetime(2026, 11, 21, 5, 42, tzinfo=UTC)
EARLIER = AS_OF - timedelta(days=8)


def asked(view: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a view of one table answers over these rows, whose other columns are NULL."""
    (name,) = set(VIEWS[view].tables) - {"migration_progress"}
    columns = dict.fromkeys(re.findall(r"\b[a-z_]+\b", VIEWS[view].select))
    table = pa.Table.from_pylist([{**dict.fromkeys(columns), **row} for row in rows])
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("migration_progress", pa.table({"as_of_at": [AS_OF]}))
    connection.register(name, table)
    found: list[dict[str, Any]] = (
        connection.execute(VIEWS[view].select).to_arrow_table().to_pylist()
    )
    return found


def test_failovers_are_those_of_the_last_days() -> None:
    moved = {"group_id": "g", "leader_epoch_before": 3, "leader_epoch": 4, "first_at": AS_OF}
    found = asked("failovers_7d", [moved, {**moved, "leader_epoch": 3, "first_at": EARLIER}])
    assert [(row["group_id"], row["leader_epoch"]) for row in found] == [("g", 4)]


def test_hand_overs_of_tasks_are_counted_by_kind_and_outcome() -> None:
    """One that was asked for is of that time, another of the time when it was let go."""
    cold: dict[str, Any] = {
        "group_id": "app",
        "kind": "COLD",
        "cause": "REBALANCED",
        "outcome": "TRANSFERRED",
    }
    cold |= {"requested_at": None, "released_at": AS_OF, "granted_at": AS_OF}
    waits = {**cold, "kind": None, "outcome": "OPEN", "requested_at": AS_OF, "granted_at": None}
    found = asked(
        "task_hand_overs_7d",
        [
            {**cold, "unowned_ms": 1_000, "gap_records": 7},
            {**cold, "unowned_ms": 4_000, "gap_records": 5},
            waits,
            {**waits, "requested_at": EARLIER},
        ],
    )
    told = {row["kind"]: row for row in found}
    assert {kind: row["tasks_count"] for kind, row in told.items()} == {"COLD": 2, None: 1}
    assert (told["COLD"]["unowned_ms_p50"], told["COLD"]["unowned_ms_max"]) == (2_500, 4_000)
    assert told["COLD"]["gap_records"] == 12
    assert told[None]["unowned_ms_max"] is None
