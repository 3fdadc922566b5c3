"""Who holds which partition: rows of `member_assignments` and `revocation_latencies`.

A partition goes by its topic's id in the consumer protocol and by its name in the classic one; a
conversion renames what is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from groupreplay.records.consumer import ConsumerGroupCurrentMemberAssignmentValue
from groupreplay.replay.assignment.owners import Owners
from groupreplay.replay.change import Ending, Moment
from groupreplay.replay.facts import HandOver, HeldPartition
from groupreplay.replay.life import (
    CLASSIC,
    RECONCILING,
    Life,
    Member,
    Span,
    TopicPartition,
    Trail,
    Unit,
)
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge


class PartitionOwners(Owners):
    """Spans, requests and trails of the partitions of one life."""

    def _asked_row(
        self, member: Member, tp: TopicPartition, moment: Moment, observed: bool
    ) -> HandOver:
        target_at, target_epoch = member.taken.get(tp, (None, None))
        return HandOver(
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
            if member.protocol in RECONCILING and observed
            else None,
        )

    def _end_reason(
        self, tp: TopicPartition, member: Member, ending: Ending, moment: Moment
    ) -> str:
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

        offset: offset of the member's K8, whose value this is.
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

    # ------------------------------------------------------------ other names

    def rename(self, new_topic: Mapping[TopicPartition, str | None], moment: Moment) -> None:
        """At an online conversion: renames every open span, request and trail; one without a new
        name ends UNOBSERVED, or TOPIC_REMOVED.
        """
        life = self._life
        for member in life.members.values():
            unnamed = unnamed_of(member, new_topic)
            deleted = {tp for tp in unnamed if tp[0] in life.deleted_topics}
            self.release(member, deleted, Ending("REVOKED"), moment)
            self.release(member, unnamed - deleted, Ending("UNOBSERVED", hidden=True), moment)
            _rename_member(member, new_topic)
        life.holders = {}
        for member in life.members.values():
            for tp in member.spans:
                life.holders.setdefault(tp, []).append(member.member_id)
        trails: dict[TopicPartition, Trail] = {}
        for tp, trail in life.trails.items():
            topic = new_topic.get(tp)
            if topic is None or (life.protocol == CLASSIC and _is_of_another(trail, topic)):
                if topic is None and self.transitions is not None:
                    self.transitions.lost(trail)
                self.finish(trail)
            else:
                trails[topic, tp[1]] = trail
        life.trails = trails
        self._rename_stops(new_topic)
        life.unowned = {tp for tp, trail in trails.items() if trail.released or trail.handed}
        self.missed.forget()

    def _rename_stops(self, new_topic: Mapping[TopicPartition, str | None]) -> None:
        life = self._life
        for tp in [tp for tp in life.stops if new_topic.get(tp) is None]:
            if self.transitions is not None:
                self.transitions.end_stop(tp)
        stops, life.stops = life.stops, {}
        for tp, stop in stops.items():
            if (topic := new_topic[tp]) is not None:
                life.stops[topic, tp[1]] = stop

    def forget_stamps(self, member: Member) -> None:
        """The member's K8 has no assignment epochs: its writer is older than 4.3."""
        for span in member.spans.values():
            span.stamped = False

    def _last_commit_at(self, tp: TopicPartition, last_hole: int) -> int | None:
        name = tp[0] if self._life.protocol == CLASSIC else self._names.name(tp[0])
        at, offset = (
            self._life.commits.get((name, tp[1]), (None, -1)) if name is not None else (None, -1)
        )
        return at if last_hole <= offset else None

    def _last_committed(self, tp: TopicPartition) -> int | None:
        name = tp[0] if self._life.protocol == CLASSIC else self._names.name(tp[0])
        return self._life.committed.get((name, tp[1])) if name is not None else None


class UntoldOwners(PartitionOwners):
    """Who holds which task of a Streams group: for those who wait for it. The rows of tasks are
    made by `replay.streams`, which knows processes and roles, so no listener hears of these.
    """

    def __init__(self, life: Life, names: Names, output: Output, judge: Judge) -> None:
        super().__init__(life, names, Output(), judge)

    def finish_all(self) -> None:
        super().finish_all()
        self._output.take()

    def first_commit(
        self, unit: Unit, at: int, offset: int, last_hole: int, position: int | None = None
    ) -> None:
        super().first_commit(unit, at, offset, last_hole, position)
        self._output.take()

    def drop_untargeted(self, offset: int, given_back: Set[Unit] = frozenset()) -> None:
        super().drop_untargeted(offset, given_back)
        self._output.take()


def unnamed_of(
    member: Member, new_topic: Mapping[TopicPartition, str | None]
) -> set[TopicPartition]:
    """What a member holds that a conversion gives no other name."""
    return {tp for tp in member.spans if new_topic.get(tp) is None}


def _is_of_another(trail: Trail, topic_id: str) -> bool:
    """Whether a partition was let go before a downgrade, and its topic was created again since."""
    rows: list[HeldPartition | HandOver] = [*trail.released, *trail.handed]
    return any(row.topic_id is not None and row.topic_id != topic_id for row in rows)


def _rename_member(member: Member, new_topic: Mapping[TopicPartition, str | None]) -> None:
    spans, requests = member.spans, member.requests
    member.spans, member.requests = {}, {}
    for tp, span in spans.items():
        if (topic := new_topic[tp]) is not None:
            span.other_name = tp[0]
            member.spans[topic, tp[1]] = span
    for tp, row in requests.items():
        topic = new_topic.get(tp)
        member.requests[topic if topic is not None else tp[0], tp[1]] = row
