"""What the tables of a group's page share: how many rows each has, together no more than a page has
room for, and how they name a life and a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, join
from groupreplay.page.drawing.parts import td, th
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.rows import LifeKey
from groupreplay.page.timeline.epoch_marks import known_lives

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

_DAY_MS: Final = 86_400_000

LIFE_HEAD: Final = join(["Life", el("span", " of the group", cls="p1")])
"""Head of the column that says which life a row is of."""


def most_rows(life: GroupLife) -> int:
    long = sum(len(getattr(life, name)) > MANY_ROWS for name in _LISTS)
    return MANY_ROWS if long >= _LONG_TABLES else MOST_ROWS


@dataclass(frozen=True, slots=True)
class Shared:
    """What rows of all tables of a page are told by.

    lives: of the group, in order of time.
    as_of_ms: end of what the page shows.
    """

    lives: Sequence[LifeKey]
    as_of_ms: int

    @property
    def has_lives(self) -> bool:
        """Whether the group has several."""
        return len(self.lives) > 1

    def life_heads(self) -> list[Safe]:
        """The head of a column that says which life a row is of: none where the group has one.
        There is no room for it on a phone.
        """
        return [th(LIFE_HEAD, "p1")] if self.has_lives else []

    def life_cell(self, life: LifeKey) -> Safe | None:
        """The cell below it. Of a life of which nothing else is shown the number is not known."""
        if not self.has_lives:
            return None
        place = self.lives.index(life) if life in self.lives else None
        return td(w.NONE if place is None else self.which_life(place), "p1", place)

    def which_life(self, place: int) -> str:
        """place: of a life among `lives`."""
        return f"{place + 1}{w.NB}of{w.NB}{len(self.lives)}"

    def moment(self, ms: int | None) -> object:
        """A time as a link into the timeline. A time of day alone is one of the last 24 hours."""
        if ms is None:
            return w.NONE
        is_of_last_day = 0 <= self.as_of_ms - ms < _DAY_MS
        said = w.at(ms) if is_of_last_day else w.when(ms)
        return el("a", said, href=f"#t={ms}")

    def time_cell(self, ms: int | None) -> Safe:
        return td(self.moment(ms), "", ms or 0)


def shared_by(life: GroupLife) -> Shared:
    return Shared(known_lives(life), life.as_of_ms)
