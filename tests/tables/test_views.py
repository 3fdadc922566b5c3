"""Views as files, and their text over given rows."""

from __future__ import annotations

import re

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
