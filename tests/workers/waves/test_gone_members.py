"""What rows of waves say of who went or was taken over."""

from __future__ import annotations

from typing import Any

from groupreplay.workers.waves.gone_members import gone_members, kept_times, last_joins


def chain(**more: Any) -> dict[str, Any]:
    """A and B join, A goes and comes back, B is taken over."""
    made: dict[str, Any] = {
        "group_id": "g",
        "incarnation": 10,
        "offsets_partition": 3,
        "log_incarnation": None,
        "event_kinds": ["J", "J", "G", "J", "R"],
        "member_ids": ["A", "B", "A", "A", "B"],
        "times_at": [1, 2, 3, 4, 5],
        "member_protocols": ["consumer"] * 5,
        "group_modes": ["CONSUMER"] * 5,
        "silences_ms": [None, None, 70, None, 80],
        "own_sessions_ms": [None] * 5,
        "own_rebalances_ms": [300] * 5,
        "record_ends": [None, None, "EXPIRED", None, None],
        "removed_counts": [0, 0, 2, 0, 1],
        "kept_events": [2, 2, 4],
        "kept_ms": [500, 900, 100],
        "kept_counts": [1, 1, 1],
    }
    made |= more
    return made | {"last_joins": last_joins(made), "kept": kept_times(made)}


def test_a_member_joined_last_where_it_stands_last() -> None:
    assert last_joins(chain()) == {"A": 3, "B": 1}


def test_partitions_are_kept_by_the_event_that_took_them() -> None:
    assert kept_times(chain()) == {2: [(500, 1), (900, 1)], 4: [(100, 1)]}


def test_lists_have_an_element_for_each_that_went_or_was_taken_over() -> None:
    found = gone_members(chain(), [2, 4])
    assert (found["group_id"], found["incarnation"], found["offsets_partition"]) == ("g", 10, 3)
    assert (found["gone_kinds"], found["gone_member_ids"]) == (["G", "R"], ["A", "B"])
    assert (found["gone_silences_ms"], found["gone_ends"]) == ([70, 80], ["EXPIRED", None])
    assert (found["gone_removed"], found["gone_times_at"]) == ([2, 1], [3, 5])
    assert (found["gone_kept_ms"], found["gone_kept"]) == ([[500, 900], [100]], [[1, 1], [1]])


def test_only_who_joins_again_later_in_the_chain_rejoins() -> None:
    assert gone_members(chain(), [2, 4])["gone_rejoins"] == [True, False]


def test_what_was_not_seen_to_be_kept_is_empty() -> None:
    found = gone_members(chain(kept_events=[], kept_ms=[], kept_counts=[]), [2])
    assert (found["gone_kept_ms"], found["gone_kept"]) == ([[]], [[]])
