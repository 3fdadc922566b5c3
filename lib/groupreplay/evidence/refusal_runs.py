"""Requests that were answered with an error, and lines that say so: runs of the same refusal.

Some error answers are no refusals: those that send a client to another coordinator (they show an
outage), ask it to rejoin, or give it an id. Sources: Errors.java of the clients for the codes,
GroupMetadataManager (4.x) for the meaning of lines.
"""

from __future__ import annotations

from typing import Any, Final

from groupreplay.evidence.evidence_facts import MAX_TIMES, Refusal
from groupreplay.evidence.memory import Evidence, Line, Proofs, came_at, place
from groupreplay.records.log_events import REQUEST_LOG, LogEvent

ERRORS: Final = {
    -1: "UNKNOWN_SERVER_ERROR",
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    7: "REQUEST_TIMED_OUT",
    12: "OFFSET_METADATA_TOO_LARGE",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    22: "ILLEGAL_GENERATION",
    23: "INCONSISTENT_GROUP_PROTOCOL",
    24: "INVALID_GROUP_ID",
    25: "UNKNOWN_MEMBER_ID",
    26: "INVALID_SESSION_TIMEOUT",
    27: "REBALANCE_IN_PROGRESS",
    28: "INVALID_COMMIT_OFFSET_SIZE",
    29: "TOPIC_AUTHORIZATION_FAILED",
    30: "GROUP_AUTHORIZATION_FAILED",
    35: "UNSUPPORTED_VERSION",
    42: "INVALID_REQUEST",
    47: "INVALID_PRODUCER_EPOCH",
    49: "INVALID_PRODUCER_ID_MAPPING",
    51: "CONCURRENT_TRANSACTIONS",
    53: "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    68: "NON_EMPTY_GROUP",
    69: "GROUP_ID_NOT_FOUND",
    79: "MEMBER_ID_REQUIRED",
    81: "GROUP_MAX_SIZE_REACHED",
    82: "FENCED_INSTANCE_ID",
    86: "GROUP_SUBSCRIBED_TO_TOPIC",
    90: "PRODUCER_FENCED",
    100: "UNKNOWN_TOPIC_ID",
    110: "FENCED_MEMBER_EPOCH",
    111: "UNRELEASED_INSTANCE_ID",
    112: "UNSUPPORTED_ASSIGNOR",
    113: "STALE_MEMBER_EPOCH",
    120: "TRANSACTION_ABORTABLE",
    128: "INVALID_REGULAR_EXPRESSION",
    130: "STREAMS_INVALID_TOPOLOGY",
    131: "STREAMS_INVALID_TOPOLOGY_EPOCH",
    132: "STREAMS_TOPOLOGY_FENCED",
    134: "GROUP_DELETION_FAILED",
}
"""Error codes of Kafka that group APIs answer with; any other shows as ERROR_<code>."""

COORDINATOR_ERRORS: Final = frozenset({14, 15, 16})
_ROUTINE_ERRORS: Final = COORDINATOR_ERRORS | {0, 27, 79}

RUN_GAP_MS: Final = 3_600_000
"""An attempt after an hour of none begins another run."""


_OF_LINES: Final = {
    "STATIC_MEMBER_REFUSED": ("CONSUMER_GROUP_HEARTBEAT", 111),
    "STATIC_MEMBER_FENCED": ("CONSUMER_GROUP_HEARTBEAT", 82),
    "UPGRADE_REFUSED": ("CONSUMER_GROUP_HEARTBEAT", 69),
}
"""Line of a broker's log -> the request and error that it was answered with."""

_UNKNOWN_SERVER_ERROR: Final = -1
_OF_PROTOCOLS: Final = {
    "classic": "JOIN_GROUP",
    "consumer": "CONSUMER_GROUP_HEARTBEAT",
    "share": "SHARE_GROUP_HEARTBEAT",
    "streams": "STREAMS_GROUP_HEARTBEAT",
}
"""Request that a line of an unexpected exception names, whose answer was UNKNOWN_SERVER_ERROR.
Source: CoordinatorOperationExceptionHelper (4.x).
"""


def error_name(code: int) -> str:
    return ERRORS.get(code, f"ERROR_{code}")


