"""Members of the classic protocol that join a generation: when each was told to, when its JoinGroup
came, when it was answered, and when the member had its assignment.

From the request log alone. A classic group answers all joins together, when the slowest member has
come. A consumer group answers a classic member without waiting, and with its old epoch where the
member has to give something up first. So what counts is the join that brought the new epoch, or the
last one before a heartbeat that has nothing to say.

Source: GroupMetadataManager (4.x), classicGroupHeartbeat, classicGroupHeartbeatToConsumerGroup,
classicGroupJoinToConsumerGroup.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import Departure, Rejoin
from groupreplay.evidence.memory import FORGET_MS, Evidence, Line, Proofs, place
from groupreplay.records.log_events import SERVER_LOG, LogEvent

HEARTBEAT: Final = "HEARTBEAT"
JOIN_GROUP: Final = "JOIN_GROUP"
SYNC_GROUP: Final = "SYNC_GROUP"

ANSWERED_MS: Final = 60_000
"""A join that came before its member was removed is answered by then."""

_GRANTED: Final = 0
_REBALANCE_IN_PROGRESS: Final = 27


def replay_rejoin(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes an answered request, or a run of heartbeats."""
    event = line.event
    member_id = event.member_id or event.other_member_id
    if event.protocol != "classic" or member_id is None:
        return
    if event.event == JOIN_GROUP:
        if event.error_code == _GRANTED and event.response_epoch is not None:
            _join(evidence, line, member_id, event.response_epoch, output)
    elif event.event in (HEARTBEAT, SYNC_GROUP) and event.epoch is not None:
        if event.error_code == _REBALANCE_IN_PROGRESS:
            _tell(evidence, line, member_id, event.epoch, output)
        elif event.error_code == _GRANTED:
            _go_on(evidence, event, member_id, event.epoch, output)


def _tell(evidence: Evidence, line: Line, member_id: str, generation: int, output: Proofs) -> None:
    """A member was told to join. That it is told again adds nothing."""
    known = evidence.rejoins.get(member_id)
    if known is not None and (generation < _newest(known) or known.generation == generation):
        return
    _end(evidence, member_id, output)
    told = evidence.rejoins[member_id] = _new(evidence, line, member_id)
    told.generation, told.told_at = generation, line.event.at_ms
    if known is not None and known.new_generation == generation and known.synced_at is None:
        told.is_unassigned, told.unassigned_since = True, _stopped_at(known)


def _join(evidence: Evidence, line: Line, member_id: str, generation: int, output: Proofs) -> None:
    """A member was let in."""
    event, rejoin = line.event, evidence.rejoins.get(member_id)
    came_at = event.started_ms if event.started_ms is not None else event.at_ms
    is_over = rejoin is not None and rejoin.gone_at is not None and rejoin.gone_at < came_at
    if rejoin is None or is_over or not _is_waiting(rejoin) or generation < _newest(rejoin):
        _end(evidence, member_id, output)
        rejoin = evidence.rejoins[member_id] = _new(evidence, line, member_id)
    rejoin.joined_at = came_at
    contact = evidence.contacts.get(member_id)
    rejoin.is_new = contact is not None and contact.first_at == rejoin.joined_at
    rejoin.answered_at, rejoin.new_generation = event.at_ms, generation
    rejoin.answered_by = line.broker
    rejoin.synced_at = None


def _go_on(
    evidence: Evidence, event: LogEvent, member_id: str, generation: int, output: Proofs
) -> None:
    """A member has its assignment, or nothing to do."""
    rejoin = evidence.rejoins.get(member_id)
    if rejoin is None:
        return
    if rejoin.new_generation is None:
        if generation > _newest(rejoin):  # it went on: its join is in no line
            del evidence.rejoins[member_id]
    elif generation >= rejoin.new_generation:
        if event.event == SYNC_GROUP and generation == rejoin.new_generation:
            rejoin.synced_at = event.at_ms
        if event.event == HEARTBEAT or not _is_waiting(rejoin):
            _end(evidence, member_id, output)


def _stopped_at(rejoin: Rejoin) -> int | None:
    """Since when at the latest a member read nothing that had no assignment after a rejoin."""
    times = (rejoin.unassigned_since, rejoin.told_at, rejoin.joined_at)
    return next((at for at in times if at is not None), None)


def _is_waiting(rejoin: Rejoin) -> bool:
    """It was told, and no join of it has brought it on yet."""
    return rejoin.told_at is not None and rejoin.new_generation in (None, rejoin.generation)


def _newest(rejoin: Rejoin) -> int:
    """The newest generation that the member is known to have been in."""
    known = (rejoin.new_generation, rejoin.generation)
    return next((each for each in known if each is not None), -1)


def end_rejoin(evidence: Evidence, departure: Departure, output: Proofs) -> None:
    """The member is gone: it will not join any more. Where the coordinator says so, a join that
    came before may not be answered yet: a consumer group writes records first."""
    rejoin = evidence.rejoins.get(departure.member_id)
    if rejoin is not None and departure.source == SERVER_LOG and _is_waiting(rejoin):
        rejoin.gone_at = departure.ended_at
    else:
        _end(evidence, departure.member_id, output)


def forget_rejoins(evidence: Evidence, output: Proofs) -> None:
    """Ends what no later line belongs to."""
    for member_id, rejoin in list(evidence.rejoins.items()):
        is_gone = rejoin.gone_at is not None and evidence.last_at - rejoin.gone_at > ANSWERED_MS
        told_at = max(rejoin.told_at or 0, rejoin.answered_at or 0)
        if is_gone or evidence.last_at - told_at > FORGET_MS:
            _end(evidence, member_id, output)


def _end(evidence: Evidence, member_id: str, output: Proofs) -> None:
    ended = evidence.rejoins.pop(member_id, None)
    if ended is not None:
        output.emit(ended)


def _new(evidence: Evidence, line: Line, member_id: str) -> Rejoin:
    event = line.event
    fields: dict[str, Any] = place(evidence, line)
    return Rejoin(
        **fields,
        member_id=member_id,
        instance_id=event.instance_id,
        client_id=event.client_id,
        client_host=event.client_host,
    )
