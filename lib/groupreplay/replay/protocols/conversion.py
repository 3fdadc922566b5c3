"""A group that changes its protocol: online and offline, up and down (KIP-848, "Supporting Online
Consumer Group Upgrade").

Online, the members stay and so does the incarnation: what is open is renamed from topic names to
ids, or back, and goes on. Offline, the group was empty: a new incarnation begins, which inherits
the count of conversions. Where no name is known for an id, a span ends UNOBSERVED at the
conversion. Source: GroupMetadataManager.convertToConsumerGroup, convertToClassicGroup;
ConsumerGroup.fromClassicGroup.
"""

from __future__ import annotations

from groupreplay.records.classic import GroupMetadata, GroupMetadataValue
from groupreplay.records.consumer import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMember,
)
from groupreplay.records.entries import Entry
from groupreplay.replay import causes
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.assignment.partition_owners import unnamed_of
from groupreplay.replay.assignment.topic_names import may_go_on
from groupreplay.replay.causes import EXACT
from groupreplay.replay.change import Change, Ending, Moment
from groupreplay.replay.facts import Conversion
from groupreplay.replay.life import CLASSIC, CONSUMER, Life
from groupreplay.replay.operations import Operation
from groupreplay.replay.protocols.births import is_whole_upgrade
from groupreplay.replay.protocols.classic import apply_classic, assignment_of
from groupreplay.replay.protocols.consumer import apply_consumer
from groupreplay.replay.protocols.conversion_names import (
    end_given_up,
    end_unnamed,
    id_of,
    name_of,
    one_each,
    open_partitions,
    rename,
    targets_in,
    without_former_topics,
)

UPGRADE = "UPGRADE"
DOWNGRADE = "DOWNGRADE"
ONLINE = "ONLINE"
OFFLINE = "OFFLINE"
UNKNOWN = "UNKNOWN"


def direction_of(operation: Operation) -> str | None:
    """UPGRADE: a K2 goes and a K3 comes. DOWNGRADE: a K3 goes and a K2 comes. None: neither, or
    only one of the two.
    """
    k2_gone = k2_new = k3_gone = k3_new = False
    for entry in operation.entries:
        match entry.record:
            case GroupMetadata(value=value):
                k2_gone, k2_new = k2_gone or value is None, k2_new or value is not None
            case ConsumerGroupMetadata(value=group):
                k3_gone, k3_new = k3_gone or group is None, k3_new or group is not None
            case ConsumerGroupMemberMetadata(value=metadata) if metadata is not None:
                k3_new = k3_new or k2_gone
    if k2_gone and k3_new:
        return UPGRADE
    return DOWNGRADE if k3_gone and k2_new else None


def is_online(operation: Operation, direction: str, is_whole: bool) -> bool:
    """Online: members were taken over, so a classic member's K5 (upgrade) or a member in the new K2
    (downgrade) is there.

    is_whole: no record of it, or right before it, is missing. Where compaction may have taken those
        K5s, an epoch past the first one of a new group (1, from 4.3 on 2) says that the count of
        generations went on. An empty group that was about to rebalance goes on counting too.
    """
    for entry in operation.entries:
        match entry.record:
            case ConsumerGroupMemberMetadata(value=metadata) if (
                direction == UPGRADE
                and metadata is not None
                and metadata.classic_member_metadata is not None
            ):
                return True
            case ConsumerGroupMetadata(value=group) if (
                direction == UPGRADE and not is_whole and group is not None and group.epoch > 2
            ):
                return True
            case GroupMetadata(value=value) if (
                direction == DOWNGRADE and value is not None and value.members
            ):
                return True
    return False


def offline_if_sure(operation: Operation, direction: str) -> str:
    """OFFLINE of an operation that shows no member to be taken over; UNKNOWN where compaction may
    have taken what would. Epoch 1 is no generation that went on.
    """
    epochs = _k3s_in(operation)
    is_sure = direction == DOWNGRADE or is_whole_upgrade(operation) or epochs[-1:] == [1]
    return OFFLINE if is_sure else UNKNOWN


def _k3s_in(operation: Operation) -> list[int]:
    return [
        e.record.value.epoch
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupMetadata) and e.record.value is not None
    ]


def upgrade_online(membership: Membership, change: Change, operation: Operation) -> None:
    """K2's tombstone, the classic members as K5 to K8 at the generation, then the
    joiner.
    """
    life = membership.life
    epoch_before = known_epoch(life, operation)
    for member_id in list(life.members):
        membership.members.touch(change, member_id)
    change.converts = True
    for entry in operation.entries:
        if (
            isinstance(entry.record, ConsumerGroupTargetAssignmentMember)
            and entry.record.value is not None
        ):
            for topic in entry.record.value.topic_partitions:
                membership.names.see(topic.topic_id)
    left_behind = _left_behind(membership, operation)
    change.left_behind = frozenset(left_behind)
    _end_left_behind(membership, change, operation, left_behind)
    used = targets_in(operation)
    ids = {topic_id for topic_id, _ in used}
    change.unnamed_topics = {each for each in ids if membership.names.name(each) is None}
    unnamed = {partition for topic_id, partition in used if topic_id in change.unnamed_topics}
    end_given_up(membership, change, operation, ids, unnamed)
    new_topic = {tp: id_of(membership, tp, ids, unnamed) for tp in open_partitions(life)}
    for tp in life.unowned - life.holders.keys():
        # Nobody holds it, so perhaps no record has named its topic's id.
        if not membership.names.ids(tp[0]) and tp[1] not in unnamed:
            new_topic[tp] = membership.names.given_id(tp[0])
    rename(membership, change, one_each(new_topic, life))
    life.become(CONSUMER)
    change.follows_target = life.target_epoch is not None
    membership.targets.forget_epoch()
    apply_consumer(membership, change, operation, (causes.UPGRADE, joiner_of(operation), EXACT))
    for member_id in left_behind:
        member = membership.members.touch(change, member_id)
        membership.targets.set(change, operation.entries[0], member, None)
        membership.members.remove(change, member_id, operation.offset)
    converted(membership, operation, UPGRADE, ONLINE, epoch_before)


