"""A partition of the offsets topic between brokers: loaded, not loaded, given up. Source:
CoordinatorRuntime (4.x), GroupMetadataManager (scala).
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import ShardEvent
from groupreplay.evidence.memory import Evidence, Line, Proofs, place

_EVENTS: Final = {
    "SHARD_LOADED": "LOADED",
    "SHARD_LOAD_FAILED": "LOAD_FAILED",
    "SHARD_UNLOADED": "UNLOADED",
}

_SHUTTING_DOWN: Final = "Coordinator loader is closed"
"""Brokers of 4.2 say so of every partition when they stop: no failure of the log."""


def replay_shard(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes a line of the runtime about its partition."""
    event = line.event
    name = _EVENTS.get(event.event)
    if name is None or event.offsets_partition is None or _SHUTTING_DOWN in (event.detail or ""):
        return
    moved = name == "LOADED" and evidence.owner not in (-1, line.broker)
    fields: dict[str, Any] = place(evidence, line)
    output.emit(
        ShardEvent(
            **fields,
            offsets_partition=event.offsets_partition,
            event=name,
            occurred_at=event.at_ms,
            duration_ms=event.duration_ms,
            records=event.count,
            moved_from=evidence.owner if moved else None,
            detail=event.detail,
            leader_epoch=event.epoch,
        )
    )
    if name == "LOADED":
        evidence.owner = line.broker
