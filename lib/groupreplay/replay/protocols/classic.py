"""A classic group's operation: one K2, the whole group after a rebalance (KIP-62, KIP-345).

Join phases leave no record: they show as gaps in generations.
"""

from __future__ import annotations

from groupreplay.records.classic import GroupMember, GroupMetadataValue
from groupreplay.records.entries import Entry
from groupreplay.replay.assignment import epochs as cause_names
from groupreplay.replay.assignment.epochs import INFERRED, NONE, only, partitions_moved
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Change
from groupreplay.replay.life import CLASSIC, Life, Member, TopicPartition
from groupreplay.replay.rules.of_groups import generation

Cause = tuple[str, str | None, str]


def assignment_of(member: GroupMember) -> frozenset[TopicPartition]:
    """The set of (topic, partition) that K2 gives a member; empty where its bytes are not of the
    consumer's embedded protocol.
    """
    if member.assignment is None:
        return frozenset()
    return frozenset(
        [(t.topic, p) for t in member.assignment.assigned_partitions for p in t.partitions]
    )


def apply_classic(
    membership: Membership,
    change: Change,
    entry: Entry,
    value: GroupMetadataValue,
    cause: Cause | None = None,
) -> None:
    """Makes the group what a K2 says.

    cause: where the caller knows it (a downgrade), else told from the difference of members.
    """
    life = membership.life
    change.by_k2 = True
    membership.judge.note(generation(life, entry, value, change.converts))
    life.protocol_type = value.protocol_type or life.protocol_type
    life.protocol_name = value.protocol or life.protocol_name
    raises = value.generation > 0 and (
        life.epoch is None or value.generation != life.epoch or cause is not None
    )
    found = cause or _find_cause(membership, value)
    listed = {m.member_id for m in value.members}
    for member_id in [m for m in life.members if m not in listed]:
        _retarget(membership, membership.touch(change, member_id), frozenset())
        membership.remove(change, member_id, entry.offset)
    for listed_member in value.members:
        _set_member(membership, change, entry, listed_member, value.generation)
    _inherit_targets(life, change)
    if raises:
        knows_target = life.birth_seen or life.target_epoch is not None
        # Behind a hole it may repeat a generation whose K2 is lost, as the replacement of a static
        # member does.
        observed = change.converts or (
            change.last_hole <= life.last_change_offset
            if life.last_change_offset >= 0
            else life.birth_seen
        )
        membership.epochs.open(value.generation, entry.ts_ms, entry.offset, found, observed)
        life.target_epoch = value.generation
        membership.epochs.target(
            value.generation,
            entry.ts_ms,
            partitions_moved(life.moved_from, life.target_owner) if knows_target else None,
        )
        membership.owners.drop_untargeted(change.offset)
    life.moved_from.clear()


def _inherit_targets(life: Life, change: Change) -> None:
    """Static members that came back under new ids take their own partitions over: they do not
    move.
    """
    old = {m.instance_id: i for i, m in change.removed.items() if m.instance_id is not None}
    new = (
        {old[m.instance_id]: i for i, m in life.members.items() if m.instance_id in old}
        if old
        else {}
    )
    if new:
        for tp, owner in life.moved_from.items():
            if owner in new:
                life.moved_from[tp] = new[owner]


def _set_member(
    membership: Membership, change: Change, entry: Entry, listed: GroupMember, generation: int
) -> None:
    member = membership.touch(change, listed.member_id)
    membership.describe(
        member, listed.group_instance_id, listed.client_id, listed.client_host, CLASSIC
    )
    membership.set_current(member, generation, 0)
    member.rebalance_timeout_ms = listed.rebalance_timeout_ms
    member.subscription = listed.subscription.topics if listed.subscription is not None else ()
    member.regex, member.assignor = "", None
    member.previous_epoch = -1
    member.assigned, member.pending = assignment_of(listed), frozenset()
    _retarget(membership, member, member.assigned)
    member.current_offset, member.current_at = entry.offset, entry.ts_ms
    change.offsets[listed.member_id] = entry.offset


def _retarget(membership: Membership, member: Member, wanted: frozenset[TopicPartition]) -> None:
    """In a classic group the leader's assignment is target and assignment at once."""
    life = membership.life
    before = member.target or frozenset()
    for tp in before - wanted:
        life.moved_from.setdefault(tp, member.member_id)
        if life.target_owner.get(tp) == member.member_id:
            del life.target_owner[tp]
    for tp in wanted - before:
        life.moved_from.setdefault(tp, life.target_owner.get(tp))
        life.target_owner[tp] = member.member_id
    member.target = wanted
    member.taken.clear()


def _find_cause(membership: Membership, value: GroupMetadataValue) -> Cause:
    """From the difference of members between two K2s: what happened in between is not recorded, so
    it is INFERRED at best.
    """
    members = membership.life.members
    if not membership.life.birth_seen and membership.life.last_change_offset < 0:
        return cause_names.UNKNOWN_CAUSE, None, NONE
    listed = {m.member_id: m for m in value.members}
    gone = [m for i, m in members.items() if i not in listed]
    came = [m for i, m in listed.items() if i not in members]
    instances = {m.instance_id for m in gone if m.instance_id is not None}
    for newcomer in came:
        if newcomer.group_instance_id is not None and newcomer.group_instance_id in instances:
            return cause_names.STATIC_REPLACED, newcomer.member_id, INFERRED
    if gone:
        return cause_names.LEFT_OR_FENCED, only([m.member_id for m in gone]), INFERRED
    if came:
        return cause_names.JOIN, only([m.member_id for m in came]), INFERRED
    for member_id, member in listed.items():
        if member.subscription is not None and set(member.subscription.topics) != set(
            members[member_id].subscription
        ):
            return cause_names.SUBSCRIPTION, member_id, INFERRED
    return cause_names.UNKNOWN_CAUSE, None, NONE