def downgrade_online(membership: Membership, change: Change, operation: Operation) -> None:
    """Every K3 to K8 goes and a K2 of the remaining members comes, with their target
    assignment.
    """
    life = membership.life
    epoch_before = known_epoch(life, operation)
    entry, value = k2_of(operation)
    listed = {m.member_id for m in value.members}
    gone = [m for m in life.members.values() if m.member_id not in listed]
    trigger = next(
        (m.member_id for m in gone if m.protocol != CLASSIC), gone[0].member_id if gone else None
    )
    for member_id in list(life.members):
        member = membership.members.touch(change, member_id)
        membership.quiet.lets_go(member, member.spans, entry.offset)
    change.converts = change.downgraded = True
    # What a target has keeps its name, though nobody holds it yet: its topic is there.
    are_open = open_partitions(life)
    named = {tp: name_of(membership, tp) for tp in are_open | life.target_owner.keys()}
    unique = one_each(named, life)
    new_topic = without_former_topics({tp: unique[tp] for tp in are_open}, named, life)
    unnamed = {i: held for i, m in life.members.items() if (held := unnamed_of(m, new_topic))}
    shown = {m.member_id: assignment_of(m) for m in value.members if m.member_id in unnamed}
    change.may_go_on = may_go_on(membership, change, unnamed, shown)
    end_unnamed(membership, change, entry.offset, value, new_topic)
    rename(membership, change, new_topic)
    life.become(CLASSIC)
    apply_classic(membership, change, entry, value, (causes.DOWNGRADE, trigger, EXACT))
    converted(membership, operation, DOWNGRADE, ONLINE, epoch_before, trigger)


def converted(
    membership: Membership,
    operation: Operation,
    direction: str,
    mode: str,
    epoch_before: int | None,
    removed: str | None = None,
) -> None:
    """Emits a conversion. It was triggered by the joiner of an upgrade, by the member `removed` in
    a downgrade; nobody is named for an offline downgrade.
    """
    trigger = joiner_of(operation) if direction == UPGRADE else removed
    life = membership.life
    is_seen = direction == DOWNGRADE or bool(_k3s_in(operation)) or is_whole_upgrade(operation)
    life.conversions += 1
    life.last_direction = direction
    if direction == DOWNGRADE:
        life.downgraded_at, life.downgrade_offset = operation.ts_ms, operation.offset
    membership.output.emit(
        Conversion(
            **life.place,
            from_offset=operation.offset,
            to_offset=operation.last_offset,
            converted_at=operation.ts_ms,
            direction=direction,
            mode=mode,
            trigger_member_id=trigger,
            epoch_before=epoch_before,
            epoch_after=life.epoch if is_seen else None,
        )
    )


def forget(life: Life) -> None:
    """A group may have been deleted in a hole: what it was converted to before it does not count
    behind it.
    """
    life.conversions, life.last_direction = 0, None
    life.downgraded_at = life.downgrade_offset = None


def known_epoch(life: Life, operation: Operation) -> int | None:
    """The group's epoch right before an operation; None where a hole before it may hide others."""
    return life.epoch if operation.entries[0].last_hole <= life.last_change_offset else None


def joiner_of(operation: Operation) -> str | None:
    """The first member of an upgrade that joins with the consumer protocol."""
    for entry in operation.entries:
        record = entry.record
        if (
            isinstance(record, ConsumerGroupMemberMetadata)
            and record.value is not None
            and record.value.classic_member_metadata is None
        ):
            return record.member_id
    return None


def k2_of(operation: Operation) -> tuple[Entry, GroupMetadataValue]:
    """The K2 value of a downgrade."""
    return next(
        (e, e.record.value)
        for e in operation.entries
        if isinstance(e.record, GroupMetadata) and e.record.value is not None
    )


def _left_behind(membership: Membership, operation: Operation) -> list[str]:
    """Members of the last K2 that the upgrade did not take over: they had left in a join phase that
    no record shows.
    """
    taken = {
        e.record.member_id
        for e in operation.entries
        if isinstance(e.record, (ConsumerGroupMemberMetadata, ConsumerGroupCurrentMemberAssignment))
    }
    return [m for m in membership.life.members if m not in taken]


def _end_left_behind(
    membership: Membership, change: Change, operation: Operation, member_ids: list[str]
) -> None:
    """Ends what they held while it still goes by its topic's name: the upgrade need not show
    the id.
    """
    epochs = _k3s_in(operation)
    moment = Moment(
        change.at,
        change.offset,
        max(epochs, default=membership.life.epoch),
        change.leader_epoch,
        last_hole=change.last_hole,
    )
    described = [
        e.record.value
        for e in operation.entries
        if isinstance(e.record, ConsumerGroupMemberMetadata)
    ]
    instances = {
        value.instance_id
        for value in described
        if value is not None and value.instance_id is not None
    }
    for member_id in member_ids:
        member = membership.life.members[member_id]
        reason = "REPLACED" if member.instance_id in instances else "LEFT_OR_FENCED"
        ending = Ending(reason, reason, hidden=0 <= member.current_offset < change.last_hole)
        membership.end_partitions(change, member, set(member.spans), ending, moment)
