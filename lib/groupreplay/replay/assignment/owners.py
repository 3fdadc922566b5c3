"""Who holds which partition, and what a change of hands cost: rows of `member_assignments` and
`revocation_latencies`.

A partition is held while it is in a member's assigned or pending set. A row that ended waits in a
`Trail`, for the next owner and then for the first commit; it is final at that commit, or once there
can be none: the new owner lost it, no target has it at a later K6, or the life ended. Source of the
rules: measures.md sections 4 and 5; CurrentAssignmentBuilder for what a K8 means.
"""

from __future__ import annotations

from groupreplay.records.consumer import ConsumerGroupCurrentMemberAssignmentValue
from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.facts import HandOver, HeldPartition, Stall
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member, Span, TopicPartition, Trail
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.rules.judge import Judge

FENCE_SLACK_MS = 50
"""A rebalance timer is armed some ms before the K8 that shows it is stamped, so a fence can come so
much sooner than its timeout.
"""


class Owners:
    """Spans, requests and trails of one life."""

    def __init__(self, life: Life, names: Names, output: Output, judge: Judge) -> None:
        self._life = life
        self._names = names
        self._output = output
        self._judge = judge
        self._negative: set[tuple[int, str, int]] = set()

    # ------------------------------------------------------------ requests

    def request(
        self, member: Member, wanted: frozenset[TopicPartition], moment: Moment, observed: bool
    ) -> None:
        """Opens a hand-over for every partition newly asked back from a member (first K8 that has
        it pending).
        """
        fresh = sorted(wanted - member.requests.keys())
        for tp in fresh:
            target_at, target_epoch = member.taken.get(tp, (None, None))
            row = HandOver(
                **self._life.place,
                from_offset=moment.offset,
                start_observed=observed,
                epoch=target_epoch,
                **member.client,
                topic=None,
                topic_id=tp[0],
                partition=tp[1],
                target_at=target_at,
                requested_at=moment.at,
                notify_ms=self._duration(moment.at, target_at, moment, "notify_ms")
                if observed
                else None,
                timeout_ms=member.rebalance_timeout_ms
                if member.protocol == CONSUMER and observed
                else None,
            )
            member.requests[tp] = row
        if fresh and member.revocation is None and observed:
            member.revocation = self._revocation_stall(member, len(fresh), moment)

    def _revocation_stall(self, member: Member, partitions: int, moment: Moment) -> Stall:
        timeout_ms = member.rebalance_timeout_ms if member.protocol == CONSUMER else -1
        return Stall(
            **self._life.place,
            from_offset=moment.offset,
            reason="SLOW_REVOCATION",
            **member.client,
            since_at=moment.at,
            blocked_by=[member.member_id],
            partitions_held=partitions,
            deadline_at=moment.at + timeout_ms if timeout_ms >= 0 else None,
        )

    def end_requests(self, member: Member, ending: Ending, moment: Moment) -> None:
        """Ends the open requests of a member that are no longer pending: acknowledged, given back,
        or as `ending` says.
        """
        for tp in [tp for tp in member.requests if tp not in member.pending]:
            row = member.requests.pop(tp)
            if ending.hidden:
                outcome = "UNOBSERVED"
            elif tp in ending.returned:
                outcome = "CANCELLED"
                if (span := member.spans.get(tp)) is not None:
                    span.given_back = True
            else:
                outcome = ending.outcome or "ACKED"
            self._end_request(row, tp, outcome, moment)

    def _end_request(self, row: HandOver, tp: TopicPartition, outcome: str, moment: Moment) -> None:
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
        trail = self._trail(tp)
        trail.handed.append(row)
        trail.released_offset = moment.offset
        self._life.unowned.add(tp)

    def note_new_leader(self) -> None:
        """Another leader armed every rebalance timer anew, at a time no record shows: what was open
        has no timeout any more.
        """
        for member in self._life.members.values():
            for row in member.requests.values():
                row.timeout_ms = None

    @staticmethod
    def removal_outcome(member: Member, at: int) -> str:
        """FENCED where the removed member's rebalance timer had run out, else LEFT_OR_FENCED: the
        topic cannot tell.
        """
        timeouts = [
            row.timeout_ms for row in member.requests.values() if row.timeout_ms is not None
        ]
        return (
            "FENCED"
            if timeouts and at - member.revoking_since >= timeouts[0] - FENCE_SLACK_MS
            else "LEFT_OR_FENCED"
        )

    # ------------------------------------------------------------ spans

    def release(
        self, member: Member, gone: set[TopicPartition], ending: Ending, moment: Moment
    ) -> None:
        """Ends the spans of partitions that left a member."""
        for tp in sorted(gone):
            span = member.spans.pop(tp)
            holders = self._life.holders.get(tp, [])
            if member.member_id in holders:
                holders.remove(member.member_id)
                if not holders:
                    self._life.holders.pop(tp, None)
            row = self.span_row(member, tp, span)
            row.released_at = moment.at
            row.released_epoch = moment.epoch
            row.to_offset = moment.offset
            row.end_reason = (
                "UNOBSERVED" if ending.hidden else self._reason(tp, member, ending, moment)
            )
            member.taken.pop(tp, None)
            trail = self._trail(tp)
            self._no_first_commit(trail)
            trail.released.append(row)
            trail.released_offset = moment.offset
            trail.released_at_k2 = moment.by_k2
            self._life.unowned.add(tp)
            trail.last_commit_at = (
                None if ending.hidden else self._last_commit_at(tp, moment.last_hole)
            )
        if not member.spans:
            member.owns_since_at, member.owns_since_offset = -1, -1

    def _reason(self, tp: TopicPartition, member: Member, ending: Ending, moment: Moment) -> str:
        is_lost = (
            ending.reason == "REVOKED" and tp[0] in self._life.deleted_topics and not moment.by_k2
        )
        return "TOPIC_REMOVED" if is_lost and self.subscribes(member, tp[0]) else ending.reason

    def subscribes(self, member: Member, topic_id: str) -> bool:
        """Whether a member subscribes to a topic, by name or by its regular expression; True where
        the topic's name is not known.
        """
        name = self._names.name(topic_id)
        return (
            name is None
            or name in member.subscription
            or name in self._life.resolved_topics.get(member.regex, ())
        )

    def span_row(self, member: Member, tp: TopicPartition, span: Span) -> HeldPartition:
        """The row of a span as it stands: open."""
        is_name = self._life.protocol == CLASSIC
        return HeldPartition(
            **self._life.place,
            from_offset=span.from_offset,
            start_observed=span.start_observed,
            member_id=member.member_id,
            instance_id=member.instance_id,
            topic=tp[0] if is_name else span.other_name,
            topic_id=span.other_name if is_name else tp[0],
            partition=tp[1],
            assigned_at=span.assigned_at,
            assigned_epoch=span.assigned_epoch,
        )

    def hold(
        self, member: Member, fresh: frozenset[TopicPartition], moment: Moment, observed: bool
    ) -> None:
        """Begins the spans of partitions that reached a member, and grants them to whoever let them
        go before.
        """
        if fresh and not member.spans:
            member.owns_since_at, member.owns_since_offset = (
                (moment.at, moment.offset) if observed else (-1, -1)
            )
        for tp in sorted(fresh):
            member.spans[tp] = Span(
                moment.at,
                moment.offset,
                moment.epoch,
                observed,
                stamped=self._life.stamps_assignments and not moment.by_k2,
            )
            self._life.holders.setdefault(tp, []).append(member.member_id)
            if tp in self._life.trails:
                self._grant(tp, member, moment, observed)

    def _grant(self, tp: TopicPartition, member: Member, moment: Moment, observed: bool) -> None:
        trail = self._life.trails[tp]
        self._life.unowned.discard(tp)
        for span in trail.released:
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

    def note_stamps(
        self,
        member: Member,
        offset: int,
        value: ConsumerGroupCurrentMemberAssignmentValue,
        known: bool,
    ) -> None:
        """Marks the spans whose assignment epoch is not known to stay.

        A static member that returns keeps the epochs of what it had. Behind a hole what is kept may
        have been given back.

        offset: of the member's K8, whose value this is.
        known: no hole lies between it and the member's K8 before.
        """
        if not known:
            for held in member.spans.values():
                held.stamped = held.stamped and held.from_offset == offset
        for topic in value.assigned_partitions:
            epochs = zip(topic.partitions, topic.assignment_epochs or (), strict=False)
            for partition, epoch in epochs:
                span = member.spans.get((topic.topic_id, partition))
                if (
                    span is not None
                    and 0 <= epoch <= value.member_epoch
                    and span.from_offset == offset
                    and span.assigned_epoch != epoch
                ):
                    span.stamped = False

    # ------------------------------------------------------------ what ends the waiting

    @staticmethod
    def _is_measurable(
        row: HeldPartition | HandOver, last_hole: int, since_offset: int | None
    ) -> bool:
        """Whether a duration that began at an offset may be told: the row's start was seen, and
        nothing was lost in between.
        """
        return row.start_observed and since_offset is not None and last_hole <= since_offset

    def first_commit(self, tp: TopicPartition, at: int, offset: int, last_hole: int) -> None:
        """A commit of a partition: the first one after a grant makes the rows before it final.
        Behind a hole it may not be the first one.
        """
        trail = self._life.trails.get(tp)
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
            self._output.emit(span)
        trail.granted = []
        trail.granted_spans = []
        self._drop_if_done(tp, trail)

    def _no_first_commit(self, trail: Trail) -> None:
        """The new owner lost the partition before it committed."""
        for row in trail.granted:
            self._output.emit(row)
        for span in trail.granted_spans:
            self._output.emit(span)
        trail.granted = []
        trail.granted_spans = []

    def drop_untargeted(self, offset: int) -> None:
        """At a new target: a partition let go before it, and in nobody's target now, will have no
        next owner from it.
        """
        targeted = self._life.target_owner
        # Not a difference of sets: that would walk over every partition of the target, at every
        # target.
        for tp in sorted([tp for tp in self._life.unowned if tp not in targeted]):
            trail = self._life.trails[tp]
            if trail.released_offset < offset:
                self._finish(tp, trail)

    def finish_all(self) -> None:
        """The life ends: nothing that waits can come any more."""
        for tp, trail in list(self._life.trails.items()):
            self._finish(tp, trail)

    def finish(self, trail: Trail) -> None:
        """Tells the rows of a trail as they are: nothing can be added to them."""
        self._no_first_commit(trail)
        for span in trail.released:
            self._output.emit(span)
        for row in trail.handed:
            self._output.emit(row)

    def _finish(self, tp: TopicPartition, trail: Trail) -> None:
        self.finish(trail)
        self._life.trails.pop(tp, None)
        self._life.unowned.discard(tp)

    def _drop_if_done(self, tp: TopicPartition, trail: Trail) -> None:
        if not (trail.released or trail.handed or trail.granted or trail.granted_spans):
            self._life.trails.pop(tp, None)

    # ------------------------------------------------------------ small parts

    def _trail(self, tp: TopicPartition) -> Trail:
        """The partition's trail, made if need be."""
        trail = self._life.trails.get(tp)
        if trail is None:
            trail = self._life.trails[tp] = Trail()
        return trail

    def _last_commit_at(self, tp: TopicPartition, last_hole: int) -> int | None:
        name = tp[0] if self._life.protocol == CLASSIC else self._names.name(tp[0])
        at, offset = (
            self._life.commits.get((name, tp[1]), (None, -1)) if name is not None else (None, -1)
        )
        return at if last_hole <= offset else None

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
        params = {"what": what, "ms": str(ms)}
        place = moment.at, moment.offset
        self._judge.note([Finding("NEGATIVE_DURATION", *place, "NEGATIVE", params)])
