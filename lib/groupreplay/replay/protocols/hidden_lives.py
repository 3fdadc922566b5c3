"""A group that was deleted and created again in a hole: whether that may be so, how it shows, and
what of its new life was seen by then.

Epochs and targets only rise while a group lives, so a lower one behind a hole proves that another
life began in it. The record that proves it need not be the first one of the new life that is seen:
members that showed themselves between the hole and the proof are the new life's.
"""

from __future__ import annotations

from groupreplay.records.classic import GroupMetadata, GroupMetadataValue
from groupreplay.records.consumer import (
    STABLE,
    UNRELEASED_PARTITIONS,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.replay.life import CLASSIC, Life, Member
from groupreplay.replay.operations import Operation
from groupreplay.replay.saved.saved_life import derive

_AT_TARGET = (STABLE, UNRELEASED_PARTITIONS)


def may_be_another_life(life: Life, operation: Operation) -> bool:
    """Whether the group may have been deleted in a hole before an operation.

    Kafka deletes groups without members alone. The cleaner leaves how members of a consumer group
    went. Of a classic group it leaves the last K2, so one of its members must be there behind the
    hole: the coordinator gives a member id once, and lets nobody join under one that it does not
    know. Source: GroupMetadataManager.classicGroupJoinExistingMember.
    """
    last_hole = operation.entries[0].last_hole
    if not life.members:
        return last_hole > life.last_change_offset
    if life.protocol != CLASSIC or GroupMetadata not in operation.kinds:
        return False
    last_k2 = next(iter(life.members.values())).current_offset
    return last_hole > last_k2 and life.members.keys().isdisjoint(_members_in(operation))


def _members_in(operation: Operation) -> set[str]:
    """Whom a K2 lists, or an upgrade takes over."""
    found: set[str] = set()
    for entry in operation.entries:
        match entry.record:
            case GroupMetadata(value=value) if value is not None:
                found.update(member.member_id for member in value.members)
            case ConsumerGroupMemberMetadata(member_id=member_id):
                found.add(member_id)
    return found


def began_again(life: Life, operation: Operation, value: GroupMetadataValue) -> bool:
    """Whether a K2 behind a hole has a generation that the life had passed. One that was empty has
    no member any more: who joins begins the next (ClassicGroup.initNextGeneration). Tombstones of
    a consumer group that was there meanwhile may stand between the hole and the K2.
    """
    last_seen = life.k2_offset if life.k2_offset >= 0 else life.last_change_offset
    if operation.last_hole <= last_seen:
        return False
    passed = life.epoch or 0
    return value.generation < passed or (
        value.generation == passed and bool(value.members) and not life.members
    )


def shows_another_life(life: Life, operation: Operation) -> bool:
    """Whether an operation has an epoch that the life had passed before a hole.

    Members that are STABLE or UNRELEASED stand at the target epoch (rule I10); others may stay
    behind it.
    """
    if life.epoch is None or operation.last_hole <= life.epoch_offset:
        return False
    epoch, target_epoch = life.epoch, life.target_epoch or 0
    for entry in operation.entries:
        match entry.record:
            case ConsumerGroupMetadata(value=group) if group is not None:
                if group.epoch <= epoch:
                    return True
            case ConsumerGroupTargetAssignmentMetadata(value=target) if target is not None:
                if target.assignment_epoch < target_epoch:
                    return True
            case ConsumerGroupCurrentMemberAssignment(value=current) if current is not None:
                if current.state in _AT_TARGET and 0 < current.member_epoch < target_epoch:
                    return True
    return False


def take_newcomers(life: Life, operation: Operation) -> list[Member]:
    """Takes the members out of a life that showed themselves behind the first hole in its last
    epoch.

    Where an id was in both lives, its open rows end with the old life, and the member is taken over
    as its last K8 has it.
    """
    hole = life.epoch_hole if life.epoch_hole > life.epoch_offset else operation.last_hole
    members = list(life.members.values())
    newcomers = [
        life.members.pop(member.member_id) for member in members if member.joined_offset > hole
    ]
    return newcomers + [
        member.since(hole) for member in life.members.values() if member.current_offset > hole
    ]


def settled_in(before: Life, newcomers: list[Member]) -> Life:
    """The life that its members began, with what was seen of it before it was known to be one."""
    first = min(member.joined_offset for member in newcomers)
    life = before.successor(first)
    for member in newcomers:
        life.members[member.member_id] = member
        for row in (
            member.state_row,
            member.wait,
            member.limbo,
            member.revocation,
            *member.requests.values(),
        ):
            if row is not None:
                row.incarnation = life.incarnation
    derive(life)
    return life
