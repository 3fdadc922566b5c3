"""Texts that are shown even where clients are hidden: what Kafka's own clients and brokers say, and
what this package says of bytes that it cannot decode.

A quote is one of them as a whole, or it is left out: that a client uses Kafka's words shows none of
its own. `report.words.privacy` hides the parts in braces by what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from groupreplay.evidence.refusal_runs import ERRORS

KINDS: Final = (
    *("NEW_MEMBER", "REJOINED", "LEADER_REJOINED", "METADATA_CHANGED", "STATIC_METADATA_CHANGED"),
    *("STATIC_PROTOCOL_CHANGED", "LEFT", "SESSION_EXPIRED", "SYNC_TIMEOUT", "DOWNGRADED"),
    *("ASSIGNMENT_NOT_STORED", "OVER_CAPACITY", "COORDINATOR_LOAD", "LEAVE_HEARTBEAT"),
    *("LEAVE_GROUP", "ADMIN_REMOVAL", "REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "POLICY", "SIZE"),
    *("CUSTOM_ASSIGNOR", "MALFORMED", "NOT_CONSUMER_PROTOCOL", "UPGRADE_REFUSED", "heartbeat"),
    *("offset-commit", "txn-offset-commit", "POLL_TIMEOUT"),
)
"""What `wire.text.rebalance_reasons`, `wire.text.server_templates`, `evidence.removals` and
`joins.lines.departures` give in place of a text.
"""

_CLIENT_REASONS: Final = (
    "group is already rebalancing",
    "the consumer is being closed",
    "the consumer unsubscribed from all topics",
    "consumer poll timeout has expired",
    "consumer pro-actively leaving the group",
    "need to revoke partitions and re-join",
    "need to re-join with the given member-id: {member}",
    "triggered followup rebalance scheduled for {number}",
    "Shutdown requested",
    "Active tasks corrupted",
    "rebalance enforced by user",
    "rebalance failed due to {exception}",
    "encountered {error} from {response} response",
    "cached metadata has changed",
    "subscription has changed",
)
"""AbstractCoordinator, ConsumerCoordinator and StreamThread of the Java client."""

_ASSIGNORS_SAY: Final = (
    "Partitions were left unassigned",
    "Members are subscribed to topic {hidden} which doesn't exist in the topic metadata",
    "Index {number} out of bounds for length {number}",
    "No value present",
)
_NO_UPGRADE: Final = "Cannot upgrade classic group {hidden} to consumer group because "

_SERVERS_SAY: Final = (
    "Member {member} is not a member of group {hidden}",
    "Static member {member} with instance id {hidden} cannot join the group because the instance"
    " id is owned by {member} member",
    "Static member {member} with instance id {hidden} was fenced by member {member}",
    f"{_NO_UPGRADE}an unsupported custom assignor is in use. Please refer to the documentation or"
    " switch to a default assignor before re-attempting the upgrade",
    f"{_NO_UPGRADE}the online upgrade is disabled",
    f"{_NO_UPGRADE}online upgrade is disabled",
    f"{_NO_UPGRADE}the group does not use the consumer embedded protocol",
    f"{_NO_UPGRADE}the group size exceeds the consumer group maximum size",
    f"{_NO_UPGRADE}the embedded consumer protocol is malformed",
    "The consumer group has reached its maximum capacity of {number} members",
    "Failed to compute a new target assignment for epoch {number}",
    *(
        f"Failed to compute a new target assignment for epoch {{number}}: {said}"
        for said in _ASSIGNORS_SAY
    ),
    *_ASSIGNORS_SAY,
    "{error}",
    "The server experienced an unexpected error when processing the request",
    "The coordinator is loading and hence can't process requests",
    "The coordinator is not available",
    "The group coordinator is not available",
    "This is not the correct coordinator",
    "Specified group generation id is not valid",
    "The group member's supported protocols are incompatible with those of existing members or"
    " first group member tried to join with empty protocol type or empty protocol list",
    "The configured groupId is invalid",
    "The coordinator is not aware of this member",
    "The session timeout is not within the range allowed by the broker (as configured by"
    " group.min.session.timeout.ms and group.max.session.timeout.ms)",
    "The group is rebalancing, so a rejoin is needed",
    "Topic authorization failed",
    "Group authorization failed",
    "The request timed out",
    "The group id does not exist",
    "The consumer group has reached its max size",
    "The given member is not in the group",
    "The member epoch is fenced by the group coordinator. The member must abandon all its"
    " partitions and rejoin",
    "For requests intended only for the leader, this error indicates that the broker is not the"
    " current leader. For requests intended for any replica, this error indicates that the broker"
    " is not a replica of the topic partition",
)
"""GroupMetadataManager, its assignors, Errors.java and what Java itself says."""

QUOTES: Final = (*KINDS, *_CLIENT_REASONS, *_SERVERS_SAY)
"""Texts of clients and brokers. Nobody's own words fit a part in braces that is not hidden."""

