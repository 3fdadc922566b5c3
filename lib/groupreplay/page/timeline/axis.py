"""Time as a place along the width. Where nothing happened for long it is folded: without that a
night of 24 hours hides a hand-over of two seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Final, NamedTuple

WIDTHS: Final = (260, 700, 960, 2_400, 8_000, 28_000)
"""Widths of a drawing, in px, from which on a level of labels and ticks has room. The stylesheet
has the same numbers.
"""

FOLD: Final = 2.6
"""Width of a folded stretch, in percent."""

_STEPS: Final = (1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 864_000)
"""Between ticks, in s."""

_GAP_MS: Final = 150_000
_STRETCHES: Final = 9
_LEAST_PAD_MS: Final = 4_000
_ONE_PLACE: Final = 16
"""Labels that begin no further apart, in px, are at one place."""


class Stretch(NamedTuple):
    """A busy stretch.

    x, width: place and width in percent.
    """

    from_ms: int
    to_ms: int
    x: float
    width: float


class Fold(NamedTuple):
    """Quiet time.

    x: place in percent.
    """

    x: float
    from_ms: int
    to_ms: int


class Tick(NamedTuple):
    """A mark of a round time.

    x: place in percent.
    level: place in WIDTHS of the least width at which it is shown.
    """

    x: float
    ms: int
    level: int


class Axis:
    """From one time to another, ms since 1970, with all stretches in one linear scale.

    times: times of all that happened, ms, in any order.
    """

    def __init__(self, times: Iterable[int], from_ms: int, to_ms: int) -> None:
        self.from_ms, self.to_ms = from_ms, max(to_ms, from_ms + 1)
        inside = sorted({ms for ms in times if from_ms <= ms <= self.to_ms} | {self.to_ms})
        gap, spans = _stretches(inside)
        pad = max(_LEAST_PAD_MS, int(sum(b - a for a, b in spans) * 0.012))
        spans = [(max(from_ms, a - pad), min(self.to_ms, b + pad)) for a, b in spans]
        leads = spans[0][0] - from_ms > gap
        if not leads:
            spans[0] = (from_ms, spans[0][1])
        folded = len(spans) - 1 + leads
        busy = max(1, sum(b - a for a, b in spans))
        self.scale = (100 - folded * FOLD) / busy
        self.stretches: list[Stretch] = []
        self.folds: list[Fold] = []
        x, before = 0.0, from_ms
        for place, (a, b) in enumerate(spans):
            if place or leads:
                self.folds.append(Fold(x, before, a))
                x += FOLD
            width = (b - a) * self.scale
            self.stretches.append(Stretch(a, b, x, width))
            x, before = x + width, b

    def __call__(self, ms: int) -> float:
        """Place in percent, from 0 to 100; never falls as time goes on."""
        ms = max(self.from_ms, min(self.to_ms, ms))
        x, before = 0.0, self.from_ms
        for stretch in self.stretches:
            if ms < stretch.from_ms:
                share = (ms - before) / max(stretch.from_ms - before, 1)
                return x + (stretch.x - x) * share
            if ms <= stretch.to_ms:
                return min(100.0, stretch.x + (ms - stretch.from_ms) * self.scale)
            x, before = stretch.x + stretch.width, stretch.to_ms
        return 100.0

    def ticks(self) -> list[Tick]:
        """Round times, each with the level from which on it has room."""
        levels: dict[int, int] = {}
        for level, width in enumerate(WIDTHS):
            px_of_second = width * self.scale / 100 * 1000
            step = next(
                (step for step in _STEPS if step * px_of_second >= (72 if step < 60 else 50)),
                _STEPS[-1],
            )
            for stretch in self.stretches:
                ms = -(-stretch.from_ms // (step * 1000)) * step * 1000
                while ms <= stretch.to_ms:
                    levels.setdefault(ms, level)
                    ms += step * 1000
        ticks = (self._away_from_folds(ms, level) for ms, level in sorted(levels.items()))
        return [tick for tick in ticks if tick is not None]

    def _away_from_folds(self, ms: int, level: int) -> Tick | None:
        x = self(ms)
        edges = [edge for fold in self.folds for edge in (fold.x, fold.x + FOLD)]
        nearest = min((abs(x - edge) for edge in edges), default=99.0)
        for each in range(level, len(WIDTHS)):
            if nearest * WIDTHS[each] / 100 >= 34:
                return Tick(x, ms, each)
        return None


def _stretches(times: Sequence[int]) -> tuple[int, list[tuple[int, int]]]:
    """(least quiet time that is folded, busy stretches): no more than fit."""
    gap = _GAP_MS
    while True:
        spans = [[times[0], times[0]]]
        for ms in times[1:]:
            if ms - spans[-1][1] > gap:
                spans.append([ms, ms])
            else:
                spans[-1][1] = ms
        if len(spans) <= _STRETCHES:
            return gap, [(a, b) for a, b in spans]
        gap = int(gap * 1.6)


class Label(NamedTuple):
    """x: place in percent.
    rank: order in which labels get room, the lowest first.
    width: estimated width in px.
    """

    x: float
    rank: tuple[float, ...]
    width: float


class Room(NamedTuple):
    level: int
    row: int


def rooms(labels: Sequence[Label], between_px: float, rows: int = 1) -> list[Room | None]:
    """Where each label has room, and from which level on; None where it never has. No two labels of
    a row overlap at a width at which both are shown, and of those that begin at one place the
    earlier stands above.

    labels: labels in order of time.
    """
    found: list[Room | None] = [None] * len(labels)
    ranked = sorted(range(len(labels)), key=lambda place: (labels[place].rank, place))
    for level, width in enumerate(WIDTHS):
        shown = _Shown(labels, width, between_px, rows)
        shown.row.update({place: room.row for place, room in enumerate(found) if room is not None})
        fixed = set(shown.row)
        for place in ranked:
            if place not in fixed and shown.x[place] + labels[place].width <= width + 4:
                shown.find_room(place, fixed)
        for place, row in shown.row.items():
            found[place] = found[place] or Room(level, row)
    return found


class _Shown:
    """Labels that are shown at one width.

    x: place of each label in px.
    row: label -> its row.
    """

    def __init__(self, labels: Sequence[Label], width: int, between_px: float, rows: int) -> None:
        self.x = [label.x * width / 100 for label in labels]
        self.end = [x + label.width + between_px for x, label in zip(self.x, labels, strict=True)]
        self.rows = rows
        self.row: dict[int, int] = {}

    def find_room(self, place: int, fixed: Set[int]) -> None:
        """Where only a wrong order leaves room, another label makes way: one that is not fixed."""
        if self._stands(place) or self.rows == 1:
            return
        for other in [each for each in self.row if each not in fixed and self._at_one(place, each)]:
            before = self.row.pop(other)
            for row in range(self.rows):
                if row != before and self._has_room(place, before):
                    self.row[place] = before
                    if self._has_room(other, row):
                        self.row[other] = row
                        return
                    del self.row[place]
            self.row[other] = before

    def _stands(self, place: int) -> bool:
        for row in range(self.rows):
            if self._has_room(place, row):
                self.row[place] = row
                return True
        return False

    def _has_room(self, place: int, row: int) -> bool:
        for other, taken in self.row.items():
            if taken != row:
                if self._at_one(place, other) and (place < other) != (row < taken):
                    return False
            elif self.x[place] < self.end[other] and self.x[other] < self.end[place]:
                return False
        return True

    def _at_one(self, place: int, other: int) -> bool:
        return abs(self.x[place] - self.x[other]) <= _ONE_PLACE
