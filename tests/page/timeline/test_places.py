"""Where things of a timeline stand, and which are drawn where there are too many."""

from __future__ import annotations

from groupreplay.page.drawing.markup import el
from groupreplay.page.timeline.axis import Axis
from groupreplay.page.timeline.lanes import lanes_of
from groupreplay.page.timeline.places import LANE, MOST, Places, mark
from tests.support.life_rows import made_life


def places() -> Places:
    """From 0 to 100 s, all of it busy."""
    axis = Axis(range(0, 100_001, 1_000), 0, 100_000)
    return Places(axis, lanes_of(made_life()), 200)


def test_places_follow_the_axis_and_the_lanes() -> None:
    one = places()
    assert (one.x(0), one.x(100_000)) == ("0%", "100%")
    assert (one.top(0), one.top(2), one.middle(0)) == (200, 200 + 2 * LANE, 200 + LANE / 2)
    assert one.lanes_end == 200 + LANE * len(one.lanes.shown)


def test_what_took_no_time_is_seen_all_the_same() -> None:
    one = places()
    assert one.width(5_000, 5_000) == one.width(5_000, 5_001) == "0.05%"
    assert one.width(5_000, 5_000, 2) == "2%"


def test_of_too_many_marks_those_of_the_lowest_rank_stay_in_their_order() -> None:
    one, most = places(), MOST["holes"]
    found = list(range(most + 3))
    drawn = one.telling("holes", found, lambda each: -each)
    assert drawn == found[3:]
    assert one.cut == {"holes": (most, most + 3)}


def test_what_has_room_is_drawn_whole_and_not_said_to_be_cut() -> None:
    one = places()
    assert one.telling("holes", [3, 1, 2], lambda each: each) == [3, 1, 2]
    assert one.cut == {}


def test_an_end_that_was_not_seen_is_frayed_within_its_bar() -> None:
    one = places()
    assert one.unseen(0, 50_000, 5, 9, start=False, end=False) == []
    start, end = one.unseen(0, 50_000, 5, 9, start=True, end=True)
    assert ('x="0%"' in str(start), 'x="48.8%"' in str(end)) == (True, True)
    (short,) = one.unseen(0, 1_000, 5, 9, start=True, end=False)
    assert 'width="0.5%"' in str(short), "half of it at most"


def test_what_ended_before_is_over() -> None:
    one = places()
    assert one.is_over(-1)
    assert not one.is_over(0)
    assert not one.is_over(None), "it goes on"


def test_a_mark_says_what_it_is() -> None:
    text = str(mark("a hole", el("rect"), None))
    assert text == '<g class="mk"><title>a hole</title><rect></rect></g>'
