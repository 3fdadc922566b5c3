"""Rebalances of classic groups, phase by phase, as the coordinator logs them: nothing of a join
phase is in the offsets topic.

`Preparing to rebalance` begins one, `Stabilized` ends its join phase, `Assignment received` its
sync phase. Each broker's lines are followed apart: a former coordinator goes on until it learns
that another one was elected, and clocks differ. Source: GroupMetadataManager (java),
GroupCoordinator (scala): prepareRebalance, completeClassicGroupJoin, classicGroupSync.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import Rebalance
from groupreplay.evidence.memory import Evidence, Line, Proofs, place
from groupreplay.evidence.removals import LEFT
from groupreplay.records.log_events import LogEvent

COMPLETED: Final = "COMPLETED"
EMPTY: Final = "EMPTY"
RESTARTED: Final = "RESTARTED"
CONVERTED: Final = "CONVERTED"
INTERRUPTED: Final = "INTERRUPTED"
OPEN: Final = "OPEN"

CLOCKS_DIFFER_MS: Final = 60_000
"""Clocks of two brokers differ by less."""

JOINS_LAST_MS: Final = 600_000
"""Join phases, which members' rebalance timeouts bound, are shorter. A conversion is logged before
the rest of its request is judged; where that is refused, nothing is written, and the group's join
phase goes on.
"""

_GOES_ON: Final = frozenset({"JOIN_PHASE_ENDED", "ASSIGNMENT_RECEIVED"})

_ENDS: Final = {
    "GROUP_EMPTY": EMPTY,
    "GROUP_UNLOADED": INTERRUPTED,
}

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
"""Kind of the server's reason (`wire.text.rebalance_reasons`) -> cause. A group over its size is
found so when a coordinator has loaded it.
"""


def replay_rebalance(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes a line of a classic group's rebalance."""
    event, current = line.event, evidence.rebalances.get(line.broker)
    _see_kind(evidence, line)
    if event.event in ("JOIN_PHASE_STARTED", "GROUP_LOADED"):
        _interrupt_others(evidence, line)
        starts = event.event == "JOIN_PHASE_STARTED"
        _end(evidence, line.broker, RESTARTED if starts else INTERRUPTED, event, output)
        if starts:
            evidence.rebalances[line.broker] = _begin(evidence, line)
        return
    if current is not None and event.event in _GOES_ON:
        current.outcome, current.ended_at = OPEN, None
    if current is None:
        return
    elif event.event == "JOIN_PHASE_ENDED":
        current.joined_at, current.members_joined = event.at_ms, event.count
    elif event.event == "ASSIGNMENT_RECEIVED":
        current.synced_at = event.at_ms
        _end(evidence, line.broker, COMPLETED, event, output)
    elif event.event == "MEMBERS_MISSED_JOIN":
        current.members_missing = sorted({*current.members_missing, *event.member_ids})
        _drop(current, event.member_ids)
    elif event.event == "MEMBERS_MISSED_SYNC":
        _drop(current, event.member_ids)
    elif event.event == "REBALANCE_NOBODY_JOINED":
        current.nobody_joined = True
    elif event.event == "CONVERTED_TO_CONSUMER":
        # It may have been CONVERTED, and that failed, or INTERRUPTED by a clock that is behind.
        current.outcome, current.ended_at = CONVERTED, event.at_ms
    elif event.event == "CONVERTED_TO_CLASSIC":
        if current.outcome == CONVERTED:
            _end(evidence, line.broker, CONVERTED, event, output)
    elif event.event in _ENDS:
        _end(evidence, line.broker, _ENDS[event.event], event, output)


def _see_kind(evidence: Evidence, line: Line) -> None:
    """Notes where the group is a classic one, as its coordinator loaded it."""
    event = line.event
    if event.event == "GROUP_LOADED" and event.protocol == "classic":
        evidence.classic_broker, evidence.classic_since_at = line.broker, event.at_ms
    elif event.event in ("GROUP_LOADED", "CONVERTED_TO_CONSUMER"):
        evidence.classic_broker, evidence.classic_since_at = -1, -1


def _drop(rebalance: Rebalance, member_ids: tuple[str, ...]) -> None:
    rebalance.members_dropped = sorted({*rebalance.members_dropped, *member_ids})


def _interrupt_others(evidence: Evidence, line: Line) -> None:
    """The group has another coordinator: rebalances of the others are over, unless their own lines,
    by a clock that is ahead, go on.
    """
    for broker, rebalance in evidence.rebalances.items():
        if broker != line.broker and rebalance.outcome == OPEN:
            rebalance.outcome, rebalance.ended_at = INTERRUPTED, line.event.at_ms


def forget_rebalances(evidence: Evidence, output: Proofs) -> None:
    """Emits those that another coordinator interrupted, once no clock is so far ahead that they
    could go on, and of those that a conversion ended, once it cannot have failed.
    """
    waits_ms = {INTERRUPTED: CLOCKS_DIFFER_MS, CONVERTED: JOINS_LAST_MS}
    for broker, rebalance in list(evidence.rebalances.items()):
        wait_ms = waits_ms.get(rebalance.outcome)
        if wait_ms is not None and evidence.last_at - (rebalance.ended_at or 0) > wait_ms:
            output.emit(evidence.rebalances.pop(broker))


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
        client_reason=event.client_reason or _said_on_leaving(evidence, line),
        members_missing=[],
        members_dropped=[],
    )


def _said_on_leaving(evidence: Evidence, line: Line) -> str | None:
    """What the member said that began it by leaving: lines of 4.x quote it on the line of the
    removal, which comes before. Of one that was removed by its instance the reason names nobody.
    """
    event = line.event
    said = [
        each.client_reason
        for each in evidence.departures
        if each.broker == line.broker
        and each.outcome == LEFT
        and each.member_id == (event.member_id or each.member_id)
        and each.ended_at <= event.at_ms
    ]
    return said[-1] if event.detail == LEFT and said else None


def _end(evidence: Evidence, broker: int, outcome: str, event: LogEvent, output: Proofs) -> None:
    ended = evidence.rebalances.pop(broker, None)
    if ended is not None:
        if event.event == "JOIN_PHASE_STARTED" and event.detail == "SYNC_TIMEOUT":
            _drop(ended, event.member_ids)  # the line of their own is at DEBUG since 4.0
        # By a clock that is behind, another leader may have interrupted it: its own line decides.
        is_known = outcome == INTERRUPTED or _is_converted(evidence, ended, event)
        if ended.outcome == OPEN or not is_known:
            ended.outcome, ended.ended_at = outcome, event.at_ms
        output.emit(ended)


def _is_converted(evidence: Evidence, rebalance: Rebalance, event: LogEvent) -> bool:
    """Whether the conversion that ended a rebalance held, by the next line of a classic group. It
    failed if its assignor did, or if the group goes on from the generation of the rebalance: a
    group that becomes a classic one again says so, or begins with 0. That a group is empty alone
    proves nothing: timers of the classic group run on after a conversion.
    """
    if rebalance.outcome != CONVERTED:
        return False
    failure = evidence.failure
    if event.event == "GROUP_EMPTY" and failure is not None:
        return failure.last_at < (rebalance.ended_at or 0)
    is_of_now = rebalance.joined_at is not None and event.epoch == rebalance.generation + 1
    is_start = event.event == "JOIN_PHASE_STARTED" and event.detail != "DOWNGRADED"
    return not (is_start and is_of_now)
