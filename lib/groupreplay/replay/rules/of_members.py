"""Checks of a consumer group's members: what their K8s may say, and in which state.

Source: CurrentAssignmentBuilder and ConsumerGroupMember of Kafka 4.0 to 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from groupreplay.records.consumer import (
    STABLE,
    STATIC_LEAVE_EPOCH,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from groupreplay.records.entries import Entry
from groupreplay.replay.change import Before, Change
from groupreplay.replay.life import CONSUMER, Life, Member, Span, TopicPartition
from groupreplay.replay.rules.finding import Finding


class Legal(NamedTuple):
    """What a K8 in a state must show.

    pending: whether it has partitions pending revocation.
    at_target: whether its epoch is the target's.
    holds: how what it holds relates to its target: all of it, a part of it, or anything.
    """

    pending: bool
    at_target: bool
    holds: str


ALL, PART, ANYTHING = "all", "part", "anything"

LEGAL: Final[dict[int, Legal]] = {
    STABLE: Legal(pending=False, at_target=True, holds=ALL),
    UNREVOKED_PARTITIONS: Legal(pending=True, at_target=False, holds=ANYTHING),
    UNRELEASED_PARTITIONS: Legal(pending=False, at_target=True, holds=PART),
}
"""State -> what is legal in it (I9 to I12). Not judged: epoch -2 and 0, and a conversion."""


def current_assignment(
    life: Life,
    change: Change,
    entry: Entry,
    member: Member,
    value: ConsumerGroupCurrentMemberAssignmentValue,
) -> Iterator[Finding]:
    """I6 to I13 and I17 for a member's last K8 in the operation."""
    before = change.before[member.member_id]
    known = before.current_offset >= 0 and change.last_hole <= before.current_offset
    settled = member.epoch is not None and member.epoch > 0
    if settled and not change.converts:
        yield from _against_target(life, entry, member, before)
        yield from _gain_and_loss(life, entry, member, before, known)
    if known and not change.converts:
        yield from _against_before(life, entry, member, before, value)
    legal = LEGAL.get(member.state)
    if (
        legal is not None
        and legal.pending
        and not member.pending
        and member.epoch != STATIC_LEAVE_EPOCH
    ):
        params = {"member": member.member_id}
        yield Finding("I9", entry.ts_ms, entry.offset, "NOTHING_PENDING", params)
    if settled:
        known = known and not change.converts
        yield from _assignment_epochs(entry, member, before, value, known)


def _against_before(
    life: Life,
    entry: Entry,
    member: Member,
    before: Before,
    value: ConsumerGroupCurrentMemberAssignmentValue,
) -> Iterator[Finding]:
    """I7 to I9: the member's epochs against those of its K8 before."""
    epoch, previous = value.member_epoch, value.previous_member_epoch
    if before.epoch is None or before.epoch <= 0 or epoch <= 0:
        return
    params = {"member": member.member_id, "epoch": str(epoch), "before": str(before.epoch)}
    if epoch < before.epoch:
        yield Finding("I7", entry.ts_ms, entry.offset, "MEMBER_EPOCH_FALLS", params)
    params |= {"previous": str(previous)}
    older = before.previous_epoch if not life.stamps_assignments else before.epoch
    if previous not in (before.epoch, older):
        yield Finding("I8", entry.ts_ms, entry.offset, "PREVIOUS_EPOCH_DIFFERS", params)
    if value.state == UNREVOKED_PARTITIONS and previous != epoch and life.stamps_assignments:
        yield Finding("I9", entry.ts_ms, entry.offset, "UNREVOKED_AT_NEW_EPOCH", params)


def _against_target(life: Life, entry: Entry, member: Member, before: Before) -> Iterator[Finding]:
    """I6, I10 to I12: epoch and partitions against the target's."""
    target_epoch, legal = life.target_epoch, LEGAL.get(member.state)
    if target_epoch is None or member.epoch is None:
        return
    known = life.birth_seen and not life.hole_seen and entry.last_hole <= life.incarnation
    params = {
        "member": member.member_id,
        "epoch": str(member.epoch),
        "target_epoch": str(target_epoch),
    }
    if member.epoch > target_epoch and known:
        yield Finding("I6", entry.ts_ms, entry.offset, "PAST_TARGET", params)
    if legal is None or not legal.at_target:
        return
    if member.pending or (member.epoch != target_epoch and known):
        pending = {"partitions": str(len(member.pending))}
        yield Finding("I10", entry.ts_ms, entry.offset, "NOT_SETTLED", params | pending)
    if member.epoch == target_epoch and known:
        yield from _against_target_partitions(life, entry, member, before, legal)


