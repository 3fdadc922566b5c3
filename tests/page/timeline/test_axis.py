"""Folded time: it never runs backwards, and labels never overlap."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from groupreplay.page.timeline.axis import FOLD, WIDTHS, Axis, Label, rooms

DAY_MS = 86_400_000
TIMES = st.lists(st.integers(0, DAY_MS), max_size=60)
LABELS = st.lists(
    st.builds(Label, st.floats(0, 100), st.tuples(st.integers(0, 3)), st.floats(5, 200)),
    max_size=40,
)


@given(times=TIMES, asked=st.lists(st.integers(-1000, DAY_MS + 1000), min_size=2))
def test_places_rise_with_time_from_0_to_100(times: list[int], asked: list[int]) -> None:
    axis = Axis(times, 0, DAY_MS)
    places = [axis(ms) for ms in sorted(asked)]
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)
    assert axis(DAY_MS) > 99.99


@given(times=TIMES)
def test_stretches_and_folds_fill_the_width(times: list[int]) -> None:
    axis = Axis(times, 0, DAY_MS)
    whole = sum(each.width for each in axis.stretches) + FOLD * len(axis.folds)
    assert abs(whole - 100) < 1e-6
    assert len(axis.stretches) <= 9
    for fold in axis.folds:
        assert not [ms for ms in times if fold.from_ms < ms < fold.to_ms]


@given(times=TIMES)
def test_ticks_are_round_and_away_from_folds(times: list[int]) -> None:
    axis = Axis(times, 0, DAY_MS)
    for tick in axis.ticks():
        assert tick.ms % 1000 == 0
        for fold in axis.folds:
            for edge in (fold.x, fold.x + FOLD):
                assert abs(tick.x - edge) * WIDTHS[tick.level] / 100 >= 34


@given(labels=LABELS, rows=st.integers(1, 3))
def test_no_two_labels_of_a_level_overlap(labels: list[Label], rows: int) -> None:
    found = rooms(labels, 6, rows)
    for level, width in enumerate(WIDTHS):
        shown = [
            (room.row, label.x * width / 100, label.width)
            for label, room in zip(labels, found, strict=True)
            if room is not None and room.level <= level
        ]
        for place, (row, x, wide) in enumerate(shown):
            for other_row, other_x, other_wide in shown[place + 1 :]:
                assert row != other_row or x + wide <= other_x or other_x + other_wide <= x


def test_of_labels_at_one_place_the_earlier_stands_above() -> None:
    """Whichever gets room first."""
    earlier, later, last = Label(50, (2,), 40), Label(50.5, (1,), 40), Label(50.6, (3,), 40)
    found = rooms([earlier, later], 6, 2)
    assert [room and room.row for room in found] == [0, 1]
    found = rooms([earlier, later, last], 6, 2)
    assert found[0] == (0, 0)
    assert found[1] == (0, 1)
    assert found[2] is not None
    assert found[2].level > 2, "it waits until it is no longer at that place"


@given(labels=LABELS, rows=st.integers(2, 3))
def test_labels_at_one_place_stand_in_order_of_time(labels: list[Label], rows: int) -> None:
    in_time = sorted(labels)
    found = rooms(in_time, 6, rows)
    for level, width in enumerate(WIDTHS):
        shown = [
            (room.row, label.x * width / 100)
            for label, room in zip(in_time, found, strict=True)
            if room is not None and room.level <= level
        ]
        for (row, x), (other, other_x) in combinations(shown, 2):
            assert other_x - x > 16 or row <= other


def test_a_night_without_events_has_an_axis() -> None:
    axis = Axis([], 5, 5)
    assert axis(5) in (0.0, 100.0)
