"""A consumer group's operation (KIP-848): K3 to K8 and K16 applied to the members, epochs and
targets told as they come.

Source: GroupMetadataManager.replay for what a record does; measures.md section 3 for why an epoch
began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from groupreplay.records.consumer import (
    UNREVOKED_PARTITIONS,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadata,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    TopicPartitions,
)
from groupreplay.records.entries import Entry
from groupreplay.replay import epochs as cause_names
from groupreplay.replay.epochs import EXACT, INFERRED, NONE, only, partitions_moved
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member, TopicPartition
from groupreplay.replay.machine import Change, Machine
from groupreplay.replay.operations import Operation
from groupreplay.replay.topic_names import deduce_topic, learn_topic

Cause = tuple[str, str | None, str]

_NONE_AT_ALL: frozenset[TopicPartition] = frozenset()


def partitions_of(topics: tuple[TopicPartitions, ...]) -> frozenset[TopicPartition]:
    """The set of (topic id, partition) that a record lists."""
    return (
        frozenset([(t.topic_id, p) for t in topics for p in t.partitions])
        if topics
        else _NONE_AT_ALL
    )


def apply_consumer(
    machine: Machine, change: Change, operation: Operation, cause: Cause | None = None
) -> None:
    """Applies an operation's records in order.

    cause: of its epochs where the caller knows it (a conversion), else found here.
    """
    known = cause
    if cause is None:
        cause = (
            find_cause(machine, operation)
            if ConsumerGroupMetadata in operation.kinds
            else (cause_names.UNKNOWN_CAUSE, None, NONE)
        )
    for entry in operation.entries:
        match entry.record:
            case ConsumerGroupCurrentMemberAssignment(member_id=member_id, value=current):
                _current_assignment(machine, change, entry, member_id, current)
            case ConsumerGroupMemberMetadata(member_id=member_id, value=metadata):
                _member_metadata(machine, change, entry, member_id, metadata)
            case ConsumerGroupTargetAssignmentMember(member_id=member_id, value=target):
                if target is not None:
                    set_target(
                        machine,
                        change,
                        entry,
                        machine.touch(change, member_id),
                        partitions_of(target.topic_partitions),
                    )
                elif member_id in machine.life.members:
                    set_target(machine, change, entry, machine.touch(change, member_id), None)
            case ConsumerGroupTargetAssignmentMetadata(value=target_metadata) if (
                target_metadata is not None
            ):
                machine.life.stamps_assignments = (
                    machine.life.stamps_assignments or target_metadata.assignment_timestamp_ms > 0
                )
                _target_epoch(machine, change, entry, target_metadata.assignment_epoch)
            case ConsumerGroupMetadata(value=group) if group is not None:
                _group_epoch(machine, change, entry, group, cause)
            case ConsumerGroupPartitionMetadata(value=topics) if topics is not None:
                for topic in topics.topics:
                    learn_topic(machine, entry, topic.topic_id, topic.topic, topic.partitions, "K4")
            case ConsumerGroupRegularExpression(regular_expression=regex, value=resolved):
                _resolved_regex(machine.life.resolved_topics, regex, resolved)
    if ConsumerGroupTargetAssignmentMetadata in operation.kinds:
        machine.ownership.drop_untargeted(change.offset)
    _imply_epoch(machine, operation, known)
    for member in change.resubscribed:
        member.subscription_epoch = machine.life.epoch or 0


def _group_epoch(
    machine: Machine, change: Change, entry: Entry, group: ConsumerGroupMetadataValue, cause: Cause
) -> None:
    life = machine.life
    machine.rules.epoch(entry, group.epoch, change.converts)
    machine.epochs.open(group.epoch, entry.ts_ms, entry.offset, cause)
    if group.metadata_hash != life.metadata_hash:
        life.topic_metadata_epoch = group.epoch
    life.metadata_hash = group.metadata_hash


def _resolved_regex(
    resolved_topics: dict[str, tuple[str, ...]],
    regex: str,
    value: ConsumerGroupRegularExpressionValue | None,
) -> None:
    resolved_topics.pop(regex, None)
    if value is not None:
        resolved_topics[regex] = value.topics


def _member_metadata(
    machine: Machine,
    change: Change,
    entry: Entry,
    member_id: str,
    value: ConsumerGroupMemberMetadataValue | None,
) -> None:
    if value is None:
        if member_id in machine.life.members:
            set_target(machine, change, entry, machine.touch(change, member_id), None)
            machine.remove(change, member_id, entry.offset)
        return
    member = machine.touch(change, member_id)
    classic = value.classic_member_metadata
    machine.describe(
        member,
        value.instance_id,
        value.client_id,
        value.client_host,
        CLASSIC if classic is not None else CONSUMER,
    )
    regex = value.subscribed_topic_regex or ""
    joins = not change.before[member_id].existed and value.instance_id is None
    if (member.subscription, member.regex) != (value.subscribed_topic_names, regex) and not joins:
        change.resubscribed.append(member)
    member.subscription, member.regex = value.subscribed_topic_names, regex
    member.assignor = value.server_assignor
    member.rebalance_timeout_ms = value.rebalance_timeout_ms
    if value.instance_id is not None:
        _inherit_target(machine, change, member)


def _current_assignment(
    machine: Machine,
    change: Change,
    entry: Entry,
    member_id: str,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> None:
    if value is None:
        if member_id not in machine.life.members:
            return
        member = machine.touch(change, member_id)
        machine.set_current(member, None, 0)
        member.assigned = member.pending = frozenset()
        change.offsets[member_id] = entry.offset
        return
    member = machine.touch(change, member_id)
    assigned = partitions_of(value.assigned_partitions)
    if assigned != member.assigned:
        machine.rules.grant(entry, member, assigned - member.held)
    machine.set_current(member, value.member_epoch, value.state)
    member.previous_epoch = value.previous_member_epoch
    member.assigned = assigned
    member.pending = partitions_of(value.partitions_pending_revocation)
    for tp in member.pending & member.target if member.pending and member.target else ():
        if tp not in member.requests and _subscribes(machine, change, member, tp[0]):
            _delete_topic(machine, tp[0])
    _note_writer(machine, member, value)
    member.current_offset, member.current_at = entry.offset, entry.ts_ms
    if value.state == UNREVOKED_PARTITIONS:
        member.revoking_since = entry.ts_ms
    change.offsets[member_id] = entry.offset
    for topic in value.assigned_partitions:
        machine.names.see(topic.topic_id)


def _inherit_target(machine: Machine, change: Change, member: Member) -> None:
    """A static member under a new id takes its own partitions over: they do not move."""
    old = {m.member_id for m in change.removed.values() if m.instance_id == member.instance_id}
    if old:
        for tp, owner in machine.life.moved_from.items():
            if owner in old:
                machine.life.moved_from[tp] = member.member_id


def _note_writer(
    machine: Machine, member: Member, value: ConsumerGroupCurrentMemberAssignmentValue
) -> None:
    """Whether the writer keeps assignment epochs (4.3+). In a cluster that is being upgraded it
    changes with the leader, to and fro.
    """
    if value.assigned_partitions:
        machine.life.stamps_assignments = any(
            t.assignment_epochs is not None for t in value.assigned_partitions
        )
        if not machine.life.stamps_assignments:
            for span in member.spans.values():
                span.stamped = False


def set_target(
    machine: Machine,
    change: Change,
    entry: Entry,
    member: Member,
    wanted: frozenset[TopicPartition] | None,
) -> None:
    """A member's new target (None: it has none any more)."""
    life = machine.life
    before = member.target or frozenset()
    after = wanted or frozenset()
    if 0 <= member.target_offset < entry.last_hole:
        before |= member.held  # what it was given back in the hole, the target takes again
    lost = before - after
    if lost and wanted is not None:
        change.dropped.append((member, lost))
    for tp in lost:
        if (
            life.target_owner.get(tp) == member.member_id
        ):  # else whoever has it now was told when it came
            life.moved_from.setdefault(tp, member.member_id)
            del life.target_owner[tp]
        member.taken[tp] = (entry.ts_ms, life.epoch)
    for tp in after - before:
        owner = life.target_owner.get(tp)
        life.moved_from.setdefault(tp, owner)
        if owner is not None:
            change.claims.append((tp, owner, member.member_id))
        life.target_owner[tp] = member.member_id
        member.taken.pop(tp, None)
    for topic_id in dict.fromkeys([topic for topic, _ in after - before]):
        machine.see_topic(topic_id)
    member.target, member.target_offset = wanted, entry.offset
    machine.stalls.retargeted(member, entry.offset)


