"""How long hand-overs took, in buckets whose edges are integers: they add up over groups and days,
as percentiles do not.

The buckets are log-linear, sixteen to each doubling, so none is wider than 6.3 % of its times.
"""

from __future__ import annotations

from bisect import bisect_left

from groupreplay.replay.decision_facts import GroupDay

_BITS = 4
_PER_DOUBLING = 1 << _BITS


def upper_edge(ms: int) -> int:
    """The greatest ms of the bucket that a duration is in; ms >= 0."""
    if ms == 0:
        return 0
    doubling = ms.bit_length() - 1
    place = ((ms << _BITS) >> doubling) - _PER_DOUBLING
    above = (_PER_DOUBLING + place + 1) << doubling
    return ((above + _PER_DOUBLING - 1) >> _BITS) - 1


def add_time(day: GroupDay, ms: int) -> None:
    """Counts one hand-over."""
    edges, counts, edge = day.handover_upper_ms, day.handover_counts, upper_edge(ms)
    place = bisect_left(edges, edge)
    if place == len(edges) or edges[place] != edge:
        edges.insert(place, edge)
        counts.insert(place, 0)
    counts[place] += 1
    day.handovers += 1
    day.handover_max_ms = max(ms, day.handover_max_ms or 0)


def tell_percentiles(day: GroupDay) -> None:
    """The edges that half, and nineteen of twenty, of the hand-overs stay below or reach; at most
    the longest hand-over.
    """
    day.handover_p50_ms = _percentile(day, 50)
    day.handover_p95_ms = _percentile(day, 95)


def _percentile(day: GroupDay, percent: int) -> int | None:
    so_far = 0
    for edge, count in zip(day.handover_upper_ms, day.handover_counts, strict=True):
        so_far += count
        if so_far * 100 >= percent * day.handovers:
            return min(edge, day.handover_max_ms or 0)
    return None
