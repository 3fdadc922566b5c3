"""Who holds which unit of work, and what a change of hands cost.

A unit is a partition of a topic, or of a subtopology (a Streams task). Nothing here looks into it.

A unit is held while it is in a member's assigned or pending set. A row that ended waits in a
`Trail`, for the next owner and then for the first commit. It is final at that commit, or once there
can be none: the new owner lost it, no target has it at a later K6, or the life ended. Source of the
rules: docs/measures.md, Who holds what, Hand-overs; CurrentAssignmentBuilder for what a K8 means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set

from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.decisions.missed_units import MissedUnits
from groupreplay.replay.decisions.transitions import Transitions
from groupreplay.replay.facts import HandOver, HeldPartition
from groupreplay.replay.life import Life, Member, Span, Trail, Unit
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge


class Owners(ABC):
    """Spans, requests and trails of one life. What a unit is, and what its rows are, a subclass
    says.
    """

    def __init__(self, life: Life, names: Names, output: Output, judge: Judge) -> None:
        self._life = life
        self._names = names
        self._output = output
        self._judge = judge
        self.transitions: Transitions | None = None
        self.missed = MissedUnits(life)
        self._negative: set[tuple[int, str, int]] = set()
        self._moved = 0

    # ------------------------------------------------------------ requests

    def request(
        self, member: Member, wanted: frozenset[Unit], moment: Moment, observed: bool
    ) -> int:
        """Opens a hand-over for every partition newly asked back from a member (first K8 that has
        it pending). Returns how many there are.
        """
        fresh = sorted(wanted.difference(member.requests))
        for unit in fresh:
            member.requests[unit] = self._asked_row(member, unit, moment, observed)
        return len(fresh)

    def end_requests(self, member: Member, ending: Ending, moment: Moment) -> None:
        """Ends the open requests of a member that are no longer pending: acknowledged, given back,
        or as `ending` says. What it is asked for behind a hole is another request.
        """
        asked_again = ending.hidden and member.current_offset == moment.offset
        over = set(member.requests) if asked_again else member.requests.keys() - member.pending
        for unit in [unit for unit in member.requests if unit in over]:
            row = member.requests.pop(unit)
            if ending.hidden:
                outcome = "UNOBSERVED"
            elif unit in ending.returned:
                outcome = "CANCELLED"
                if (span := member.spans.get(unit)) is not None:
                    span.given_back = True
            else:
                outcome = ending.outcome or "ACKED"
            self._end_request(row, unit, outcome, moment)

    def _end_request(self, row: HandOver, unit: Unit, outcome: str, moment: Moment) -> None:
        row.outcome = outcome
        row.is_censored = False
        row.to_offset = moment.offset
        if outcome == "UNOBSERVED":
            self._output.emit(row)
            return
        row.ended_at = moment.at
        row.revoke_ms = (
            self._duration(moment.at, row.requested_at, moment, "revoke_ms")
            if row.start_observed
            else None
        )
        if outcome == "ACKED":
            row.acked_at = moment.at
        if outcome == "CANCELLED":
            self._output.emit(row)
            return
        trail = self._trail(unit)
        trail.handed.append(row)
        trail.released_offset = moment.offset
        self._life.unowned.add(unit)
        self.missed.note(unit)

    def note_new_leader(self) -> None:
        """Another leader armed every rebalance timer again, at a time no record shows: what was
        open has no timeout any more.
        """
        for member in self._life.members.values():
            for row in member.requests.values():
                row.timeout_ms = None

    # ------------------------------------------------------------ spans

    def release(
        self,
        member: Member,
        gone: set[Unit],
        ending: Ending,
        moment: Moment,
        asked: Mapping[Unit, HandOver] | None = None,
    ) -> None:
        """Ends the spans of partitions that left a member. asked: the hand-overs of those that were
        asked back of it until now.
        """
        commits, transitions = self._commits(gone, moment, ending.hidden), self.transitions
        leaver = None
        if transitions is not None and commits:
            own = self._own_commits(member, commits.keys(), moment)
            leaver = transitions.leaver(member, ending, moment, commits, own)
        for unit, last_commit_at in commits.items():
            span = member.spans.pop(unit)
            holders = self._life.holders.get(unit, [])
            if member.member_id in holders:
                holders.remove(member.member_id)
                if not holders:
                    self._life.holders.pop(unit, None)
            row = self.span_row(member, unit, span)
            if not ending.may_go_on:
                row.released_at, row.released_epoch = moment.at, moment.epoch
            row.to_offset = moment.offset
            row.end_reason = (
                "UNOBSERVED" if ending.hidden else self._end_reason(unit, member, ending, moment)
            )
            member.taken.pop(unit, None)
            trail = self._trail(unit)
            self._no_first_commit(trail)
            trail.released.append(row)
            trail.released_offset = moment.offset
            trail.released_at_k2 = moment.by_k2
            self._life.unowned.add(unit)
            self.missed.note(unit)
            trail.last_commit_at = last_commit_at
            trail.last_committed = (
                self._last_committed(unit) if last_commit_at is not None else None
            )
            if transitions is not None and leaver is not None:
                stopped = transitions.end_stop(unit) if unit in self._life.stops else None
                row_asked = asked.get(unit) if asked else None
                transitions.released(trail, span, leaver, ending, moment, stopped, row_asked)
        if not member.spans:
            member.owns_since_at, member.owns_since_offset = -1, -1

    def come_back(self, member: Member, had: Set[Unit], ending: Ending, moment: Moment) -> None:
        """Nobody read meanwhile what a member had while it was away, and still has."""
        if self.transitions is not None:
            commits = self._commits(had & member.spans.keys(), moment, ending.hidden)
            self.transitions.came_back(member, commits, ending, moment)

    def _commits(
        self, units: Set[Unit], moment: Moment, hidden: bool = False
    ) -> dict[Unit, int | None]:
        """When somebody last read from each unit; None of what ended in a hole (hidden)."""
        last_at, hole = self._last_commit_at, moment.last_hole
        return {unit: None if hidden else last_at(unit, hole) for unit in sorted(units)}

    def _own_commits(self, member: Member, units: Set[Unit], moment: Moment) -> list[int | None]:
        """The same by a member that has them."""
        spans, hole = member.spans, moment.last_hole
        return [self._last_commit_at(unit, max(hole, spans[unit].from_offset)) for unit in units]

    def hold(self, member: Member, fresh: frozenset[Unit], moment: Moment, observed: bool) -> None:
        """Begins the spans of partitions that reached a member, and grants them to whoever let them
        go before.
        """
        if fresh and not member.spans:
            member.owns_since_at, member.owns_since_offset = (
                (moment.at, moment.offset) if observed else (-1, -1)
            )
        for unit in sorted(fresh):
            member.spans[unit] = Span(
                moment.at,
                moment.offset,
                moment.epoch,
                observed,
                stamped=self._life.stamps_assignments and not moment.by_k2,
            )
            self._life.holders.setdefault(unit, []).append(member.member_id)
            if (trail := self._life.trails.get(unit)) is not None:
                self.missed.note(unit)
                if self.transitions is not None:
                    self.transitions.granted(trail, unit, member, moment, observed)
                self._grant(unit, member, moment, observed)

    def _grant(self, unit: Unit, member: Member, moment: Moment, observed: bool) -> None:
        trail = self._life.trails[unit]
        self._life.unowned.discard(unit)
        if trail.released:
            last = trail.released[-1]
            same = last.member_id == member.member_id or last.end_reason == "REPLACED"
            self._moved += not same
        for span in trail.released:
            if moment.last_hole > (span.to_offset or 0):
                continue  # somebody else may have held it in the hole
            span.next_member_id = member.member_id
            span.next_assigned_at = moment.at
            at_k2 = moment.by_k2 or trail.released_at_k2
            if (
                observed
                and not at_k2
                and span.end_reason != "UNOBSERVED"
                and self._is_measurable(span, moment.last_hole, span.to_offset)
            ):
                span.unowned_ms = self._duration(moment.at, span.released_at, moment, "unowned_ms")
        for row in trail.handed:
            row.granted_at = moment.at
            row.granted_to = member.member_id
            if observed and self._is_measurable(row, moment.last_hole, row.to_offset):
                row.grant_ms = self._duration(moment.at, row.acked_at, moment, "grant_ms")
                row.unowned_ms = self._duration(moment.at, row.ended_at, moment, "unowned_ms")
        trail.granted_offset, trail.grant_observed = moment.offset, observed
        trail.granted_spans += trail.released
        trail.granted += trail.handed
        trail.released = []
        trail.handed = []

    def take_moved(self) -> int:
        """How many units came to another member than had them last, since this was asked before."""
        moved, self._moved = self._moved, 0
        return moved

    def stop(self, member: Member, kept: frozenset[Unit], moment: Moment) -> None:
        """A member of an eager group keeps partitions in a new generation."""
        if self.transitions is not None:
            self.transitions.stop(member, self._commits(kept, moment), moment)

    # ------------------------------------------------------------ what a unit is

    @abstractmethod
    def span_row(self, member: Member, unit: Unit, span: Span) -> HeldPartition:
        """The row of a span as it stands: open."""

    @abstractmethod
    def _asked_row(self, member: Member, unit: Unit, moment: Moment, observed: bool) -> HandOver:
        """The row of a request that opens."""

    @abstractmethod
    def _end_reason(self, unit: Unit, member: Member, ending: Ending, moment: Moment) -> str:
        """Why a unit left a member: `ending` says it, unless the unit itself is gone."""

    @abstractmethod
    def _last_commit_at(self, unit: Unit, last_hole: int) -> int | None:
        """When somebody last read from a unit; None where that is not known."""

    def _last_committed(self, unit: Unit) -> int | None:
        """Position of that; None where a unit has none."""
        return None

    # ------------------------------------------------------------ what ends the waiting

    @staticmethod
    def _is_measurable(
        row: HeldPartition | HandOver, last_hole: int, since_offset: int | None
    ) -> bool:
        """Whether a duration that began at an offset may be given: the row's start was seen, and
        nothing was lost in between.
        """
        return row.start_observed and since_offset is not None and last_hole <= since_offset

    def first_commit(
        self, unit: Unit, at: int, offset: int, last_hole: int, position: int | None = None
    ) -> None:
        """A commit of a partition: the first one after a grant makes the rows before it final.
        Behind a hole it may not be the first one.

        position: position that it commits, None for a unit that is no partition.
        """
        trail = self._life.trails.get(unit)
        if trail is None or not (trail.granted or trail.granted_spans):
            return
        moment = Moment(at, offset, None, self._life.leader_epoch)
        for row in trail.granted:
            if last_hole <= trail.granted_offset:
                row.first_commit_at = at
            # Of a hole before the grant too: the owner that was seen is not known to be the next
            # one.
            if trail.grant_observed and self._is_measurable(row, last_hole, row.to_offset):
                row.resume_ms = self._duration(at, row.granted_at, moment, "resume_ms")
            self._output.emit(row)
        for span in trail.granted_spans:
            if span.end_reason != "UNOBSERVED" and self._is_measurable(
                span, last_hole, span.to_offset
            ):
                span.idle_ms = self._duration(at, trail.last_commit_at, moment, "idle_ms")
                if position is not None and trail.last_committed is not None:
                    span.rewound = max(0, trail.last_committed - position)
            self._output.emit(span)
        trail.granted = []
        trail.granted_spans = []
        if self.transitions is not None:
            self.transitions.committed(trail, at, last_hole)
        self._drop_if_done(unit, trail)

    def forget_position(self, unit: Unit) -> None:
        """The committed position of a unit was deleted. Its topic may have been created again, so a
        commit below that position need not mean that anything is read again.
        """
        if (trail := self._life.trails.get(unit)) is not None:
            trail.last_committed = None

    def forget_first_commit(self, unit: Unit) -> None:
        """Whether the new owner of a unit has committed it is not known any more."""
        if (trail := self._life.trails.get(unit)) is not None:
            self._no_first_commit(trail)
            self._drop_if_done(unit, trail)

    def _no_first_commit(self, trail: Trail) -> None:
        """The new owner lost the partition before it committed."""
        for row in trail.granted:
            self._output.emit(row)
        for span in trail.granted_spans:
            self._output.emit(span)
        trail.granted = []
        trail.granted_spans = []
        if self.transitions is not None:
            self.transitions.not_read(trail)

    def drop_untargeted(self, offset: int, given_back: Set[Unit] = frozenset()) -> None:
        """At a new target: a partition let go before it, and in nobody's target now, will have no
        next owner from it.

        given_back: what its members have all the same.
        """
        targeted = self._life.target_owner
        # Not a difference of sets: that would walk over every partition of the target, at every
        # target.
        for unit in sorted([unit for unit in self._life.unowned if unit not in targeted]):
            trail = self._life.trails[unit]
            if trail.released_offset < offset and unit not in given_back:
                if self.transitions is not None:
                    self.transitions.left_out(trail)
                self._finish(unit, trail)

    def finish_all(self) -> None:
        """The life ends: nothing that waits can come any more."""
        for unit, trail in list(self._life.trails.items()):
            self._finish(unit, trail)
        if self.transitions is not None:
            self.transitions.end_stops()

    def finish(self, trail: Trail) -> None:
        """Emits the rows of a trail as they are: nothing can be added to them."""
        self._no_first_commit(trail)
        for span in trail.released:
            self._output.emit(span)
        for row in trail.handed:
            self._output.emit(row)
        if self.transitions is not None:
            self.transitions.dropped(trail)

    def _finish(self, unit: Unit, trail: Trail) -> None:
        self.finish(trail)
        self._life.trails.pop(unit, None)
        self._life.unowned.discard(unit)
        self.missed.note(unit)

    def _drop_if_done(self, unit: Unit, trail: Trail) -> None:
        if not (trail.released or trail.handed or trail.granted or trail.granted_spans):
            self._life.trails.pop(unit, None)

    # ------------------------------------------------------------ small parts

    def _trail(self, unit: Unit) -> Trail:
        """The partition's trail, made if need be."""
        trail = self._life.trails.get(unit)
        if trail is None:
            trail = self._life.trails[unit] = Trail()
        return trail

    def _duration(
        self, end: int | None, start: int | None, moment: Moment, what: str
    ) -> int | None:
        """end - start in ms; None where either is missing; a clock that went back gives None and an
        anomaly (leaders' clocks differ).
        """
        if end is None or start is None:
            return None
        if end < start:
            self._note_negative(moment, what, start - end)
            return None
        return end - start

    def _note_negative(self, moment: Moment, what: str, ms: int) -> None:
        """Once a record, however many partitions it is of."""
        if (moment.offset, what, ms) in self._negative:
            return
        self._negative = {each for each in self._negative if each[0] == moment.offset}
        self._negative.add((moment.offset, what, ms))
        self._judge.note_negative(moment.at, moment.offset, what, ms)