def _note_dropped(machine: Machine, change: Change) -> None:
    """At a K6: of what a target took from a member that subscribes to it and gave to nobody, the
    topic is gone.

    While a regular expression is not resolved yet, some assignors give nobody anything, and nothing
    follows from that.
    """
    life = machine.life
    dropped, change.dropped = change.dropped, []
    ownerless = {
        topic_id
        for member, lost in dropped
        for topic_id in {tp[0] for tp in lost if tp not in life.target_owner}
        if _subscribes(machine, change, member, topic_id)
    }
    if ownerless and all(
        not m.regex or m.regex in life.resolved_topics for m in life.members.values()
    ):
        for topic_id in sorted(ownerless):
            _delete_topic(machine, topic_id)


def _delete_topic(machine: Machine, topic_id: str) -> None:
    """Takes note that a topic is gone, and forgets those that nobody holds a partition of any
    more.
    """
    life = machine.life
    if topic_id not in life.deleted_topics:
        held = {topic for topic, _ in life.holders}
        life.deleted_topics = {topic for topic in life.deleted_topics if topic in held} | {topic_id}


def _subscribes(machine: Machine, change: Change, member: Member, topic_id: str) -> bool:
    """Whether a member subscribed to a topic when a target was made that takes it away.

    Then the target gives it to nobody because the topic is gone: assignors give out every partition
    of what is subscribed to. Where its name is not known, a member that changed nothing of its
    subscription since the target before subscribes to what it had; one with a regular expression,
    where nothing but topics changed since.
    """
    life = machine.life
    if machine.names.name(topic_id) is not None:
        return machine.ownership.subscribes(member, topic_id)
    row = life.epoch_row
    if life.target_epoch is None or row is None:
        return False
    if member.regex and (
        row.cause != cause_names.TOPIC_METADATA or row.epoch != life.target_epoch + 1
    ):
        return False
    return member.subscription_epoch <= life.target_epoch and not any(
        changed is member for changed in change.resubscribed
    )


