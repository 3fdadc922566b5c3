"""Processes of a Streams group: when they come and go, and who shares an id."""

from __future__ import annotations

from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.facts import Stall
from groupreplay.replay.life import STREAMS, Life, Member, RemovedMember
from groupreplay.replay.output import Output
from groupreplay.replay.streams.processes import RESTARTS_KEPT, Processes
from groupreplay.replay.streams_facts import StreamsProcess


class World:
    """A life, its processes, and a clock that goes on by a second with each operation."""

    def __init__(self) -> None:
        self.life = Life("g", 0, 0, STREAMS)
        self.output = Output()
        self.processes = Processes(self.life, self.output)
        self.now = 0

    def change(
        self, *joins: tuple[str, str], leaves: tuple[str, ...] = (), host: str = "/h1"
    ) -> list[StreamsProcess]:
        """One operation. joins: (process, member). Returns the rows that it ended."""
        self.now += 1
        for member_id in leaves:
            self.processes.leave(member_id)
        for process_id, member_id in joins:
            self.processes.join(
                process_id,
                member_id,
                client_host=host,
                endpoint=None,
                tags={"zone": "a"},
                version=None,
                at=1000 * self.now,
                offset=self.now,
                observed=True,
            )
        self.processes.settle(1000 * self.now, self.now)
        return [fact for fact in self.output.take() if isinstance(fact, StreamsProcess)]

    def row(self, process_id: str) -> StreamsProcess:
        return self.life.processes[process_id].row


def test_a_process_lasts_from_its_first_thread_to_its_last() -> None:
    world = World()
    assert not world.change(("p", "a"))
    assert not world.change(("p", "b"))
    assert not world.change(leaves=("a",))
    (row,) = world.change(leaves=("b",))
    assert (row.joined_at, row.left_at, row.from_offset, row.to_offset) == (1000, 4000, 1, 4)
    assert (row.threads, row.members, row.restarts) == (2, 2, 0)
    assert (row.end_reason, row.is_final) == ("LEFT_OR_FENCED", True)
    assert (row.tag_names, row.tag_values) == (["zone"], ["a"])
    assert not world.life.processes


def test_threads_are_the_most_at_one_time() -> None:
    world = World()
    world.change(("p", "a"))
    world.change(("p", "b"), leaves=("a",))
    assert world.row("p").threads == 1
    assert world.row("p").members == 2


def test_a_process_that_comes_back_was_started_anew() -> None:
    world = World()
    for turn in range(3):
        world.change(("p", f"a{turn}"))
        world.change(leaves=(f"a{turn}",))
    world.change(("p", "a3"))
    assert world.row("p").restarts == 3
    assert world.row("p").members == 1


def test_so_was_one_whose_last_thread_went_as_the_next_one_came() -> None:
    world = World()
    world.change(("p", "a"))
    world.change(("p", "b"), leaves=("a",))
    assert world.row("p").restarts == 1
    assert world.row("p").from_offset == 1


def test_a_thread_under_its_old_id_was_not() -> None:
    world = World()
    world.change(("p", "a"))
    world.change(leaves=("a",))
    world.life.departures["a"] = RemovedMember(2000, "a", None, None)
    world.change(("p", "a"))
    assert (world.row("p").restarts, world.row("p").members) == (0, 1)


def test_nor_is_its_id_counted_twice() -> None:
    world = World()
    world.change(("p", "a"), ("p", "b"))
    world.change(leaves=("a",))
    world.life.departures["a"] = RemovedMember(2000, "a", None, None)
    world.change(("p", "a"))
    assert (world.row("p").restarts, world.row("p").members) == (0, 2)


def test_a_member_that_was_removed_while_it_was_away_comes_back_as_itself() -> None:
    """A static member, under its id. Simulated: streams-16, streams-static 4.4.0 seed 993000010."""
    world = World()
    world.change(("p", "a"), ("p", "b"))
    world.processes.leave("a", was_away=True)
    world.change(("p", "a"))
    assert world.row("p").members == 2
    world.processes.leave("a")
    world.change(("p", "c"))
    assert world.row("p").members == 3


