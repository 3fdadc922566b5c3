"""For whom a member of a streams group waits in UNRELEASED_TASKS.

Source: CurrentAssignmentBuilder of streams groups (KIP-1071).
"""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import GroupTasks, ProcessLife, TaskRoles
from groupreplay.replay.life import STREAMS, Life, Member
from groupreplay.replay.streams.groups.task_waits import TaskWaits, tasks_in
from groupreplay.replay.streams_facts import StreamsProcess

ONE, TWO = ("0", 0), ("0", 1)


class Group:
    """Threads a1 and a2 of process a, and b1 of b."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, STREAMS)
        for member_id in ("a1", "a2", "b1"):
            self.life.members[member_id] = Member(member_id, process_id=member_id[0])
        for process in ("a", "b"):
            row = StreamsProcess(
                **self.life.place,
                from_offset=0,
                process_id=process,
                threads=1,
                members=1,
                restarts=0,
                hosts=["/h"],
                joined_at=0,
            )
            its: dict[str, tuple[str, str | None]] = {
                each: ("/h", None) for each in self.life.members if each[0] == process
            }
            self.life.processes[process] = ProcessLife(row, its)
        self.tasks = GroupTasks()
        self.waits = TaskWaits(self.life, self.tasks)

    def holding(self, member_id: str = "a1") -> list[str]:
        return self.waits.holding(ONE, self.life.members[member_id])


def test_a_member_waits_for_what_it_has_not_got_in_its_role() -> None:
    group = Group()
    group.tasks.targets["a1"] = TaskRoles(active=frozenset({ONE}), standby=frozenset({TWO}))
    a1 = group.life.members["a1"]
    assert group.waits.missing(a1) == {ONE, TWO}
    group.tasks.held["a1"] = TaskRoles(active=frozenset({TWO}), warmup=frozenset({ONE}))
    assert group.waits.missing(a1) == {ONE, TWO}, "in other roles"
    group.tasks.held["a1"] = TaskRoles(active=frozenset({ONE}), standby=frozenset({TWO}))
    assert group.waits.missing(a1) == set()


def test_without_a_target_of_tasks_the_member_s_own_counts() -> None:
    group = Group()
    a1 = group.life.members["a1"]
    assert group.waits.missing(a1) == set()
    a1.target = frozenset({ONE})
    assert group.waits.missing(a1) == {ONE}


def test_a_task_to_run_waits_for_who_runs_it() -> None:
    group = Group()
    group.tasks.targets["a1"] = TaskRoles(active=frozenset({ONE}))
    group.life.holders = {ONE: ["b1"]}
    assert group.holding() == ["b1"]


def test_a_replica_waits_for_nobody_of_another_process() -> None:
    group = Group()
    group.tasks.targets["a1"] = TaskRoles(standby=frozenset({ONE}))
    group.life.holders = {ONE: ["b1"]}
    assert group.holding() == []


def test_a_sibling_thread_that_keeps_it_in_any_role_is_waited_for() -> None:
    group = Group()
    group.tasks.targets["a1"] = TaskRoles(standby=frozenset({ONE}))
    for role in ("active", "standby", "warmup"):
        group.tasks.held["a2"] = TaskRoles(**{role: frozenset({ONE})})
        assert group.holding() == ["a2"], role
    group.tasks.held["b1"] = TaskRoles(standby=frozenset({ONE}))
    assert group.holding() == ["a2"]


def test_one_that_runs_it_and_is_a_sibling_is_named_once() -> None:
    group = Group()
    group.tasks.targets["a1"] = TaskRoles(active=frozenset({ONE}))
    group.tasks.held["a2"] = TaskRoles(active=frozenset({ONE}))
    group.life.holders = {ONE: ["a2"]}
    assert group.holding() == ["a2"]


def test_tasks_of_all_roles() -> None:
    held = TaskRoles(frozenset({ONE}), frozenset({TWO}), frozenset({("1", 0)}))
    assert tasks_in(held) == {ONE, TWO, ("1", 0)}
    assert tasks_in(None) == frozenset()
