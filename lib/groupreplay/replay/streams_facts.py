"""Facts of Kafka Streams, of groups of both protocols: one dataclass a kind, one instance an output
row.

A task is a subtopology (its number or id, as text) and a partition. What a field means is said in
docs/streams.md; as for all facts, `*_at` is ms since the epoch, `*_ms` a duration, None is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from groupreplay.replay.fact import Fact

ACTIVE = "ACTIVE"
STANDBY = "STANDBY"
WARMUP = "WARMUP"


@dataclass(slots=True, kw_only=True)
class StreamsRebalance(Fact):
    """`streams_rebalances`, key (epoch, from_offset): a K2 that raises the generation, or a K17
    that begins an epoch.

    protocol: classic, streams.
    also: causes that apply besides `cause`.
    join_ended_at, decided_at: classic: when the join phase ended, when the record was written.
        streams: when the epoch began, when its target was there.
    tasks_*: counts of tasks, and *_copies of replicas, at the end of the opening operation.
    imbalance_tenths: tenths of a percent; None with one process.
    next_kind: NONE, FOLLOWUP, PROBING, VERSION.
    outcome: STABLE, FOLLOWUP_DUE, PROBING_DUE, ERROR; of streams CONVERGED, SUPERSEDED, OPEN.
    """

    KIND: ClassVar[str] = "streams_rebalance"
    epoch: int
    protocol: str
    cause: str
    cause_member_id: str | None
    cause_process_id: str | None
    confidence: str
    also: list[str] = field(default_factory=list)
    scheduled_at: int | None = None
    join_ended_at: int | None = None
    decided_at: int | None = None
    join_ms: int | None = None
    sync_ms: int | None = None
    commit_gap_ms: int | None = None
    leader_member_id: str | None = None
    leader_process_id: str | None = None
    members: int = 0
    processes: int = 0
    tasks: int = 0
    tasks_active: int = 0
    tasks_owed: int | None = None
    tasks_missing: int | None = None
    standby_copies: int = 0
    warmup_copies: int = 0
    warmups_started: int = 0
    warmups_dropped: int = 0
    tasks_ready: int | None = None
    tasks_revoked: int | None = None
    tasks_granted: int | None = None
    tasks_returned: int | None = None
    tasks_misplaced: int | None = None
    imbalance_tenths: int | None = None
    next_at: int | None = None
    next_kind: str | None = None
    next_member_id: str | None = None
    assignor: str | None = None
    assignor_confidence: str | None = None
    probing_interval_ms: int | None = None
    min_version: int | None = None
    max_version: int | None = None
    common_version: int | None = None
    error_code: str | None = None
    joins: int | None = None
    outcome: str = "OPEN"


@dataclass(slots=True, kw_only=True)
class HeldTask(Fact):
    """`task_assignments`, key (member_id, subtopology, partition, role, from_offset): one member
    holding one task in one role for an unbroken span.

    role: ACTIVE, STANDBY, WARMUP.
    role_confidence: EXACT, INFERRED.
    owed_since_at: the first generation in which the task was owed to this member while it held a
        replica.
    end_reason: REVOKED, PROMOTED, DEMOTED, WITHDRAWN, MOVED_IN_PROCESS, LEFT_OR_FENCED, REPLACED,
        TASK_REMOVED, GROUP_REMOVED, UNOBSERVED, OPEN.
    first_sum, last_sum: changelog offsets that the member reported, added up; None in streams
        groups, whose records hold none.
    generations, probes: how many generations, and how many probing ones, lie in the span.
    """

    KIND: ClassVar[str] = "held_task"
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    process_id: str | None
    subtopology: str
    partition: int
    role: str
    role_confidence: str
    assigned_at: int
    assigned_epoch: int | None
    released_at: int | None = None
    released_epoch: int | None = None
    owed_since_at: int | None = None
    end_reason: str = "OPEN"
    first_sum: int | None = None
    first_sum_at: int | None = None
    last_sum: int | None = None
    last_sum_at: int | None = None
    generations: int | None = None
    probes: int | None = None
    next_member_id: str | None = None
    next_process_id: str | None = None
    next_assigned_at: int | None = None
    unowned_ms: int | None = None
    idle_ms: int | None = None


@dataclass(slots=True, kw_only=True)
class TaskHandOver(Fact):
    """`task_handovers`, key (subtopology, partition, from_process_id, from_offset): one task that
    left one process as active, and what became of it.

    hand_over_kind: WARMED, COLD, DORMANT, IN_PROCESS; None until it was granted.
    cause: REBALANCED, OWNER_GONE, STATELESS.
    outcome: TRANSFERRED, RETURNED, ELSEWHERE, OWNER_GONE, OPEN, UNOBSERVED, TASK_REMOVED.
    gap_confidence: EXACT, PLUS_STORES (the true value is up to the number of stores more).
    """

    KIND: ClassVar[str] = "task_hand_over"
    protocol: str
    subtopology: str
    partition: int
    from_member_id: str
    from_process_id: str | None
    to_member_id: str | None = None
    to_process_id: str | None = None
    hand_over_kind: str | None = None
    cause: str
    learning_started_at: int | None = None
    learning_ms: int | None = None
    probes: int | None = None
    last_not_ready_at: int | None = None
    ready_at: int | None = None
    ready_sum: int | None = None
    target_at: int | None = None
    requested_at: int | None = None
    released_at: int | None = None
    granted_at: int | None = None
    first_commit_at: int | None = None
    notify_ms: int | None = None
    revoke_ms: int | None = None
    grant_ms: int | None = None
    unowned_ms: int | None = None
    resume_ms: int | None = None
    idle_ms: int | None = None
    gap_records: int | None = None
    gap_confidence: str | None = None
    outcome: str = "OPEN"


@dataclass(slots=True, kw_only=True)
class StreamsProcess(Fact):
    """`streams_processes`, key (process_id, from_offset): one process in a group, from its first
    member to its last.

    threads: most members at one time.
    members: how many member ids were seen.
    restarts: new member ids that came when the process had none left, or in the operation in which
        its last one went.
    tag_names, tag_values: client tags, in pairs.
    versions: metadata versions that its members wrote, ascending; empty in streams groups.
    end_reason: LEFT_OR_FENCED, GROUP_REMOVED, UNOBSERVED, OPEN.
    """

    KIND: ClassVar[str] = "streams_process"
    process_id: str
    threads: int
    members: int
    restarts: int
    hosts: list[str]
    tag_names: list[str] = field(default_factory=list)
    tag_values: list[str] = field(default_factory=list)
    endpoint: str | None = None
    versions: list[int] = field(default_factory=list)
    joined_at: int
    left_at: int | None = None
    end_reason: str = "OPEN"


@dataclass(slots=True, kw_only=True)
class StreamsSubtopology(Fact):
    """`streams_subtopologies`, key (subtopology): one subtopology of an incarnation, as the last
    record left it.

    is_stateful: None while nothing shows it.
    stateful_basis: TOPOLOGY, SUM_SEEN, REPLICA_SEEN, NOT_SEEN.
    standby_replicas: num.standby.replicas, None where it is not known.
    changelog_topics: None in classic groups, whose records do not name them.
    """

    KIND: ClassVar[str] = "streams_subtopology"
    subtopology: str
    tasks: int
    source_topics: list[str]
    changelog_topics: list[str] | None = None
    is_stateful: bool | None
    stateful_basis: str
    standby_replicas: int | None
    has_source_changelog: bool | None = None
