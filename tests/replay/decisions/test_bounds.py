"""For how long nobody read a partition, of each kind of transition.

Source: docs/measures.md, What a change of hands costs.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.replay.change import ClassicGeneration, Moment
from groupreplay.replay.decisions.bounds import SETTLE_MS, tell_high, tell_idle, tell_low
from groupreplay.replay.kept.transition import Transition

RELEASED_AT, GRANTED_AT = 50_000, 70_000


def transition(kind: str, **more: Any) -> Transition:
    return Transition(kind, "a", "member:a", RELEASED_AT, 40, **{"grant_offset": 60, **more})


def moment(**more: Any) -> Moment:
    return Moment(GRANTED_AT, 60, 3, 0, **more)


def generation(is_eager: bool, sync_phase_ms: int | None = 300) -> ClassicGeneration:
    return ClassicGeneration(None, sync_phase_ms, None, is_eager, None, None)


@pytest.mark.parametrize(
    ("kind", "given", "low_ms", "est_ms"),
    [
        ("ASKED", {"requested_at": 45_000}, 20_000, 25_000),
        ("REMOVED", {"stopped_at": 40_000, "held_since": 30_000}, 20_000, 30_000),
        ("REMOVED", {"stopped_at": 40_000, "held_since": 48_000}, 20_000, 22_000),
        ("REMOVED", {"stopped_at": 40_000}, 20_000, 30_000),
        ("REMOVED", {}, 20_000, 20_000),
        ("REPLACED", {"stopped_at": 49_000}, 20_000, 21_000),
        ("AWAY", {"away_at": 42_000}, 28_000, 28_000),
        ("UNASKED", {}, 20_000, 20_000),
    ],
)
def test_the_records_show_both_ends(
    kind: str, given: dict[str, int], low_ms: int, est_ms: int
) -> None:
    """A holder that went read until its last commit, but what it got later it had not yet."""
    one = transition(kind, **given)
    tell_low(one, moment())
    assert (one.low_ms, one.est_ms) == (low_ms, est_ms)


@pytest.mark.parametrize(
    ("kind", "is_eager", "grant_offset", "low_ms"),
    [
        ("STOP", True, 40, 300),
        ("GAP", False, 40, 0),
        ("GAP", False, 60, 300),
        ("REPLACED", True, 60, 0),
    ],
    ids=["eager", "same generation", "later generation", "another process"],
)
def test_a_k2_shows_a_release_later_than_it_was(
    kind: str, is_eager: bool, grant_offset: int, low_ms: int
) -> None:
    """Only the sync phase is sure, where nobody may read in it."""
    one = transition(kind, by_k2=True, grant_offset=grant_offset)
    tell_low(one, moment(by_k2=True, generation=generation(is_eager)))
    assert (one.low_ms, one.sync_ms) == (low_ms, 300)


def test_of_a_k2_without_a_generation_nothing_is_sure() -> None:
    one = transition("REMOVED", by_k2=True)
    tell_low(one, moment(by_k2=True))
    assert (one.low_ms, one.est_ms, one.sync_ms) == (0, 0, None)


def test_of_a_stop_no_estimate_is_made() -> None:
    """The topic does not show when a member heard of the rebalance."""
    one = transition("STOP", by_k2=True)
    tell_low(one, moment(by_k2=True, generation=generation(True)))
    assert one.est_ms is None


def test_what_is_given_in_the_generation_that_takes_it_was_not_read_since_a_commit() -> None:
    same = transition("GAP", by_k2=True, grant_offset=40, stopped_at=45_000)
    tell_low(same, moment(by_k2=True, generation=generation(False)))
    assert same.est_ms == 25_000
    later = transition("GAP", by_k2=True, grant_offset=60, stopped_at=45_000)
    tell_low(later, moment(by_k2=True, generation=generation(False)))
    assert later.est_ms == 20_000


def test_clocks_that_go_back_make_no_bound_negative() -> None:
    one = transition("ASKED", requested_at=90_000)
    one.released_at = 80_000
    tell_low(one, moment())
    assert (one.low_ms, one.est_ms) == (0, 0)


@pytest.mark.parametrize(
    ("last_at", "first_at", "last_hole", "idle_ms"),
    [
        (49_000, 71_000, -1, 22_000),
        (49_000, 71_000, 40, 22_000),
        (49_000, 71_000, 41, None),
        (None, 71_000, -1, None),
        (49_000, GRANTED_AT + SETTLE_MS, -1, GRANTED_AT + SETTLE_MS - 49_000),
        (49_000, GRANTED_AT + SETTLE_MS + 1, -1, None),
        (RELEASED_AT - SETTLE_MS - 1, 71_000, -1, None),
        (72_000, 71_000, -1, None),
    ],
    ids=["both", "hole before", "hole behind", "none", "an hour", "later", "long ago", "back"],
)
def test_commits_before_and_after_say_how_long_it_was_at_most(
    last_at: int | None, first_at: int, last_hole: int, idle_ms: int | None
) -> None:
    one = transition("REMOVED", last_commit_at=last_at, granted_at=GRANTED_AT)
    tell_idle(one, first_at, last_hole)
    assert one.idle_ms == idle_ms


def test_the_upper_bound_is_known_by_both_commits_alone() -> None:
    known = transition("ASKED", low_ms=100, est_ms=2_500, idle_ms=700)
    estimated = transition("ASKED", low_ms=100, est_ms=2_500)
    hidden = transition("ASKED", low_ms=100, is_hidden=True)
    for each in (known, estimated, hidden):
        tell_high(each)
    assert (known.high_ms, known.is_high_known) == (2_500, True)
    assert (estimated.high_ms, estimated.is_high_known) == (2_500, False)
    assert (hidden.high_ms, hidden.is_high_known) == (None, False)
