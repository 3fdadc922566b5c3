"""What the tables of a group's page share: how many rows each has, together no more than a page has
room for, and how they name a life.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from groupreplay.page.drawing.markup import el, join
from groupreplay.page.drawing.words import NB
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.rows import LifeKey

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

LIFE_HEAD: Final = join(["Life", el("span", " of the group", cls="p1")])
"""Head of the column that says which life a row is of."""


def most_rows(life: GroupLife) -> int:
    long = sum(len(getattr(life, name)) > MANY_ROWS for name in _LISTS)
    return MANY_ROWS if long >= _LONG_TABLES else MOST_ROWS


def which_life(place: int, lives: Sequence[LifeKey]) -> str:
    """place: of a life among the lives of the group."""
    return f"{place + 1}{NB}of{NB}{len(lives)}"
