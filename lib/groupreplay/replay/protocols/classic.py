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
from groupreplay.replay import causes
from groupreplay.replay.assignment.members import Current
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.causes import INFERRED, NONE, only
from groupreplay.replay.change import Change, ClassicGeneration
from groupreplay.replay.decisions.modes import COOPERATIVE_STICKY
from groupreplay.replay.decisions.profiles import note_k2, profile_of_k2
from groupreplay.replay.life import CLASSIC, TopicPartition
from groupreplay.replay.rules.of_groups import generation, given_once

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

    cause: where the caller knows it (a downgrade), else taken from the difference of members.
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
    if raises and cause is None:  # a downgrade had no join phase
        change.generation = _generation(membership, change, entry, value)
    begun = change.generation
    note_k2(life, entry.offset, begun.cooperative if begun is not None else None)
    listed = {m.member_id for m in value.members}
    for member_id in [m for m in life.members if m not in listed]:
        membership.targets.assign(membership.members.touch(change, member_id), frozenset())
        membership.members.remove(change, member_id, entry.offset)
    for listed_member in value.members:
        _set_member(membership, change, entry, listed_member, value)
    membership.targets.own_all()
    if begun is not None:  # a downgrade lists what members had: no leader gave it
        membership.judge.note(given_once(life, entry, value))
    _inherit(membership, change, same_generation=not raises)
    if raises:
        # Behind a hole it may repeat a generation whose K2 is lost, as the replacement of a static
        # member does.
        observed = change.converts or (
            change.last_hole <= life.last_change_offset
            if life.last_change_offset >= 0
            else life.birth_seen
        )
        place = entry.ts_ms, entry.offset
        membership.epochs.open(value.generation, *place, found, observed, change.generation)
        moved = membership.targets.begin_epoch(value.generation)
        membership.epochs.target(value.generation, *place, moved)
        # A downgrade lists what members had: the generation after it gives out the rest.
        if not change.downgraded:
            membership.owners.drop_untargeted(change.offset)
    membership.targets.forget_moves()


def _generation(
    membership: Membership, change: Change, entry: Entry, value: GroupMetadataValue
) -> ClassicGeneration:
    """What a K2 that raises the generation shows of the rebalance before it, read before it is
    applied.
    """
    life, joined_at = membership.life, value.current_state_timestamp_ms
    knows = bool(value.members) and joined_at >= 0
    sync_ms = entry.ts_ms - joined_at if knows and entry.ts_ms >= joined_at else None
    follows = life.epoch is not None and change.last_hole <= life.last_change_offset
    cooperative = _is_cooperative(membership, value)
    before = life.epoch_row if follows else None
    return ClassicGeneration(
        joined_at if knows else None,
        sync_ms,
        cooperative,
        cooperative is False or (cooperative is None and value.protocol != COOPERATIVE_STICKY),
        value.generation - life.epoch - 1 if follows and life.epoch is not None else None,
        value.leader or None,
        before.started_at if before is not None and before.start_observed else None,
        _kept(membership, value),
    )


def _kept(
    membership: Membership, value: GroupMetadataValue
) -> frozenset[tuple[str, TopicPartition]]:
    """What a generation before took from members that list it as owned still when they join. Each
    SyncGroup of that generation was answered with REBALANCE_IN_PROGRESS, since another member had
    joined meanwhile (GroupMetadataManager.prepareRebalance). A static member may not have joined:
    it is listed with what it said once, in an earlier generation.
    """
    life, kept = membership.life, []
    if not life.unowned or life.epoch is None:
        return frozenset()
    for member in value.members:
        said = member.subscription
        if said is None or not said.owned_partitions:
            continue
        if member.group_instance_id is None or said.generation_id >= life.epoch:
            listed = [(t.topic, p) for t in said.owned_partitions for p in t.partitions]
            kept += [(member.member_id, each) for each in listed if each in life.unowned]
    return frozenset(kept)


def _is_cooperative(membership: Membership, value: GroupMetadataValue) -> bool | None:
    """Whether members go on reading in a rebalance: by what they list as owned when they join, for
    an assignor's name does not show it (a group may run cooperative-sticky eagerly). Only members
    that had something in the generation before can show it.

    None: nobody can, or an old client does not list anything. Source:
    ConsumerCoordinator.metadata, which leaves ownedPartitions empty in an eager rebalance.
    """
    had = membership.life.members
    shown = [
        m.subscription for m in value.members if m.member_id in had and had[m.member_id].assigned
    ]
    if any(each is not None and each.owned_partitions for each in shown):
        return True
    is_told = all(each is not None and each.generation_id >= 1 for each in shown)
    return False if shown and is_told else None


def _inherit(membership: Membership, change: Change, *, same_generation: bool) -> None:
    """Static members that came back under new ids take their own partitions over."""
    life = membership.life
    old = {m.instance_id: m for m in change.removed.values() if m.instance_id is not None}
    for member_id, member in life.members.items() if old else ():
        if member.instance_id in old:
            before = old[member.instance_id]
            membership.targets.inherit((before.member_id,), member_id)
            membership.members.inherit_client(member, before, same_generation=same_generation)


def _set_member(
    membership: Membership,
    change: Change,
    entry: Entry,
    listed: GroupMember,
    value: GroupMetadataValue,
) -> None:
    members = membership.members
    member = members.touch(change, listed.member_id)
    members.describe(
        change, member, listed.group_instance_id, listed.client_id, listed.client_host, CLASSIC
    )
    topics = listed.subscription.topics if listed.subscription is not None else ()
    if listed.subscription is not None and listed.subscription.streams is not None:
        members.run_in(member, listed.subscription.streams.process_id)
    members.profile(member, profile_of_k2(listed, value.protocol))
    members.subscribe(member, entry, topics, "", None, listed.rebalance_timeout_ms)
    held = assignment_of(listed)
    members.assign(member, entry, Current(value.generation, -1, STABLE, held, frozenset()))
    membership.targets.assign(member, held)
    change.offsets[listed.member_id] = entry.offset


def _find_cause(membership: Membership, value: GroupMetadataValue) -> Cause:
    """From the difference of members between two K2s: what happened in between is not recorded, so
    it is INFERRED at best.
    """
    members = membership.life.members
    if not membership.life.birth_seen and membership.life.last_change_offset < 0:
        return causes.UNKNOWN_CAUSE, None, NONE
    listed = {m.member_id: m for m in value.members}
    gone = [m for i, m in members.items() if i not in listed]
    came = [m for i, m in listed.items() if i not in members]
    instances = {m.instance_id for m in gone if m.instance_id is not None}
    for newcomer in came:
        if newcomer.group_instance_id is not None and newcomer.group_instance_id in instances:
            return causes.STATIC_REPLACED, newcomer.member_id, INFERRED
    if gone:
        return causes.LEFT_OR_FENCED, only([m.member_id for m in gone]), INFERRED
    if came:
        return causes.JOIN, only([m.member_id for m in came]), INFERRED
    changed = [
        member_id
        for member_id, member in listed.items()
        if member.subscription is not None
        and set(member.subscription.topics) != set(members[member_id].subscription)
    ]
    if changed:
        return causes.SUBSCRIPTION, only(changed), INFERRED
    return causes.UNKNOWN_CAUSE, None, NONE
