"""For whom a member of a streams group (KIP-1071) waits while it is in UNRELEASED_TASKS.

A task is free for a member when the member's process has it in no role and, if the member is to run
it, when nobody runs it. A sibling thread that still keeps a replica is waited for like an owner.
Source: CurrentAssignmentBuilder of streams groups.
"""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import GroupTasks, Task, TaskRoles
from groupreplay.replay.life import Life, Member
from groupreplay.replay.partition_waits import PartitionWaits


class TaskWaits(PartitionWaits):
    """The same of tasks, in any role."""

    def __init__(self, life: Life, group: GroupTasks) -> None:
        super().__init__(life)
        self._group = group

    def missing(self, member: Member) -> set[Task]:
        target = self._group.targets.get(member.member_id)
        if target is None:
            return super().missing(member)
        held = self._group.held.get(member.member_id, TaskRoles())
        return {
            *(target.active - held.active),
            *(target.standby - held.standby),
            *(target.warmup - held.warmup),
        }

    def holding(self, tp: Task, member: Member) -> list[str]:
        target = self._group.targets.get(member.member_id)
        is_to_run = target is None or tp in target.active
        others = super().holding(tp, member) if is_to_run else []
        return [*others, *(m for m in self._siblings_with(tp, member) if m not in others)]

    def _siblings_with(self, task: Task, member: Member) -> list[str]:
        """Other members of its process that have the task in any role."""
        life, held = self._life, self._group.held
        process = life.processes.get(member.process_id or "")
        return [
            sibling
            for sibling in (process.members if process is not None else ())
            if sibling != member.member_id
            and sibling in life.members
            and sibling in held
            and task in tasks_in(held[sibling])
        ]


def tasks_in(held: TaskRoles | None) -> frozenset[Task]:
    """The tasks of all roles."""
    return held.active | held.standby | held.warmup if held is not None else frozenset()
