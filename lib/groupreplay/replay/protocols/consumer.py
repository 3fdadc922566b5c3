"""A consumer group's operation (KIP-848): what each record does to the life.

| record | its value | its tombstone |
|---|---|---|
| K3 | begins an epoch, the one before plus 1 | the group is gone: `consumer_groups` |
| K4 | names topic ids (up to 4.0) | nothing |
| K5 | a member joins, or changes what it wants | the member is gone, with its target |
| K6 | the targets before it are whole: at the epoch, never past it | nothing |
| K7 | a member's target | the member has none |
| K8 | a member's epoch, state and partitions (`rules.of_members.LEGAL`) | it has none |
| K16 | the topics that a regular expression stands for (4.1+) | it is not resolved |

Tombstones of a member come as K8, K7, K5. Source: GroupMetadataManager.replay for what a record
does; docs/measures.md (Epochs) for why an epoch began.
"""

from __future__ import annotations

from groupreplay.records.classic import GroupMetadata
from groupreplay.records.consumer import (
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
from groupreplay.replay import causes
from groupreplay.replay.assignment.members import Current
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.assignment.topic_names import deduce_topic, learn_topic
from groupreplay.replay.causes import EXACT, NONE
from groupreplay.replay.change import Change
from groupreplay.replay.decisions.profiles import profile_of_k5
from groupreplay.replay.life import CLASSIC, CONSUMER, Member, TopicPartition
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.births import is_whole_upgrade
from groupreplay.replay.protocols.consumer_causes import Cause, find_cause
from groupreplay.replay.rules.of_operations import (
    epoch_step,
    release_before_grant,
    target_epoch,
)

_NONE_AT_ALL: frozenset[TopicPartition] = frozenset()


def partitions_of(topics: tuple[TopicPartitions, ...]) -> frozenset[TopicPartition]:
    """The set of (topic id, partition) that a record lists."""
    return (
        frozenset([(t.topic_id, p) for t in topics for p in t.partitions])
        if topics
        else _NONE_AT_ALL
    )


def apply_consumer(
    membership: Membership, change: Change, operation: Operation, cause: Cause | None = None
) -> None:
    """Applies an operation's records in order.

    cause: cause of its epochs where the caller knows it (a conversion), None: it is found here.
    """
    known = cause
    _forget_resolved(membership, operation)
    if cause is None:
        cause = (
            find_cause(membership, operation)
            if ConsumerGroupMetadata in operation.kinds
            else (causes.UNKNOWN_CAUSE, None, NONE)
        )
    for entry in operation.entries:
        match entry.record:
            case ConsumerGroupCurrentMemberAssignment(member_id=member_id, value=current):
                _current_assignment(membership, change, entry, member_id, current)
            case ConsumerGroupMemberMetadata(member_id=member_id, value=metadata):
                _member_metadata(membership, change, entry, member_id, metadata)
            case ConsumerGroupTargetAssignmentMember(member_id=member_id, value=target):
                if target is not None or member_id in membership.life.members:
                    wanted = None if target is None else partitions_of(target.topic_partitions)
                    member = membership.members.touch(change, member_id)
                    membership.targets.set(change, entry, member, wanted)
            case ConsumerGroupTargetAssignmentMetadata(value=target_metadata) if (
                target_metadata is not None
            ):
                membership.life.stamps_assignments = (
                    membership.life.stamps_assignments
                    or target_metadata.assignment_timestamp_ms > 0
                )
                _target_epoch(membership, change, entry, target_metadata.assignment_epoch)
            case ConsumerGroupMetadata(value=group) if group is not None:
                _group_epoch(membership, change, entry, group, cause)
            case ConsumerGroupPartitionMetadata(value=topics) if topics is not None:
                for topic in topics.topics:
                    learn_topic(
                        membership, entry, topic.topic_id, topic.topic, topic.partitions, "K4"
                    )
            case ConsumerGroupRegularExpression(regular_expression=regex, value=resolved):
                _resolved_regex(membership.life.resolved_topics, regex, resolved)
    if ConsumerGroupTargetAssignmentMetadata in operation.kinds:
        membership.owners.drop_untargeted(change.offset, _given_back(membership, change))
    if GroupMetadata in operation.kinds and is_whole_upgrade(operation):
        membership.epochs.note_listed(change.offset)
    _imply_epoch(membership, operation, known)
    begins_epoch = membership.life.epoch_offset >= change.offset
    for member in change.resubscribed:
        membership.members.note_subscription(member, begins_epoch=begins_epoch)


def _given_back(membership: Membership, change: Change) -> set[TopicPartition]:
    """What members have behind an upgrade. Its own second target need not have it: they begin with
    what they had before a generation that was written and never told to them.

    Source: GroupMetadataManager.convertToConsumerGroup; the assignments of a classic group change
    when its K2 is committed, after the upgrade.
    """
    members = membership.life.members.values() if change.converts else ()
    return {tp for member in members for tp in member.held}


def _group_epoch(
    membership: Membership,
    change: Change,
    entry: Entry,
    group: ConsumerGroupMetadataValue,
    cause: Cause,
) -> None:
    life = membership.life
    membership.judge.note(epoch_step(life, entry, group.epoch, change.converts))
    membership.epochs.open(group.epoch, entry.ts_ms, entry.offset, cause)
    membership.epochs.note_topics(group.epoch, group.metadata_hash)


def _forget_resolved(membership: Membership, operation: Operation) -> None:
    """In a hole everybody may have given a regular expression up, which takes its K16 away: who
    comes with it next has nothing until it is resolved again.
    """
    if operation.last_hole > membership.life.last_change_offset:
        membership.life.resolved_topics.clear()


def _resolved_regex(
    resolved_topics: dict[str, tuple[str, ...]],
    regex: str,
    value: ConsumerGroupRegularExpressionValue | None,
) -> None:
    resolved_topics.pop(regex, None)
    if value is not None:
        resolved_topics[regex] = value.topics


def _member_metadata(
    membership: Membership,
    change: Change,
    entry: Entry,
    member_id: str,
    value: ConsumerGroupMemberMetadataValue | None,
) -> None:
    if value is None:
        if member_id in membership.life.members:
            member = membership.members.touch(change, member_id)
            membership.targets.set(change, entry, member, None)
            membership.members.remove(change, member_id, entry.offset)
        return
    member = membership.members.touch(change, member_id)
    classic = value.classic_member_metadata
    membership.members.describe(
        change,
        member,
        value.instance_id,
        value.client_id,
        value.client_host,
        CLASSIC if classic is not None else CONSUMER,
    )
    if value.instance_id is not None:
        _take_over(membership, change, member)
    regex = value.subscribed_topic_regex or ""
    joins = not change.before[member_id].existed and value.instance_id is None
    if (member.subscription, member.regex) != (value.subscribed_topic_names, regex) and not joins:
        change.resubscribed.append(member)
    membership.members.subscribe(
        member,
        entry,
        value.subscribed_topic_names,
        regex,
        value.server_assignor,
        value.rebalance_timeout_ms,
    )
    membership.members.profile(member, profile_of_k5(value))


def _take_over(membership: Membership, change: Change, member: Member) -> None:
    """A static member that replaces another begins with its partitions and its subscription: its
    first K5 is a copy.

    Source: GroupMetadataManager.replaceMember.
    """
    gone = change.removed.values()
    old = [m for m in gone if m.instance_id == member.instance_id]
    if old:
        membership.targets.inherit({m.member_id for m in old}, member.member_id)
        if member.described_offset < 0:
            membership.members.inherit_subscription(member, old[-1])


def _current_assignment(
    membership: Membership,
    change: Change,
    entry: Entry,
    member_id: str,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> None:
    if value is None:
        if member_id not in membership.life.members:
            return
        membership.members.unassign(membership.members.touch(change, member_id))
        change.offsets[member_id] = entry.offset
        return
    member = membership.members.touch(change, member_id)
    assigned = partitions_of(value.assigned_partitions)
    if assigned != member.assigned:
        fresh = assigned - member.held
        membership.judge.note(release_before_grant(membership.life, entry, member, fresh))
    pending = partitions_of(value.partitions_pending_revocation)
    epochs = value.member_epoch, value.previous_member_epoch
    membership.members.assign(member, entry, Current(*epochs, value.state, assigned, pending))
    # A target from before a hole may not be the one that asks, and behind a K8 that is lost it may
    # have been asked before.
    before = change.before[member_id].current_offset
    is_first = before >= 0 and min(before, member.target_offset) >= entry.last_hole
    for tp in member.pending & member.target if is_first and member.target else ():
        if tp not in member.requests and _subscribes(membership, change, member, tp[0]):
            _delete_topic(membership, tp[0])
    _note_writer(membership, member, value)
    change.offsets[member_id] = entry.offset
    for topic in value.assigned_partitions:
        membership.names.see(topic.topic_id)


def _note_writer(
    membership: Membership, member: Member, value: ConsumerGroupCurrentMemberAssignmentValue
) -> None:
    """Whether the writer keeps assignment epochs (4.3+). In a cluster that is being upgraded it
    changes with the leader, to and fro.
    """
    if value.assigned_partitions:
        membership.life.stamps_assignments = any(
            t.assignment_epochs is not None for t in value.assigned_partitions
        )
        if not membership.life.stamps_assignments:
            membership.owners.forget_stamps(member)


def _note_dropped(membership: Membership, change: Change, entry: Entry) -> None:
    """At a K6: a target took partitions from a member that subscribes to their topic, and gave them
    to nobody. Then the topic is gone, unless the target has other partitions of it: a topic goes as
    a whole.

    While a regular expression is not resolved yet, some assignors give nobody anything, and nothing
    follows from that; nor where a hole may have a member, or a member's target.
    """
    life = membership.life
    dropped, change.dropped = change.dropped, []
    ownerless = {
        topic_id
        for member, lost in dropped
        for topic_id in {tp[0] for tp in lost if tp not in life.target_owner}
        if _subscribes(membership, change, member, topic_id)
    }
    ownerless -= {topic for topic, _ in life.target_owner} if ownerless else set()
    if not ownerless or not membership.epochs.knows_members(entry.ts_ms, entry.last_hole):
        return
    if all(
        m.target_offset >= entry.last_hole and (not m.regex or m.regex in life.resolved_topics)
        for m in life.members.values()
    ):
        for topic_id in sorted(ownerless):
            _delete_topic(membership, topic_id)


def _delete_topic(membership: Membership, topic_id: str) -> None:
    """Takes note that a topic is gone, and forgets those of which nothing is held or open."""
    life = membership.life
    if topic_id not in life.deleted_topics:
        known = {topic for topic, _ in life.holders.keys() | life.trails.keys()}
        life.deleted_topics = (life.deleted_topics & known) | {topic_id}


def _subscribes(membership: Membership, change: Change, member: Member, topic_id: str) -> bool:
    """Whether a member subscribed to a topic when a target was made that takes it away.

    Then the target gives it to nobody because the topic is gone: assignors give out every partition
    of what is subscribed to. Where its name is not known, a member that changed nothing of its
    subscription since the target before subscribes to what it had; one with a regular expression,
    where nothing but topics changed since.
    """
    life = membership.life
    if membership.names.name(topic_id) is not None:
        return membership.owners.subscribes(member, topic_id)
    row = life.epoch_row
    if life.target_epoch is None or row is None:
        return False
    if member.regex and (row.cause != causes.TOPIC_METADATA or row.epoch != life.target_epoch + 1):
        return False
    return member.subscription_epoch <= life.target_epoch and not any(
        changed is member for changed in change.resubscribed
    )


def _target_epoch(membership: Membership, change: Change, entry: Entry, epoch: int) -> None:
    life = membership.life
    if not change.converts:  # an upgrade's first target is a copy, which no assignor made
        _note_dropped(membership, change, entry)
    # What an upgrade copies was made for what its members subscribed to in the generation.
    is_copy = change.converts and life.target_epoch is None
    membership.judge.note(target_epoch(life, entry, epoch))
    moved = membership.targets.begin_epoch(epoch, follows=change.follows_target)
    membership.epochs.target(epoch, entry.ts_ms, entry.offset, moved, change.left_behind)
    membership.epochs.note_asked(entry.ts_ms, entry.offset, entry.last_hole)
    membership.stalls.new_target(epoch, entry.ts_ms, entry.leader_epoch)
    if not is_copy and membership.targets.take_unnamed():
        deduce_topic(membership, change, entry)


def _imply_epoch(membership: Membership, operation: Operation, known: Cause | None) -> None:
    """An epoch that no K3 showed: a 4.3 group's first one, or one whose K3 the log no longer has.
    K6 and K8 never run ahead of K3.

    known: the cause, where the group was converted.
    """
    life = membership.life
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
            (causes.JOIN, joined, EXACT)
            if observed and joined
            else (causes.UNKNOWN_CAUSE, None, NONE)
        )
        membership.epochs.open(highest, operation.ts_ms, operation.offset, cause, observed)
    if life.target_epoch is None and life.epoch == 1 and reached == 1:
        membership.targets.imply_epoch(1)