_CLAUSES: Final = (
    "a varint is over-long",
    "a length of {number}",
    "a length of {number} where {number} bytes are left",
    "a count of {number} where {number} bytes are left",
    "a presence byte of {number}",
    "a tag of {number} bytes where {number} are left",
    "a time of {number}",
    "tag {number} after tag {number}",
    "tag {number} does not fill its size",
    "ends inside a uuid",
    "ends early",
    "null where the layout has none",
    "unknown version {number}",
    "{number} bytes too many",
    "{number} bytes, too short for a type",
    "{number} bytes, too short for a version",
    "a text is no modified UTF-8",
    "it does not parse",
    "no user data",
    "NEWER_STREAMS_METADATA: version {number}, latest {number}",
    "no value",
    "value is cut",
    "not JSON",
    "not an object with data",
    "no {name}",
    *(f"{{hidden}} is no {what}" for what in ("text", "uuid", "base64", "array", "object")),
    "{hidden} is no number of {number} to {number}",
)
_OF_LINES: Final = (
    *(
        f"{{name}} is no {what}"
        for what in (
            "array",
            "object",
            "array of objects",
            "whole number of 32 bits",
            "time in milliseconds",
            "text",
        )
    ),
    "errorCode is missing",
    "groupId is missing",
    "other JSON around the line, and no field of the message is configured",
    "no request at the configured field {hidden}",
    "no time that can be read stands before the request",
    "the JSON is no request",
    "the JSON is broken, cut or none",
    "the JSON is no object",
    "words of no layout that is known stand before the request",
    "No line of this layout has been seen yet, and this is none",
    "a line of more than {number} bytes",
)

_OF_BATCHES: Final = (
    "damaged",
    "checksum does not match",
    "record format v{number} (magic {number}) is not read",
    "batch length {number}",
    "batch length {number} runs past the end of the file",
    "magic {number}",
    "no record batch",
    "offset {number} in a batch of {number} to {number}",
    "offset {number} in a batch of {number} to {number}, after {number}",
    "{number} records in a batch that says {number}",
    "fewer records than the batch says",
    "record {number} of the batch cannot be read",
    "value does not fit into its record",
    "shorter by {number} bytes than when it was planned ({number})",
    "gzip ends early",
    "gzip is broken: {hidden}",
    "bytes after the end of gzip",
    "cannot be opened: {hidden}",
    "cannot be read on: {hidden}",
)

_OF_DUMPS: Final = (
    "kafka-dump-log could not decode it: {hidden}",
    "kafka-dump-log could not use the last {number} bytes of the segment",
    "text of kafka-dump-log 3.7 or older",
    "batch line cannot be read",
    "record line cannot be read",
    "record of a batch that cannot be used",
    "record metadata is missing (print without --skip-record-metadata)",
    "base offset {number}, last offset {number}, where {number} or more was due",
    "{number} of {number} record lines are missing",
    "record lines are missing (print with --offsets-decoder)",
    "not a line of kafka-dump-log",
    "marker line is cut",
    "record line is cut",
    "record line has no key (print with --offsets-decoder)",
    "key is no JSON (print with --offsets-decoder)",
)

