"""Which stretches that a machine tells are rows of `stuck_members` and `stuck_groups`, by the
thresholds of the default configuration."""

from __future__ import annotations

from typing import Final

from groupreplay.config import Thresholds
from groupreplay.replay.facts import Stall

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
"""Reason -> how long a stretch must last, ms (design.md section 9)."""


def stuck_ms(stall: Stall, as_of_ms: int) -> int | None:
    """How long a stretch has lasted at as-of, ms; None where that is no row: too short, or its
    start was not seen."""
    lasted = (as_of_ms if stall.until_at is None else stall.until_at) - stall.since_at
    return lasted if stall.start_observed and lasted >= STALL_THRESHOLDS_MS[stall.reason] else None
