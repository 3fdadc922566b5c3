"""Whom an operation touched: who took an instance over, who joined, what is known of each, and how
what a member had ends.
"""

from __future__ import annotations

from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.causes import removal_outcome
from groupreplay.replay.change import Before, Change, Ending, Moment
from groupreplay.replay.life import RECONCILING, Life, Member


def find_replaced(life: Life, change: Change) -> None:
    """Notes who took over the instance of a static member that is gone: one id went, and another
    came, in the same operation.
    """
    fresh: dict[str, str] = {}
    for member_id, before in change.before.items():
        if (
            not before.existed
            and member_id not in change.removed
            and (instance := life.members[member_id].instance_id) is not None
        ):
            fresh[instance] = member_id
    # An upgrade may take over, and replace at once, who took a known member's place unseen.
    for member_id in sorted(change.removed, key=lambda each: not change.before[each].existed):
        member = change.removed[member_id]
        if member.instance_id is not None and member.instance_id in fresh:
            change.replaced[member_id] = fresh.pop(member.instance_id)
    unknown = [
        i for i, m in change.removed.items() if m.client_id is None and change.before[i].existed
    ]
    if len(unknown) == len(fresh) == 1:
        # Its K5 was not seen, but nobody else comes and goes in one operation.
        (heir,) = fresh.values()
        change.replaced[unknown[0]] = heir
    change.hidden_heirs = {
        member_id
        for member_id, member in change.removed.items()
        if member.instance_id is not None and _may_have_an_heir(life, change, member_id)
    }


def _may_have_an_heir(life: Life, change: Change, member_id: str) -> bool:
    """Whether a hole may hide that another member took over the instance of a removed one, since a
    part of the operation is lost. A removal without an heir begins an epoch.

    Source: GroupMetadataManager.consumerGroupFenceMembers, replaceMember.
    """
    is_modern = life.protocol in RECONCILING and not (change.converts or change.downgraded)
    begins_epoch = life.epoch_offset >= change.offset
    return (
        is_modern
        and not change.group_ends
        and member_id not in change.replaced
        and not (change.is_whole and begins_epoch)
    )


def joined_members(life: Life, change: Change) -> list[Member]:
    """Who joined in the operation, and was seen to; not who took an instance over."""
    heirs = change.heirs()
    return [
        member
        for member_id, before in change.before.items()
        if not before.existed
        and member_id not in heirs
        and (member := life.members.get(member_id)) is not None
        and is_start_observed(life, change, member, before)
    ]


def touched_members(life: Life, change: Change) -> list[tuple[Member, Before, Moment]]:
    """The members that the operation touched, as they were, and the moment of their change."""
    touched = []
    for member_id, before in change.before.items():
        member = change.removed.get(member_id)
        epoch = life.epoch
        if member is None:
            member = life.members[member_id]
            epoch = epoch if member.epoch is None else member.epoch
        offset = change.offsets.get(member_id, change.last_offset)
        touched.append(
            (
                member,
                before,
                Moment(
                    change.at,
                    offset,
                    epoch,
                    change.leader_epoch,
                    change.by_k2,
                    change.last_hole,
                    change.generation,
                ),
            )
        )
    return touched


def is_start_observed(life: Life, change: Change, member: Member, before: Before) -> bool:
    """Whether what the member has now began with this operation: its state before is known and no
    hole lies between, or it joined here.

    A consumer group's member joined where its K8 has previous epoch 0, unless it leaves for a
    while: that K8 keeps the previous epoch of the one before. A static member that comes back has
    it too, in an operation that begins with its tombstones; without its K5 a member may be one. A
    K2 shows a newcomer only where the K2 before it is known.
    """
    if before.current_offset >= 0:
        return change.last_hole <= before.current_offset
    if member.previous_epoch == 0 and member.epoch != STATIC_LEAVE_EPOCH and not change.by_k2:
        is_dynamic = member.instance_id is None and member.client_id is not None
        return is_dynamic or change.is_whole
    is_known = life.birth_seen or life.last_change_offset >= 0
    return (
        is_known
        and (change.by_k2 or change.converts)
        and not before.existed
        and change.last_hole <= life.last_change_offset
    )


def ending_of(change: Change, member: Member, before: Before, hidden: bool) -> Ending:
    """How what the member lost in the operation ends.

    hidden: a hole may hide when, or how.
    """
    if change.group_ends:
        return Ending("GROUP_REMOVED", "LEFT_OR_FENCED", hidden, may_go_on=change.hides_ends)
    away_at = _away_since(member, before)
    if member.member_id in change.replaced:
        return Ending("REPLACED", "REPLACED", hidden, away_at=away_at)
    if member.member_id in change.removed or (member.epoch is None and before.epoch is not None):
        fenced = removal_outcome(member, change.at)
        return Ending("LEFT_OR_FENCED", fenced, hidden, away_at=away_at)
    outcome = "LEFT" if member.epoch == STATIC_LEAVE_EPOCH else None
    if change.downgraded:
        outcome = "UNOBSERVED"
    returned = member.assigned if member.epoch != STATIC_LEAVE_EPOCH else frozenset()
    return Ending("REVOKED", outcome, hidden, returned, away_at)


def is_back(member: Member, before: Before) -> bool:
    """Whether a static member that had left for a while is back under its own id."""
    return before.epoch == STATIC_LEAVE_EPOCH and member.epoch not in (None, STATIC_LEAVE_EPOCH)


def _away_since(member: Member, before: Before) -> int | None:
    """When it had left for a while; None where it had not. It may say so again, in further K8s that
    change nothing: a request of its return got lost, and it polls too late once more. Where a hole
    lies between two of them it may have been back, and the last one counts.
    """
    if before.epoch != STATIC_LEAVE_EPOCH:
        return None
    return before.current_at if member.limbo is None else member.limbo.since_at