def _against_target_partitions(
    life: Life, entry: Entry, member: Member, before: Before, legal: Legal
) -> Iterator[Finding]:
    """I11 and I12."""
    target = member.target or frozenset()
    missing, extra = target - member.assigned, member.assigned - target
    params = {"member": member.member_id, "epoch": str(member.epoch)}
    if legal.holds == ALL and (extra or (missing and _subscribed(life, member))):
        held = {"partitions": str(len(member.assigned)), "missing": str(len(missing))}
        yield Finding("I11", entry.ts_ms, entry.offset, "NOT_ITS_TARGET", params | held)
    if legal.holds == PART:
        own = bool(before.pending & missing) and not life.stamps_assignments
        held_by_others = any(
            m != member.member_id for tp in missing for m in life.holders.get(tp, ())
        )
        if extra or not (held_by_others or own):
            yield Finding("I12", entry.ts_ms, entry.offset, "WAITS_FOR_NOBODY", params)


def _subscribed(life: Life, member: Member) -> bool:
    """Whether a member's subscription is as its target was made for.

    One that changed since, a regular expression that is not resolved yet, or a topic deleted since
    may leave partitions out (4.2+).
    """
    is_resolved = not member.regex or member.regex in life.resolved_topics
    return is_resolved and max(member.subscription_epoch, life.topic_metadata_epoch) <= (
        member.epoch or 0
    )


def _gain_and_loss(
    life: Life, entry: Entry, member: Member, before: Before, known: bool
) -> Iterator[Finding]:
    """I13."""
    if not known or before.epoch is None or before.epoch <= 0:
        return
    gained = member.held - before.assigned - before.pending
    row = life.epoch_row
    knows_target = (
        life.target_epoch is not None
        and row is not None
        and row.start_observed
        and entry.last_hole <= life.epoch_offset
    )
    params = {"member": member.member_id, "epoch": str(member.epoch)}
    if gained and knows_target and member.epoch != life.target_epoch:
        params |= {"partitions": str(len(gained)), "target_epoch": str(life.target_epoch)}
        yield Finding("I13", entry.ts_ms, entry.offset, "GAINS_BEFORE_TARGET", params)
    lost = before.assigned - member.held
    if (
        lost
        and member.epoch == before.epoch
        and before.state == STABLE
        and member.protocol == CONSUMER
        and member.subscription_epoch < (member.epoch or 0)
    ):
        params = {
            "member": member.member_id,
            "epoch": str(member.epoch),
            "partitions": str(len(lost)),
        }
        yield Finding("I13", entry.ts_ms, entry.offset, "LOSES_AT_ITS_EPOCH", params)


def _assignment_epochs(
    entry: Entry,
    member: Member,
    before: Before,
    value: ConsumerGroupCurrentMemberAssignmentValue,
    known: bool,
) -> Iterator[Finding]:
    """I17. `Owners.note_stamps` has marked the spans whose epoch is not known to stay."""
    for tp, epoch in _epochs_of(value.assigned_partitions):
        params = {"topic": tp[0], "partition": str(tp[1]), "member": member.member_id}
        params["assignment_epoch"] = str(epoch)
        if epoch < 0 or epoch > value.member_epoch:
            params["epoch"] = str(value.member_epoch)
            yield Finding("I17", entry.ts_ms, entry.offset, "ASSIGNMENT_EPOCH_TOO_HIGH", params)
            continue
        span = member.spans.get(tp)
        if (
            known
            and epoch > 0
            and tp in before.assigned
            and span is not None
            and _keeps_epoch(span)
            and span.assigned_epoch != epoch
        ):
            params["before"] = str(span.assigned_epoch)
            yield Finding("I17", entry.ts_ms, entry.offset, "ASSIGNMENT_EPOCH_CHANGES", params)


def _keeps_epoch(span: Span) -> bool:
    """Whether a span's epoch is the assignment epoch its K8s must repeat: begun, as seen, under a
    4.3 writer, and not given back from pending.
    """
    return span.stamped and span.start_observed and span.other_name is None and not span.given_back


def _epochs_of(topics: tuple[TopicPartitions, ...]) -> list[tuple[TopicPartition, int]]:
    return [
        ((t.topic_id, p), e)
        for t in topics
        if t.assignment_epochs is not None
        for p, e in zip(t.partitions, t.assignment_epochs, strict=False)
    ]
