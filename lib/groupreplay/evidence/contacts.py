"""Who still talks to the coordinator: signs of life of each member, silences, and stretches in
which the coordinator was not there.

From the request log alone. A request that was parked (a join, a sync) counts from when it came to
when it was answered. A silence is emitted where only the member can be the reason: it ended over
the connection it began on, or the coordinator fenced the member meanwhile; and where the broker
that heard it last is that coordinator. Another one, whose log may be missing, may have heard it.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import (
    LEAVE_GROUP,
    SESSION_EXPIRED,
    Contact,
    Departure,
    Outage,
    Silence,
)
from groupreplay.evidence.memory import FORGET_MS, Evidence, Line, Proofs, came_at, place
from groupreplay.evidence.refusal_runs import COORDINATOR_ERRORS
from groupreplay.evidence.removals import FENCED
from groupreplay.limits import MIN_SILENCE_MS
from groupreplay.records.log_events import COMMITS, HEARTBEATS_WITH_EPOCH, LogEvent

HEARTBEATS: Final = frozenset(
    {
        "HEARTBEAT",
        "JOIN_GROUP",
        "SYNC_GROUP",
        *HEARTBEATS_WITH_EPOCH,
    }
)
"""Requests that re-arm a member's session timer. Commits do for classic members alone, who send
heartbeats besides.
"""

_MAY_WAIT: Final = frozenset({"JOIN_GROUP", "SYNC_GROUP"})
"""Requests whose answer may wait for other members, so that it says nothing of the one that asked.
"""

_REBALANCE_IN_PROGRESS: Final = 27
_FENCED_INSTANCE_ID: Final = 82
_STATIC_LEAVE_EPOCH: Final = -2

LATE_MS: Final = 60_000
"""A fenced member that is not heard of for so long is gone for good."""

CLOCKS_MS: Final = 5_000
"""What another broker has so long after a removal came later, unless its clock is ahead by more."""

HEARTBEAT: Final = "HEARTBEAT"
LATE: Final = "LATE"


def replay_request(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes an answered request, or a run of them."""
    event = line.event
    is_unavailable = event.error_code in COORDINATOR_ERRORS
    if is_unavailable:
        _no_coordinator(evidence, line, output)
    else:
        _coordinator_there(evidence, line, output)
    member_id = event.member_id or event.other_member_id
    if member_id is None or (event.event not in HEARTBEATS and event.event not in COMMITS):
        return
    contact = _contact_of(evidence, line, member_id, output)
    if contact is None:
        return
    if event.event in HEARTBEATS:
        _see(evidence, contact, line, output)
        _beat(contact, line)
    if event.error_code != 0:
        _count_error(contact, line)
    if event.error_code not in (0, _REBALANCE_IN_PROGRESS):
        return
    if event.event in HEARTBEATS and not _is_leave(event):
        _alive(evidence, contact, line, output)
    else:
        contact.is_away = contact.is_away or event.epoch == _STATIC_LEAVE_EPOCH
        contact.heartbeats += line.requests


def _see(evidence: Evidence, contact: Contact, line: Line, output: Proofs) -> None:
    """Any answer shows that the member was there; a silence before it over the same connection was
    its own.
    """
    came = came_at(line.event)
    if line.event.protocol == "consumer":
        evidence.consumers_at = max(evidence.consumers_at, line.last_ms)
    is_same = line.event.connection is not None and line.event.connection == contact.connection
    is_connected = is_same and _has_stayed(contact, line)
    least_ms = max(MIN_SILENCE_MS, 2 * (contact.heartbeat_interval_ms or 0))
    is_silence = contact.last_seen_at >= 0 and came - contact.last_seen_at >= least_ms
    # The line of a leave is older than that of its request. No line says who has its instance now.
    is_member = contact.ended_at is None or contact.ended_at >= came
    is_member = is_member and line.event.error_code != _FENCED_INSTANCE_ID
    if is_silence and is_connected and not contact.is_away and is_member:
        output.emit(_silence(evidence, contact, line, contact.last_seen_at, came, HEARTBEAT))
    contact.last_seen_at = max(contact.last_seen_at, line.last_ms)
    if contact.heard_by != line.broker:
        contact.joined_at = None
    contact.heard_by = line.broker
    contact.is_sent_away = line.event.error_code in COORDINATOR_ERRORS
    if contact.is_sent_away:
        contact.sent_away_at = line.last_ms
    contact.connection = line.event.connection or contact.connection
    contact.client_host = line.event.client_host or contact.client_host


