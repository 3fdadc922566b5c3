"""The document of one answered request, as `kafka.request.logger` writes it, to what it says about
a group's members.

Field names are those of Kafka's message schemas, first letter small; what a version lacks is left
out, null is null. Numbers called ..Ms are decimals. An empty text says as little as null: a join
without a member id, a commit of no member. Source:
server/src/main/java/org/apache/kafka/network/RequestConvertToJson.java
(core/../RequestConvertToJson.scala before 4.0), clients' common/message/*Request.json and
*Response.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.records.primitives import Malformed

GROUP_APIS: dict[int, str] = {
    8: "OFFSET_COMMIT",
    11: "JOIN_GROUP",
    12: "HEARTBEAT",
    13: "LEAVE_GROUP",
    14: "SYNC_GROUP",
    28: "TXN_OFFSET_COMMIT",
    42: "DELETE_GROUPS",
    47: "OFFSET_DELETE",
    68: "CONSUMER_GROUP_HEARTBEAT",
    76: "SHARE_GROUP_HEARTBEAT",
    88: "STREAMS_GROUP_HEARTBEAT",
    91: "ALTER_SHARE_GROUP_OFFSETS",
    92: "DELETE_SHARE_GROUP_OFFSETS",
}
"""requestApiKey to requestApiKeyName, of every request that a group's member or its administrator
makes.
"""

_PROTOCOLS = {
    11: "classic",
    12: "classic",
    13: "classic",
    14: "classic",
    68: "consumer",
    76: "share",
    88: "streams",
}

_MOST_MS = 1 << 53
"""Above it a decimal is no count of ms any more."""

_CONNECTION = re.compile(r"[^%]*(?:%[^:]*)?:\d{1,5}-([0-9A-Fa-f.:]+(?:%[^:]+)?):\d{1,5}(?:-\d+)+")
"""`local:port-remote:port-processor[-index]`. Addresses of IPv6 have colons and no brackets; the
zone after % can hold hyphens.
"""

_LONGEST_CONNECTION = 300
"""Two addresses with zones and ports have less than 150 characters."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def read_events(document: Any, at_ms: int) -> list[LogEvent] | None:
    """What the request says: one event, or one a member (LEAVE_GROUP) or a group (DELETE_GROUPS).
    None: a request of another API.

    at_ms: when its line was written. Raises Malformed where a field is not of its type; the reason
        is one sentence.
    """
    header = _object(document, "requestHeader")
    key = _integer(header, "requestApiKey")
    api = None if key is None else GROUP_APIS.get(key)
    if api is None or key is None:
        return None
    request = _object(document, "request")
    response = _object(document, "response")
    took = _milliseconds(document, "totalTimeMs")
    connection = _text(document, "connection")
    client = document.get("clientInformation")
    event = LogEvent(
        event=api,
        at_ms=at_ms,
        started_ms=at_ms - took,
        duration_ms=took,
        protocol=_PROTOCOLS.get(key),
        client_id=_text(header, "clientId"),
        client_host=None if connection is None else client_host(connection),
        connection=connection,
        principal=_text(document, "principal"),
    )
    if client is not None:
        client = _object(document, "clientInformation")
        event.software_name = _text(client, "softwareName")
        event.software_version = _text(client, "softwareVersion")
    return _READERS[key](event, request, response)


@lru_cache(maxsize=1 << 12)
def client_host(connection: str) -> str | None:
    """The remote address of a connection id, as member metadata has it (`InetAddress.toString`
    without a name). None: not of that form.
    """
    found = _CONNECTION.fullmatch(connection) if len(connection) <= _LONGEST_CONNECTION else None
    return None if found is None else f"/{found[1]}"


# ---------------------------------------------------------------- one reader a kind of request


def _heartbeat(
    event: LogEvent, request: dict[str, Any], response: dict[str, Any]
) -> list[LogEvent]:
    """Heartbeat of a consumer, share or streams group. memberEpoch 0 joins, -1 leaves, -2 leaves
    for a while.
    """
    _name_member(event, request, "instanceId")
    event.epoch = _integer(request, "memberEpoch")
    event.response_epoch = _integer(response, "memberEpoch")
    event.error_code = _error(response)
    event.heartbeat_interval_ms = _integer(response, "heartbeatIntervalMs") or None
    event.detail = _text(response, "errorMessage")
    event.other_member_id = _answered_member(event, response)
    return [event]


def _join(event: LogEvent, request: dict[str, Any], response: dict[str, Any]) -> list[LogEvent]:
    """A classic group names its leader in the answer, a consumer group none.

    Source: GroupMetadataManager.completeClassicGroupJoin, classicGroupJoinToConsumerGroup.
    """
    _name_member(event, request)
    event.client_reason = _text(request, "reason")
    event.session_timeout_ms = _integer(request, "sessionTimeoutMs")
    event.rebalance_timeout_ms = _integer(request, "rebalanceTimeoutMs")
    event.response_epoch = _integer(response, "generationId")
    leader = _text(response, "leader")
    event.member_ids = (leader,) if leader else ()
    event.error_code = _error(response)
    event.other_member_id = _answered_member(event, response)
    return [event]


def _of_generation(
    event: LogEvent, request: dict[str, Any], response: dict[str, Any]
) -> list[LogEvent]:
    """HEARTBEAT and SYNC_GROUP."""
    _name_member(event, request)
    event.epoch = _integer(request, "generationId")
    event.error_code = _error(response)
    return [event]


