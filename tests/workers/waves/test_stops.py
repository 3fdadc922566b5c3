"""What generations of an eager group stopped, by wave."""

from __future__ import annotations

from typing import Any

from groupreplay.workers.waves.stops import members_stopped, stops

CHAIN: dict[str, Any] = {
    "times_at": [10, 20, 30],
    "group_epochs": [1, None, 3],
    "stop_counts": [0, 3, 2],
    "stop_events": [1, 1, 2],
    "stop_member_ids": ["A", "B", "A"],
    "stop_partitions": [1, 2, 1],
    "stop_read_ms": [500, None, 700],
}


def test_members_are_kept_by_the_generation_that_stopped_them() -> None:
    assert members_stopped(CHAIN) == {1: [("A", 1, 500), ("B", 2, None)], 2: [("A", 1, 700)]}


def test_a_wave_has_those_of_its_own_events() -> None:
    found = stops(CHAIN | {"stops": members_stopped(CHAIN)}, [1])
    assert (found["stop_times_at"], found["stop_generations"]) == ([20], [None])
    assert (found["stop_counts"], found["stop_member_ids"]) == ([3], [["A", "B"]])
    assert (found["stop_partitions"], found["stop_read_ms"]) == ([[1, 2]], [[500, None]])


def test_members_that_were_not_kept_are_counted_all_the_same() -> None:
    """A chain keeps them up to a limit."""
    found = stops(CHAIN | {"stops": {}}, [1, 2])
    assert (found["stop_counts"], found["stop_member_ids"]) == ([3, 2], [[], []])
