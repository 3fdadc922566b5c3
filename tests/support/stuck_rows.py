"""Which stretches that a machine tells are rows of `stuck_members` and `stuck_groups`, by the
thresholds of the default configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupreplay.config.model import Thresholds
from groupreplay.replay.facts import Chain, Stall

THRESHOLDS: Final = Thresholds()

STALL_THRESHOLDS_MS: Final = {
    "SLOW_REVOCATION": THRESHOLDS.slow_revocation_ms,
    "WAITING_ON_HOLDER": THRESHOLDS.waiting_on_holder_ms,
    "NOT_RECONCILING": THRESHOLDS.not_reconciling_ms,
    "STATIC_LIMBO": THRESHOLDS.static_limbo_ms,
    "ASSIGNED_NOT_CONSUMING": THRESHOLDS.assigned_not_consuming_ms,
    "ASSIGNING_STALLED": THRESHOLDS.assigning_stalled_ms,
    "MIGRATION_STALLED": THRESHOLDS.migration_stalled_ms,
}
"""Reason -> how long a stretch must last, ms (docs/measures.md, Stuck)."""


REPETITIONS: Final = {
    "FENCE_LOOP": (THRESHOLDS.fence_loop_count, THRESHOLDS.fence_loop_window_ms),
    "EPOCH_STORM": (THRESHOLDS.epoch_storm_count, THRESHOLDS.epoch_storm_window_ms),
}
"""Reason -> how many repetitions, within how long, ms (docs/measures.md, Stuck)."""


@dataclass(frozen=True, slots=True)
class Episode:
    """Repetitions that are stuck together. until_at: None while they may go on."""

    since_at: int
    until_at: int | None
    repetitions: int


def runs(times: Sequence[int], count: int, window_ms: int) -> list[tuple[int, int]]:
    """(first, last) places of repetitions of which each lies in a window with enough of them, and
    follows the one before within a window."""
    found: list[tuple[int, int]] = []
    for last in range(count - 1, len(times)):
        first = last - count + 1
        if times[last] - times[first] > window_ms:
            continue
        if found and first <= found[-1][1] + 1 and times[first] - times[found[-1][1]] <= window_ms:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def episodes(chain: Chain, as_of_ms: int) -> list[Episode]:
    """The rows that a chain gives. The last is open while its last repetition is within the window
    before as-of."""
    count, window_ms = REPETITIONS[chain.reason]
    found = []
    for first, last in runs(chain.times_at, count, window_ms):
        ended_at = chain.ends_at[last]
        is_last = last == len(chain.times_at) - 1 and not chain.is_final
        is_open = is_last and as_of_ms - ended_at <= window_ms
        until_at = None if is_open else ended_at
        found.append(Episode(chain.times_at[first], until_at, last - first + 1))
    return found


def stuck_ms(stall: Stall, as_of_ms: int) -> int | None:
    """How long a stretch has lasted at as-of, ms; None where that is no row: too short, or its
    start was not seen."""
    lasted = (as_of_ms if stall.until_at is None else stall.until_at) - stall.since_at
    return lasted if stall.start_observed and lasted >= STALL_THRESHOLDS_MS[stall.reason] else None
