"""Offsets that a log lacks."""

from __future__ import annotations

from collections.abc import Iterable

MISSING_MAX = 64
"""How many holes of a log are remembered with their place: what a forgotten segment leaves is wide,
what compaction leaves is narrow.
"""


def widest(holes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The widest holes, [first, end) each, in order; what follows one another is one."""
    joined: list[tuple[int, int]] = []
    for first, end in sorted(holes):
        if joined and joined[-1][1] >= first:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((first, end))
    return sorted(sorted(joined, key=lambda hole: hole[0] - hole[1])[:MISSING_MAX])
