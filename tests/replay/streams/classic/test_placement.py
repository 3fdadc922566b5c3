"""The placement against Kafka's own assignor: 400 random groups, and what recordings show."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.records.classic import GroupMetadata, NamedPartitions
from groupreplay.records.streams import Task
from groupreplay.replay.streams.classic.placement import place, process_order, task_order
from tests.support.recordings import groups

MADE_BY_KAFKA = Path(__file__).parent / "streams_placements.json"
"""By tests/streams_harness: a group a line, [[process id, threads, its tasks], ..]."""

S1, S2, S3 = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))


def task_of(text: str) -> Task:
    subtopology, _, partition = text.rpartition("_")
    return subtopology, int(partition)


def tasks_of(text: str) -> list[Task]:
    return [task_of(each) for each in text.split()]


def test_random_groups_are_placed_as_kafka_places_them() -> None:
    lines = MADE_BY_KAFKA.read_text().splitlines()
    assert len(lines) == 400
    for line in lines:
        processes = json.loads(line)
        placed = {task: one for one, _, tasks in processes for task in tasks_of(tasks)}
        threads = {process_id: count for process_id, count, _ in processes}
        assert place(threads, placed.keys()) == placed, line


@pytest.mark.parametrize(
    ("processes", "first", "second"),
    [
        # other-groups-4.2 p34:51; ids from `8` on come first.
        (
            ("09922a51-2f0f-4f45-933c-69e4e2da8040", "ad39ec0e-ea15-4cca-b711-a5c6a6198c9c"),
            "0_1 0_3",
            "0_0 0_2",
        ),
        # classic-3.9 p34:41
        (
            ("9dbe3928-e09c-4ba2-aab0-9e3be3c17842", "43645f9f-1d85-474e-b733-d7d565a59e96"),
            "0_0 0_2",
            "0_1 0_3",
        ),
    ],
)
def test_recorded_groups(processes: tuple[str, str], first: str, second: str) -> None:
    placed = dict.fromkeys(tasks_of(first), processes[0])
    placed |= dict.fromkeys(tasks_of(second), processes[1])
    assert place(dict.fromkeys(processes, 1), placed.keys()) == placed


def stable_generations(recording: str) -> Iterator[tuple[Counter[str], dict[Task, str]]]:
    """Threads of the processes, and where stateful tasks are, of each K2 that takes nothing away and
    schedules nothing.
    """
    for group in groups(recording):
        stateful: set[str] = set()
        for entry in group.entries:
            value = entry.record.value if isinstance(entry.record, GroupMetadata) else None
            if value is not None and value.protocol == "stream" and value.members:
                threads, placed, is_stable = Counter[str](), dict[Task, str](), True
                for member in value.members:
                    subscription, assignment = member.subscription, member.assignment
                    assert subscription is not None
                    assert assignment is not None
                    said, given = subscription.streams, assignment.streams
                    assert said is not None
                    assert given is not None
                    owned = partitions(subscription.owned_partitions)
                    is_stable &= owned <= partitions(assignment.assigned_partitions)
                    is_stable &= given.next_rebalance_ms is None
                    stateful |= {task[0] for task in (*said.offset_sums, *given.standby)}
                    threads[said.process_id] += 1
                    placed |= dict.fromkeys(given.active, said.process_id)
                if is_stable:
                    yield (
                        threads,
                        {task: one for task, one in placed.items() if task[0] in stateful},
                    )


def partitions(listed: tuple[NamedPartitions, ...]) -> set[tuple[str, int]]:
    return {(each.topic, partition) for each in listed for partition in each.partitions}


def test_recorded_groups_come_to_rest_where_tasks_are_placed() -> None:
    compared = 0
    for recording in ("streams-classic-4.3", "other-groups-4.2", "classic-3.9"):
        for threads, placed in stable_generations(recording):
            if len(threads) > 1:
                assert place(threads, placed.keys()) == placed
                compared += len(placed)
    assert compared > 100


def test_tasks_follow_the_threads() -> None:
    tasks = tasks_of("0_0 0_1 0_2 0_3 0_4 0_5")
    placed = place({S1: 1, S2: 1, S3: 4}, tasks)
    assert sorted(placed.values()) == [S1, S2, S3, S3, S3, S3]


def test_there_may_be_nothing() -> None:
    assert place({}, [("0", 0)]) == {}
    assert place({S1: 1}, []) == {}


def test_ids_are_compared_as_java_does() -> None:
    low, high = "00000000-0000-0000", "00000000-0000-0001"
    ids = [
        f"80000000-0000-0000-{low[:4]}-000000000000",
        f"ffffffff-ffff-ffff-{low[:4]}-000000000000",
    ]
    ids += [f"{low}-8000-000000000000", f"{low}-ffff-000000000000", f"{low}-7fff-000000000000"]
    ids += [f"{high}-8000-000000000000", "7fffffff-ffff-ffff-0000-000000000000"]
    keys = [process_order(each) for each in ids]
    assert keys == sorted({*keys})


def test_tasks_are_compared_by_topology_number_and_partition() -> None:
    ordered = [
        ("9", 0),
        ("10", 0),
        ("10", 2),
        ("10", 10),
        ("a__2", 0),
        ("a__10", 0),
        ("a__b__0", 0),
    ]
    keys = [task_order(each) for each in ordered]
    assert keys == sorted({*keys})


THREADS = st.dictionaries(st.uuids().map(str), st.integers(1, 5), min_size=1, max_size=8)
TASKS = st.sets(st.tuples(st.integers(0, 12).map(str), st.integers(0, 20)), max_size=40)


@given(threads=THREADS, tasks=TASKS)
def test_every_task_has_one_place_whatever_the_order(
    threads: dict[str, int], tasks: set[Task]
) -> None:
    placed = place(threads, tasks)
    assert placed.keys() == tasks
    assert set(placed.values()) <= threads.keys()
    assert place(dict(reversed(threads.items())), sorted(tasks, reverse=True)) == placed


@given(threads=THREADS, tasks=TASKS)
def test_no_move_lowers_a_difference_without_turning_it_round(
    threads: dict[str, int], tasks: set[Task]
) -> None:
    placed = [*place(threads, tasks).values()]
    load = {one: (placed.count(one), count) for one, count in threads.items()}
    for source, source_threads in load.values():
        for target, target_threads in load.values():
            skew = source / source_threads - target / target_threads
            after = (source - 1) / source_threads - (target + 1) / target_threads
            assert skew <= 0 or not 0 <= after < skew


def test_ten_thousand_tasks_take_no_time() -> None:
    threads = {f"{number:032x}": 1 + number % 16 for number in range(100)}
    tasks = [(str(subtopology), each) for subtopology in range(10) for each in range(1000)]
    began = time.process_time()
    assert len(place(threads, tasks)) == 10_000
    assert time.process_time() - began < 2