def _has_stayed(contact: Contact, line: Line) -> bool:
    """Whether the member had no reason to ask another broker than the one of the line."""
    return contact.heard_by in (-1, line.broker) and not contact.is_sent_away


def move_coordinator(evidence: Evidence, line: Line) -> None:
    """The group comes to a broker, or goes from it: its members may have asked another one, whose
    log may be missing. Not one that this broker heard later, in a run of requests that began before
    the move and went on after it.
    """
    if line.event.event in ("GROUP_LOADED", "GROUP_UNLOADED"):
        for contact in evidence.contacts.values():
            if contact.heard_by == line.broker and contact.last_seen_at <= line.event.at_ms:
                contact.is_sent_away, contact.sent_away_at = True, line.event.at_ms


def _is_leave(event: LogEvent) -> bool:
    return event.event in HEARTBEATS_WITH_EPOCH and event.epoch is not None and event.epoch < 0


def _is_join(event: LogEvent) -> bool:
    return event.event == "JOIN_GROUP" or (
        event.event in HEARTBEATS_WITH_EPOCH and event.epoch == 0
    )


def _contact_of(evidence: Evidence, line: Line, member_id: str, output: Proofs) -> Contact | None:
    """The member's contact. A granted request begins one. Where an earlier one ended, only a sign
    of life that came after that does: what came before and was answered late is of the earlier, and
    so is a commit, which lets nobody in. An error begins none: a client that was never let in is no
    member. One that ended counts nothing after LATE_MS, wherever a night ended meanwhile.
    """
    event = line.event
    contact = evidence.contacts.get(member_id)
    if contact and contact.ended_at is not None and _is_forgotten(contact, event.at_ms):
        output.emit(evidence.contacts.pop(member_id))
        contact = None
    if event.error_code in (0, _REBALANCE_IN_PROGRESS) and not _is_leave(event):
        if contact is not None and _is_unwritten(contact, line):
            contact.ended_at = None
        known_since_at = None
        if contact is not None and _is_over(contact, event):
            known_since_at = contact.known_since_at or contact.first_at
            output.emit(evidence.contacts.pop(member_id))
            contact = None
        if contact is None:
            contact = evidence.contacts[member_id] = _new(evidence, line, member_id)
            contact.known_since_at = known_since_at
    return contact


def _is_over(contact: Contact, event: LogEvent) -> bool:
    """A line says when a request came to whole ms: what a member sent right before it left may
    seem to come with that. Only a join may be of the next life then. A dynamic member of the
    classic protocol that left has none: it joins under a new id. What seems to come later came
    before, by another broker's clock.
    """
    if contact.ended_at is None or event.event not in HEARTBEATS:
        return False
    is_classic = event.event not in HEARTBEATS_WITH_EPOCH
    if is_classic and contact.is_away and contact.instance_id is None:
        return False
    return came_at(event) >= contact.ended_at + (not _is_join(event))


def _is_unwritten(contact: Contact, line: Line) -> bool:
    """Whether a leader of a classic group lost its partition before it wrote the removal: the next
    one has the member still, and answers what only a member may ask. Not what another broker
    answered before, and has later by its clock.
    """
    event = line.event
    needs_member = event.event in ("HEARTBEAT", "SYNC_GROUP") and contact.heard_by != line.broker
    return (
        needs_member
        and not contact.is_away
        and contact.ended_at is not None
        and came_at(event) - contact.ended_at > CLOCKS_MS
    )


