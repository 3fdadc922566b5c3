"""Which stretches that a machine tells are rows of `stuck_members` and `stuck_groups`, by the
thresholds of the default configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    "LEARNER_NEVER_READY": THRESHOLDS.learner_ms,
    "PROBING_LOOP": 0,
    "TASK_UNASSIGNED": THRESHOLDS.task_unassigned_ms,
    "FOLLOWUP_MISSING": THRESHOLDS.followup_missing_ms,
    "PROBE_MISSED": THRESHOLDS.probe_missed_ms,
    "VERSION_MIXED": THRESHOLDS.version_mixed_ms,
    "RESTORING": THRESHOLDS.restoring_ms,
    "ASSIGNMENT_ERROR": THRESHOLDS.assignment_error_ms,
    "SHUTDOWN_REQUESTED": THRESHOLDS.shutdown_requested_ms,
    "DUPLICATE_PROCESS_ID": THRESHOLDS.duplicate_process_id_ms,
    "TOPOLOGY_NOT_READY": THRESHOLDS.topology_not_ready_ms,
    "STALE_TOPOLOGY": THRESHOLDS.stale_topology_ms,
}
"""Reason -> how long a stretch must last, ms (docs/measures.md, Stuck)."""

TIMES: Final = {
    "LEARNER_NEVER_READY": THRESHOLDS.learner_probes,
    "PROBING_LOOP": THRESHOLDS.probing_loop_count,
}
"""Reason -> how often what a stretch counts must have happened in it."""

REPETITIONS: Final = {
    "FENCE_LOOP": (THRESHOLDS.fence_loop_count, THRESHOLDS.fence_loop_window_ms),
    "EPOCH_STORM": (THRESHOLDS.epoch_storm_count, THRESHOLDS.epoch_storm_window_ms),
    "HANDOVER_BOUNCED": (THRESHOLDS.bounce_count, THRESHOLDS.bounce_window_ms),
    "REBALANCE_LOOP": (THRESHOLDS.rebalance_loop_count, THRESHOLDS.rebalance_loop_window_ms),
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


def stuck_ms(
    stall: Stall, as_of_ms: int, thresholds_ms: Mapping[str, int] = STALL_THRESHOLDS_MS
) -> int | None:
    """How long a stretch has lasted at as-of, ms; None where that is no row: too short, too few
    times, or its start was not seen."""
    lasted = (as_of_ms if stall.until_at is None else stall.until_at) - stall.since_at
    is_long = lasted >= thresholds_ms[stall.reason]
    is_often = (stall.repetitions or 0) >= TIMES.get(stall.reason, 0)
    return lasted if stall.start_observed and is_long and is_often else None
