"""One operation as it unfolds: what it found, what it touched, and how things end in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.replay.fact import Client
from groupreplay.replay.life import Life, Member, TopicPartition
from groupreplay.replay.operations import Operation


@dataclass(slots=True)
class Before:
    """A member as it was when an operation began.

    existed: it was a member; current_offset is -1 where no K8 of it was known.
    described: what its facts said of it, where the operation says something else; else None.
    """

    existed: bool
    epoch: int | None
    previous_epoch: int
    state: int
    assigned: frozenset[TopicPartition]
    pending: frozenset[TopicPartition]
    current_offset: int
    current_at: int
    described: Client | None = None

    @property
    def held(self) -> int:
        """How many partitions it held."""
        return len(self.assigned) + len(self.pending - self.assigned)


@dataclass(slots=True)
class ClassicGeneration:
    """A K2 that raises the generation, and is no downgrade. None: the K2 does not say.

    joined_at: end of the join phase.
    sync_phase_ms: time from there to the K2.
    cooperative: whether members go on reading in the rebalance, by what they list as owned.
    is_eager: they gave everything back before they joined: by that, else by the assignor's name.
    skipped: generations between the one before and this one: join phases that never ended.
    leader: member that made the assignment.
    before_at: when the K2 before was written: members read by it until they were told to join
        again. None where it was not seen.
    kept: (member, partition) that a generation before took, and that its member still lists as
        owned when it joins: it was never told that it lost it.
    """

    joined_at: int | None
    sync_phase_ms: int | None
    cooperative: bool | None
    is_eager: bool
    skipped: int | None
    leader: str | None
    before_at: int | None = None
    kept: frozenset[tuple[str, TopicPartition]] = frozenset()


@dataclass(slots=True)
class Change:
    """One operation as it unfolds.

    before: members touched, as they were.
    removed: members gone by its end.
    replaced: old member id -> the id that took its instance over.
    offsets: member id -> offset of the record that shows its last change.
    by_k2: a classic group's K2 is the evidence.
    generation: generation that this K2 began, None where it began none.
    claims: (partition, whose target it was in, whose it came into).
    dropped: members and the partitions that left their targets since the last K6.
    resubscribed: members whose subscription changed.
    last_change_offset: offset of the last record of the operation before, -1 where there is none.
    hides_ends: the group goes on as another kind, how its members ended was not seen.
    converts, downgraded: the group changed its protocol online, or went back to the classic one.
    is_whole: nothing of the operation is known to be lost.
    hidden_heirs: static members that are gone, whose heir may be in a lost part of the operation.
    left_behind: members that an upgrade did not take over. Their targets are of the generation
        before, under ids that are guessed by name.
    follows_target: an upgrade comes behind a generation that was seen.
    unnamed_topics: ids of an upgrade that had no name yet when what is open was renamed.
    may_go_on: (member, partition) of what the K2 of a downgrade gives, and may be what the member
        held by an id without a name.
    """

    at: int
    offset: int
    last_offset: int
    leader_epoch: int
    last_hole: int
    by_k2: bool = False
    generation: ClassicGeneration | None = None
    group_ends: bool = False
    before: dict[str, Before] = field(default_factory=dict)
    removed: dict[str, Member] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    claims: list[tuple[TopicPartition, str, str]] = field(default_factory=list)
    dropped: list[tuple[Member, frozenset[TopicPartition]]] = field(default_factory=list)
    resubscribed: list[Member] = field(default_factory=list)
    last_change_offset: int = -1
    hides_ends: bool = False
    converts: bool = False
    downgraded: bool = False
    is_whole: bool = True
    hidden_heirs: set[str] = field(default_factory=set)
    left_behind: frozenset[str] = frozenset()
    follows_target: bool = False
    unnamed_topics: set[str] = field(default_factory=set)
    may_go_on: set[tuple[str, TopicPartition]] = field(default_factory=set)

    @classmethod
    def of(cls, operation: Operation, life: Life | None = None) -> Change:
        """The change that an operation begins.

        life: life that the operation belongs to; None where it begins one.
        """
        change = cls(
            operation.ts_ms,
            operation.offset,
            operation.last_offset,
            operation.leader_epoch,
            operation.last_hole,
        )
        change.last_change_offset = life.last_change_offset if life is not None else -1
        change.is_whole = operation.is_whole
        return change

    def heirs(self) -> set[str]:
        """Who took over the instance of a member that was there before the operation: of one that
        an upgrade takes over and replaces at once, the records before may not know.
        """
        if not self.replaced:
            return set()
        return {new_id for old_id, new_id in self.replaced.items() if self.before[old_id].existed}

    def client_before(self, member: Member) -> Client:
        """What facts said of a touched member when the operation began: who it was in a stretch of
        time that the operation ends.
        """
        return self.before[member.member_id].described or member.client

    @classmethod
    def at_end_of(cls, life: Life) -> Change:
        """The change that no record shows: the log that a life was in is no more."""
        offset = life.last_offset
        return cls(life.last_at, offset, offset, life.leader_epoch, offset)


def is_hidden(change: Change, member_id: str) -> bool:
    """Whether a hole lies behind a member's last record, in which it may have come and gone, or in
    the operation, where it may have had an heir.
    """
    behind = 0 <= change.before[member_id].current_offset < change.last_hole
    return change.hides_ends or behind or member_id in change.hidden_heirs


@dataclass(slots=True)
class Moment:
    """When, where and how something changes: of one operation, for one member.

    offset: offset of the record that shows it.
    epoch: the member's new epoch, or the group's where the member is gone.
    by_k2: a classic group's K2 says so.
    generation: generation that this K2 began, None where it began none.
    last_hole: greatest offset below that was lost: nothing is measured across it.
    """

    at: int
    offset: int
    epoch: int | None
    leader_epoch: int
    by_k2: bool = False
    last_hole: int = -1
    generation: ClassicGeneration | None = None


@dataclass(slots=True)
class Ending:
    """Why partitions leave a member: end_reason of its spans, outcome of its open requests, and
    whether a hole hides the moment.

    returned: what it has after a request without giving it up.
    away_at: when it had left for a while, None where it had not.
    may_go_on: the member may have them still, in a life that is not seen.
    """

    reason: str
    outcome: str | None = None
    hidden: bool = False
    returned: frozenset[TopicPartition] = field(default_factory=frozenset)
    away_at: int | None = None
    may_go_on: bool = False
