"""Where things of a timeline stand: x by the axis, in percent, and y by the lane, in px."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groupreplay.page.drawing.markup import Safe, el, percent
from groupreplay.page.timeline.axis import Axis
from groupreplay.page.timeline.lanes import Lanes

TICKS_END: Final = 24
EPOCHS_END: Final = 80
BAND: Final = 22
LANE: Final = 36
SLIM: Final = 20
"""Heights, in px. The stylesheet has the same for the labels beside them."""


@dataclass(frozen=True, slots=True)
class Places:
    """first: where the first lane begins, in px."""

    axis: Axis
    lanes: Lanes
    first: int

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

    def is_over(self, ms: int | None) -> bool:
        """Whether a row that ended then is before what is shown."""
        return ms is not None and ms < self.axis.from_ms


def mark(say: str, *drawn: Safe | None, cls: str = "mk") -> Safe:
    """Something that can be pointed at, and what it says."""
    return el("g", el("title", say), *drawn, cls=cls)
