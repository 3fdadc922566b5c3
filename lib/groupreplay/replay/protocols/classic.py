"""A classic group's operation: one K2, the whole group after a rebalance (KIP-62, KIP-345).

| K2 | against the K2 before | what it is |
|---|---|---|
| with members | a higher generation | a rebalance that ended |
| with members | the same generation, the same number of members | a static member came back |
| without members | a higher generation, or 0 | the group is empty |
| tombstone | | the group is gone: `consumer_groups` |

A generation never falls (I19). Members have what the leader gave them: target and assignment are
one. Join phases leave no record: they show as gaps in generations.
"""

from __future__ import annotations

from groupreplay.records.classic import GroupMember, GroupMetadataValue
from groupreplay.records.consumer import STABLE
from groupreplay.records.entries import Entry
from groupreplay.replay.assignment import epochs as cause_names
from groupreplay.replay.assignment.epochs import INFERRED, NONE, only
from groupreplay.replay.assignment.members import Current
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Change
from groupreplay.replay.life import CLASSIC, TopicPartition
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
        membership.targets.assign(membership.members.touch(change, member_id), frozenset())
        membership.members.remove(change, member_id, entry.offset)
    for listed_member in value.members:
        _set_member(membership, change, entry, listed_member, value.generation)
    _inherit_targets(membership, change)
    if raises:
        # Behind a hole it may repeat a generation whose K2 is lost, as the replacement of a static
        # member does.
        observed = change.converts or (
            change.last_hole <= life.last_change_offset
            if life.last_change_offset >= 0
            else life.birth_seen
        )
        membership.epochs.open(value.generation, entry.ts_ms, entry.offset, found, observed)
        moved = membership.targets.begin_epoch(value.generation)
        membership.epochs.target(value.generation, entry.ts_ms, moved)
        membership.owners.drop_untargeted(change.offset)
    membership.targets.forget_moves()


def _inherit_targets(membership: Membership, change: Change) -> None:
    """Static members that came back under new ids take their own partitions over."""
    life = membership.life
    old = {m.instance_id: i for i, m in change.removed.items() if m.instance_id is not None}
    for member_id, member in life.members.items() if old else ():
        if member.instance_id in old:
            membership.targets.inherit((old[member.instance_id],), member_id)


def _set_member(
    membership: Membership, change: Change, entry: Entry, listed: GroupMember, generation: int
) -> None:
    members = membership.members
    member = members.touch(change, listed.member_id)
    members.describe(
        member, listed.group_instance_id, listed.client_id, listed.client_host, CLASSIC
    )
    topics = listed.subscription.topics if listed.subscription is not None else ()
    members.subscribe(member, topics, "", None, listed.rebalance_timeout_ms)
    held = assignment_of(listed)
    members.assign(member, entry, Current(generation, -1, STABLE, held, frozenset()))
    membership.targets.assign(member, held)
    change.offsets[listed.member_id] = entry.offset


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
