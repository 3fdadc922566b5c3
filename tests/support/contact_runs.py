"""Runs of contacts, joined as replay joins their rows."""

from __future__ import annotations

from groupreplay.wire.text.contact_runs import ContactRun


def merge(earlier: ContactRun, later: ContactRun) -> ContactRun:
    """Two runs of one member and API as one, the gap between them included. Associative."""
    return ContactRun(
        event=earlier.event,
        position=earlier.position,
        first_ms=earlier.first_ms,
        last_ms=later.last_ms,
        requests=earlier.requests + later.requests,
        longest_gap_ms=max(
            earlier.longest_gap_ms, later.longest_gap_ms, later.first_ms - earlier.last_ms
        ),
        last_position=later.last_position,
    )
