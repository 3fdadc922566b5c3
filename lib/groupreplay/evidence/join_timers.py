"""How long a member of the classic protocol may take to join again: a consumer group removes it
when its rebalance timeout runs out, and lets it in again under its id. Where the line of that
removal is missing, its next join is no answer to what it was told before.

The time runs from the first HEARTBEAT or SYNC_GROUP that is answered REBALANCE_IN_PROGRESS, and a
join stops it. Where a coordinator loads the group, it begins again; a classic group waits for the
slowest of its members. So nothing is concluded where the group may have been loaded or downgraded
meanwhile, nor where the coordinator's own log goes on: that would have the removal.

Source: GroupMetadataManager (4.x), classicGroupHeartbeatToConsumerGroup, throwIfRebalanceInProgress
(scheduleConsumerGroupJoinTimeoutIfAbsent), classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from typing import Final

from groupreplay.evidence.evidence_facts import Rejoin
from groupreplay.evidence.memory import Evidence, Line
from groupreplay.evidence.refusal_runs import COORDINATOR_ERRORS
from groupreplay.records.log_events import REQUEST_LOG, LogEvent

CONSUMERS_BEAT_MS: Final = 15_000
"""The longest heartbeat interval that a broker gives consumers, unless it is told otherwise
(`group.consumer.max.heartbeat.interval.ms`): a consumer group is heard so often.
"""


def hear_steadily(evidence: Evidence, line: Line) -> None:
    """Notes when something was heard last after which timers may have begun again, or a classic
    group's: a coordinator's log, another broker, that no coordinator is there, that members left.
    """
    is_request = line.source == REQUEST_LOG and line.broker == evidence.steady_broker
    if is_request and line.event.error_code not in COORDINATOR_ERRORS and not _is_leave(line.event):
        return
    evidence.steady_since_at = max(evidence.steady_since_at, line.last_ms)
    evidence.steady_broker = line.broker


def _is_leave(event: LogEvent) -> bool:
    """When the last consumer leaves, the group may be a classic one. An administrator removes
    consumers by LEAVE_GROUP.
    """
    by_heartbeat = event.protocol == "consumer" and event.epoch is not None and event.epoch < 0
    return by_heartbeat or event.event == "LEAVE_GROUP"


def start_timer(evidence: Evidence, line: Line, told: Rejoin) -> None:
    """A member was told to join, once or in a run of heartbeats. If it is told so when its time was
    up, it began later.
    """
    if told.due_at is not None and line.last_ms <= told.due_at:
        return
    contact = evidence.contacts.get(told.member_id)
    timeout_ms = None if contact is None else contact.rebalance_timeout_ms
    told.due_at = None
    if timeout_ms is not None and evidence.consumers_at >= line.event.at_ms - CONSUMERS_BEAT_MS:
        due_at = line.event.at_ms + timeout_ms
        told.due_at = due_at if line.last_ms <= due_at else line.last_ms + timeout_ms


def stay(line: Line, rejoin: Rejoin | None) -> None:
    """A request was granted to a member: it is one still, whenever its time began."""
    if rejoin is not None and rejoin.due_at is not None and line.last_ms > rejoin.due_at:
        rejoin.due_at = None


def is_out_of_time(evidence: Evidence, line: Line, rejoin: Rejoin, came_at: int) -> bool:
    """Whether the member was removed before this join of it came, to the broker that told it."""
    told_at, due_at = rejoin.told_at, rejoin.due_at
    if told_at is None or due_at is None or rejoin.broker != line.broker:
        return False
    is_steady = evidence.steady_broker == line.broker and evidence.steady_since_at < told_at
    is_of_consumers = evidence.consumers_at >= due_at - CONSUMERS_BEAT_MS
    return is_steady and is_of_consumers and came_at > due_at
