"""Why an epoch of a consumer group began: the first cause that applies (docs/measures.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
)
from groupreplay.replay import causes
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.causes import EXACT, INFERRED, NONE, only
from groupreplay.replay.life import Life, Member
from groupreplay.replay.operations import Operation

Cause = tuple[str, str | None, str]
"""(cause, member that it is due to or None, confidence)"""


def find_cause(membership: Membership, operation: Operation) -> Cause:
    """The first cause that applies, of docs/measures.md; judged against the group before the
    operation.
    """
    life = membership.life
    hidden = life.last_change_offset >= 0 and operation.last_hole > life.last_change_offset
    confidence = INFERRED if hidden else EXACT
    gone, came, changed = _members_in(membership, operation)
    instances = {
        m.instance_id
        for i in gone
        if (m := life.members.get(i)) is not None and m.instance_id is not None
    }
    for member_id, value in came:
        if value.instance_id is not None and value.instance_id in instances:
            return causes.STATIC_REPLACED, member_id, confidence
    if gone:
        return causes.LEFT_OR_FENCED, only(gone), confidence
    if came:
        is_sure = confidence == EXACT and _surely_joined(life, operation, dict(came))
        joined = only([member_id for member_id, _ in came])
        return causes.JOIN, joined, EXACT if is_sure else INFERRED
    if found := _first_change(changed, (causes.SUBSCRIPTION, causes.REGEX)):
        return *found, INFERRED if _is_in_doubt(life, operation, found[1]) else confidence
    if _topics_changed(membership, operation, hidden):
        # Where a part is lost it may have had a member's records.
        is_sure = operation.is_whole and not _may_have_changed(life, operation)
        return causes.TOPIC_METADATA, None, confidence if is_sure else INFERRED
    if found := _first_change(changed, (causes.ASSIGNOR,)):
        return *found, INFERRED if _is_in_doubt(life, operation, found[1]) else confidence
    if not hidden and _assignors_tie(life.members.values()):
        return causes.ASSIGNOR, None, INFERRED
    return causes.UNKNOWN_CAUSE, None, NONE


def _is_in_doubt(life: Life, operation: Operation, member_id: str | None) -> bool:
    """Whether a hole lies behind the K5 that is known of a member: it may have changed in it, or
    have gone and come back.
    """
    member = life.members.get(member_id or "")
    return member is not None and 0 <= member.described_offset < operation.last_hole


def _may_have_changed(life: Life, operation: Operation) -> bool:
    """Whether a member that the operation describes may have changed in it: its K5 before was not
    seen, or a hole lies behind that.
    """
    known = (life.members.get(member_id) for member_id in _described(operation))
    return any(m is None or m.described_offset < max(operation.last_hole, 0) for m in known)


def _assignors_tie(members: Iterable[Member]) -> bool:
    """Whether no server assignor is named by more members than any other. Brokers of 4.4.0 then
    take the one, then the other, as heartbeats come.

    Source: ConsumerGroup.computePreferredServerAssignor, whose copy of the counts is in another
    order than the counts.
    """
    most = Counter(
        member.assignor for member in members if member.assignor is not None
    ).most_common(2)
    return len(most) == 2 and most[0][1] == most[1][1]


def _first_change(
    changed: list[tuple[str, set[str]]], kinds: tuple[str, ...]
) -> tuple[str, str | None] | None:
    """The first of these kinds that a member changed, and which member; None where nobody did. A
    regular expression is of no one member.
    """
    for what in kinds:
        for member_id, kinds_of_member in changed:
            if what in kinds_of_member:
                return what, member_id or None
    return None


def _members_in(
    membership: Membership, operation: Operation
) -> tuple[
    list[str], list[tuple[str, ConsumerGroupMemberMetadataValue]], list[tuple[str, set[str]]]
]:
    """(members gone, members that came, what changed of the others).

    A classic member's K5 with unchanged names is no change: its owned partitions ride in it.
    """
    members = membership.life.members
    joiners, first = _joiners(operation), _with_first_k8(operation)
    gone: list[str] = []
    came: list[tuple[str, ConsumerGroupMemberMetadataValue]] = []
    changed: list[tuple[str, set[str]]] = []
    for entry in operation.entries:
        record = entry.record
        if isinstance(record, ConsumerGroupMemberMetadata):
            known = members.get(record.member_id)
            if (
                record.member_id in first
                and record.value is not None
                and record.value.instance_id is None
                and _is_in_doubt(membership.life, operation, record.member_id)
            ):
                known = None  # it went in the hole, and is back under its id
            if record.value is None:
                gone.append(record.member_id)
            elif (known is None or record.member_id in gone) and record.member_id in joiners:
                came.append((record.member_id, record.value))
            elif known is None:
                changed.append(
                    (record.member_id, set())
                )  # of a member whose first K5 was not seen: what it changed is not known
            elif known.client_id is not None:
                changed.append((record.member_id, _changes(known, record.value)))
        elif isinstance(record, ConsumerGroupRegularExpression):
            changed.append(("", {causes.REGEX}))
    return gone, came, changed


def _joiners(operation: Operation) -> set[str]:
    """Members of an operation that may have joined in it: those without a K8 there that counts on
    from an epoch before.
    """
    current = [
        (e.record.member_id, e.record.value)
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupCurrentMemberAssignment)
    ]
    return _described(operation) - {
        member_id
        for member_id, value in current
        if value is not None and value.previous_member_epoch > 0
    }


def _described(operation: Operation) -> set[str]:
    """Members that have a K5 in an operation."""
    return {
        e.record.member_id
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupMemberMetadata) and e.record.value is not None
    }


def _with_first_k8(operation: Operation) -> set[str]:
    """Members that have their first K8 in an operation."""
    return {
        e.record.member_id
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupCurrentMemberAssignment)
        and e.record.value is not None
        and e.record.value.previous_member_epoch == 0
    }


def _surely_joined(
    life: Life, operation: Operation, came: dict[str, ConsumerGroupMemberMetadataValue]
) -> bool:
    """Whether no earlier K5 of these members can be lost: the group's history was seen, or their
    first K8s are here. That of a static member may be of its return, where tombstones are lost.
    """
    if life.birth_seen and not life.hole_seen and operation.last_hole <= life.incarnation:
        return True
    return came.keys() <= _with_first_k8(operation) and (
        operation.is_whole or all(value.instance_id is None for value in came.values())
    )


def _changes(known: Member, value: ConsumerGroupMemberMetadataValue) -> set[str]:
    kinds: set[str] = set()
    if known.subscription != value.subscribed_topic_names or known.regex != (
        value.subscribed_topic_regex or ""
    ):
        kinds.add(causes.SUBSCRIPTION)
    if known.assignor != value.server_assignor:
        kinds.add(causes.ASSIGNOR)
    return kinds


def _topics_changed(membership: Membership, operation: Operation, hidden: bool) -> bool:
    """K4 rewritten (<= 4.0), or another hash of the subscribed topics than the K3 before (4.1+), if
    that was seen and no hole lies between.

    The hash of no topic at all is 0: it is what the last deleted topic leaves.
    """
    row = membership.life.epoch_row
    known = not hidden and row is not None and row.start_observed
    for entry in operation.entries:
        record = entry.record
        if isinstance(record, ConsumerGroupPartitionMetadata) and record.value is not None:
            return True
        if isinstance(record, ConsumerGroupMetadata) and record.value is not None:
            return known and record.value.metadata_hash != membership.life.metadata_hash
    return False
