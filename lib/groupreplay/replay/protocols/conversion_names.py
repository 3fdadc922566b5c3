"""Topics of a group that is converted online, from their names to their ids and back: what is open
is renamed, and what has no other name, or is given up in the conversion, ends by the one it has.

Source: GroupMetadataManager.convertToConsumerGroup, convertToClassicGroup;
ConsumerGroup.fromClassicGroup.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.records.classic import GroupMetadataValue
from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupTargetAssignmentMember,
)
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.assignment.partition_owners import unnamed_of
from groupreplay.replay.change import Change, Ending, Moment, is_hidden
from groupreplay.replay.life import Life, TopicPartition
from groupreplay.replay.operations import Operation


def open_partitions(life: Life) -> set[TopicPartition]:
    return (
        {tp for m in life.members.values() for tp in m.spans}
        | life.trails.keys()
        | {tp for m in life.members.values() for tp in m.requests}
    )


def targets_in(operation: Operation) -> set[TopicPartition]:
    return {
        (topic.topic_id, partition)
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupTargetAssignmentMember) and e.record.value is not None
        for topic in e.record.value.topic_partitions
        for partition in topic.partitions
    }


def id_of(
    membership: Membership, tp: TopicPartition, ids: set[str], unnamed: set[int]
) -> str | None:
    """The id of a topic's name: the one that the conversion itself uses, where several topics had
    the name one after the other.

    unnamed: partitions that the conversion gives out of topics without a name: this one's may be
        one of them, created again.
    """
    known = membership.names.ids(tp[0])
    if used := [i for i in known if i in ids]:
        return used[-1]
    return known[-1] if known and tp[1] not in unnamed else None


def name_of(membership: Membership, tp: TopicPartition) -> str | None:
    return membership.names.name(tp[0])


def one_each(
    new_topic: dict[TopicPartition, str | None], life: Life
) -> dict[TopicPartition, str | None]:
    """No two partitions under one new name: of a topic that was deleted and created again, the
    id that is in a target keeps the name.
    """
    taken: dict[TopicPartition, TopicPartition] = {}
    for tp in sorted(new_topic, key=lambda tp: (tp in life.target_owner, tp)):
        if (topic := new_topic[tp]) is not None:
            taken[topic, tp[1]] = tp
    return {
        tp: topic if topic is not None and taken[topic, tp[1]] == tp else None
        for tp, topic in new_topic.items()
    }


def without_former_topics(
    new_topic: Mapping[TopicPartition, str | None],
    named: Mapping[TopicPartition, str | None],
    life: Life,
) -> dict[TopicPartition, str | None]:
    """What nobody has, of a topic that is gone, keeps no name, nor does what the topic had that was
    created again since, though the new one had no such number yet: who gets the number later gets
    another partition.

    named: the topics' names, of all that is in a target too.
    """
    current = {named[tp]: tp[0] for tp in life.target_owner}
    former = {
        tp
        for tp in life.trails.keys() - life.holders.keys()
        if current.get(named[tp], tp[0]) != tp[0] or tp[0] in life.deleted_topics
    }
    return {tp: None if tp in former else topic for tp, topic in new_topic.items()}


def rename(
    membership: Membership, change: Change, new_topic: dict[TopicPartition, str | None]
) -> None:
    """Renames everything that is open; what has no new name ends UNOBSERVED."""
    moment = Moment(change.at, change.offset, membership.life.epoch, change.leader_epoch)
    membership.owners.rename(new_topic, moment)
    membership.targets.rename(new_topic)
    membership.stalls.forget_waits()


def end_unnamed(
    membership: Membership,
    change: Change,
    offset: int,
    value: GroupMetadataValue,
    new_topic: dict[TopicPartition, str | None],
) -> None:
    """Ends what members that a downgrade does not list had of topics without another name: that
    they go needs none.

    offset: of the K2, whose value this is.
    """
    life = membership.life
    listed = {m.member_id for m in value.members}
    fresh = {m.group_instance_id for m in value.members if m.member_id not in life.members}
    moment = Moment(
        change.at, offset, life.epoch, change.leader_epoch, by_k2=True, last_hole=change.last_hole
    )
    for member in [m for m in life.members.values() if m.member_id not in listed]:
        unnamed = unnamed_of(member, new_topic)
        is_replaced = member.instance_id is not None and member.instance_id in fresh
        reason = "REPLACED" if is_replaced else "LEFT_OR_FENCED"
        ending = Ending(reason, reason, hidden=is_hidden(change, member.member_id))
        membership.end_spans(change, member, unnamed, ending, moment)


def end_given_up(
    membership: Membership,
    change: Change,
    operation: Operation,
    ids: set[str],
    unnamed: set[int],
) -> None:
    """Ends, while it goes by its topic's name, what a member had and its K8 of the upgrade does not
    list, whatever the topic's id is: it lists no such number of a topic without a name. Who joins
    may replace the member at once.
    """
    life, names = membership.life, membership.names
    replaced = {
        entry.record.member_id
        for entry in operation.entries
        if isinstance(entry.record, ConsumerGroupCurrentMemberAssignment)
        and entry.record.value is None
    }
    for entry in operation.entries:
        record = entry.record
        if not isinstance(record, ConsumerGroupCurrentMemberAssignment) or record.value is None:
            continue
        member, value = life.members.get(record.member_id), record.value
        if member is None:
            continue
        listed = (*value.assigned_partitions, *value.partitions_pending_revocation)
        nameless = {n for each in listed if not names.name(each.topic_id) for n in each.partitions}
        given_up = {
            tp
            for tp in member.spans
            if tp[1] not in nameless and id_of(membership, tp, ids, unnamed) is None
        }
        reason = "REPLACED" if member.member_id in replaced else "REVOKED"
        ending = Ending(reason, hidden=is_hidden(change, member.member_id))
        moment = Moment(
            change.at,
            entry.offset,
            value.member_epoch,
            change.leader_epoch,
            last_hole=change.last_hole,
        )
        membership.end_spans(change, member, given_up, ending, moment)
