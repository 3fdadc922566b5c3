"""What the tables of a group's page share: how many rows each has, together no more than a page has
room for, and how they name a life.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from groupreplay.page.drawing.markup import Safe, el, join
from groupreplay.page.drawing.parts import td, th
from groupreplay.page.drawing.words import NB, NONE
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


def life_heads(lives: Sequence[LifeKey]) -> list[Safe]:
    """The head of a column that says which life a row is of: none where the group has one. There is
    no room for it on a phone.
    """
    return [th(LIFE_HEAD, "p1")] if len(lives) > 1 else []


def life_cell(life: LifeKey, lives: Sequence[LifeKey]) -> Safe | None:
    """The cell below it. Of a life of which nothing else is shown the number is not known."""
    if len(lives) < 2:
        return None
    place = lives.index(life) if life in lives else None
    return td(NONE if place is None else which_life(place, lives), "p1", place)


def which_life(place: int, lives: Sequence[LifeKey]) -> str:
    """place: of a life among the lives of the group."""
    return f"{place + 1}{NB}of{NB}{len(lives)}"