def _new(evidence: Evidence, line: Line, member_id: str) -> Contact:
    event = line.event
    fields: dict[str, Any] = place(evidence, line)
    return Contact(
        **fields,
        member_id=member_id,
        instance_id=event.instance_id,
        client_id=event.client_id,
        client_host=event.client_host,
        principal=event.principal,
        software_name=event.software_name,
        software_version=event.software_version,
        protocol=event.protocol,
        first_at=came_at(event),
        error_codes=[],
        error_counts=[],
    )


def _alive(evidence: Evidence, contact: Contact, line: Line, output: Proofs) -> None:
    """An accepted heartbeat, or a run of them without a gap."""
    event, last = line.event, contact.last_heartbeat_at
    _heard_again(evidence, contact.member_id, line, output)
    if last is not None or line.requests > 1:
        gap = max(0, came_at(event) - last) if last is not None else 0
        contact.longest_gap_ms = max(contact.longest_gap_ms or 0, gap, line.longest_gap_ms)
    heard_at = line.last_ms if contact.ended_at is None else min(line.last_ms, contact.ended_at)
    contact.last_heartbeat_at = max(last or 0, heard_at)
    alive_at = min(heard_at, came_at(event)) if event.event in _MAY_WAIT else heard_at
    contact.last_alive_at = max(contact.last_alive_at or last or 0, alive_at)
    contact.heartbeats += line.requests
    contact.is_away = contact.is_away and contact.ended_at is not None
    contact.is_rejoining = event.error_code == _REBALANCE_IN_PROGRESS
    contact.instance_id = event.instance_id or contact.instance_id
    contact.protocol = event.protocol or contact.protocol
    contact.session_timeout_ms = event.session_timeout_ms or contact.session_timeout_ms
    contact.rebalance_timeout_ms = event.rebalance_timeout_ms or contact.rebalance_timeout_ms
    contact.heartbeat_interval_ms = event.heartbeat_interval_ms or contact.heartbeat_interval_ms
    if _is_join(event) and event.error_code == 0:
        contact.joined_at = came_at(event)


def _beat(contact: Contact, line: Line) -> None:
    """Takes the time between two heartbeats of the classic protocol, or those of a run. The answer
    that the group rebalances is one too: it comes at the member's own time.
    """
    event, last = line.event, contact.last_beat_at
    if event.event != "HEARTBEAT" or event.error_code not in (0, _REBALANCE_IN_PROGRESS):
        contact.last_beat_at = None
        return
    since = event.at_ms if last is None else last
    contact.beats += line.requests - (last is None)
    contact.beats_ms += max(0, line.last_ms - since)
    contact.last_beat_at = max(line.last_ms, since)


def _count_error(contact: Contact, line: Line) -> None:
    """By request and code."""
    api, code, at = line.event.event, line.event.error_code or 0, line.event.at_ms
    _fill_up(contact)
    counted = list(zip(contact.error_apis, contact.error_codes, strict=True))
    if (api, code) in counted:
        place = counted.index((api, code))
        contact.error_counts[place] += line.requests
        contact.error_last_at[place] = max(contact.error_last_at[place], line.last_ms)
        return
    contact.error_apis.append(api)
    contact.error_codes.append(code)
    contact.error_counts.append(line.requests)
    contact.error_first_at.append(at)
    contact.error_last_at.append(line.last_ms)


def _fill_up(contact: Contact) -> None:
    """What earlier releases did not keep of the errors that they counted."""
    errors = len(contact.error_codes)
    contact.error_apis += [""] * (errors - len(contact.error_apis))
    for times in (contact.error_first_at, contact.error_last_at):
        times += [-1] * (errors - len(times))


# ---------------------------------------------------------------- silences


def _silence(
    evidence: Evidence, contact: Contact, line: Line, since_at: int, until_at: int, ended_by: str
) -> Silence:
    fields: dict[str, Any] = place(evidence, line)
    return Silence(
        **fields,
        member_id=contact.member_id,
        instance_id=contact.instance_id,
        client_id=contact.client_id,
        client_host=contact.client_host,
        protocol=contact.protocol,
        since_at=since_at,
        until_at=until_at,
        ended_by=ended_by,
        session_timeout_ms=contact.session_timeout_ms,
    )


