"""Where things of a timeline stand: x by the axis, in percent, and y by the lane, in px."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from groupreplay.page.drawing.markup import Safe, el, percent
from groupreplay.page.timeline.axis import Axis
from groupreplay.page.timeline.lanes import Lanes

TICKS_END: Final = 24
EPOCHS_END: Final = 80
BAND: Final = 22
LANE: Final = 36
SLIM: Final = 20
"""Heights, in px. The stylesheet has the same for the labels beside them."""

UNSEEN: Final = 1.2
"""Width of an end that was not seen, in percent."""

MOST: Final[Mapping[str, int]] = {
    "spans": 300,
    "epochs": 100,
    "hand-overs": 120,
    "moves of tasks": 120,
    "holders of partitions": 240,
    "gaps between holders": 60,
    "holders of tasks": 240,
    "stuck episodes": 60,
    "ends of members": 40,
    "absences": 40,
    "join and sync phases": 60,
    "holes": 30,
    "conversions": 30,
    "lives": 30,
    "processes": 40,
}
"""Marks of a kind that are drawn. A page of more opens slowly, and nobody can distinguish them."""

Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class Places:
    """first: where the first lane begins, in px.

    cut: kind of mark -> (how many are drawn, of how many), where that is not all; it fills while
        they are drawn.
    """

    axis: Axis
    lanes: Lanes
    first: int
    cut: dict[str, tuple[int, int]] = field(default_factory=dict)

    def x(self, ms: int) -> str:
        return percent(self.axis(ms))

    def width(self, from_ms: int, to_ms: int, least: float = 0.05) -> str:
        return percent(max(self.axis(to_ms) - self.axis(from_ms), least))

    def top(self, row: int) -> int:
        return self.first + LANE * row

    def middle(self, row: int) -> float:
        return self.first + LANE * row + LANE / 2

    @property
    def lanes_end(self) -> int:
        return self.first + LANE * len(self.lanes.shown)

    def telling(
        self, kind: str, found: Sequence[Drawn], rank: Callable[[Drawn], Any]
    ) -> list[Drawn]:
        """As many of a kind as are drawn, in their order: those of the lowest rank."""
        most = MOST[kind]
        if len(found) <= most:
            return list(found)
        self.cut[kind] = (most, len(found))
        ranked = sorted(range(len(found)), key=lambda place: (rank(found[place]), place))
        return [found[place] for place in sorted(ranked[:most])]

    def unseen(
        self, from_ms: int, to_ms: int, y: float, height: float, *, start: bool, end: bool
    ) -> list[Safe]:
        """Over the ends of a bar that were not seen: it looks frayed there.

        start, end: whether it was not seen.
        """
        x1, x2 = self.axis(from_ms), self.axis(to_ms)
        width = min(UNSEEN, max((x2 - x1) / 2, 0.05))
        places = [*([x1] if start else []), *([max(x2 - width, x1)] if end else [])]
        return [
            el("rect", x=percent(x), width=percent(width), y=y, height=height, cls="fray")
            for x in places
        ]

    def is_over(self, ms: int | None) -> bool:
        """Whether a row that ended then is before what is shown."""
        return ms is not None and ms < self.axis.from_ms


def mark(say: str, *drawn: Safe | None, cls: str = "mk") -> Safe:
    """Something that can be pointed at, and what it says."""
    return el("g", el("title", say), *drawn, cls=cls)
