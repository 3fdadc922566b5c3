"""What transitions cost, added up by the event that they are charged to.

Source: docs/decisions.md, departure_waves.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.decisions.charges import (
    add_closed,
    add_granted,
    charge_of,
    charged_event,
    event_of,
    sums_of,
    with_waiting,
)
from groupreplay.replay.kept.transition import Transition
from groupreplay.replay.life import CONSUMER, Life, Trail

LAST_AT = 100_000


def chain() -> Churn:
    """Two events of one operation, and one of a later one."""
    made = Churn(
        **Life("g", 0, 0, CONSUMER).place,
        from_offset=40,
        offsets=[40, 40, 70],
        times_at=[50_000, 50_000, LAST_AT],
        member_ids=["a", "b", "c"],
        event_kinds=["G", "J", "G"],
    )
    for sums in sums_of(made):
        sums += [0, 0, 0]
    return made


def transition(kind: str, **more: Any) -> Transition:
    return Transition(kind, "a", "member:a", 50_000, 40, **more)


def test_a_charge_finds_its_event_among_several_at_one_offset() -> None:
    made = chain()
    for index in range(3):
        one = transition("REMOVED", charged_to=charge_of(made, index))
        assert charged_event(made, one) == index
        who, kind = made.member_ids[index], made.event_kinds[index]
        assert event_of(made, one) == (who, kind, made.offsets[index])


def test_what_another_chain_was_charged_with_is_not_of_this_one() -> None:
    other = chain()
    other.offsets = [41, 42, 43]
    one = transition("REMOVED", charged_to=charge_of(other, 1))
    assert charged_event(chain(), one) is None
    assert event_of(chain(), one) is None
    assert charged_event(chain(), transition("REMOVED")) is None
    assert charged_event(None, one) is None


@pytest.mark.parametrize(
    ("kind", "field", "ms"),
    [
        ("ASKED", "asked_ms", 7_000),
        ("AWAY", "asked_ms", 7_000),
        ("UNASKED", "asked_ms", 7_000),
        ("GAP", "gap_ms", 7_000),
        ("STOP", "gap_ms", 9_000),
        ("REMOVED", "removed_ms", 9_000),
        ("REPLACED", "removed_ms", 9_000),
    ],
)
def test_each_kind_has_its_own_sum(kind: str, field: str, ms: int) -> None:
    """Of who went, and of a STOP, the time from the record to the next holder counts."""
    made = chain()
    add_granted(made, 1, transition(kind, granted_at=59_000, low_ms=300, est_ms=7_000))
    assert getattr(made, field) == [0, ms, 0]
    others = {"asked_ms", "gap_ms", "removed_ms"} - {field}
    assert all(getattr(made, other) == [0, 0, 0] for other in others)
    assert made.lows_ms == [0, 300, 0]
    assert made.removed_counts == [0, int(kind in ("REMOVED", "REPLACED")), 0]
    assert made.stop_counts == [0, int(kind == "STOP"), 0]


def test_moves_and_returns_are_counted_even_of_what_costs_nothing() -> None:
    made = chain()
    moved = {"to_member_id": "b", "to_identity": "member:b", "granted_at": 59_000, "low_ms": 300}
    add_granted(made, 0, transition("ASKED", **moved))
    add_granted(made, 0, transition("ASKED", came_from="member:b", is_hidden=True, **moved))
    assert (made.moved_counts, made.returned_counts) == ([2, 0, 0], [1, 0, 0])
    assert made.lows_ms == [300, 0, 0]


def test_what_a_member_got_together_and_left_together_is_one_entry() -> None:
    made = chain()
    for held_since in (20_000, 20_000, 30_000, None):
        add_granted(made, 0, transition("REMOVED", granted_at=59_000, held_since=held_since))
    assert (made.kept_events, made.kept_ms, made.kept_counts) == ([0, 0], [30_000, 20_000], [2, 1])
    assert made.removed_counts == [4, 0, 0]


def test_of_a_stop_who_had_what_is_kept() -> None:
    made = chain()
    for held_since in (20_000, 20_000, None):
        add_granted(made, 2, transition("STOP", granted_at=59_000, held_since=held_since))
    assert (made.stop_events, made.stop_member_ids) == ([2, 2], ["a", "a"])
    assert (made.stop_partitions, made.stop_read_ms) == ([2, 1], [30_000, None])


@pytest.mark.parametrize(
    ("late_ms", "is_known"), [(MAX_CHAIN_GAP_MS, True), (MAX_CHAIN_GAP_MS + 1, False)]
)
def test_no_commit_later_than_an_hour_after_the_chain_counts(late_ms: int, is_known: bool) -> None:
    """The row would depend on when it is emitted."""
    made = chain()
    closed = transition(
        "ASKED",
        low_ms=300,
        est_ms=7_000,
        idle_ms=9_000,
        is_high_known=True,
        first_commit_at=LAST_AT + late_ms,
    )
    add_closed(made, 0, closed)
    assert made.highs_ms == [9_000 if is_known else 7_000, 0, 0]
    assert made.high_unknowns == [int(not is_known), 0, 0]
    assert made.idles_ms == [9_000 if is_known else 0, 0, 0]


def test_an_open_chain_shows_what_waits_for_its_commit_and_stays_as_it_is() -> None:
    made, life = chain(), Life("g", 0, 0, CONSUMER)
    arriving = transition("ASKED", low_ms=300, est_ms=7_000, charged_to=charge_of(made, 2))
    unknown = transition("ASKED", low_ms=300, est_ms=7_000)
    life.trails["foo-id", 0] = Trail(arriving=[arriving, unknown])
    shown = with_waiting(made, life)
    assert (shown.highs_ms, shown.high_unknowns) == ([0, 0, 7_000], [0, 0, 1])
    assert (made.highs_ms, made.high_unknowns) == ([0, 0, 0], [0, 0, 0])
