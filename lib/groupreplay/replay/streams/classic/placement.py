"""Where HighAvailabilityTaskAssignor wants the stateful active tasks of a classic Streams group.

It computes this for every generation, from process ids, numbers of threads and the tasks alone;
what members have plays no part, and replicas follow from it. Rack awareness
(`rack.aware.assignment.strategy`) would rearrange it; that needs racks of brokers, which no record
holds.

Source: HighAvailabilityTaskAssignor.assignActiveStatefulTasks, balanceTasksOverThreads,
shouldMoveATask; java.util.UUID.compareTo; TaskId.compareTo.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import heappop, heappush

from groupreplay.records.streams import Task

_Key = tuple[bytes, int, int]
"""What tasks are sorted by: topology, subtopology, partition."""


def place(capacity: Mapping[str, int], tasks: Collection[Task]) -> dict[Task, str]:
    """The process of each task; {} without processes.

    capacity: process id, Java's text of a uuid -> its threads, one or more.
    tasks: the stateful ones of the group, each once.
    """
    processes = sorted(capacity, key=process_order)
    if not processes:
        return {}
    named = {task_order(task): task for task in tasks}
    keys = sorted(named)
    # Dealt in order, so each list is sorted, and so is a heap.
    dealt = [keys[place :: len(processes)] for place in range(len(processes))]
    _balance(dealt, [capacity[process] for process in processes])
    return {
        named[key]: process for process, held in zip(processes, dealt, strict=True) for key in held
    }


def process_order(process_id: str) -> tuple[int, int]:
    """As Java compares uuids: each half as a signed number, so that ids from `8` on come first."""
    digits = process_id.replace("-", "")
    return _signed(int(digits[:16], 16)), _signed(int(digits[16:], 16))


def _signed(half: int) -> int:
    return half - (1 << 64) if half >> 63 else half


def task_order(task: Task) -> _Key:
    """As Kafka compares task ids. Names are compared by UTF-16 units, as Java does."""
    topology, _, number = task[0].rpartition("__")
    return topology.encode("utf-16-be"), int(number), task[1]


def _balance(dealt: list[list[_Key]], threads: list[int]) -> None:
    """Moves tasks, the smallest first, between all pairs in order, until none improves anything."""
    counts = [len(held) for held in dealt]
    everybody = range(len(dealt))
    moved = True
    while moved:
        moved = False
        for source in everybody:
            for target in everybody:
                while counts[source] and _is_better(
                    counts[source], threads[source], counts[target], threads[target]
                ):
                    heappush(dealt[target], heappop(dealt[source]))
                    counts[source] -= 1
                    counts[target] += 1
                    moved = True


def _is_better(source: int, source_threads: int, target: int, target_threads: int) -> bool:
    """Whether a task moved from the one to the other lowers the difference of tasks per thread, and
    does not turn it round. In doubles, as in Java.
    """
    skew = source / source_threads - target / target_threads
    if skew <= 0:
        return False
    after = (source - 1.0) / source_threads - (target + 1.0) / target_threads
    return 0 <= after < skew