def see_departure(evidence: Evidence, departure: Departure, line: Line) -> None:
    """Ends the member's contact; a fence for silence shows when the silence began."""
    contact = evidence.contacts.get(departure.member_id)
    if contact is None or contact.ended_at is not None:
        return
    contact.ended_at = departure.ended_at
    contact.is_away = contact.is_away or departure.end_detail == LEAVE_GROUP
    last = contact.last_heartbeat_at
    if (
        contact.is_away
        or departure.outcome != FENCED
        or departure.end_detail != SESSION_EXPIRED
        or last is None
        or not _has_stayed(contact, line)
        or (contact.sent_away_at or -1) >= last  # and it may have been granted something elsewhere
        or departure.ended_at - last < MIN_SILENCE_MS
    ):
        return
    evidence.silences[departure.member_id] = _silence(
        evidence, contact, line, last, departure.ended_at, FENCED
    )


def _heard_again(evidence: Evidence, member_id: str, line: Line, output: Proofs) -> None:
    """One that comes back after LATE_MS was gone for good, wherever a night ended meanwhile."""
    if (silence := evidence.silences.pop(member_id, None)) is not None:
        if came_at(line.event) - (silence.until_at or 0) > LATE_MS:
            silence.ended_by = LATE
        output.emit(silence)


def hear_refused(evidence: Evidence, line: Line, output: Proofs) -> None:
    """A request of a member that was fenced, whatever its answer: the process lives."""
    for member_id in {line.event.member_id, line.event.other_member_id} - {None}:
        _heard_again(evidence, member_id or "", line, output)


def forget_contacts(evidence: Evidence, output: Proofs) -> None:
    """Ends what no later line can change."""
    for member_id, silence in list(evidence.silences.items()):
        if evidence.last_at - (silence.until_at or 0) > LATE_MS:
            silence.ended_by = LATE
            output.emit(evidence.silences.pop(member_id))
    for member_id, contact in list(evidence.contacts.items()):
        if _is_forgotten(contact, evidence.last_at):
            output.emit(evidence.contacts.pop(member_id))


def _is_forgotten(contact: Contact, at_ms: int) -> bool:
    """Whether a night that ends at this time forgets it."""
    heard_at = max(contact.last_seen_at, contact.first_at, contact.ended_at or 0)
    return at_ms - heard_at > (FORGET_MS if contact.ended_at is None else LATE_MS)


# ---------------------------------------------------------------- the coordinator


def _no_coordinator(evidence: Evidence, line: Line, output: Proofs) -> None:
    """From the answer on: the coordinator kept a join until it went, and was there so long."""
    at = line.event.at_ms
    outage = evidence.outage
    if outage is not None and outage.until_at is not None and at > outage.until_at:
        output.emit(outage)
        outage = None
    if outage is None:
        fields: dict[str, Any] = place(evidence, line)
        outage = evidence.outage = Outage(**fields, since_at=at, last_at=at, attempts=0)
    outage.last_at = line.last_ms
    outage.attempts += line.requests
    outage.until_at = _answered_by(evidence, line.last_ms)


def _answered_by(evidence: Evidence, at_ms: int) -> int | None:
    """When at the latest the coordinator answered after this, by a run of requests that began
    before it and went on: at another broker, whose clock differs, or of another member.
    """
    if evidence.answered_until_at <= at_ms:
        return None
    return min(evidence.answered_until_at, at_ms + evidence.answered_gap_ms)


def _coordinator_there(evidence: Evidence, line: Line, output: Proofs) -> None:
    outage, at = evidence.outage, line.event.at_ms
    if outage is not None:
        until_at = at if outage.until_at is None else min(at, outage.until_at)
        outage.until_at = max(until_at, outage.last_at)
        output.emit(outage)
        evidence.outage = None
    if line.requests > 1 and line.last_ms > evidence.answered_until_at:
        evidence.answered_until_at = line.last_ms
        evidence.answered_gap_ms = line.longest_gap_ms