def _target_epoch(machine: Machine, change: Change, entry: Entry, epoch: int) -> None:
    life = machine.life
    if not change.converts:  # an upgrade's first target is a copy, which no assignor made
        _note_dropped(machine, change)
    machine.rules.target_epoch(entry, epoch)
    knows_target = life.birth_seen or life.target_epoch is not None
    life.target_epoch = epoch
    machine.epochs.target(
        epoch,
        entry.ts_ms,
        partitions_moved(life.moved_from, life.target_owner) if knows_target else None,
    )
    life.moved_from.clear()
    machine.stalls.new_target(epoch, entry.ts_ms, entry.leader_epoch)
    if life.unnamed_topics:
        life.unnamed_topics = False
        deduce_topic(machine, entry)


def _imply_epoch(machine: Machine, operation: Operation, known: Cause | None) -> None:
    """An epoch that no K3 showed: a 4.3 group's first one, or one whose K3 the log no longer has.
    K6 and K8 never run ahead of K3.

    known: the cause, where the group was converted.
    """
    life = machine.life
    has_k3 = ConsumerGroupMetadata in operation.kinds
    if has_k3 and any(
        isinstance(e.record, ConsumerGroupMetadata) and e.record.value is not None
        for e in operation.entries
    ):
        return
    reached = max(
        [
            e.record.value.member_epoch
            for e in operation.entries
            if isinstance(e.record, ConsumerGroupCurrentMemberAssignment)
            and e.record.value is not None
        ],
        default=0,
    )
    if (highest := max(reached, life.target_epoch or 0)) > (life.epoch or 0):
        joined = next(
            (
                e.record.member_id
                for e in operation.entries
                if isinstance(e.record, ConsumerGroupMemberMetadata)
            ),
            None,
        )
        observed = highest == 1 and life.birth_seen
        cause = known or (
            (cause_names.JOIN, joined, EXACT)
            if observed and joined
            else (cause_names.UNKNOWN_CAUSE, None, NONE)
        )
        machine.epochs.open(highest, operation.ts_ms, operation.offset, cause, observed)
    if life.target_epoch is None and life.epoch == 1 and reached == 1:
        life.target_epoch = 1


# ---------------------------------------------------------------- why an epoch began


