"""Times of hand-overs in buckets: how wide one is, and what percentiles they give."""

from __future__ import annotations

import pytest

from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.decisions.hand_over_times import add_time, tell_percentiles, upper_edge


@pytest.mark.parametrize("ms", [*range(40), 255, 256, 1000, 86_399_999, 2**40 + 1])
def test_a_bucket_is_narrow_and_holds_its_time(ms: int) -> None:
    edge = upper_edge(ms)
    assert ms <= edge <= ms + ms // 16
    assert upper_edge(edge) == edge
    assert upper_edge(edge + 1) > edge


def test_percentiles_are_edges_of_buckets() -> None:
    day = GroupDay(
        group_id="g", incarnation=0, offsets_partition=0, from_offset=0, day=0, from_at=0, to_at=0
    )
    tell_percentiles(day)
    assert (day.handover_p50_ms, day.handover_p95_ms, day.handover_max_ms) == (None, None, None)
    for ms in [7] * 10 + [1000] * 9 + [5000]:
        add_time(day, ms)
    tell_percentiles(day)
    assert (day.handover_p50_ms, day.handover_p95_ms) == (7, upper_edge(1000))
    assert (day.handover_max_ms, day.handover_counts) == (5000, [10, 9, 1])
    add_time(day, 5000)
    tell_percentiles(day)
    assert day.handover_p95_ms == 5000, "not the edge of its bucket, which is longer than any"


def test_buckets_of_several_days_add_up() -> None:
    """The edges are the same whatever else was counted."""
    edges = {upper_edge(ms) for ms in range(2_000)}
    assert len(edges) < 130
    day = GroupDay(
        group_id="g", incarnation=0, offsets_partition=0, from_offset=0, day=0, from_at=0, to_at=0
    )
    for ms in (1999, 3, 1000, 3, 500):
        add_time(day, ms)
    assert day.handover_upper_ms == sorted(day.handover_upper_ms)
    assert set(day.handover_upper_ms) <= edges
    assert sum(day.handover_counts) == day.handovers == 5
