"""Where labels of the timeline stand."""

from __future__ import annotations

import re

import pytest

from groupreplay.page.timeline.axis import WIDTHS, Axis
from groupreplay.page.timeline.timeline import ticks

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