def test_a_thread_that_comes_when_all_are_away_shows_a_restart_of_them() -> None:
    """Static members of one process left for a while (4.4), and return one after the other."""
    world = World()
    world.change(("p", "a"), ("p", "b"))
    world.change(("p", "c"), leaves=("a",))
    assert world.row("p").restarts == 0
    for member_id, epoch in (("b", STATIC_LEAVE_EPOCH), ("c", STATIC_LEAVE_EPOCH)):
        world.life.members[member_id] = Member(member_id, STREAMS, epoch=epoch)
    world.change(("p", "d"), leaves=("b",))
    assert world.row("p").restarts == 1
    world.life.members["d"] = Member("d", STREAMS, epoch=5)
    world.change(("p", "e"), leaves=("c",))
    assert (world.row("p").restarts, world.row("p").threads) == (1, 2)


def test_restarts_of_the_last_processes_are_kept() -> None:
    world = World()
    for number in range(RESTARTS_KEPT + 1):
        world.change((f"p{number}", "a"))
        world.change(leaves=("a",))
    assert len(world.life.gone_processes) == RESTARTS_KEPT
    world.change(("p0", "b"), (f"p{RESTARTS_KEPT}", "c"))
    assert (world.row("p0").restarts, world.row(f"p{RESTARTS_KEPT}").restarts) == (0, 1)


def test_what_a_hole_hides_has_no_time() -> None:
    world = World()
    world.change(("p", "a"))
    world.processes.leave("a")
    world.processes.settle(9000, 9, "UNOBSERVED")
    (row,) = world.output.take()
    assert isinstance(row, StreamsProcess)
    assert (row.left_at, row.to_offset, row.end_reason) == (None, 9, "UNOBSERVED")


def test_one_id_on_two_hosts_is_told_while_it_lasts() -> None:
    """A state directory that was copied."""
    world = World()
    world.change(("p", "a"), host="/h1")
    world.change(("p", "b"), host="/h2")
    duplicate = world.life.processes["p"].duplicate
    assert duplicate is not None
    assert (duplicate.since_at, duplicate.blocked_by) == (2000, ["a", "b"])
    assert duplicate.detail_values == ["p", '["/h1", "/h2"]']
    assert world.row("p").hosts == ["/h1", "/h2"]
    world.change(("p", "c"), host="/h3")
    assert duplicate.detail_values == ["p", '["/h1", "/h2", "/h3"]']
    world.processes.leave("b")
    world.processes.leave("c")
    world.processes.settle(4000, 4)
    (stall,) = world.output.take()
    assert isinstance(stall, Stall)
    assert (stall.reason, stall.since_at, stall.until_at) == ("DUPLICATE_PROCESS_ID", 2000, 4000)
    assert world.life.processes["p"].duplicate is None


def test_threads_of_one_host_share_an_id_as_they_should() -> None:
    world = World()
    world.change(("p", "a"), ("p", "b"))
    assert world.life.processes["p"].duplicate is None
    assert len(world.processes.open_rows()) == 1


def test_the_end_of_a_life_ends_all() -> None:
    world = World()
    world.change(("p", "a"), ("q", "b"))
    world.processes.end(5000, 5, "GROUP_REMOVED")
    rows = world.output.take()
    assert [getattr(row, "end_reason", None) for row in rows] == ["GROUP_REMOVED"] * 2
    assert not world.processes.open_rows()


def test_a_member_that_names_another_process_leaves_the_one_it_was_in() -> None:
    world = World()
    assert not world.change(("p", "a"), ("p", "b"))
    assert not world.change(("q", "a"))
    assert world.row("q").threads == 1
    (row,) = world.change(leaves=("b",))
    assert (row.process_id, row.threads, row.left_at) == ("p", 2, 3000)
    assert list(world.life.processes) == ["q"]