def replay_refusal(evidence: Evidence, line: Line, output: Proofs) -> None:
    """Takes a request or a line: begins, lengthens or ends runs."""
    event, error = line.event, line.event.error_code
    if event.event in _OF_LINES:
        api, code = _OF_LINES[event.event]
        _refuse(evidence, line, api, code, output)
    elif event.event == "OPERATION_FAILED" and event.protocol in _OF_PROTOCOLS:
        _refuse(evidence, line, _OF_PROTOCOLS[event.protocol or ""], _UNKNOWN_SERVER_ERROR, output)
    elif line.source == REQUEST_LOG and error is not None and error not in _ROUTINE_ERRORS:
        _refuse(evidence, line, event.event, error, output)
    elif line.source == REQUEST_LOG and error == 0:
        _end_granted(evidence, event, output)


def _refuse(evidence: Evidence, line: Line, api: str, code: int, output: Proofs) -> None:
    event = line.event
    refusal = _meaning(event, code)
    subject = event.instance_id or event.member_id or event.client_id or ""
    if refusal == UPGRADE_REFUSED:
        subject = ""  # The group as it is refuses whoever asks.
    key = (api, f"{code}/{line.source}", subject)
    run = evidence.refusals.get(key)
    if run is not None and event.at_ms - run.last_at > RUN_GAP_MS:
        output.emit(evidence.refusals.pop(key))
        run = None
    if run is None:
        fields: dict[str, Any] = place(evidence, line)
        run = evidence.refusals[key] = Refusal(
            **fields,
            member_id=event.member_id,
            instance_id=event.instance_id,
            client_id=event.client_id,
            client_host=event.client_host,
            subject=subject,
            api=api,
            error_code=code,
            refusal=refusal,
            message=event.detail,
            first_at=event.at_ms,
            last_at=event.at_ms,
            attempts=0,
            times_at=[],
        )
    run.last_at = max(run.last_at, line.last_ms)
    run.attempts += line.requests
    run.times_at = [*run.times_at[-MAX_TIMES + 1 :], event.at_ms]
    run.member_id = event.member_id or run.member_id
    run.session_timeout_ms = event.session_timeout_ms or run.session_timeout_ms
    run.client_id, run.client_host = (
        event.client_id or run.client_id,
        event.client_host or run.client_host,
    )


UPGRADE_REFUSED: Final = "UPGRADE_REFUSED"
_CANNOT_UPGRADE: Final = "Cannot upgrade classic group"


def _meaning(event: LogEvent, code: int) -> str:
    """What the refusal is: UPGRADE_REFUSED where a classic group turned a consumer-protocol member
    down, else the error's name.
    """
    if event.event == UPGRADE_REFUSED or (event.detail or "").startswith(_CANNOT_UPGRADE):
        return UPGRADE_REFUSED
    return error_name(code)


def _end_granted(evidence: Evidence, event: LogEvent, output: Proofs) -> None:
    """Who was refused asked the same again and was let in: it knocks no more, whatever it was
    refused before.
    """
    for key, run in list(evidence.refusals.items()):
        if key[0] == event.event and _is_let_in(evidence, run, event):
            output.emit(evidence.refusals.pop(key))


def _is_let_in(evidence: Evidence, run: Refusal, event: LogEvent) -> bool:
    """Whether a granted request is of the one that the run refused, and not of another that shares
    its instance id or client id. Without a subject anyone's is.

    The same member id is the same asker. Under another it is one that joined after the last
    attempt, from the same client id and host where both are known. A member that was in the group
    before is the owner of the instance id, or a neighbour. A connection would add nothing: who asks
    again over the same one has the same client id and host.
    """
    members = [each for each in (event.member_id, event.other_member_id) if each]
    if not run.subject:
        return True
    if run.subject not in members and run.subject not in (event.instance_id, event.client_id):
        return False
    if run.member_id in members:
        return True
    is_other_client = _differ(run.client_id, event.client_id)
    if is_other_client or _differ(run.client_host, event.client_host):
        return False
    return not any(_was_in(evidence, member, event, run.last_at) for member in members)


def _was_in(evidence: Evidence, member_id: str, event: LogEvent, at_ms: int) -> bool:
    """Whether the member of a granted request was in the group by then, or had asked to join it: a
    join waits for the other members. One that gives an epoch and has no contact joined before the
    first line.
    """
    contact = evidence.contacts.get(member_id)
    if contact is None:
        return (event.epoch or 0) > 0 or came_at(event) <= at_ms
    return (contact.known_since_at or contact.first_at) <= at_ms


def _differ(one: str | None, other: str | None) -> bool:
    """Both are known, and not the same."""
    return one is not None and other is not None and one != other


def forget_refusals(evidence: Evidence, output: Proofs) -> None:
    """Ends the runs that no later attempt can lengthen."""
    for key, run in list(evidence.refusals.items()):
        if evidence.last_at - run.last_at > RUN_GAP_MS:
            output.emit(evidence.refusals.pop(key))
