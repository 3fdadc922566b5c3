"""Which processes members are threads of after an operation of a streams group."""

from __future__ import annotations

from groupreplay.replay.life import STREAMS, Life
from groupreplay.replay.operations import Operation
from groupreplay.replay.output import Output
from groupreplay.replay.streams.groups.group_processes import run_in_processes
from groupreplay.replay.streams.processes import Processes
from tests.support.building import Log
from tests.support.words import Form


def threads_after(*operations: list[Form]) -> dict[str, list[str]]:
    """Process -> its members, after these operations; and those of a process that is gone."""
    life = Life("g", 0, 0, STREAMS)
    processes = Processes(life, Output())
    log = Log()
    for forms in operations:
        run_in_processes(processes, Operation(log.write(*forms)), frozenset())
    return {process_id: sorted(each.members) for process_id, each in life.processes.items()}


def test_a_member_is_a_thread_of_the_process_that_it_names() -> None:
    said: list[Form] = [{"streams_member": "A", "process": "p", "endpoint": "h:80"}]
    assert threads_after(said, [{"streams_member": "B", "process": "p"}]) == {"p": ["A", "B"]}


def test_until_its_tombstone() -> None:
    assert threads_after([{"streams_member": "A", "process": "p"}], [{"streams_memberx": "A"}]) == {
        "p": []
    }


def test_the_last_record_of_an_operation_counts() -> None:
    """A static member comes back in another process: its first K19 is a copy (4.4)."""
    before: list[Form] = [{"streams_member": "A", "process": "p"}]
    returns: list[Form] = [
        {"streams_memberx": "A"},
        {"streams_member": "B", "process": "p"},
        {"streams_member": "B", "process": "q"},
    ]
    assert threads_after(before, returns) == {"p": [], "q": ["B"]}


def test_who_comes_back_under_its_id_never_left() -> None:
    before: list[Form] = [{"streams_member": "A", "process": "p"}]
    returns: list[Form] = [{"streams_memberx": "A"}, {"streams_member": "A", "process": "p"}]
    assert threads_after(before, returns) == {"p": ["A"]}
