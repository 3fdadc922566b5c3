"""What the machines of evidence return: one dataclass a kind, one instance a row of table
`evidence`.

`*_at` is ms since the epoch, UTC; `*_ms` a duration; None is NULL. The place of the line that began
a fact: source, input, position. Facts are never taken back by a later line: what is not final can
only grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(slots=True, kw_only=True)
class EvidenceFact:
    """What every fact has.

    group_id: "" for facts of a whole partition.
    broker: id of the broker that wrote the line.
    is_final: no later line can change it.
    """

    KIND: ClassVar[str] = ""
    group_id: str
    broker: int
    source: str
    input: str
    position: int
    is_final: bool = False


@dataclass(slots=True, kw_only=True)
class Departure(EvidenceFact):
    """A member went, or was thrown out, as the coordinator says or the answered request shows. Key
    (member_id, ended_at, source, position).

    outcome: LEFT, FENCED.
    end_detail: LEAVE_HEARTBEAT to SYNC_TIMEOUT, below.
    epoch: group epoch that the removal began, None where no line follows that says so.
    instance_id: instance id that the line names, else the one of the member's requests; None where
        neither shows it.
    client_id, client_host: those of the member's requests; None where the request log has none.
    since_at: when the join came that let the member in last, by the same broker; None where that is
        not known. An end before it is that of an earlier life under the same id.
    """

    KIND: ClassVar[str] = "departure"
    member_id: str
    instance_id: str | None
    ended_at: int
    outcome: str
    end_detail: str
    client_reason: str | None
    epoch: int | None = None
    client_id: str | None = None
    client_host: str | None = None
    since_at: int | None = None


LEAVE_HEARTBEAT = "LEAVE_HEARTBEAT"
LEAVE_GROUP = "LEAVE_GROUP"
ADMIN_REMOVAL = "ADMIN_REMOVAL"
SESSION_EXPIRED = "SESSION_EXPIRED"
JOIN_TIMEOUT = "JOIN_TIMEOUT"
SYNC_TIMEOUT = "SYNC_TIMEOUT"


@dataclass(slots=True, kw_only=True)
class Refusal(EvidenceFact):
    """A run of the same refusal, until who is refused is let in or an hour passes. Key (api,
    error_code, subject, first_at).

    subject: instance id, else member id, else client id: who knocks.
    member_id: id that it gave in its last attempt that gave one.
    times_at: times of the newest attempts, at most MAX_TIMES.
    refusal: what the error means here (`evidence.refusal_runs`).
    session_timeout_ms: session timeout that a member of the classic protocol asked for last.
    """

    KIND: ClassVar[str] = "refusal"
    member_id: str | None
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    subject: str
    api: str
    error_code: int
    refusal: str
    message: str | None
    first_at: int
    last_at: int
    attempts: int
    times_at: list[int]
    session_timeout_ms: int | None = None


MAX_TIMES = 1000


@dataclass(slots=True, kw_only=True)
class Rebalance(EvidenceFact):
    """One rebalance of a classic group as its coordinator logged it. Key (generation, started_at).

    generation: the old one.
    ended_at: when the outcome showed.
    outcome: COMPLETED, EMPTY, RESTARTED (another began before this one was synced), CONVERTED,
        INTERRUPTED (the coordinator gave the group away), OPEN.
    """

    KIND: ClassVar[str] = "rebalance"
    generation: int
    started_at: int
    group_state: str | None
    reason: str | None
    cause: str
    cause_member_id: str | None
    client_reason: str | None
    joined_at: int | None = None
    members_joined: int | None = None
    synced_at: int | None = None
    members_missing: list[str]
    members_dropped: list[str]
    nobody_joined: bool = False
    ended_at: int | None = None
    outcome: str = "OPEN"


@dataclass(slots=True, kw_only=True)
class Rejoin(EvidenceFact):
    """A member of the classic protocol and one generation that it joined, or was told to join and
    did not. Key (member_id, told_at, joined_at).

    generation: generation in which it was told to join, None where it joined without being told.
        In a consumer group it is the member's epoch.
    told_at: time of the first HEARTBEAT or SYNC_GROUP of that generation that was answered
        REBALANCE_IN_PROGRESS.
    joined_at: when the JoinGroup came that let it in.
    answered_at: when that was answered, which in a classic group waits for the slowest member.
    synced_at: when it had its assignment.
    new_generation: generation that the join was answered with. The one before where a consumer
        group had nothing else for its member.
    is_new: nothing was granted to it under its id before it joined, or before it was told to.
    is_unassigned: it was told before it had its assignment of the generation before.
    unassigned_since: of such a one when it was told to join that generation, or the first of
        several in a row; when its join came, where it was not told. None of any other.
    answered_by: id of the broker that answered the join, which need not be the one that told the
        member to. None where no join was answered, or an earlier release heard it.
    gone_at: when the coordinator removed the member, or another one seemed to let it in. A join
        that came before may be answered later.
    is_classic: a classic group let it in, so its join brought it to a generation.
    is_quiet: a heartbeat was granted since its join, before it had its assignment. Nothing but that
        belongs to it any more.
    due_at: when a consumer group removes the member, which was told to join, if it has not joined;
        None where that is not known.
    beside_at: when another broker first answered it something else; None where none did. Lines of
        this one may follow, by a clock that is ahead.
    is_passed: that broker answered it in a later generation than it was told in: it has joined.
    is_told_again: it was told to join once more, since its join was answered or assigned.
    refused_by: id of the broker that last answered a join of it with an error since it was told to
        join. None where none did.
    is_first: the broker that let it in had made its id just before.
    """

    KIND: ClassVar[str] = "rejoin"
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    generation: int | None = None
    told_at: int | None = None
    joined_at: int | None = None
    answered_at: int | None = None
    synced_at: int | None = None
    new_generation: int | None = None
    is_new: bool = False
    is_unassigned: bool = False
    unassigned_since: int | None = None
    answered_by: int | None = None
    gone_at: int | None = None
    is_classic: bool = False
    is_quiet: bool = False
    due_at: int | None = None
    beside_at: int | None = None
    is_passed: bool = False
    is_told_again: bool = False
    refused_by: int | None = None
    is_first: bool = False


@dataclass(slots=True, kw_only=True)
class Contact(EvidenceFact):
    """A member's requests, from its first to its last under one id. Key (member_id, first_at).

    heartbeats: accepted signs of life, commits among them.
    longest_gap_ms: longest time between two accepted heartbeats; None until there are two.
    error_*: parallel lists, one element for each request API and error code.
    last_seen_at: its last request, whatever the answer.
    is_away: it left, a static member for a while.
    is_rejoining: it was told to join a rebalance, and a join that waits is not in the log yet.
    ended_at: when the member was seen to leave or be fenced.
    session_timeout_ms: session timeout that it joined with, None where no line says it.
    heartbeat_interval_ms: heartbeat interval that the broker gave it, None where no line says it.
    error_apis: request APIs that were answered with the errors, "" where an earlier release counted
        them.
    error_first_at, error_last_at: when each error was first and last answered, -1 where an earlier
        release counted it.
    beats: how many times two classic heartbeats followed each other with nothing but commits
        between them.
    beats_ms: time between these heartbeats, added up.
    last_beat_at: time of the heartbeat that the next such time begins at, None where another
        request came since.
    last_alive_at: the last moment at which it was alive for sure: last_heartbeat_at, but of a join
        or sync, whose answer may wait for others, when that came. None where only an earlier
        release heard of it.
    heard_by: the broker that it asked last, -1 where only an earlier release heard of it.
    is_sent_away: that broker said that it is not the coordinator, or not yet.
    joined_at: when the join came that let it in last; None where none did, or it was heard by
        another broker since.
    rebalance_timeout_ms: rebalance timeout that it joined with, None where no line says it.
    known_since_at: when it first asked under its id, if an earlier contact of it ended shortly
        before. None where it first asked at first_at.
    sent_away_at: when a broker that it asked last said so, or its group came to that broker or went
        from it. None where none did.
    """

    KIND: ClassVar[str] = "contact"
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    principal: str | None
    software_name: str | None
    software_version: str | None
    protocol: str | None
    first_at: int
    last_heartbeat_at: int | None = None
    heartbeats: int = 0
    longest_gap_ms: int | None = None
    error_codes: list[int]
    error_counts: list[int]
    connection: str | None = None
    last_seen_at: int = -1
    is_away: bool = False
    is_rejoining: bool = False
    ended_at: int | None = None
    session_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    error_apis: list[str] = field(default_factory=list)
    beats: int = 0
    beats_ms: int = 0
    last_beat_at: int | None = None
    error_first_at: list[int] = field(default_factory=list)
    error_last_at: list[int] = field(default_factory=list)
    last_alive_at: int | None = None
    heard_by: int = -1
    is_sent_away: bool = False
    joined_at: int | None = None
    rebalance_timeout_ms: int | None = None
    known_since_at: int | None = None
    sent_away_at: int | None = None


@dataclass(slots=True, kw_only=True)
class Silence(EvidenceFact):
    """A member of the group that sent nothing for MIN_SILENCE_MS or longer. Key (member_id,
    since_at).

    since_at: its last sign of life.
    ended_by: HEARTBEAT (over the same connection: broker and network were there), FENCED (its
        session expired), LATE (fenced, and not heard of again), None while it lasts.
    session_timeout_ms: session timeout of the contact, None where no line says it.
    """

    KIND: ClassVar[str] = "silence"
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    protocol: str | None
    since_at: int
    until_at: int | None = None
    ended_by: str | None = None
    session_timeout_ms: int | None = None


@dataclass(slots=True, kw_only=True)
class Outage(EvidenceFact):
    """A stretch in which every answered request of a group said that its coordinator is not there.
    Key (since_at).
    """

    KIND: ClassVar[str] = "outage"
    since_at: int
    last_at: int
    until_at: int | None = None
    attempts: int


@dataclass(slots=True, kw_only=True)
class ShardEvent(EvidenceFact):
    """A coordinator took, failed to take, or gave up one partition of the offsets topic. Key
    (offsets_partition, event, occurred_at).

    event: LOADED, LOAD_FAILED, UNLOADED.
    moved_from: id of the broker that had it before it was LOADED; None where that is not known or
        the same broker.
    leader_epoch: leader epoch of the partition, None where the line does not name it.
    """

    KIND: ClassVar[str] = "shard_event"
    offsets_partition: int
    event: str
    occurred_at: int
    duration_ms: int | None
    records: int | None
    moved_from: int | None
    detail: str | None
    leader_epoch: int | None = None


@dataclass(slots=True, kw_only=True)
class AssignorFailure(EvidenceFact):
    """A stretch in which the coordinator's assignor failed for a group, always for the same reason.
    Key (reason, first_at).

    epoch: the newest that was to get a target; a request that fails writes none, so the next one
        may name it again.
    until_at: when a target was computed, None where no line shows it.
    attempts: requests that asked for a target.
    """

    KIND: ClassVar[str] = "assignor_failure"
    epoch: int | None
    reason: str | None
    first_at: int
    last_at: int
    attempts: int
    until_at: int | None = None


@dataclass(slots=True, kw_only=True)
class BrokerSetting(EvidenceFact):
    """What a broker was started with. Key (broker, source, setting, occurred_at).

    setting: Kafka's name of it; `version` is the broker's own, SEEN no setting: when a line of its
        log of that kind was read last.
    """

    KIND: ClassVar[str] = "broker_setting"
    setting: str
    value: str
    occurred_at: int


SEEN = "seen"
"""What stands for a setting in the fact that a broker was there: no setting of Kafka is called
so.
"""

EVIDENCE_FACTS: tuple[type[EvidenceFact], ...] = (
    Departure,
    Refusal,
    Rebalance,
    Rejoin,
    Contact,
    Silence,
    Outage,
    ShardEvent,
    AssignorFailure,
    BrokerSetting,
)
