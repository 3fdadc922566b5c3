"""A consumer group that was deleted and made anew inside a hole: how that shows, and what of its
new life was seen by then.

Epochs and targets only rise while a group lives, so a lower one behind a hole proves that another
life began in it. The record that proves it need not be the first one of the new life that is seen:
members that showed themselves between the hole and the proof are the new life's.
"""

from __future__ import annotations

from dataclasses import replace

from groupreplay.records.consumer import (
    STABLE,
    UNRELEASED_PARTITIONS,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMetadata,
)
from groupreplay.replay.life import Life, Member, Span
from groupreplay.replay.operations import Operation
from groupreplay.replay.saved_life import derive

_AT_TARGET = (STABLE, UNRELEASED_PARTITIONS)


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

    Of one whose id was in both lives the open rows end with the old life, and it is taken over as
    its last K8 has it.
    """
    hole = life.epoch_hole if life.epoch_hole > life.epoch_offset else operation.last_hole
    members = list(life.members.values())
    newcomers = [
        life.members.pop(member.member_id) for member in members if member.joined_offset > hole
    ]
    return newcomers + [
        _as_its_k8_has_it(member, hole)
        for member in life.members.values()
        if member.current_offset > hole
    ]


def _as_its_k8_has_it(member: Member, hole: int) -> Member:
    row, member.state_row = member.state_row, None
    if row is not None and row.from_offset <= hole:
        member.state_row, row = row, None
    spans = {
        tp: Span(member.current_at, member.current_offset, member.epoch, False)
        for tp in member.held
    }
    for tp in [tp for tp, span in member.spans.items() if span.from_offset > hole]:
        spans[tp] = member.spans.pop(tp)
    has_target = member.target_offset > hole
    return replace(
        member,
        target=member.target if has_target else None,
        target_offset=member.target_offset if has_target else -1,
        spans=spans,
        state_row=row,
        joined_at=member.current_at,
        joined_offset=member.current_offset,
        join_observed=False,
        requests={},
        taken={},
        waiting=set(),
        wait=None,
        limbo=None,
        revocation=None,
        owns_since_at=-1,
        owns_since_offset=-1,
    )


def settle_in(life: Life, before: Life, newcomers: list[Member]) -> None:
    """Hands a new life its members, and what else of it was seen before it was known to be one."""
    life.stamps_assignments = before.stamps_assignments
    life.topic_names, life.seen_topics = before.topic_names, before.seen_topics
    life.leader_epoch, life.leader_since = before.leader_epoch, before.leader_since
    life.last_change_offset, life.last_hole = before.last_change_offset, before.last_hole
    life.last_offset, life.last_at = before.last_offset, before.last_at
    life.commits = {
        tp: commit for tp, commit in before.commits.items() if commit[1] > life.incarnation
    }
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
