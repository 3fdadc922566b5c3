"""What a line of a broker's log or request log says, as the machines of evidence read it: one flat
dataclass for both kinds.

The parsers in `wire` make them; standard library only. Times are ms since the epoch, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass

SERVER_LOG, REQUEST_LOG = "server_log", "request_log"
"""Kinds of logs that brokers write, as configuration and `raw_lines` name them."""

BROKER_SETTING = "BROKER_SETTING"
"""Event of a line that says what a broker was started with: its detail is `name = value`."""

HEARTBEATS_WITH_EPOCH = frozenset(
    {"CONSUMER_GROUP_HEARTBEAT", "SHARE_GROUP_HEARTBEAT", "STREAMS_GROUP_HEARTBEAT"}
)
"""Requests of the newer protocols: a join is one with epoch 0, a leave one with epoch -1, or -2
of a static member that leaves for a while.
"""

COMMITS = frozenset({"OFFSET_COMMIT", "TXN_OFFSET_COMMIT"})
"""Requests that commit offsets."""


@dataclass(slots=True, kw_only=True)
class LogEvent:
    """One thing a line says; None where it does not say it.

    event: for a broker's log the template's name (`wire.text.server_templates`), for a request log
        the API's (`wire.text.request_log`).
    at_ms: when the line was written.
    started_ms: when the request came, at_ms less its total time.
    offsets_partition: partition of the offsets topic that the line names, or whose coordinator
        shard wrote it.
    other_member_id: who owns, replaces or fences; the member that a join was answered with.
    epoch: group epoch, generation or member epoch that the line or the request names.
    response_epoch: member epoch or generation that the response names.
    state: state of the classic group, as the broker prints it.
    detail: the server's reason, or the text of the error.
    client_reason: the client's own words.
    error_code: error code of the response, 0 if none.
    count: members, records or requests.
    duration_ms: what the line says it took.
    session_timeout_ms: session timeout that a member of the classic protocol joined with. That of
        any other member is the broker's, and no line has it.
    rebalance_timeout_ms: rebalance timeout that a member of the classic protocol joined with.
    heartbeat_interval_ms: heartbeat interval that the broker gave a member in its answer.
    member_ids: ids of all members that the line names, where there are several. Of a join the
        leader that the answer names: a classic group has one, a consumer group none.
    connection: id of the client's connection to the broker, as the request log writes it.
    """

    event: str
    at_ms: int
    started_ms: int | None = None
    offsets_partition: int | None = None
    group_id: str | None = None
    member_id: str | None = None
    instance_id: str | None = None
    other_member_id: str | None = None
    protocol: str | None = None
    epoch: int | None = None
    response_epoch: int | None = None
    state: str | None = None
    detail: str | None = None
    client_reason: str | None = None
    error_code: int | None = None
    count: int | None = None
    duration_ms: int | None = None
    client_id: str | None = None
    client_host: str | None = None
    connection: str | None = None
    principal: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    session_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    member_ids: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class Unmatched:
    """A whole line that no template knows; counted by its logger."""

    logger: str


@dataclass(slots=True, frozen=True)
class Damaged:
    """A line that cannot be read as one of its kind of log.

    reason: why, in one sentence.
    """

    reason: str
