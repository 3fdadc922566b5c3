"""What changes of hands come to in a day that holds a whole life: how many there were, how long they
took, and of how many no commits show the end (measures.md, Days of groups)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from tests.simulator.compare import Between, Untold
from tests.simulator.expected.history import History
from tests.simulator.expected.transitions import Transition, transitions_of
from tests.simulator.expected.unread import CONTESTED, is_contested
from tests.simulator.lives import Life

WIDEST: Final = 1.063
"""A bucket is at most so much wider than its times."""

COLUMNS: Final = (
    *("sync_ms", "high_unknown", "handovers", "handover_hist"),
    *("handover_p50_ms", "handover_p95_ms", "handover_max_ms"),
)
TRANSACTIONAL: Final = Untold("commits of transactions count when these end")
OVER_CONVERSIONS: Final = Untold("ids and names of partitions over a conversion")
DELETED: Final = Untold("commits of topics that were deleted")


@dataclass(frozen=True, slots=True)
class Buckets:
    """Numbers of times by the greatest ms of their bucket. times: ascending."""

    times: tuple[int, ...]

    def admits(self, value: Any) -> bool:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            return False
        if sum(each["n"] for each in value) != len(self.times):
            return False
        edges = [each["upper_ms"] for each in value]
        told = [each["upper_ms"] for each in value for _ in range(each["n"])]
        is_ascending = all(one < other for one, other in pairwise(edges))
        pairs = zip(self.times, told, strict=True)
        return is_ascending and all(time <= edge <= time * WIDEST for time, edge in pairs)

    def __str__(self) -> str:
        return f"buckets of {list(self.times)}"


def costs_of_day(history: History, life: Life) -> dict[str, Any]:
    """Of a life that one day holds, and that goes over to no other protocol."""
    if is_contested(history, life):
        return dict.fromkeys(COLUMNS, CONTESTED)
    found = transitions_of(history, life)
    times = tuple(sorted(each.took_ms for each in found if each.took_ms is not None))
    return {
        "sync_ms": sum(each.sync_ms for each in found),
        "high_unknown": unknown_of(history, life, found),
        "handovers": len(times),
        "handover_hist": Buckets(times),
        "handover_p50_ms": _percentile(times, 50),
        "handover_p95_ms": _percentile(times, 95),
        "handover_max_ms": times[-1] if times else None,
    }


def unknown_of(history: History, life: Life, found: Sequence[Transition]) -> Any:
    """Of how many no commits show an upper bound."""
    if life.group_id in history.truth.transactional:
        return TRANSACTIONAL
    if any(each.unread.span.partition.topic in history.truth.deleted for each in found):
        return DELETED
    return sum(each.idle_ms is None for each in found)


def _percentile(times: Sequence[int], percent: int) -> Any:
    if not times:
        return None
    place = -(-len(times) * percent // 100) - 1
    return Between(times[place], min(int(times[place] * WIDEST), times[-1]))
