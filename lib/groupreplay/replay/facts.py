"""What a machine returns: one dataclass a kind of fact, one instance an output row.

A field is a column of the same name in the table that its kind feeds. `*_at` is ms since the epoch,
UTC (a TIMESTAMP in the table); `*_ms` is a duration; None is NULL. Key of every fact: cluster,
group_id, log_incarnation, incarnation and what its docstring names. Facts are plain slotted
dataclasses: frozen ones cost eight times as much to make, and a replay makes millions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from groupreplay.replay.decision_facts import Absence, Churn, Failover, GroupDay
from groupreplay.replay.fact import Client, Fact, Place
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    StreamsSubtopology,
    TaskHandOver,
)
from groupreplay.state_codec import version_of

__all__ = ["Client", "Fact", "Place"]


@dataclass(slots=True, kw_only=True)
class Epoch(Fact):
    """`group_epochs`, key (epoch, from_offset). Source of the rules: docs/measures.md, Epochs.

    partitions: in the targets, at target_at.
    Classic groups alone have the others:
    joined_at: end of the join phase.
    sync_ms: from there to the K2.
    cooperative: None where the subscriptions do not show it.
    skipped: generations between the one before and this one.
    stopped: partitions that an eager group stopped for it.
    leader_member_id: of the member that made the assignment.
    """

    KIND: ClassVar[str] = "epoch"
    epoch: int
    protocol: str
    started_at: int
    cause: str
    cause_member_id: str | None
    confidence: str
    target_at: int | None = None
    converged_at: int | None = None
    superseded_at: int | None = None
    members: int
    members_classic: int
    partitions_moved: int | None = None
    assign_ms: int | None = None
    converge_ms: int | None = None
    outcome: str = "OPEN"
    joined_at: int | None = None
    sync_ms: int | None = None
    cooperative: bool | None = None
    skipped: int | None = None
    partitions: int | None = None
    stopped: int | None = None
    leader_member_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Conversion(Fact):
    """`group_conversions`, key (from_offset)."""

    KIND: ClassVar[str] = "conversion"
    converted_at: int
    direction: str
    mode: str
    trigger_member_id: str | None
    epoch_before: int | None
    epoch_after: int | None


@dataclass(slots=True, kw_only=True)
class MemberState(Fact):
    """`member_states`, key (member_id, from_offset).

    end_observed: False where a hole hides when it ended: then or before.
    """

    KIND: ClassVar[str] = "member_state"
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    member_protocol: str
    member_epoch: int
    state: str
    from_at: int
    to_at: int | None = None
    partitions_assigned: int
    partitions_pending: int
    waiting_on: list[str]
    end_observed: bool = True


@dataclass(slots=True, kw_only=True)
class MemberLife(Fact):
    """`members`, key (member_id, from_offset): from joining the group to leaving it, through all
    epochs and conversions.

    end_reason: LEFT_OR_FENCED, REPLACED (by replaced_by), GROUP_REMOVED, UNOBSERVED (in a hole),
        OPEN.
    process_id: id of the Kafka Streams process that it is a thread of; None for any other client.
    session_timeout_ms to client_inherited: as its last K2 or K5 (at profile_offset) has them,
        `life.Profile`; all None where no such record was seen.
    silent_ms: from its last commit of a partition that it held to its end; None without one, and
        where it was REPLACED or a hole hides commits.
    """

    KIND: ClassVar[str] = "member_life"
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    member_protocol: str
    joined_at: int
    ended_at: int | None = None
    end_reason: str = "OPEN"
    replaced_by: str | None = None
    process_id: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    protocols: list[str] | None = None
    server_assignor: str | None = None
    embedded_version: int | None = None
    rack_id: str | None = None
    topics_subscribed: int | None = None
    subscription_hash: int | None = None
    subscribed_regex: str | None = None
    subscription_user_data: int | None = None
    assignment_user_data: int | None = None
    lists_owned: bool | None = None
    profile_offset: int | None = None
    client_inherited: bool | None = None
    silent_ms: int | None = None


@dataclass(slots=True, kw_only=True)
class HeldPartition(Fact):
    """`member_assignments`, key (member_id, coalesce(topic_id, topic), partition, from_offset).
    topic or topic_id may be None, never both.

    rewound: by how many offsets the first commit after it lies below the last one in it: so much
        is read again.
    """

    KIND: ClassVar[str] = "held_partition"
    member_id: str
    instance_id: str | None
    topic: str | None
    topic_id: str | None
    partition: int
    assigned_at: int
    released_at: int | None = None
    assigned_epoch: int | None
    released_epoch: int | None = None
    end_reason: str = "OPEN"
    next_member_id: str | None = None
    next_assigned_at: int | None = None
    unowned_ms: int | None = None
    idle_ms: int | None = None
    rewound: int | None = None


@dataclass(slots=True, kw_only=True)
class HandOver(Fact):
    """`revocation_latencies`, key (member_id, coalesce(topic_id, topic), partition, from_offset).

    revoke_ms of an OPEN row is filled in at as-of, by the report.
    """

    KIND: ClassVar[str] = "hand_over"
    epoch: int | None
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    member_protocol: str
    topic: str | None
    topic_id: str | None
    partition: int
    target_at: int | None
    requested_at: int
    ended_at: int | None = None
    acked_at: int | None = None
    granted_at: int | None = None
    granted_to: str | None = None
    first_commit_at: int | None = None
    notify_ms: int | None = None
    revoke_ms: int | None = None
    grant_ms: int | None = None
    resume_ms: int | None = None
    unowned_ms: int | None = None
    timeout_ms: int | None = None
    outcome: str = "OPEN"
    is_censored: bool = True


@dataclass(slots=True, kw_only=True)
class Stall(Fact):
    """A stretch of time that the report calls stuck if it is long enough: `stuck_members`, or
    `stuck_groups` where member_id is None.

    Key (member_id, reason, since_at, from_offset): where clocks go back two may begin at one time.

    reason: for members SLOW_REVOCATION, WAITING_ON_HOLDER, NOT_RECONCILING, STATIC_LIMBO,
        ASSIGNED_NOT_CONSUMING; for groups ASSIGNING_STALLED, MIGRATION_STALLED; for Kafka Streams
        the reasons of docs/streams.md. Closed stretches shorter than MIN_STALL_MS make no fact, so
        no threshold may be lower.
    epochs: group epoch and target epoch when an ASSIGNING_STALLED began; empty for other reasons.
    repetitions: how often what the reason counts happened in the stretch (probing generations);
        None where it counts nothing.
    detail_code: what else there is to say: key of `report.words.sentences.STUCK_DETAILS`.
    detail_names, detail_values: the parameters of its sentence: numbers as text, lists as JSON.
    """

    KIND: ClassVar[str] = "stall"
    reason: str
    member_id: str | None
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    member_protocol: str | None = None
    since_at: int
    until_at: int | None = None
    blocked_by: list[str]
    partitions_waiting: int | None = None
    partitions_held: int | None = None
    deadline_at: int | None = None
    epochs: list[int] = field(default_factory=list, metadata=version_of(2))
    repetitions: int | None = None
    detail_code: str | None = None
    detail_names: list[str] = field(default_factory=list)
    detail_values: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Chain(Fact):
    """Repetitions that the report calls stuck if enough of them fall into one window: FENCE_LOOP of
    a member, EPOCH_STORM, HANDOVER_BOUNCED, REBALANCE_LOOP of a group (member_id None).

    Key (member_id, reason, from_offset).

    detail_*: as those of `Stall`.
    times_at: when each repetition began, ms, ascending.
    ends_at: when it ended (FENCE_LOOP: the return), same length. A chain ends when nothing was
        added for MAX_CHAIN_GAP_MS, so no window may be longer.
    """

    KIND: ClassVar[str] = "chain"
    reason: str
    member_id: str | None
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    member_protocol: str | None = None
    times_at: list[int]
    ends_at: list[int]
    detail_code: str | None = None
    detail_names: list[str] = field(default_factory=list)
    detail_values: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class GroupSnapshot(Fact):
    """`migration_progress` but for is_stalled and progress_pct: the group as the last record left
    it.

    The blocker_* lists go together, one element a classic member.

    streams_protocol: `classic` or `streams` where members are Kafka Streams applications (or were
        last); None for any other group.
    protocol_type, protocol_name: what its last K2 says; None where it had none.
    k2_offset to recreated_at: those of `Life`; None where they are not known.
    static_*: parallel lists, one element for each of the last absences of static members that
        ended, oldest first: when, their least and greatest gap in ms, and their outcome
        (`decision_facts.Absence`).
    downgrade_offset: offset of the first record of the conversion at downgraded_at.
    members_static: static members among members_total.
    instances_gone: instance ids that lost their member within the last hour, and have none.
    """

    KIND: ClassVar[str] = "group_snapshot"
    protocol: str
    phase: str
    last_phase: str | None
    history_complete: bool
    members_total: int
    members_consumer: int
    members_classic: int
    mixed_since_at: int | None
    upgraded_at: int | None
    downgraded_at: int | None
    conversions: int
    blocker_member_ids: list[str]
    blocker_instance_ids: list[str | None]
    blocker_client_ids: list[str | None]
    blocker_client_hosts: list[str | None]
    group_epoch: int | None
    streams_protocol: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    k2_offset: int | None = None
    cooperative: bool | None = None
    unbroken_since_at: int | None = None
    partitions_held: int | None = None
    epoch_times_at: list[int] = field(default_factory=list)
    emptied_at: int | None = None
    recreated_at: int | None = None
    static_ended_at: list[int] = field(default_factory=list)
    static_gap_low_ms: list[int | None] = field(default_factory=list)
    static_gap_high_ms: list[int | None] = field(default_factory=list)
    static_outcomes: list[str] = field(default_factory=list)
    downgrade_offset: int | None = None
    members_static: int | None = None
    instances_gone: int | None = None


@dataclass(slots=True, kw_only=True)
class Anomaly(Fact):
    """`anomalies`, key (rule, evidence_offset, detail_code, detail_values); evidence_partition is
    offsets_partition.

    severity: INFO, WARN, ERROR.
    detail_code: what was expected and what was found: key of `rules.rule_table.DETAILS`.
    detail_names, detail_values: the parameters of its sentence: numbers as text, lists as JSON.
    """

    KIND: ClassVar[str] = "anomaly"
    rule: str
    severity: str
    detected_at: int
    evidence_offset: int
    detail_code: str
    detail_names: list[str]
    detail_values: list[str]


@dataclass(slots=True, kw_only=True)
class TopicSeen(Fact):
    """`topics`: a topic id's name as a record of this group showed it for the first time.

    partitions: None unless from K4.
    """

    KIND: ClassVar[str] = "topic_seen"
    topic_id: str
    topic: str
    partitions: int | None
    seen_at: int
    source: str


FACTS: tuple[type[Fact], ...] = (
    Epoch,
    Conversion,
    MemberState,
    MemberLife,
    HeldPartition,
    HandOver,
    Stall,
    Chain,
    GroupSnapshot,
    Anomaly,
    TopicSeen,
    Failover,
    Absence,
    Churn,
    StreamsRebalance,
    HeldTask,
    TaskHandOver,
    StreamsProcess,
    StreamsSubtopology,
    GroupDay,
)