def find_cause(machine: Machine, operation: Operation) -> Cause:
    """The first cause that applies, of measures.md section 3; judged against the group before the
    operation.
    """
    life = machine.life
    hidden = life.last_change_offset >= 0 and operation.last_hole > life.last_change_offset
    confidence = INFERRED if hidden else EXACT
    gone, came, changed = _members_in(machine, operation)
    instances = {
        m.instance_id
        for i in gone
        if (m := life.members.get(i)) is not None and m.instance_id is not None
    }
    for member_id, value in came:
        if value.instance_id is not None and value.instance_id in instances:
            return cause_names.STATIC_REPLACED, member_id, confidence
    if gone:
        return cause_names.LEFT_OR_FENCED, only(gone), confidence
    if came:
        is_sure = confidence == EXACT and _surely_joined(life, operation, dict(came))
        joined = only([member_id for member_id, _ in came])
        return cause_names.JOIN, joined, EXACT if is_sure else INFERRED
    if found := _first_change(changed, (cause_names.SUBSCRIPTION, cause_names.REGEX)):
        return *found, confidence
    if _topics_changed(machine, operation, hidden):
        return cause_names.TOPIC_METADATA, None, confidence
    if found := _first_change(changed, (cause_names.ASSIGNOR,)):
        return *found, confidence
    if not hidden and _assignors_tie(life.members.values()):
        return cause_names.ASSIGNOR, None, INFERRED
    return cause_names.UNKNOWN_CAUSE, None, NONE


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
    machine: Machine, operation: Operation
) -> tuple[
    list[str], list[tuple[str, ConsumerGroupMemberMetadataValue]], list[tuple[str, set[str]]]
]:
    """(members gone, members that came, what changed of the others).

    A classic member's K5 with unchanged names is no change: its owned partitions ride in it.
    """
    members = machine.life.members
    joiners = _joiners(operation)
    gone: list[str] = []
    came: list[tuple[str, ConsumerGroupMemberMetadataValue]] = []
    changed: list[tuple[str, set[str]]] = []
    for entry in operation.entries:
        record = entry.record
        if isinstance(record, ConsumerGroupMemberMetadata):
            known = members.get(record.member_id)
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
            changed.append(("", {cause_names.REGEX}))
    return gone, came, changed


def _joiners(operation: Operation) -> set[str]:
    """Members of an operation that may have joined in it: those without a K8 there that counts on
    from an epoch before.
    """
    described = {
        e.record.member_id
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupMemberMetadata) and e.record.value is not None
    }
    current = [
        (e.record.member_id, e.record.value)
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupCurrentMemberAssignment)
    ]
    return described - {
        member_id
        for member_id, value in current
        if value is not None and value.previous_member_epoch > 0
    }


def _surely_joined(
    life: Life, operation: Operation, came: dict[str, ConsumerGroupMemberMetadataValue]
) -> bool:
    """Whether no earlier K5 of these members can be lost: the group's history was seen, or their
    first K8s are here. That of a static member may be of its return, where tombstones are lost.
    """
    if life.birth_seen and not life.hole_seen and operation.last_hole <= life.incarnation:
        return True
    first = {
        e.record.member_id
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupCurrentMemberAssignment)
        and e.record.value is not None
        and e.record.value.previous_member_epoch == 0
    }
    return came.keys() <= first and (
        operation.is_whole or all(value.instance_id is None for value in came.values())
    )


def _changes(known: Member, value: ConsumerGroupMemberMetadataValue) -> set[str]:
    kinds: set[str] = set()
    if known.subscription != value.subscribed_topic_names or known.regex != (
        value.subscribed_topic_regex or ""
    ):
        kinds.add(cause_names.SUBSCRIPTION)
    if known.assignor != value.server_assignor:
        kinds.add(cause_names.ASSIGNOR)
    return kinds


def _topics_changed(machine: Machine, operation: Operation, hidden: bool) -> bool:
    """K4 rewritten (<= 4.0), or another hash of the subscribed topics than the K3 before (4.1+), if
    that was seen and no hole lies between.

    The hash of no topic at all is 0: it is what the last deleted topic leaves.
    """
    row = machine.life.epoch_row
    known = not hidden and row is not None and row.start_observed
    for entry in operation.entries:
        record = entry.record
        if isinstance(record, ConsumerGroupPartitionMetadata) and record.value is not None:
            return True
        if isinstance(record, ConsumerGroupMetadata) and record.value is not None:
            return known and record.value.metadata_hash != machine.life.metadata_hash
    return False
