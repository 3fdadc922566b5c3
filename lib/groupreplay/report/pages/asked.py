"""Frames of many shapes -> one frame of (kind, row as JSON), so that a page costs one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from groupreplay.page.model.rows import columns

ROWS: Final = 25
"""Rows of a list, where nothing else is said."""

Tables = Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class PageNights:
    """The nights that a page looks at.

    as_of_ms: night -> as-of, in order; the last is the night of the page.
    before_ms: as-of of the night before the first, None where there is none.
    """

    as_of_ms: Mapping[date, int]
    before_ms: int | None = None

    @property
    def last(self) -> date:
        return list(self.as_of_ms)[-1]

    @property
    def first(self) -> date:
        return next(iter(self.as_of_ms))

    @property
    def since_ms(self) -> int | None:
        """As-of of the night before the last, None where there is none."""
        times = list(self.as_of_ms.values())
        return times[-2] if len(times) > 1 else self.before_ms

    def is_of_last(self, at: str) -> Column:
        """Whether a time is after the night before: of this night."""
        since = self.since_ms
        return sf.lit(True) if since is None else sf.unix_millis(at) > sf.lit(since)

    def night_of(self, at: str) -> Column:
        """The night in which a time lies, as text: the first whose as-of is not before it; NULL
        where it lies in none of them.
        """
        nights: list[str | None] = [str(night) for night in self.as_of_ms]
        times = list(self.as_of_ms.values())
        if self.before_ms is not None:
            nights, times = [None, *nights], [self.before_ms, *times]
        bounds = sf.array(*[sf.lit(ms).cast("bigint") for ms in times])
        before = sf.size(sf.filter(bounds, lambda bound: bound < sf.unix_millis(at)))
        return sf.get(sf.array(*[sf.lit(night) for night in nights]), before)


LIFE: Final = "array(CAST(coalesce(log_incarnation, 0) AS BIGINT), incarnation)"
"""Names the life of a group that a row is of, as SQL."""

WHO: Final = "array(each.client_id, each.client_host)"
WAITS_FOR: Final = f"transform(slice(blockers, 1, 3), each -> {WHO})"
"""The first blockers of a group, as SQL."""


def rows_as(frame: DataFrame, cls: type[Any], *keys: str, **made: str) -> DataFrame:
    """The columns of a class of the model: those that are made here, as SQL, and else the table's
    own. As text: a column of Python is several calls of Java, and a page has hundreds.

    keys: columns that stand before them.
    """
    return frame.selectExpr(*keys, *[f"{_column(name, made)} AS `{name}`" for name in columns(cls)])


def _column(name: str, made: Mapping[str, str]) -> str:
    if name in made:
        return made[name]
    if name.endswith("_at_ms"):
        return f"unix_millis({name.removesuffix('_ms')})"
    return f"`{name}`"


def as_one(frames: Sequence[tuple[str, DataFrame]], *keys: str) -> DataFrame:
    """kind, keys, row: the rows of all frames, each as JSON without its NULLs.

    keys: columns that all frames have, which stay columns.
    """
    packed = [
        frame.selectExpr(f"'{kind}' AS kind", *keys, f"{_as_json(frame, keys)} AS row")
        for kind, frame in frames
    ]
    return _union(packed)


def _as_json(frame: DataFrame, keys: Sequence[str]) -> str:
    names = ", ".join(f"`{name}`" for name in frame.columns if name not in keys)
    return f"to_json(struct({names}))"


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    """In halves: each union looks at all that is below it, and in a row that would be a square."""
    if len(frames) == 1:
        return frames[0]
    middle = len(frames) // 2
    return _union(frames[:middle]).unionAll(_union(frames[middle:]))
