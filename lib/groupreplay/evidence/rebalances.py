"""Rebalances of classic groups, phase by phase, as the coordinator logs them: nothing of a join phase is in the offsets topic.

`Preparing to rebalance` begins one, `Stabilized` ends its join phase, `Assignment received` its sync phase. Source: GroupMetadataManager
(java), GroupCoordinator (scala): prepareRebalance, completeClassicGroupJoin, classicGroupSync.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.facts import Rebalance
from groupreplay.evidence.life import Evidence, Line, Output, place
from groupreplay.log_records import LogEvent

COMPLETED: Final = "COMPLETED"
EMPTY: Final = "EMPTY"
RESTARTED: Final = "RESTARTED"
CONVERTED: Final = "CONVERTED"
INTERRUPTED: Final = "INTERRUPTED"

_ENDS: Final = {"GROUP_EMPTY": EMPTY, "CONVERTED_TO_CONSUMER": CONVERTED, "GROUP_UNLOADED": INTERRUPTED, "GROUP_LOADED": INTERRUPTED}

_CAUSES: Final = {
    "NEW_MEMBER": "JOIN",
    "REJOINED": "REJOIN",
    "LEADER_REJOINED": "REJOIN",
    "METADATA_CHANGED": "SUBSCRIPTION",
    "STATIC_METADATA_CHANGED": "SUBSCRIPTION",
    "STATIC_PROTOCOL_CHANGED": "ASSIGNOR",
    "LEFT": "LEFT",
    "SESSION_EXPIRED": "FENCED",
    "SYNC_TIMEOUT": "FENCED",
    "ASSIGNMENT_NOT_STORED": "ASSIGNMENT_NOT_STORED",
    "DOWNGRADED": "DOWNGRADE",
    "COORDINATOR_LOAD": "COORDINATOR_LOAD",
    "OVER_CAPACITY": "COORDINATOR_LOAD",
}
"""Kind of the server's reason (`wire.preparing`) -> cause. A group over its size is found so when a coordinator has loaded it."""


def replay_rebalance(evidence: Evidence, line: Line, output: Output) -> None:
    """Takes a line of a classic group's rebalance."""
    event, current = line.event, evidence.rebalance
    if event.event == "JOIN_PHASE_STARTED":
        _end(evidence, RESTARTED, event, output)
        evidence.rebalance = _begin(evidence, line)
    elif current is None:
        return
    elif event.event == "JOIN_PHASE_ENDED":
        current.joined_at, current.members_joined = event.at_ms, event.count
    elif event.event == "ASSIGNMENT_RECEIVED":
        current.synced_at = event.at_ms
        _end(evidence, COMPLETED, event, output)
    elif event.event == "MEMBERS_MISSED_JOIN":
        current.members_missing = sorted({*current.members_missing, *event.member_ids})
        current.members_dropped = sorted({*current.members_dropped, *event.member_ids})
    elif event.event == "MEMBERS_MISSED_SYNC":
        current.members_dropped = sorted({*current.members_dropped, *event.member_ids})
    elif event.event == "REBALANCE_NOBODY_JOINED":
        current.nobody_joined = True
    elif event.event in _ENDS:
        _end(evidence, _ENDS[event.event], event, output)


def _begin(evidence: Evidence, line: Line) -> Rebalance:
    event = line.event
    fields: dict[str, Any] = place(evidence, line)
    return Rebalance(
        **fields,
        generation=event.epoch if event.epoch is not None else -1,
        started_at=event.at_ms,
        group_state=event.state,
        reason=event.detail,
        cause=_CAUSES.get(event.detail or "", "UNKNOWN"),
        cause_member_id=event.member_id,
        client_reason=event.client_reason,
        members_missing=[],
        members_dropped=[],
    )


def _end(evidence: Evidence, outcome: str, event: LogEvent, output: Output) -> None:
    if evidence.rebalance is not None:
        evidence.rebalance.outcome, evidence.rebalance.ended_at = outcome, event.at_ms
        output.emit(evidence.rebalance)
        evidence.rebalance = None
