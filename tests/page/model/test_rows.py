"""Rows of queries become the model, whatever a row lacks."""

from __future__ import annotations

import pytest

from groupreplay.page.model import fleet, life, life_of_tasks
from groupreplay.page.model.rows import columns, read_rows


def test_a_field_is_a_column() -> None:
    assert columns(fleet.ReasonCount) == ("reason", "open", "ended")


def test_what_a_row_lacks_is_the_default() -> None:
    (line,) = read_rows(
        fleet.GroupLine,
        [
            {
                "group_id": "g",
                "phase": "EMPTY",
                "members_total": 0,
                "members_consumer": 0,
                "stuck": None,
            }
        ],
    )
    assert (line.stuck, line.team, line.went_back) == (0, None, False)


def test_lists_become_tuples() -> None:
    (verdict,) = read_rows(
        life.Verdict, [{"verdict": "WARN", "cohort": "x", "rules": [["R1", "FIX", None]]}]
    )
    assert verdict.rules == (("R1", "FIX", None),)
    assert hash(verdict)


@pytest.mark.parametrize("cls", [fleet.Wave, life.Epoch, life_of_tasks.TaskMove])
def test_every_class_can_be_read_from_what_it_needs(cls: type[object]) -> None:
    (made,) = read_rows(cls, [dict.fromkeys(columns(cls), 1)])
    assert all(getattr(made, name) == 1 for name in columns(cls))
