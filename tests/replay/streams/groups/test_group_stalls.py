"""What is stuck in a streams group: topologies that are not ready or out of date, and tasks that
nobody runs.
"""

from __future__ import annotations

from groupreplay.replay.facts import Stall
from groupreplay.replay.kept.streams_tasks import GroupTasks, StreamsState, Task, TaskMove
from groupreplay.replay.life import STREAMS, Life, Member
from groupreplay.replay.output import Output
from groupreplay.replay.streams.groups.group_stalls import GroupStalls
from groupreplay.replay.streams_facts import TaskHandOver


class World:
    """A group of members A and B whose K23 has topology 0, which 4.2 validates."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, STREAMS)
        self.life.members = {"A": Member("A", client_id="c"), "B": Member("B")}
        self.group = GroupTasks(topology_epoch=0, validated_epoch=0, is_validating=True)
        self.state = StreamsState(group=self.group)
        self.output = Output()
        self.stalls = GroupStalls(self.life, self.state, self.group, self.output)

    def watch(self, at: int, *, observed: bool = True) -> list[Stall]:
        """One operation at a time in ms; its offset is the second. Returns what ended."""
        self.stalls.watch(at, at // 1000, observed)
        return [fact for fact in self.output.take() if isinstance(fact, Stall)]

    def open(self) -> dict[str, int]:
        """Reason -> since when, of what is open."""
        return {stall.reason: stall.since_at for stall in self.state.stalls.values()}

    def take(self, task: Task, taken: int, member_id: str = "A") -> None:
        """A record at an offset takes a task."""
        row = TaskHandOver(
            **self.life.place,
            from_offset=taken,
            protocol="streams",
            subtopology=task[0],
            partition=task[1],
            from_member_id=member_id,
            from_process_id=None,
            cause="REBALANCED",
        )
        self.state.moves[task] = TaskMove(row)


def test_a_healthy_group_is_not_stuck() -> None:
    world = World()
    assert world.watch(1000) == []
    assert world.open() == {}


def test_a_topology_is_not_ready_until_it_is_validated() -> None:
    world = World()
    world.group.validated_epoch = -1
    world.watch(1000)
    world.watch(5000)
    assert world.open() == {"TOPOLOGY_NOT_READY": 1000}
    world.group.validated_epoch = 0
    (stall,) = world.watch(61_000)
    assert (stall.since_at, stall.until_at, stall.from_offset, stall.to_offset) == (
        1000,
        61_000,
        1,
        61,
    )
    assert stall.detail_values == ["0", "-1"]
    assert stall.member_id is None


def test_nobody_is_stuck_in_an_empty_group_or_before_4_2() -> None:
    world = World()
    world.group.validated_epoch = -1
    world.group.is_validating = False
    world.watch(1000)
    assert world.open() == {}
    world.group.is_validating = True
    world.life.members.clear()
    world.watch(2000)
    assert world.open() == {}


def test_a_topology_without_its_k23_is_not_judged() -> None:
    world = World()
    world.group.validated_epoch = world.group.topology_epoch = -1
    world.watch(1000)
    assert world.open() == {}


def test_a_member_of_an_older_topology_is_stale_until_it_says_otherwise() -> None:
    world = World()
    world.group.topology_epoch = world.group.validated_epoch = 2
    world.group.topology_epochs = {"A": 1, "B": 2}
    world.watch(1000)
    (stall,) = world.state.stalls.values()
    assert (stall.reason, stall.member_id, stall.client_id) == ("STALE_TOPOLOGY", "A", "c")
    assert stall.detail_values == ["1", "2"]
    world.group.topology_epochs["A"] = 2
    (ended,) = world.watch(9000)
    assert (ended.since_at, ended.until_at) == (1000, 9000)


def test_a_stale_member_that_goes_is_forgotten() -> None:
    world = World()
    world.group.topology_epoch = world.group.validated_epoch = 2
    world.group.topology_epochs = {"A": 1}
    world.watch(1000)
    del world.life.members["A"]
    (ended,) = world.watch(9000)
    assert (ended.member_id, ended.until_at) == ("A", 9000)
    assert world.group.topology_epochs == {}


def test_tasks_that_one_record_took_are_one_stretch() -> None:
    world = World()
    world.take(("0", 1), 4)
    world.take(("0", 0), 4)
    world.take(("1", 0), 5, "B")
    world.watch(5000)
    found = {stall.from_offset: stall.detail_values for stall in world.state.stalls.values()}
    assert found == {4: ['["0_0", "0_1"]', "A"], 5: ['["1_0"]', "B"]}


def test_it_lasts_until_the_last_of_them_is_given() -> None:
    world = World()
    world.take(("0", 0), 4)
    world.take(("0", 1), 4)
    world.watch(5000)
    world.state.moves["0", 0].granted_offset = 7
    assert world.watch(7000) == []
    (stall,) = world.state.stalls.values()
    assert stall.detail_values == ['["0_1"]', "A"]
    del world.state.moves["0", 1]
    (ended,) = world.watch(9000)
    assert (ended.reason, ended.since_at, ended.until_at) == ("TASK_UNASSIGNED", 5000, 9000)


def test_nobody_misses_a_task_where_nobody_is() -> None:
    world = World()
    world.take(("0", 0), 4)
    world.watch(5000)
    world.life.members.clear()
    assert [stall.until_at for stall in world.watch(8000)] == [8000]


def test_a_hole_hides_how_long_it_lasted() -> None:
    world = World()
    world.group.validated_epoch = -1
    world.watch(1000)
    assert world.watch(50_000, observed=False) == []
    (stall,) = world.state.stalls.values()
    assert (stall.since_at, stall.start_observed) == (50_000, False)


def test_what_is_short_gives_no_row() -> None:
    world = World()
    world.group.validated_epoch = -1
    world.watch(1000)
    world.group.validated_epoch = 0
    assert world.watch(1999) == []
    assert world.open() == {}


def test_the_end_of_the_life_ends_all() -> None:
    world = World()
    world.group.validated_epoch = -1
    world.take(("0", 0), 1)
    world.watch(1000)
    world.stalls.end_all(9000, 9)
    assert {getattr(fact, "until_at", None) for fact in world.output.take()} == {9000}
    assert not world.state.stalls
