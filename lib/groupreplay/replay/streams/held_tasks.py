"""The row of a task that a member begins to hold, in groups of either protocol."""

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
    """role: (role, its confidence).
    at, offset: time and offset of the record by which it began.
    epoch: epoch of the member; the generation in a classic group.
    observed: no record before can be lost.
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
