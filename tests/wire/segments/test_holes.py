"""Which holes of a log are remembered with their place."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.wire.segments.holes import MISSING_MAX, widest


def test_holes_that_touch_or_overlap_are_one() -> None:
    assert widest([(7, 9), (0, 3), (3, 5), (8, 12), (20, 21)]) == [(0, 5), (7, 12), (20, 21)]


def test_a_hole_within_another_adds_nothing() -> None:
    assert widest([(0, 10), (2, 4)]) == [(0, 10)]


def test_of_too_many_the_narrow_ones_are_forgotten() -> None:
    """What a forgotten segment leaves is wide, what compaction leaves is narrow."""
    narrow = [(10 * each, 10 * each + 1) for each in range(MISSING_MAX)]
    wide = (5_000, 9_000)
    found = widest([wide, *narrow])
    assert found == [*narrow[: MISSING_MAX - 1], wide]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=30))
def test_no_offset_is_lost_and_none_added(holes: list[tuple[int, int]]) -> None:
    given_holes = [(first, first + size) for first, size in holes]
    found = widest(given_holes)
    assert _offsets(found) == _offsets(given_holes)
    assert all(end < first for (_, end), (first, _) in pairwise(found))


def _offsets(holes: list[tuple[int, int]]) -> set[int]:
    return {offset for first, end in holes for offset in range(first, end)}
