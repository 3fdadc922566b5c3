"""What a machine knows of a group: data alone. A life is one incarnation of a group id, and what it
inherited from the one before.

Partitions are pairs (topic, partition): topic is an id while the group speaks the consumer
protocol, a name while it is classic, as the records name them. `replay.protocols.conversion`
renames what is open when a group changes its protocol.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from groupreplay.replay.decision_facts import Churn, GroupDay
from groupreplay.replay.facts import (
    Chain,
    Client,
    Epoch,
    HandOver,
    HeldPartition,
    MemberState,
    Place,
    Stall,
)
from groupreplay.replay.kept.absences import KeptAbsences
from groupreplay.replay.kept.failovers import KeptFailovers
from groupreplay.replay.kept.streams_tasks import ProcessLife, StreamsState
from groupreplay.replay.kept.transition import Transition
from groupreplay.state_codec import DERIVED, version_of

Unit = tuple[str, int]
"""What members are assigned: a partition of a topic (its id or name), or of a subtopology."""

TopicPartition = Unit

CLASSIC = "classic"
CONSUMER = "consumer"
STREAMS = "streams"
SHARE = "share"
SIMPLE = "simple"
UNKNOWN = "unknown"

RECONCILING = frozenset({CONSUMER, STREAMS})
"""Protocols whose members are brought to a target by heartbeats, one after the other."""


@dataclass(slots=True)
class Span:
    """A partition being held.

    other_name: its topic's name (or id) under the protocol the group had before a conversion.
    stamped: its writer keeps assignment epochs (4.3+).
    given_back: it was pending and came back, which gives it another assignment epoch.
    came_from: identity of the process that held it before (`decisions.transitions`).
    """

    assigned_at: int
    from_offset: int
    assigned_epoch: int | None
    start_observed: bool
    other_name: str | None = None
    stamped: bool = False
    given_back: bool = False
    came_from: str | None = None


@dataclass(slots=True)
class Profile:
    """What a member said when it joined, as its K2 entry or K5 has it. Shared by members that say
    the same, so it is replaced and never changed.

    session_timeout_ms: None of a member of the consumer protocol, for which the broker has one.
    protocols: the one that the group selected (K2), or those that it offers (K5).
    embedded_version: version of its subscription; None where that does not parse, or has none.
    *_user_data: length in bytes; None where the message does not parse, or the record has none.
    lists_owned: it named partitions that it owns; None where it was in no generation.
    has_topics: what it subscribes to is known.
    """

    session_timeout_ms: int | None = None
    protocols: tuple[str, ...] = ()
    embedded_version: int | None = None
    rack_id: str | None = None
    subscription_user_data: int | None = None
    assignment_user_data: int | None = None
    lists_owned: bool | None = None
    has_topics: bool = True


@dataclass(slots=True)
class Member:
    """A member as its last K5, K7 and K8 (or the last K2) show it.

    subscription_epoch: epoch that its last change of subscription began, or will begin.
    described_offset: offset of the record that says what it subscribes to, -1 where not seen.
    epoch: None before its first K8.
    current_offset: offset of the record that gave assigned and pending, -1 where not seen.
    taken: when the target took a partition from it, and the epoch of that target.
    revoking_since: time of its last K8 in UNREVOKED_PARTITIONS, which armed its rebalance timer.
    waiting: partitions of its target that it has not got while it is UNRELEASED.
    last_commit_*: time and offset of its last commit of a partition it holds, -1 for none.
    unseen_offset: until where it may have committed unseen, or -1.
    joined_*: when it was first seen, -1 until that operation ends, and whether it joined then.
    owns_since_*: when it got the first of the partitions it holds, -1 where that was not seen.
    process_id: id of the Kafka Streams process that it is a thread of; None for other clients.
    profile: None where the record that describes it was not seen.
    client_inherited: client id and host are of an earlier process of its instance; None: not known.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    protocol: str = UNKNOWN
    subscription: tuple[str, ...] = ()
    regex: str = ""
    assignor: str | None = None
    rebalance_timeout_ms: int = -1
    subscription_epoch: int = -1
    epoch: int | None = None
    previous_epoch: int = -1
    state: int = 0
    assigned: frozenset[TopicPartition] = frozenset()
    pending: frozenset[TopicPartition] = frozenset()
    target: frozenset[TopicPartition] | None = None
    target_offset: int = -1
    current_offset: int = -1
    current_at: int = -1
    spans: dict[TopicPartition, Span] = field(default_factory=dict)
    requests: dict[TopicPartition, HandOver] = field(default_factory=dict)
    taken: dict[TopicPartition, tuple[int, int | None]] = field(default_factory=dict)
    revoking_since: int = -1
    revocation: Stall | None = None
    state_row: MemberState | None = None
    wait: Stall | None = None
    waiting: set[TopicPartition] = field(default_factory=set, metadata=version_of(2))
    limbo: Stall | None = None
    last_commit_at: int = -1
    last_commit_offset: int = -1
    owns_since_at: int = -1
    owns_since_offset: int = -1
    joined_at: int = -1
    joined_offset: int = -1
    join_observed: bool = False
    described_offset: int = -1
    process_id: str | None = None
    profile: Profile | None = None
    client_inherited: bool | None = None
    unseen_offset: int = -1

    @property
    def own_session_ms(self) -> int | None:
        """Session timeout by its own record; None of a member of the consumer protocol, whose
        timeout is the broker's, and where that record was not seen.
        """
        return self.profile.session_timeout_ms if self.profile is not None else None

    @property
    def client(self) -> Client:
        """What its facts say of it."""
        return {
            "member_id": self.member_id,
            "instance_id": self.instance_id,
            "client_id": self.client_id,
            "client_host": self.client_host,
            "member_protocol": self.protocol,
        }

    def since(self, hole: int) -> Member:
        """The member as its last K8 has it, for the life that began in a hole below that.

        Rows that are open since before the hole stay with this one, whose life ends with them.
        """
        row, self.state_row = self.state_row, None
        if row is not None and row.from_offset <= hole:
            self.state_row, row = row, None
        spans = {
            tp: Span(self.current_at, self.current_offset, self.epoch, False) for tp in self.held
        }
        for tp in [tp for tp, span in self.spans.items() if span.from_offset > hole]:
            spans[tp] = self.spans.pop(tp)
        has_target = self.target_offset > hole
        return replace(
            self,
            target=self.target if has_target else None,
            target_offset=self.target_offset if has_target else -1,
            spans=spans,
            state_row=row,
            joined_at=self.current_at,
            joined_offset=self.current_offset,
            join_observed=False,
            requests={},
            taken={},
            waiting=set(),
            wait=None,
            limbo=None,
            revocation=None,
            owns_since_at=-1,
            owns_since_offset=-1,
        )

    @property
    def client_key(self) -> str:
        return client_key(self.client_id, self.client_host)

    @property
    def held(self) -> frozenset[TopicPartition]:
        return self.assigned | self.pending if self.pending else self.assigned


