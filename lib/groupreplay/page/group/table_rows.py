"""How many rows the tables of a group's page have: together no more than a page has room for."""

from __future__ import annotations

from typing import Final

from groupreplay.page.model.life import GroupLife

MOST_ROWS: Final = 60
"""Most rows of one table."""

MANY_ROWS: Final = 28
"""Most rows of one table, where `_LONG_TABLES` or more have more than that."""

_LONG_TABLES: Final = 5
_LISTS: Final = (
    "hand_overs",
    "task_moves",
    "stuck",
    "epochs",
    "absences",
    "failovers",
    "refusals",
    "waves",
    "what_if",
    "days",
    "members",
)


def most_rows(life: GroupLife) -> int:
    long = sum(len(getattr(life, name)) > MANY_ROWS for name in _LISTS)
    return MANY_ROWS if long >= _LONG_TABLES else MOST_ROWS
