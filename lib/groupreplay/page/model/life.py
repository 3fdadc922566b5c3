"""What the page of one group shows, as data. Each class but `GroupLife` is a row of one query
(`report/pages/group_frames.py`), whose columns are its fields; None stands for NULL.

Times and durations as in `fleet`. `life` names an incarnation: (log_incarnation, incarnation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from groupreplay.page.model.life_of_tasks import Process, StreamsEpoch, TaskMove, TaskSpan
from groupreplay.page.model.rows import LifeKey


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The group at the end of the night."""

    phase: str
    streams_protocol: str | None = None
    team: str | None = None
    contact: str | None = None
    members_consumer: int = 0
    members_total: int = 0
    mixed_since_at_ms: int | None = None
    upgraded_at_ms: int | None = None
    downgraded_at_ms: int | None = None
    history_complete: bool = True
    is_stalled: bool = False
    group_epoch: int | None = None
    waits_for: tuple[tuple[str | None, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One life of a member.

    life: incarnation of the group that it was in.
    """

    life: LifeKey
    member_id: str
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    member_protocol: str
    process_id: str | None = None
    joined_at_ms: int
    ended_at_ms: int | None = None
    end_reason: str
    end_detail: str | None = None
    software: str | None = None
    start_observed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A member in one state.

    waiting_on: ids of the members that it waits for.
    """

    life: LifeKey
    member_id: str
    member_protocol: str
    member_epoch: int
    state: str
    from_at_ms: int
    to_at_ms: int | None = None
    partitions_assigned: int
    partitions_pending: int
    waiting_on: tuple[str, ...] = ()
    start_observed: bool = True
    end_observed: bool = True
    is_final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A partition at one member."""

    life: LifeKey
    member_id: str
    topic: str
    partition: int
    assigned_at_ms: int
    released_at_ms: int | None = None
    end_reason: str
    start_observed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """joined_at_ms: end of the join phase of a classic generation."""

    life: LifeKey
    epoch: int
    protocol: str
    started_at_ms: int
    cause: str
    cause_member_id: str | None = None
    cause_detail: str | None = None
    target_at_ms: int | None = None
    converged_at_ms: int | None = None
    superseded_at_ms: int | None = None
    joined_at_ms: int | None = None
    members: int
    members_classic: int
    partitions_moved: int | None = None
    converge_ms: int | None = None
    outcome: str
    start_observed: bool = True
    from_offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """One partition that was asked back."""

    life: LifeKey
    member_id: str
    topic: str
    partition: int
    requested_at_ms: int
    ended_at_ms: int | None = None
    granted_at_ms: int | None = None
    granted_to: str | None = None
    notify_ms: int | None = None
    revoke_ms: int | None = None
    unowned_ms: int | None = None
    resume_ms: int | None = None
    outcome: str
    is_censored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """An episode of a member, or, without member_id, of the group."""

    life: LifeKey
    reason: str
    member_id: str | None = None
    client_id: str | None = None
    since_at_ms: int
    until_at_ms: int | None = None
    stuck_ms: int
    is_open: bool
    repetitions: int | None = None
    detail: str | None = None
    blocked_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    life: LifeKey
    converted_at_ms: int
    direction: str
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """A rebalance of a classic group, as its broker logged it."""

    generation: int
    started_at_ms: int
    joined_at_ms: int | None = None
    synced_at_ms: int | None = None
    cause: str
    outcome: str
    members_joined: int | None = None
    missing: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    subject: str
    client_id: str | None = None
    api: str
    refusal: str
    message: str | None = None
    first_at_ms: int
    last_at_ms: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWave:
    """wave: class of the wave.
    stopped_ms: partition-ms that nobody read, an estimate or a lower bound.
    is_estimate: stopped_ms is an estimate.
    """

    wave: str
    started_at_ms: int
    ended_at_ms: int
    settled_at_ms: int | None = None
    departed: int
    joined: int
    moved: int | None = None
    stopped_ms: int | None = None
    is_estimate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDay:
    """What a day cost.

    high_unknown: changes of hands of which high_ms knows no upper bound.
    """

    life: LifeKey
    day: str
    from_at_ms: int
    to_at_ms: int
    unobserved_ms: int = 0
    partitions_ms: int = 0
    low_ms: int = 0
    high_ms: int = 0
    high_unknown: int = 0
    availability_most_pct: float | None = None
    availability_least_pct: float | None = None
    epochs: int = 0
    moved: int = 0
    handover_max_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Readiness of the group.

    rules: (rule, severity, detail) of each rule that fired.
    """

    verdict: str
    flip_tier: int | None = None
    cohort: str
    suggested_assignor: str | None = None
    observed_ms: int | None = None
    rules: tuple[tuple[str | None, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedWave:
    """A wave under one scenario, and what it would have cost, in partition-ms.

    refused: why that, or what it is compared with, is not known.
    """

    started_at_ms: int
    scenario: str
    is_actual: bool
    rebalances: int | None = None
    stopped_partitions: int | None = None
    low_ms: int | None = None
    mid_ms: int | None = None
    high_ms: int | None = None
    actual_ms: int | None = None
    delta_pct: float | None = None
    basis: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failover:
    """A move of the coordinator.

    last_at_ms, first_at_ms: times of the group's last record before it and first record after it.
    """

    leader_epoch_before: int
    leader_epoch: int
    last_at_ms: int
    first_at_ms: int
    gap_ms: int | None = None
    phase: str
    epochs_after: int | None = None
    removed_after: int | None = None
    moved_after: int | None = None
    load_ms: int | None = None
    broker: int | None = None
    moved_from: int | None = None
    unavailable_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A process that was gone.

    left_at_ms: time of its last sign of life.
    """

    life: LifeKey
    instance_id: str | None = None
    member_id: str
    returned_as: str | None = None
    client_id: str | None = None
    membership: str
    outcome: str
    left_at_ms: int | None = None
    removed_at_ms: int | None = None
    returned_at_ms: int | None = None
    gap_low_ms: int | None = None
    gap_ms: int | None = None
    gap_high_ms: int | None = None
    own_timeout_ms: int
    absorbed_45s: bool | None = None
    absorbed_60s: bool | None = None
    is_cliff: bool | None = None
    partitions: int
    moved: int | None = None
    blind_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLife:
    """One group over one night, or over several.

    from_at_ms, as_of_ms: the part of its life that is shown; None: from its first record on.
    first_night: the first night that is shown, None where it is one alone.
    state: None where the group was gone at the end of the night.
    cut: list -> how many rows of it are left out: none that lasts still, and none that is newer.
    """

    cluster: str
    logical_date: date
    first_night: date | None = None
    group_id: str
    from_at_ms: int | None
    as_of_ms: int
    version: str
    state: State | None = None
    members: tuple[Member, ...] = ()
    spans: tuple[Span, ...] = ()
    held: tuple[Held, ...] = ()
    epochs: tuple[Epoch, ...] = ()
    hand_overs: tuple[HandOver, ...] = ()
    stuck: tuple[Stuck, ...] = ()
    conversions: tuple[Conversion, ...] = ()
    rebalances: tuple[Rebalance, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    waves: tuple[GroupWave, ...] = ()
    days: tuple[GroupDay, ...] = ()
    what_if: tuple[PricedWave, ...] = ()
    failovers: tuple[Failover, ...] = ()
    absences: tuple[Absence, ...] = ()
    verdict: Verdict | None = None
    processes: tuple[Process, ...] = ()
    streams_epochs: tuple[StreamsEpoch, ...] = ()
    tasks: tuple[TaskSpan, ...] = ()
    task_moves: tuple[TaskMove, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)
