"""The row of a task that a member begins to hold, alike for both kinds of groups."""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import MemberTasks
from groupreplay.replay.life import Life, Member
from groupreplay.replay.streams_facts import HeldTask


def held_task(
    life: Life,
    member: Member | MemberTasks,
    task: tuple[str, int],
    role: tuple[str, str],
    *,
    at: int,
    offset: int,
    epoch: int | None,
    observed: bool,
) -> HeldTask:
    """role: with its confidence. at, offset, epoch: when it began, by which record, of the group or
    the member. observed: nothing before that can be lost.
    """
    return HeldTask(
        **life.place,
        from_offset=offset,
        start_observed=observed,
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        process_id=member.process_id,
        subtopology=task[0],
        partition=task[1],
        role=role[0],
        role_confidence=role[1],
        assigned_at=at,
        assigned_epoch=epoch,
    )
