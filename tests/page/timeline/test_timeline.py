"""Where labels of the timeline stand."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from groupreplay.page.group.group_page import group_page
from groupreplay.page.timeline.axis import WIDTHS, Axis
from groupreplay.page.timeline.timeline import ticks
from tests.page.parsed import timeline_of
from tests.support.life_rows import made_life
from tests.support.page_rows import AS_OF_MS

MINUTE_MS = 60_000


@pytest.mark.parametrize("end_ms", [65_000, 2 * MINUTE_MS, 5 * MINUTE_MS + 20_000])
def test_no_label_of_a_tick_is_cut_at_an_edge(end_ms: int) -> None:
    """On a phone, where two percent of the width are five pixels."""
    axis = Axis([0, *range(0, end_ms, 30_000), end_ms], 0, end_ms)
    drawn = "".join(ticks(axis, 100, labelled=True))
    labels = re.findall(r'<g class="v(\d)">.*?<text x="([0-9.]+)%"[^>]*text-anchor="(\w+)"', drawn)
    assert len(labels) > 10
    edges = 0
    for level, x, anchor in labels:
        room_px = min(float(x), 100 - float(x)) * WIDTHS[int(level)] / 100
        assert anchor != "middle" or room_px >= 28
        edges += anchor != "middle"
    assert edges


@pytest.mark.parametrize(
    ("hours", "days"), [(24, []), (25, []), (96, ["18 Nov", "19 Nov", "20 Nov", "21 Nov"])]
)
def test_days_are_named_where_times_of_day_are_not_enough(hours: int, days: list[str]) -> None:
    """Ticks say the time of day. A day on which nothing happened, as 17 Nov, is folded."""
    life = made_life(members=2, epochs=6)
    begin = AS_OF_MS - hours * 3_600_000
    midnight = AS_OF_MS // 86_400_000 * 86_400_000 - 2 * 86_400_000
    early = [
        replace(life.epochs[0], started_at_ms=ms, converged_at_ms=ms + 1_000)
        for ms in (midnight - 60_000, midnight + 60_000)
    ]
    shown = replace(life, from_at_ms=begin, epochs=(*early, *life.epochs))
    drawn = timeline_of(group_page(shown))
    assert ('<li class="band">days</li>' in drawn) == bool(days)
    assert re.findall(r"<title>(\d+ \w+), UTC</title>", drawn) == days