FAULTS: Final = (
    *(f"{{place}}{clause}{{more}}" for clause in _CLAUSES),
    *(f"{fault}{{more}}" for fault in (*_OF_LINES, *_OF_BATCHES, *_OF_DUMPS)),
)
"""Why bytes cannot be decoded, as `wire` says it. No client writes such a text, so a name of a
field may stay.
"""

_EXCEPTIONS: Final = (
    *("NotCoordinator", "CoordinatorLoadInProgress", "CoordinatorNotAvailable"),
    *("RebalanceInProgress", "Disconnect", "MemberIdRequired", "UnknownMemberId"),
    *("IllegalGeneration", "FencedInstanceId", "Timeout", "IllegalState"),
)
_SHOWN: Final = {
    "number": "-?[0-9]+(?:ms)?",
    "name": "[A-Za-z]+",
    "exception": f"(?:{'|'.join(_EXCEPTIONS)})Exception",
    "error": f"(?:{'|'.join(ERRORS.values())})",
    "place": "(?:key: |(?:key|value) of type -?[0-9]+(?:, version -?[0-9]+)?: "
    "|streams user data of [0-9]+ members?, (?:subscription|assignment): "
    "|record [0-9]+ of the batch: )?",
    "more": "(?:[.]?, and so [0-9]+ more lines)?",
    "response": "(?:JOIN_GROUP|SYNC_GROUP|HEARTBEAT|LEAVE_GROUP|JoinGroup|SyncGroup|Heartbeat)",
}
"""Part in braces that stays -> what it can be. The other parts are `member` and `hidden`."""

_PART: Final = re.compile(r"\{(\w+)\}")


def shown_quote(
    value: Column, known: Iterable[str], member: Callable[[Column], Column], left_out: str
) -> Column:
    """A text of the known ones, with its parts hidden; any other becomes left_out. NULL stays NULL.

    known: QUOTES or FAULTS.
    member: what stands for a member id in it.
    """
    whole: list[str] = []
    with_hidden: list[str] = []
    for template in known:
        parts = _PART.findall(template)
        (whole if set(parts) <= _SHOWN.keys() else with_hidden).append(template)
    anything = "|".join(_regex(template) for template in whole)
    shown = sf.when(value.rlike(rf"^(?:{anything})\.?\z"), value)
    for template in with_hidden:
        regex = rf"(?s)^{_regex(template)}(\.?)\z"
        shown = shown.when(value.rlike(regex), _filled(value, regex, template, member, left_out))
    return sf.when(value.isNotNull(), shown.when(value == "", value).otherwise(left_out))


def _regex(template: str) -> str:
    """Words and parts take turns; what is hidden is captured, and so is what is beside it."""
    pieces = _PART.split(template)
    hides = not set(pieces[1::2]) <= _SHOWN.keys()
    found = []
    for place, piece in enumerate(pieces):
        if place % 2 == 0:
            found.append(re.escape(piece))
        elif piece in _SHOWN:
            found.append(f"({_SHOWN[piece]})" if hides else _SHOWN[piece])
        else:
            found.append("(.*)")
    return "".join(found)


def _filled(
    value: Column,
    regex: str,
    template: str,
    member: Callable[[Column], Column],
    left_out: str,
) -> Column:
    pieces = _PART.split(template)
    shown = []
    for place, piece in enumerate(pieces):
        captured = sf.regexp_extract(value, regex, (place + 1) // 2)
        if place % 2 == 0:
            shown.append(sf.lit(piece))
        elif piece == "member":
            # As an element of an array it is named once, however often its hash names it.
            shown.append(sf.get(sf.transform(sf.array(captured), member), sf.lit(0)))
        else:
            shown.append(captured if piece in _SHOWN else sf.lit(left_out))
    return sf.concat(*shown, sf.regexp_extract(value, regex, len(pieces) // 2 + 1))