def _leave(event: LogEvent, request: dict[str, Any], response: dict[str, Any]) -> list[LogEvent]:
    """Up to version 2 one member leaves and the request names it; from 3 on several, each with an
    answer of its own.
    """
    event.group_id = _group(request)
    event.error_code = _error(response)
    if "members" not in request:
        event.member_id = _text(request, "memberId")
        return [event]
    members = _objects(request, "members")
    answers = _objects(response, "members") if "members" in response else []
    if len(answers) != len(members):
        answers = [{} for _ in members]
    left = []
    for member, answer in zip(members, answers, strict=True):
        own = replace(
            event,
            member_id=_text(member, "memberId"),
            instance_id=_text(member, "groupInstanceId"),
            client_reason=_text(member, "reason"),
        )
        own.error_code = _integer(answer, "errorCode") or event.error_code
        left.append(own)
    return left


def _commit(event: LogEvent, request: dict[str, Any], response: dict[str, Any]) -> list[LogEvent]:
    """OFFSET_COMMIT, where releases name the epoch differently, and TXN_OFFSET_COMMIT. The event's
    count is that of partitions that were committed.
    """
    _name_member(event, request)
    event.epoch = _integer(
        request,
        "generationIdOrMemberEpoch" if "generationIdOrMemberEpoch" in request else "generationId",
    )
    codes = _partition_errors(response)
    event.error_code = next((code for code in codes if code), 0)
    event.count = codes.count(0)
    return [event]


def _delete_offsets(
    event: LogEvent, request: dict[str, Any], response: dict[str, Any]
) -> list[LogEvent]:
    event.group_id = _group(request)
    event.error_code = _error(response) or next(
        (code for code in _partition_errors(response) if code), 0
    )
    return [event]


def _share_offsets(
    event: LogEvent, request: dict[str, Any], response: dict[str, Any]
) -> list[LogEvent]:
    """Offsets of a share group are set or deleted. The first error counts, of the whole, a topic,
    or a partition.
    """
    event.group_id = _group(request)
    topics = _objects(response, "responses")
    event.detail = _text(response, "errorMessage")
    codes = [
        _integer(each, "errorCode")
        for topic in topics
        for each in (topic, *(_objects(topic, "partitions") if "partitions" in topic else ()))
    ]
    event.error_code = _error(response) or next((code for code in codes if code), 0)
    return [event]


def _delete_groups(
    event: LogEvent, request: dict[str, Any], response: dict[str, Any]
) -> list[LogEvent]:
    groups = request.get("groupsNames")
    if not isinstance(groups, list):
        raise Malformed("groupsNames is no array")
    answers = {_group(answer): _error(answer) for answer in _objects(response, "results")}
    names = [_group({"groupId": group}) for group in groups]
    return [replace(event, group_id=name, error_code=answers.get(name)) for name in names]


_READERS: dict[int, Callable[[LogEvent, dict[str, Any], dict[str, Any]], list[LogEvent]]] = {
    8: _commit,
    11: _join,
    12: _of_generation,
    13: _leave,
    14: _of_generation,
    28: _commit,
    42: _delete_groups,
    47: _delete_offsets,
    68: _heartbeat,
    76: _heartbeat,
    88: _heartbeat,
    91: _share_offsets,
    92: _share_offsets,
}


def _name_member(
    event: LogEvent, request: dict[str, Any], instance: str = "groupInstanceId"
) -> None:
    event.group_id = _group(request)
    event.member_id = _text(request, "memberId")
    event.instance_id = _text(request, instance)


def _answered_member(event: LogEvent, response: dict[str, Any]) -> str | None:
    member = _text(response, "memberId")
    return None if member == event.member_id else member


def _partition_errors(response: dict[str, Any]) -> list[int]:
    """Error of every partition, in the order of the response."""
    return [
        _error(partition)
        for topic in _objects(response, "topics")
        for partition in _objects(topic, "partitions")
    ]


# ---------------------------------------------------------------- one reader a type


def _object(holder: Any, name: str) -> dict[str, Any]:
    value = holder.get(name)
    if not isinstance(value, dict):
        raise Malformed(f"{name} is no object")
    return value


def _objects(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Malformed(f"{name} is no array of objects")
    return value


def _integer(holder: dict[str, Any], name: str) -> int | None:
    value = holder.get(name)
    if value is None:
        return None
    if type(value) is not int or not -0x80000000 <= value <= 0x7FFFFFFF:
        raise Malformed(f"{name} is no whole number of 32 bits")
    return value


def _error(holder: dict[str, Any]) -> int:
    code = _integer(holder, "errorCode")
    if code is None:
        raise Malformed("errorCode is missing")
    return code


def _milliseconds(holder: dict[str, Any], name: str) -> int:
    value: Any = holder.get(name)
    if type(value) not in (int, float) or not 0 <= value < _MOST_MS:
        raise Malformed(f"{name} is no time in milliseconds")
    rounded: int = round(value)
    return rounded


def _group(holder: dict[str, Any]) -> str:
    """The empty group is one: clients of old could commit to it."""
    if holder.get("groupId") == "":
        return ""
    group = _text(holder, "groupId")
    if group is None:
        raise Malformed("groupId is missing")
    return group


def _text(holder: dict[str, Any], name: str) -> str | None:
    """Without lone surrogates: a byte that was no UTF-8 reads `\\xNN`."""
    value = holder.get(name)
    if value is None or value == "":
        return None
    if type(value) is not str:
        raise Malformed(f"{name} is no text")
    return value if value.isascii() else _SURROGATE.sub(_shown, value)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
