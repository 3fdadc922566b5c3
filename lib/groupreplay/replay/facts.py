"""What a machine returns: one dataclass a kind of fact, one instance an output row.

A field is a column of the same name in the table that its kind feeds. `*_at` is ms since the epoch,
UTC (a TIMESTAMP in the table); `*_ms` is a duration; None is NULL. Key of every fact: cluster,
group_id, log_incarnation, incarnation and what its docstring names. Facts are plain slotted
dataclasses: frozen ones cost eight times as much to make, and a replay makes millions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypedDict

from groupreplay.state_codec import DERIVED, version_of


class Place(TypedDict):
    """Whose a fact is: the life of a group in a partition of the offsets topic."""

    group_id: str
    incarnation: int
    offsets_partition: int


class Client(TypedDict):
    """Which member a fact is of, and its client."""

    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    member_protocol: str


@dataclass(slots=True, kw_only=True)
class Fact:
    """What every fact of a group has.

    from_offset, to_offset: of the records that open and close the row; to_offset is None while it
        is open.
    start_observed: False where the log began later than the row (its time is then that of the first
        record that shows it).
    is_final: no later record can change the row.
    log_incarnation: how often the offsets topic had been created again when its log began, None
        never. Machines do not know: who feeds them says it.
    """

    KIND: ClassVar[str] = ""
    group_id: str
    incarnation: int
    offsets_partition: int
    from_offset: int
    to_offset: int | None = None
    start_observed: bool = True
    is_final: bool = False
    log_incarnation: int | None = field(default=None, metadata=DERIVED)


@dataclass(slots=True, kw_only=True)
class Epoch(Fact):
    """`group_epochs`, key (epoch, from_offset). Source of the rules: docs/measures.md, Epochs."""

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
    """`member_states`, key (member_id, from_offset)."""

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


@dataclass(slots=True, kw_only=True)
class MemberLife(Fact):
    """`members`, key (member_id, from_offset): from joining the group to leaving it, through all
    epochs and conversions.

    end_reason: LEFT_OR_FENCED, REPLACED (by replaced_by), GROUP_REMOVED, UNOBSERVED (in a hole),
        OPEN.
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


@dataclass(slots=True, kw_only=True)
class HeldPartition(Fact):
    """`member_assignments`, key (member_id, coalesce(topic_id, topic), partition, from_offset).
    topic or topic_id may be None, never both.
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

    Key (member_id, reason, since_at).

    reason: SLOW_REVOCATION, WAITING_ON_HOLDER, NOT_RECONCILING, STATIC_LIMBO,
        ASSIGNED_NOT_CONSUMING; groups: ASSIGNING_STALLED, MIGRATION_STALLED. Closed stretches
        shorter than MIN_STALL_MS are not told, so no threshold may be lower.
    epochs: of ASSIGNING_STALLED the group epoch and the target epoch when it began; else none.
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


@dataclass(slots=True, kw_only=True)
class Chain(Fact):
    """Repetitions that the report calls stuck if enough of them fall into one window: FENCE_LOOP of
    a member, EPOCH_STORM of a group (member_id None).

    Key (member_id, reason, from_offset).

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


@dataclass(slots=True, kw_only=True)
class GroupSnapshot(Fact):
    """`migration_progress` but for is_stalled and progress_pct: the group as the last record left
    it.

    The blocker_* lists go together, one element a classic member.
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
)
