"""Members that went or were thrown out: lines of the coordinator, and requests that were granted.

The line comes before the records are appended, so it says what was meant, and the join to the topic
says whether it was done. From 4.0 on the line `Bumped group epoch to E` follows and gives the
departure its epoch. Source: GroupMetadataManager.consumerGroupFenceMembers, classicGroupLeave..
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import (
    ADMIN_REMOVAL,
    JOIN_TIMEOUT,
    LEAVE_GROUP,
    LEAVE_HEARTBEAT,
    SESSION_EXPIRED,
    SYNC_TIMEOUT,
    Departure,
)
from groupreplay.evidence.memory import Evidence, Line, Proofs, place
from groupreplay.records.log_events import HEARTBEATS_WITH_EPOCH

BUMP_AFTER_MS: Final = 1_000
"""The line with the epoch follows in the same operation; later ones belong to others, as do those
behind a conversion to a consumer group.
"""

LEFT: Final = "LEFT"
FENCED: Final = "FENCED"

_ADMIN_REASON: Final = "member was removed by an admin"
_LEAVE_EPOCH: Final = -1


def replay_departure(evidence: Evidence, line: Line, output: Proofs) -> list[Departure]:
    """The departures that the line shows; they wait in `evidence.removals` for their epoch."""
    event = line.event
    settle_departures(evidence, event.at_ms, output)
    if event.event == "GROUP_EPOCH_BUMPED" and event.epoch is not None:
        for departure in evidence.departures:
            departure.epoch = departure.epoch or event.epoch
        _emit_all(evidence, output)
        return []
    if event.event == "CONVERTED_TO_CONSUMER":  # a classic group, of which no epoch is bumped
        _emit_all(evidence, output)
    found = [_departure(evidence, line, *each) for each in _told(evidence, line)]
    gone = {departure.member_id for departure in found}
    for instance_id in [
        instance_id for instance_id, member_id in evidence.instances.items() if member_id in gone
    ]:
        del evidence.instances[instance_id]
    if line.source == "server_log":
        evidence.departures += found
    else:
        for departure in found:
            output.emit(departure)
    return found


def settle_departures(evidence: Evidence, at_ms: int, output: Proofs) -> None:
    """Lets those go that no line will give an epoch."""
    if evidence.departures and at_ms - evidence.departures[-1].ended_at > BUMP_AFTER_MS:
        _emit_all(evidence, output)


def _emit_all(evidence: Evidence, output: Proofs) -> None:
    for departure in evidence.departures:
        output.emit(departure)
    evidence.departures = []


_JOINED: Final = frozenset(
    {"MEMBER_JOINED", "STATIC_MEMBER_RETURNED", "JOIN_GROUP", *HEARTBEATS_WITH_EPOCH}
)


def learn_instance(evidence: Evidence, line: Line) -> None:
    """Who a static member is: an admin removes it by its instance alone."""
    event = line.event
    member_id = event.member_id or event.other_member_id
    if event.event in _JOINED and event.instance_id and member_id and not event.error_code:
        evidence.instances[event.instance_id] = member_id


def _told(evidence: Evidence, line: Line) -> list[tuple[str, str, str]]:
    """(member id, outcome, detail) of each member that the line says is gone."""
    event = line.event
    member_id = event.member_id or evidence.instances.get(event.instance_id or "")
    members = [member_id] if member_id else []
    if event.event == "MEMBER_LEFT":
        # Members of the classic protocol send LeaveGroup, in a consumer group too; the lines of
        # classic groups name no protocol.
        detail = (
            _leave_detail(event.client_reason)
            if event.protocol in (None, "classic")
            else LEAVE_HEARTBEAT
        )
        return [(member, LEFT, detail) for member in members]
    if event.event == "MEMBER_FENCED":
        return [(member, FENCED, event.detail or SESSION_EXPIRED) for member in members]
    if event.event == "MEMBER_FAILED":
        return [(member, FENCED, SESSION_EXPIRED) for member in members]
    if event.event in ("MEMBERS_MISSED_JOIN", "MEMBERS_MISSED_SYNC"):
        detail = JOIN_TIMEOUT if event.event == "MEMBERS_MISSED_JOIN" else SYNC_TIMEOUT
        return [(member, FENCED, detail) for member in event.member_ids]
    if event.event == "JOIN_PHASE_STARTED" and event.detail == SYNC_TIMEOUT:
        # The line of their own is at DEBUG since 4.0: the reason of the rebalance that it begins
        # names them too.
        return [(member, FENCED, SYNC_TIMEOUT) for member in event.member_ids]
    if event.error_code == 0 and event.event == "LEAVE_GROUP":
        return [(member, LEFT, _leave_detail(event.client_reason)) for member in members]
    if (
        event.error_code == 0
        and event.event in HEARTBEATS_WITH_EPOCH
        and event.epoch == _LEAVE_EPOCH
    ):
        return [(member, LEFT, LEAVE_HEARTBEAT) for member in members]
    return []


def _leave_detail(client_reason: str | None) -> str:
    return ADMIN_REMOVAL if (client_reason or "").startswith(_ADMIN_REASON) else LEAVE_GROUP


def _departure(
    evidence: Evidence, line: Line, member_id: str, outcome: str, end_detail: str
) -> Departure:
    fields: dict[str, Any] = place(evidence, line)
    event, contact = line.event, evidence.contacts.get(member_id)
    known = contact.instance_id if contact is not None else None
    is_heard = contact is not None and contact.heard_by == line.broker
    return Departure(
        **fields,
        member_id=member_id,
        instance_id=event.instance_id or known,
        ended_at=event.at_ms,
        outcome=outcome,
        end_detail=end_detail,
        client_reason=event.client_reason,
        client_id=contact.client_id if contact is not None else None,
        client_host=contact.client_host if contact is not None else None,
        since_at=contact.joined_at if contact is not None and is_heard else None,
    )