def client_key(client_id: str | None, client_host: str | None) -> str:
    """What identifies a client process where member ids change."""
    return f"{client_id}\x00{client_host}"


@dataclass(slots=True)
class Trail:
    """What became of a partition after it was let go: rows that wait for the next owner, then for
    its first commit.

    released_at_k2: a classic group's K2 showed that it was let go, later than it was.
    grant_observed: no hole hides when the next owner got it.
    leaving, arriving: the same as transitions: without a next owner, and without its commit.
    last_committed: position of the last commit before it was let go.
    """

    released: list[HeldPartition] = field(default_factory=list)
    handed: list[HandOver] = field(default_factory=list)
    granted_spans: list[HeldPartition] = field(default_factory=list)
    granted: list[HandOver] = field(default_factory=list)
    last_commit_at: int | None = None
    released_offset: int = -1
    granted_offset: int = -1
    grant_observed: bool = True
    released_at_k2: bool = False
    leaving: list[Transition] = field(default_factory=list)
    arriving: list[Transition] = field(default_factory=list)
    last_committed: int | None = None


@dataclass(slots=True)
class RemovedMember:
    """A member that was removed and may come back: when, and who it was."""

    removed_at: int
    member_id: str
    client_id: str | None
    client_host: str | None


@dataclass(slots=True)
class Life:
    """One incarnation of a group.

    birth_seen: its first operation was seen whole.
    hole_seen: its partition's log has a hole after that.
    conversions, last_direction, upgraded_at, downgraded_at, downgrade_offset: counted since the
        group id was last deleted or expired; they outlive an incarnation that a conversion ended.
    epoch: group epoch or generation, None until seen.
    target_epoch: epoch of the target assignment, None until seen.
    asked_at, asked_offset: time and offset of the first K6 (K20) behind the last hole, -1 for none:
        it asked every member, seen or not, for a K8 (K22).
    listed_offset: of the last upgrade that was seen whole, which lists all members; -1 for none.
    converged_in_doubt: the open epoch converged by members that were seen; there may be others.
    targets: (epoch, ms, leader epoch) of the K6s that a member may not have reached yet.
    stable: epoch -> how many members are STABLE in it.
    target_owner: whose target a partition is in.
    moved_from: partitions whose target changed since the last K6, and from whom.
    unowned: the trails that still wait for an owner.
    away: members that have left for a while.
    days: open rows of `group_days`, oldest first.
    days_clock: until when they are counted, ms, -1 before the first operation.
    days_told: number of the newest day that is not open any more.
    stops: partitions that an eager group stopped reading, or a member that was away, and that their
        holder has once more; nobody committed them since.
    clients: client key -> live members.
    departed_clients: index of departures, made when asked for.
    seen_topics: topic ids that the group dealt with and that have a name, oldest first.
    contested: what target_owner says of partitions that are in the targets of several members;
        filled for the state alone.
    unbumped: (time, offset, members) of a removal whose K3 has not come.
    stamps_assignments: its writer is 4.3 or later, by what its K6 and K8 carry.
    unnamed_topics: a topic id without a name came into a target since the last K6.
    resolved_topics: regular expression -> the topics that its K16 resolves it to.
    topic_metadata_epoch: the last epoch that came with other topics than the one before, whatever
        caused it; -1 for none.
    deleted_topics: ids that a target shows to be gone, while a partition of them is held or open.
    leader_since, leader_since_offset: time and offset of the current leader's first operation, -1
        while the first leader that was seen is the current one.
    last_change_offset: offset of the last record that was no commit, -1 before one.
    last_hole: greatest offset that was lost before its last record.
    lost_offset: offset of its last record that could not be decoded, -1 for none; kept for the next
        night alone.
    epoch_hole: greatest offset that was lost before the first record behind a hole in the open
        epoch; below epoch_offset where there is none.
    commits: partition -> (time, offset) of its last commit.
    committed: partition -> the position that this commit stored, where it could be decoded.
    streams: tasks of a group of Kafka Streams; None for any other group.
    processes: id -> a process of Kafka Streams that has members.
    gone_processes: id -> how often it had come back, for the processes that went last.
    failovers: who wrote its last record, and the last change of the leader.
    k2_offset: offset of its last K2, -1 for none.
    cooperative: whether its members went on reading in the last generation that shows it.
    unbroken_since_at: time of its first record, or the first behind the last hole; -1 before one.
    epoch_times_at: when its last KEPT_EPOCH_TIMES epochs began, ascending by offset.
    emptied_at: since when it has no members, -1 while it has some, or where that was not seen.
    recreated_at: when members last came back within MAX_CHAIN_GAP_MS of that, -1 never. Both of
        them, unbroken_since_at and epoch_times_at outlive an incarnation that ended in a
        conversion.
    absences: members that are away, and those that were removed and may come back.
    churn: membership events, as long as they are less than an hour apart.
    hosts: client host -> live members.
    """

    group_id: str
    offsets_partition: int
    incarnation: int
    protocol: str
    birth_seen: bool = False
    hole_seen: bool = False
    last_hole: int = -1
    epoch_hole: int = -1
    conversions: int = 0
    last_direction: str | None = None
    upgraded_at: int | None = None
    downgraded_at: int | None = None
    downgrade_offset: int | None = None
    mixed: Stall | None = None
    last_phase: str | None = None
    protocol_type: str = ""
    protocol_name: str | None = None
    epoch: int | None = None
    epoch_offset: int = -1
    target_epoch: int | None = None
    metadata_hash: int = 0
    topic_metadata_epoch: int = -1
    epoch_row: Epoch | None = None
    assigning: Stall | None = None
    members: dict[str, Member] = field(default_factory=dict)
    classic_members: int = field(default=0, metadata=DERIVED)
    stable: dict[int, int] = field(default_factory=dict, metadata=DERIVED)
    holders: dict[TopicPartition, list[str]] = field(default_factory=dict, metadata=DERIVED)
    waiters: dict[TopicPartition, set[str]] = field(default_factory=dict, metadata=DERIVED)
    target_owner: dict[TopicPartition, str] = field(default_factory=dict, metadata=DERIVED)
    moved_from: dict[TopicPartition, str | None] = field(default_factory=dict)
    targets: list[tuple[int, int, int]] = field(default_factory=list)
    trails: dict[TopicPartition, Trail] = field(default_factory=dict)
    unowned: set[TopicPartition] = field(default_factory=set, metadata=DERIVED)
    stops: dict[TopicPartition, Transition] = field(default_factory=dict)
    away: set[str] = field(default_factory=set, metadata=DERIVED)
    days: list[GroupDay] = field(default_factory=list)
    days_clock: int = -1
    days_told: int = -1
    departures: dict[str, RemovedMember] = field(default_factory=dict)
    departed_clients: dict[str, list[str]] | None = field(default=None, metadata=DERIVED)
    clients: dict[str, int] = field(default_factory=dict, metadata=DERIVED)
    hosts: dict[str, int] = field(default_factory=dict, metadata=DERIVED)
    loops: dict[str, Chain] = field(default_factory=dict)
    storm: Chain | None = None
    topic_names: dict[str, str] = field(default_factory=dict)
    seen_topics: list[str] = field(default_factory=list)
    contested: dict[TopicPartition, str | None] = field(default_factory=dict)
    unbumped: tuple[int, int, int] | None = None
    commits: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    committed: dict[TopicPartition, int] = field(default_factory=dict)
    committers: list[tuple[str, int]] = field(default_factory=list)
    leader_epoch: int = -1
    leader_since: int = -1
    leader_since_offset: int = -1
    stamps_assignments: bool = False
    unnamed_topics: bool = False
    resolved_topics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    deleted_topics: set[str] = field(default_factory=set)
    last_change_offset: int = -1
    last_offset: int = -1
    last_at: int = -1
    streams: StreamsState | None = None
    processes: dict[str, ProcessLife] = field(default_factory=dict)
    gone_processes: dict[str, int] = field(default_factory=dict)
    failovers: KeptFailovers = field(default_factory=KeptFailovers)
    k2_offset: int = -1
    cooperative: bool | None = None
    unbroken_since_at: int = -1
    epoch_times_at: list[int] = field(default_factory=list)
    emptied_at: int = -1
    recreated_at: int = -1
    absences: KeptAbsences = field(default_factory=KeptAbsences)
    churn: Churn | None = None
    asked_at: int = -1
    asked_offset: int = -1
    listed_offset: int = -1
    converged_in_doubt: bool = False
    lost_offset: int = -1

    @property
    def place(self) -> Place:
        """Whose its facts are."""
        return {
            "group_id": self.group_id,
            "incarnation": self.incarnation,
            "offsets_partition": self.offsets_partition,
        }

    @property
    def follows_partitions(self) -> bool:
        """Whether its records say who has which partition: not those of other protocol types
        (Connect), and of streams groups they hold tasks.
        """
        return self.protocol != STREAMS and self.protocol_type in ("", "consumer")

    def run_streams(self, state: StreamsState | None) -> None:
        """The group is one of Kafka Streams from here on; None: it is not any more."""
        self.streams = state

    def successor(self, incarnation: int) -> Life:
        """The life of a consumer group that began inside a hole of this one's log."""
        return Life(
            self.group_id,
            self.offsets_partition,
            incarnation,
            CONSUMER,
            stamps_assignments=self.stamps_assignments,
            topic_names=self.topic_names,
            seen_topics=self.seen_topics,
            commits={tp: commit for tp, commit in self.commits.items() if commit[1] > incarnation},
            committed={
                tp: position
                for tp, position in self.committed.items()
                if self.commits[tp][1] > incarnation
            },
            leader_epoch=self.leader_epoch,
            leader_since=self.leader_since,
            leader_since_offset=self.leader_since_offset,
            last_change_offset=self.last_change_offset,
            last_hole=self.last_hole,
            last_offset=self.last_offset,
            last_at=self.last_at,
        )

    def become(self, protocol: str, *, birth_seen: bool | None = None) -> None:
        """The group speaks another protocol from here on, or shows for the first time which one.

        birth_seen: whether this is the birth of the group; None: as before.
        """
        self.protocol = protocol
        if protocol == CLASSIC:
            # Their tombstones are in the downgrade.
            self.resolved_topics.clear()
        if birth_seen is not None:
            self.birth_seen = birth_seen

    def created_again(self, incarnation: int, protocol: str, *, birth_seen: bool) -> Life:
        """The life that begins where the coordinator forgot this one. It has its offsets still."""
        return Life(
            self.group_id,
            self.offsets_partition,
            incarnation,
            protocol,
            birth_seen=birth_seen,
            commits=self.commits,
            committed=self.committed,
        )

    def heir(self, incarnation: int, protocol: str, *, birth_seen: bool) -> Life:
        """The life that begins where this one ended in a conversion: it goes on with its history.

        incarnation: offset of its first operation.
        """
        return Life(
            self.group_id,
            self.offsets_partition,
            incarnation,
            protocol,
            birth_seen=birth_seen,
            conversions=self.conversions,
            last_direction=self.last_direction,
            upgraded_at=self.upgraded_at,
            downgraded_at=self.downgraded_at,
            downgrade_offset=self.downgrade_offset,
            last_phase=self.last_phase,
            absences=KeptAbsences(ended=self.absences.ended),
            churn=self.churn,
            topic_names=self.topic_names,
            commits=self.commits,
            committed=self.committed,
            leader_epoch=self.leader_epoch,
            leader_since=self.leader_since,
            leader_since_offset=self.leader_since_offset,
            last_hole=self.last_hole,
            unbroken_since_at=self.unbroken_since_at,
            epoch_times_at=self.epoch_times_at,
            emptied_at=self.emptied_at,
            recreated_at=self.recreated_at,
        )
