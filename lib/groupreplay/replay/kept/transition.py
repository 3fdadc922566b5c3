"""One partition from one holder to the next, and what it cost: data alone.

Source of the rules: docs/measures.md, What a change of hands costs.
"""

from __future__ import annotations

from dataclasses import dataclass

ASKED = "ASKED"
AWAY = "AWAY"
REMOVED = "REMOVED"
UNASKED = "UNASKED"
REPLACED = "REPLACED"
GAP = "GAP"
STOP = "STOP"


@dataclass(slots=True)
class Transition:
    """A stretch in which nobody read a partition. Durations in ms, times in ms since the epoch;
    None: not known, or not yet.

    kind: why it stopped:
        ASKED, it was asked back (K8 state 1); AWAY, its holder had left for a while (epoch -2), and
        may be back with it;
        REMOVED, its holder went, unasked; UNASKED, its holder stayed and lost it at once;
        REPLACED, another process took the instance over; GAP, of a cooperative classic group, taken
        in one generation and given in a later one; STOP, of an eager classic group, held by a
        member that stays.
    from_*, to_*: who had it and who got it. An identity is that of a process (`identity_of`), so
        the same member under another id is no other holder.
    came_from: the identity that held it before `from`, no longer than an hour ago.
    held_since: when its holder had got it, or had it once more after a STOP since which nobody
        committed it; of a STOP itself when the K2 before was written. None where that was not seen,
        and of states of earlier releases.
    released_*: when it was let go, and by which record; of a STOP the K2.
    by_k2: a K2 shows the release, later than it was.
    requested_at: when it was asked back.
    away_at: when its holder left for a while.
    stopped_at: of REMOVED, REPLACED and GAP the last commit of its holder, of any partition that it
        let go with it; when it got the first of these, where holders before it committed some, and
        it none. In states of earlier releases the last commit of whomever.
    last_commit_at: last commit of this partition before the release.
    first_commit_at: first commit of this partition since the grant.
    sync_ms: sync phase of the generation that granted it, from the end of the join phase to the K2,
        in which nobody of an eager group may read.
    low_ms, est_ms, high_ms: how long nobody read it: at least, as estimated, at most. est_ms of a
        STOP is None: the topic does not show when a member heard of the rebalance.
    idle_ms: first_commit_at - last_commit_at; None without both.
    is_high_known: there is an idle_ms, so high_ms is an upper bound and no estimate.
    is_hidden: a hole lies between release and grant: it has no cost.
    is_through_empty: the group had no member in between, so nobody missed it: it has no cost.
    charged_to: for who listens: what it charges this to, by an offset; kept with the transition.
    """

    kind: str
    from_member_id: str
    from_identity: str
    released_at: int
    released_offset: int
    by_k2: bool = False
    came_from: str | None = None
    held_since: int | None = None
    requested_at: int | None = None
    away_at: int | None = None
    stopped_at: int | None = None
    last_commit_at: int | None = None
    is_hidden: bool = False
    is_through_empty: bool = False
    to_member_id: str | None = None
    to_identity: str | None = None
    granted_at: int | None = None
    grant_offset: int = -1
    sync_ms: int | None = None
    first_commit_at: int | None = None
    low_ms: int | None = None
    est_ms: int | None = None
    high_ms: int | None = None
    idle_ms: int | None = None
    is_high_known: bool = False
    charged_to: int | None = None

    @property
    def is_costed(self) -> bool:
        """Whether it has costs at all."""
        return not (self.is_hidden or self.is_through_empty)

    @property
    def is_move(self) -> bool:
        """Whether another process has it now. A member keeps its process, whoever else came with
        the same client id and host meanwhile.
        """
        is_another = self.to_member_id != self.from_member_id
        return is_another and self.to_identity not in (None, self.from_identity)

    @property
    def is_return(self) -> bool:
        """Whether it came back to the process that held it before the last one: A -> B -> A."""
        return self.is_move and self.to_identity == self.came_from

    @property
    def waited_since(self) -> int:
        """When the hand-over began, as the records show it."""
        if self.requested_at is not None:
            return self.requested_at
        return self.away_at if self.away_at is not None else self.released_at
