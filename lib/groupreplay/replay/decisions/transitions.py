"""Transitions of one life: each partition from one holder to the next, with low <= true <= high.

`Owners` says when a partition is let go, given and committed; here that becomes a `Transition`, by
the topic alone. Source of the rules: docs/measures.md, What a change of hands costs.

**How to listen.** Subclass `Listener`, override what you need, and hand it over once, in
`Membership.__init__`: `self.transitions.listen(self.churn)`. A listener keeps no `Transitions`: two
that hold each other stay in memory until a task ends, since tasks collect no cycles
(`workers.task`). For every transition these are called:

    released(transition)   let go, by the operation that is being settled; set `charged_to` here,
                           it is kept with the transition and carried over nights
    then one of
    dropped(transition)    nobody got it: the target has no owner (then left_out(transition) came
                           before), or the life ended
    lost(transition)       who got it is not known: it has no known name in the other protocol
    granted(transition)    a holder got it; low_ms is known, or is_hidden / is_through_empty
    and after `granted` always
    closed(transition)     by the first commit, or because there will be none: everything is known

A STOP is released and granted in one operation, and so is what a member still has that is back from
a while away. `closed` comes at the latest when somebody calls `expire(at)`, with the time of the
group's newest record: a grant waits SETTLE_MS for its commit and no longer. Call it before you emit
a fact that transitions are charged to. `waiting` gives those between `granted` and `closed`, so
that an open fact can show what is known of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.decisions.bounds import SETTLE_MS, tell_high, tell_idle, tell_low
from groupreplay.replay.decisions.identities import identity_of
from groupreplay.replay.facts import HandOver
from groupreplay.replay.kept.transition import (
    ASKED,
    AWAY,
    GAP,
    REMOVED,
    REPLACED,
    STOP,
    UNASKED,
    Transition,
)
from groupreplay.replay.life import Life, Member, Span, Trail, Unit


class Listener:
    """Who hears of transitions: see above."""

    def released(self, transition: Transition) -> None:
        """It was let go."""

    def left_out(self, transition: Transition) -> None:
        """The next target gives it to nobody."""

    def dropped(self, transition: Transition) -> None:
        """Nobody will get it."""

    def lost(self, transition: Transition) -> None:
        """Who will get it cannot be seen."""

    def granted(self, transition: Transition) -> None:
        """It has a new holder."""

    def closed(self, transition: Transition) -> None:
        """It can change no more."""


@dataclass(slots=True)
class Leaver:
    """Who lets go of partitions in one operation, and how.

    stopped_at: its last commit of any partition that it let go; when it got the first of them,
        where it committed none, and others before it did. None where nobody did, or where others
        show when it stopped.
    """

    member_id: str
    identity: str
    kind: str
    away_at: int | None
    stopped_at: int | None


class Transitions:
    """The transitions of one life: the only writer of them."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._listeners: list[Listener] = []
        self._stopped = 0

    def listen(self, listener: Listener) -> None:
        """Notifies a listener of every transition from now on."""
        self._listeners.append(listener)

    # ------------------------------------------------------------ let go

    def leaver(
        self,
        member: Member,
        ending: Ending,
        moment: Moment,
        last_commits: Mapping[Unit, int | None],
        own_commits: Iterable[int | None],
    ) -> Leaver:
        """Who lets go of partitions.

        last_commits: when each of them was last committed, None where not seen.
        own_commits: the same of commits of this member.
        """
        kind, stopped_at = _kind_of(ending, moment), None
        if kind in (REMOVED, REPLACED, GAP) and any(at is not None for at in last_commits.values()):
            had_at = min(member.spans[unit].assigned_at for unit in last_commits)
            own = [at for at in own_commits if at is not None]
            stopped_at = max(own, default=had_at)
        identity = identity_of(self._life, member)
        return Leaver(member.member_id, identity, kind, ending.away_at, stopped_at)

    def released(
        self,
        trail: Trail,
        span: Span,
        leaver: Leaver,
        ending: Ending,
        moment: Moment,
        stopped: Transition | None,
        asked: HandOver | None = None,
    ) -> None:
        """A partition was let go.

        stopped: its STOP, where nobody has committed it since.
        asked: its hand-over, which a downgrade ends before its member gives the partition up.
        """
        if asked is None or ending.hidden:
            asked = trail.handed[-1] if trail.handed else None
        requested_at, kind = None, leaver.kind
        if asked is not None and (asked.member_id, asked.to_offset) == (
            leaver.member_id,
            moment.offset,
        ):
            kind = ASKED
            requested_at = asked.requested_at if asked.start_observed else None
        is_recent = moment.at - span.assigned_at <= SETTLE_MS
        transition = Transition(
            kind,
            leaver.member_id,
            leaver.identity,
            moment.at,
            moment.offset,
            by_k2=moment.by_k2,
            came_from=span.came_from if is_recent else None,
            held_since=_held_since(kind, span, moment, stopped),
            requested_at=requested_at,
            away_at=leaver.away_at if kind == AWAY else None,
            stopped_at=leaver.stopped_at,
            last_commit_at=trail.last_commit_at,
            is_hidden=ending.hidden,
        )
        trail.leaving.append(transition)
        for listener in self._listeners:
            listener.released(transition)

    def note_empty(self) -> None:
        """The group has no members: nobody misses what was let go."""
        for unit in self._life.unowned:
            for transition in self._life.trails[unit].leaving:
                transition.is_through_empty = True

    # ------------------------------------------------------------ given

    def granted(self, trail: Trail, unit: Unit, member: Member, moment: Moment, seen: bool) -> None:
        """A partition that was let go reached a member.

        seen: no hole hides when.
        """
        if not trail.leaving:
            return
        span, generation = member.spans[unit], moment.generation
        is_kept = generation is not None and (member.member_id, unit) in generation.kept
        identity = identity_of(self._life, member)
        for transition in trail.leaving:
            transition.to_member_id, transition.to_identity = member.member_id, identity
            transition.granted_at, transition.grant_offset = moment.at, moment.offset
            if not seen or moment.last_hole > transition.released_offset:
                transition.is_hidden = True
            if transition.is_hidden:
                span.came_from = None
            elif transition.is_move:
                span.came_from = transition.from_identity
            else:
                span.came_from = transition.came_from
            if transition.is_costed:
                is_same = transition.kind == GAP and transition.from_member_id == member.member_id
                tell_low(transition, moment, is_kept=is_kept and is_same)
            self._grant(trail.arriving, transition)
        trail.leaving = []

    def _grant(self, waiting: list[Transition], transition: Transition) -> None:
        # What a generation before left out stopped for that one.
        is_of_now = transition.released_offset == transition.grant_offset
        self._stopped += transition.kind == STOP and transition.is_costed and is_of_now
        for listener in self._listeners:
            listener.granted(transition)
        if transition.is_costed:
            waiting.append(transition)
        else:
            self._close(transition)

    def stop(self, member: Member, last_commits: dict[Unit, int | None], moment: Moment) -> None:
        """A member of an eager group keeps partitions in a new generation: it did not read them
        from when it heard of the rebalance until it had its assignment.
        """
        before_at = moment.generation.before_at if moment.generation is not None else None
        for unit, last_commit_at in last_commits.items():
            known = {"held_since": before_at, "last_commit_at": last_commit_at}
            stopped = self._to_itself(STOP, member, moment, by_k2=True, **known)
            self._go_on(unit, stopped, moment)
        self._stopped += len(last_commits)

    def came_back(
        self,
        member: Member,
        last_commits: dict[Unit, int | None],
        ending: Ending,
        moment: Moment,
    ) -> None:
        """A static member that had left for a while is back under its own id, and has partitions
        still: its process had let go of them, as it does where its next one has another id.

        ending: of its absence.
        """
        for unit, last_commit_at in last_commits.items():
            if (trail := self._life.trails.get(unit)) is not None:
                self.not_read(trail)
            stopped = self.end_stop(unit) if unit in self._life.stops else None
            held_since = _held_since(AWAY, member.spans[unit], moment, stopped)
            known = {"held_since": held_since, "last_commit_at": last_commit_at}
            back = self._to_itself(
                AWAY, member, moment, away_at=ending.away_at, is_hidden=ending.hidden, **known
            )
            self._go_on(unit, back, moment)

    def _to_itself(self, kind: str, member: Member, moment: Moment, **known: Any) -> Transition:
        """A transition from a member to itself. known: further fields of it."""
        identity = identity_of(self._life, member)
        return Transition(
            kind,
            member.member_id,
            identity,
            moment.at,
            moment.offset,
            to_member_id=member.member_id,
            to_identity=identity,
            granted_at=moment.at,
            grant_offset=moment.offset,
            **known,
        )

    def _go_on(self, unit: Unit, transition: Transition, moment: Moment) -> None:
        """Its holder has a partition once more, and may commit it now."""
        if transition.is_costed:
            tell_low(transition, moment)
            self._life.stops[unit] = transition
        for listener in self._listeners:
            listener.released(transition)
            listener.granted(transition)
        if not transition.is_costed:
            self._close(transition)

    def take_stopped(self) -> int:
        """How many STOPs there were since this was asked."""
        stopped, self._stopped = self._stopped, 0
        return stopped

    # ------------------------------------------------------------ read again, or never

    def committed(self, trail: Trail, at: int, last_hole: int) -> None:
        """The first commit since a partition was given."""
        for transition in trail.arriving:
            self._read_again(transition, at, last_hole)
        trail.arriving = []

    def stop_ended(self, unit: Unit, at: int, last_hole: int) -> None:
        """The first commit of a partition since the generation in which it stopped."""
        self._read_again(self._life.stops.pop(unit), at, last_hole)

    def end_stop(self, unit: Unit) -> Transition:
        """A partition that stopped changes hands before anybody committed it."""
        stopped = self._life.stops.pop(unit)
        self._close(stopped)
        return stopped

    def end_stops(self) -> None:
        """There will be no commit that belongs to what stopped."""
        for unit in list(self._life.stops):
            self.end_stop(unit)

    def not_read(self, trail: Trail) -> None:
        """The new holder lost the partition before it committed."""
        for transition in trail.arriving:
            self._close(transition)
        trail.arriving = []

    def left_out(self, trail: Trail) -> None:
        """The target that came next has no owner of the partition."""
        for transition in trail.leaving:
            for listener in self._listeners:
                listener.left_out(transition)

    def dropped(self, trail: Trail) -> None:
        """Nobody will get the partition any more."""
        for transition in trail.leaving:
            for listener in self._listeners:
                listener.dropped(transition)
        trail.leaving = []

    def lost(self, trail: Trail) -> None:
        """The group goes over to the other protocol, in which the partition has no known name."""
        for transition in trail.leaving:
            for listener in self._listeners:
                listener.lost(transition)
        trail.leaving = []

    def expire(self, at: int) -> None:
        """Closes what was granted SETTLE_MS ago or earlier. Costs a look at everything that waits.

        at: time of the group's newest record.
        """
        for trail in self._life.trails.values():
            if any(_is_over(transition, at) for transition in trail.arriving):
                over = [each for each in trail.arriving if _is_over(each, at)]
                trail.arriving = [each for each in trail.arriving if not _is_over(each, at)]
                for transition in over:
                    self._close(transition)
        for unit in [u for u, each in self._life.stops.items() if _is_over(each, at)]:
            self.end_stop(unit)

    def _read_again(self, transition: Transition, at: int, last_hole: int) -> None:
        transition.first_commit_at = at
        tell_idle(transition, at, last_hole)
        self._close(transition)

    def _close(self, transition: Transition) -> None:
        tell_high(transition)
        for listener in self._listeners:
            listener.closed(transition)


def waiting(life: Life) -> Iterator[Transition]:
    """Those that were granted and not closed."""
    for trail in life.trails.values():
        yield from trail.arriving
    yield from life.stops.values()


def _kind_of(ending: Ending, moment: Moment) -> str:
    """Kind of a transition of what was not asked back."""
    if ending.away_at is not None:
        return AWAY
    generation = moment.generation
    if ending.reason == "REPLACED" and generation is None:
        return REPLACED
    if ending.reason in ("LEFT_OR_FENCED", "REPLACED"):
        return REMOVED
    if generation is not None and moment.by_k2:
        return STOP if generation.is_eager else GAP
    return UNASKED


def _held_since(kind: str, span: Span, moment: Moment, stopped: Transition | None) -> int | None:
    """When a holder that lets a partition go had got it. An eager generation gives it to its member
    once more: until then the time is in the price of that STOP.
    """
    if kind == STOP:
        return moment.generation.before_at if moment.generation is not None else None
    if stopped is not None:
        return stopped.granted_at
    return span.assigned_at if span.start_observed else None


def _is_over(transition: Transition, at: int) -> bool:
    return transition.granted_at is not None and at - transition.granted_at > SETTLE_MS
