"""Facts of the tables that decisions are made by: one dataclass a kind, as those of `facts`.

Source of the rules: docs/decisions.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from groupreplay.replay.fact import Fact


@dataclass(slots=True, kw_only=True)
class Failover(Fact):
    """`coordinator_failovers`, key (leader_epoch, from_offset): the first record of a group that
    another leader of its partition wrote, what the group was before it, and what came after.

    from_offset: offset of this first record.
    to_offset: last offset of the last operation that is counted, from_offset where none is; an open
        row has it too.
    start_observed: False where a hole lies between it and the group's record before: another may
        have been the first.
    last_offset, last_at: offset and time of the group's last record before the change.
    first_at: time of its first record after the change.
    phase: one of the phases of `decisions.failovers`; UNKNOWN where the topic cannot show it.
    epoch_at: when the epoch or generation began, None where not seen.
    epoch to partitions_unowned: as the last operation before left the group, members among them
        of each state; None where a hole lies behind it, and of a group that only commits.
    *_after: what happened within AFTER_MS of first_at, and before the next change of the leader;
        None where a hole lies among the operations counted.
    lost_after: removed members that had joined before the change.
    lost_*: parallel lists, one element for each of these, at most MAX_LOST: its id, when it went,
        and its own session timeout in ms. That is None in a consumer group, where the broker's
        counts after a load.
    """

    KIND: ClassVar[str] = "failover"
    leader_epoch_before: int
    leader_epoch: int
    last_offset: int
    last_at: int
    first_at: int
    protocol: str
    phase: str
    epoch_at: int | None = None
    epoch: int | None = None
    target_epoch: int | None = None
    members: int | None = None
    at_epoch: int | None = None
    revoking: int | None = None
    waiting: int | None = None
    away: int | None = None
    partitions_pending: int | None = None
    partitions_unowned: int | None = None
    epochs_after: int | None = 0
    joined_after: int | None = 0
    removed_after: int | None = 0
    lost_after: int | None = 0
    moved_after: int | None = 0
    lost_member_ids: list[str] = field(default_factory=list)
    lost_at: list[int] = field(default_factory=list)
    lost_session_ms: list[int | None] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Absence(Fact):
    """`static_accounting`, key (identity, from_offset): a process that was gone, and came back or
    did not.

    identity: `instance:I` of a static member; else `client:C H` (client id and host) where no other
        live member had the pair when it went; else `member:M`.
    membership: STATIC, DYNAMIC.
    member_id, instance_id, client_*, member_protocol: those of the member that went.
    returned_as: id of the member that came back.
    left_at: time of its K8 at epoch -2 (KIP-345); None where it wrote none.
    removed_at: when it was not a member any more; None where it never ceased to be one.
    outcome: ABSORBED (back before its session ended: nobody rebalanced for it), EXPIRED (removed),
        EXPIRED_RETURNED, RETURNED (dynamic), AWAY (open), UNOBSERVED (a hole, or the end of what is
        known of the group, hides it).
    partitions: how many partitions it held when it went.
    last_commit_at: time of the last commit of any partition it held, None where none was seen.
    own_session_ms: session timeout that its own records have; None of consumer members, whose
        timeout is the broker's.
    epochs_opened: group epochs that began in the operations of its removal and of its return.
    moved: partitions that changed hands for these, within the hour; None where the records do not
        say who has which.
    """

    KIND: ClassVar[str] = "absence"
    identity: str
    membership: str
    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    member_protocol: str
    returned_as: str | None = None
    left_at: int | None = None
    removed_at: int | None = None
    returned_at: int | None = None
    outcome: str
    partitions: int
    last_commit_at: int | None = None
    own_session_ms: int | None = None
    epochs_opened: int = 0
    moved: int | None = None


@dataclass(slots=True, kw_only=True)
class Churn(Fact):
    """Membership events of a group in the order of the log, as `departure_waves` are cut from. Key
    (from_offset).

    A chain goes on while the next event is at most an hour after the last one; an offline
    conversion goes on with it. Lists go together, one element an event; events of one operation
    stand in the order of their kinds, G R J A, then by offset.

    event_kinds: J joined; G gone, and neither replaced nor removed with its group; R its instance
        was taken over, or came back under its own id; A away (epoch -2).
    times_at: time of its operation, or of the event before where that is later.
    offsets: offset of the record that shows it.
    member_ids, identities (as in `Absence`), client_*, instance_ids, member_protocols: those of the
        member; for R those of the old one.
    other_ids: for R the id of the new member; else None.
    incarnations: life of the group that the event was in.
    group_epochs_before, group_epochs: group epoch before and after the operation, None before the
        first.
    group_modes: how the group rebalances after it: EAGER, COOPERATIVE (classic), CONSUMER, MIXED
        (members of both protocols); STREAMS, of Kafka Streams on the classic protocol; OPAQUE, of
        another protocol type (Connect), whose assignments cannot be read.
    members_after, target_partitions: live members, and partitions in targets, after it.
    owed_partitions: those that somebody read before it, or that had been let go and waited for
        their next holder; not what the next target gave to nobody, of members that had gone.
    host_members: live members on the host of the member, after it.
    held_counts: partitions that the member held just before; 0 for J.
    left_out_events, left_out_counts: parallel lists: place of a G or R in the other lists, and how
        many of its partitions the next target gave to nobody. In events that this release saw.
    silences_ms: time since the member's last commit; None for J, and where no commit was seen.
    own_sessions_ms, own_rebalances_ms: session and rebalance timeout that its own records have,
        None where they have none.
    record_ends: how a G ended, where the records show it: REBALANCE_TIMEOUT, EXPIRED (it was away);
        else None.
    hidden_before: 1 where a hole lies between the event before and this one.
    unbroken_ms: since the group's first record behind its last hole, or of a log that begins later
        than the group; None where nothing of it is lost.
    settled: when the epoch in force after the event converged, ms; None where it had before, and
        where another event or epoch came first.
    moved_counts, returned_counts: transitions charged to the event whose process changed, and of
        these back to the process before the last one. Charged to it are those let go after it and
        before the next event or epoch. Those of a member that went, or was taken over, are charged
        to its own event.
    asked_ms: est_ms of transitions that were asked back, lost while away or lost at once (ASKED,
        AWAY, UNASKED), added up. Events that earlier releases saw have that of REPLACED in it too.
    removed_counts: transitions of kinds REMOVED and REPLACED.
    removed_ms: their time from the record of the removal to the next holder, added up.
    kept_events, kept_ms, kept_counts: parallel lists, of these transitions: place of the event in
        the other lists, for how long the member that went had had the partition, and how many
        partitions these are. Only where that was seen, and in events that this release saw.
    gap_ms: est_ms of transitions of kind GAP, added up; of STOP the time from the generation that
        left a partition out to the one that gave it, in events that this release saw.
    stop_counts: transitions of kind STOP.
    stop_events, stop_member_ids, stop_partitions, stop_read_ms: parallel lists, of these: place of
        the event in the other lists, the member that had them, how many these are, and for how long
        it may have read them, from the K2 before to this one; None where that was not seen. The
        first MAX_STOPS of a chain, and in events that this release saw.
    lows_ms, highs_ms: lower and upper bounds of all transitions, added up.
    high_unknowns: transitions without a commit before and after, so that no upper bound is known.
    idles_ms: the longest time between two such commits.
    is_opaque: an earlier release began it in a group whose assignments cannot be read, so nothing
        of them is counted.
    members_before: live members before the first event.
    is_cut: it ended at MAX_EVENTS, and another one goes on.
    """

    KIND: ClassVar[str] = "churn"
    event_kinds: list[str] = field(default_factory=list)
    times_at: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    member_ids: list[str] = field(default_factory=list)
    other_ids: list[str | None] = field(default_factory=list)
    identities: list[str] = field(default_factory=list)
    client_ids: list[str | None] = field(default_factory=list)
    client_hosts: list[str | None] = field(default_factory=list)
    instance_ids: list[str | None] = field(default_factory=list)
    member_protocols: list[str] = field(default_factory=list)
    incarnations: list[int] = field(default_factory=list)
    group_epochs_before: list[int | None] = field(default_factory=list)
    group_epochs: list[int | None] = field(default_factory=list)
    group_modes: list[str] = field(default_factory=list)
    members_after: list[int] = field(default_factory=list)
    target_partitions: list[int] = field(default_factory=list)
    owed_partitions: list[int] = field(default_factory=list)
    host_members: list[int] = field(default_factory=list)
    held_counts: list[int] = field(default_factory=list)
    left_out_events: list[int] = field(default_factory=list)
    left_out_counts: list[int] = field(default_factory=list)
    silences_ms: list[int | None] = field(default_factory=list)
    own_sessions_ms: list[int | None] = field(default_factory=list)
    own_rebalances_ms: list[int | None] = field(default_factory=list)
    record_ends: list[str | None] = field(default_factory=list)
    hidden_before: list[int] = field(default_factory=list)
    unbroken_ms: list[int | None] = field(default_factory=list)
    settled: list[int | None] = field(default_factory=list)
    moved_counts: list[int] = field(default_factory=list)
    returned_counts: list[int] = field(default_factory=list)
    asked_ms: list[int] = field(default_factory=list)
    removed_counts: list[int] = field(default_factory=list)
    removed_ms: list[int] = field(default_factory=list)
    kept_events: list[int] = field(default_factory=list)
    kept_ms: list[int] = field(default_factory=list)
    kept_counts: list[int] = field(default_factory=list)
    gap_ms: list[int] = field(default_factory=list)
    stop_counts: list[int] = field(default_factory=list)
    stop_events: list[int] = field(default_factory=list)
    stop_member_ids: list[str] = field(default_factory=list)
    stop_partitions: list[int] = field(default_factory=list)
    stop_read_ms: list[int | None] = field(default_factory=list)
    lows_ms: list[int] = field(default_factory=list)
    highs_ms: list[int] = field(default_factory=list)
    high_unknowns: list[int] = field(default_factory=list)
    idles_ms: list[int] = field(default_factory=list)
    is_opaque: bool = False
    members_before: int = 0
    is_cut: bool = False


@dataclass(slots=True, kw_only=True)
class GroupDay(Fact):
    """`group_days`, key (day): sums over one day (UTC) of one life. Partition-ms where it says so.

    day: number of the day since the epoch.
    from_at, to_at: the part of it that was watched.
    unobserved_ms: time of that part that lies in holes.
    members_ms: members x ms.
    members_max: most members at one time.
    empty_ms, mixed_ms, consumer_ms, classic_ms: time in each state.
    rebalancing_ms: time in which an epoch was open and not converged, with members; in classic
        groups the time of their sync phases.
    partitions_ms: partition-ms that somebody should have read.
    unowned_ms, away_ms, sync_ms: partition-ms that nobody read for sure: let go and not given,
        held by a member that had left for a while, stopped by an eager generation.
    longer_ms: by how many partition-ms it may have been longer.
    high_unknown: transitions for which longer_ms is an estimate, for want of commits.
    handovers: transitions of which the records show how long they took.
    handover_upper_ms, handover_counts: their histogram, in buckets of at most 6.3 %: the greatest
        ms of each bucket, ascending, and how many hand-overs are in it.
    handover_p50_ms, handover_p95_ms: percentiles, each the greatest ms of its bucket, at most
        handover_max_ms.
    handover_max_ms: the longest hand-over, exact.
    moved: transitions to another process.
    returned: transitions among these that went back to the process before the last one.
    transitions_hidden: transitions with a hole between release and grant.
    cycles: members that were removed and came back.
    rate_*: what the group adds to the sums each ms since to_at; None but in the newest day of a
        group that lives.
    rate_offset: offset of the last record that changed the group; None where the others are.
    is_rebalancing: an epoch is open since to_at; None where rate_* are.
    mode: state that it is in since to_at; None where rate_* are, and for a streams group with
        members.
    is_watched: no hole lies behind to_at; None where rate_* are.
    """

    KIND: ClassVar[str] = "group_day"
    day: int
    from_at: int
    to_at: int
    unobserved_ms: int = 0
    members_ms: int = 0
    members_max: int = 0
    empty_ms: int = 0
    mixed_ms: int = 0
    consumer_ms: int = 0
    classic_ms: int = 0
    epochs_begun: int = 0
    causes: list[str] = field(default_factory=list)
    cause_counts: list[int] = field(default_factory=list)
    rebalancing_ms: int = 0
    partitions_ms: int = 0
    unowned_ms: int = 0
    away_ms: int = 0
    sync_ms: int = 0
    longer_ms: int = 0
    high_unknown: int = 0
    handovers: int = 0
    handover_upper_ms: list[int] = field(default_factory=list)
    handover_counts: list[int] = field(default_factory=list)
    handover_p50_ms: int | None = None
    handover_p95_ms: int | None = None
    handover_max_ms: int | None = None
    moved: int = 0
    returned: int = 0
    transitions_hidden: int = 0
    joins: int = 0
    departures: int = 0
    replaced: int = 0
    away: int = 0
    cycles: int = 0
    rate_members: int | None = None
    rate_partitions: int | None = None
    rate_unowned: int | None = None
    rate_away: int | None = None
    rate_offset: int | None = None
    is_rebalancing: bool | None = None
    mode: str | None = None
    is_watched: bool | None = None
