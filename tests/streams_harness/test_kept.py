"""What is kept of the harness, without Java: user data that Kafka wrote says to this package what
Kafka's own classes say of it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from groupreplay.records.classic import GroupMember, GroupMetadata, GroupMetadataValue
from groupreplay.records.streams import SubscriptionInfo, Task
from groupreplay.replay.streams.classic.placement import place
from tests.replay.test_scenarios import log_of
from tests.streams_harness.examples import EXAMPLES
from tests.support.yaml_text import safe_load

SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios" / "streams").glob("*.yaml"))


def printed(task: Task) -> str:
    return f"{task[0]}_{task[1]}"


def process_of(member: GroupMember) -> str:
    return f"S{int(said(member).process_id.rpartition('-')[2])}"


def said(member: GroupMember) -> SubscriptionInfo:
    assert member.streams_error is None
    assert member.subscription is not None
    assert member.subscription.streams is not None
    return member.subscription.streams


def generations(scenario: dict[str, Any]) -> list[tuple[GroupMetadataValue, dict[str, Any]]]:
    """Each K2 and what was decided in it."""
    values = []
    for entry in log_of(scenario["entries"]).entries:
        assert isinstance(entry.record, GroupMetadata)
        assert entry.record.value is not None
        values.append(entry.record.value)
    decided = scenario["decided"]
    assert [value.generation for value in values] == [one["generation"] for one in decided]
    return list(zip(values, decided, strict=True))


def test_every_example_is_kept() -> None:
    assert [path.stem for path in SCENARIOS] == sorted(EXAMPLES)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_k2_say_what_was_decided(path: Path) -> None:
    for value, decided in generations(safe_load(path.read_text())):
        active, replicas, scheduled = {}, {}, {}
        for member in value.members:
            name = process_of(member)
            assert member.assignment is not None
            given = member.assignment.streams
            assert given is not None
            active[name] = [printed(task) for task in given.active]
            if given.standby:
                replicas[name] = sorted(map(printed, given.standby))
            if given.next_rebalance_ms is not None:
                scheduled[name] = given.next_rebalance_ms or "FOLLOWUP"
        copies: dict[str, list[str]] = {}
        for role in ("placeholder", "warmup", "standby"):
            for name, tasks in decided[role].items():
                copies[name] = sorted(copies.get(name, []) + tasks)
        assert active == decided["active"]
        assert replicas == copies
        assert scheduled == decided["next"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_kafka_wants_tasks_where_the_placement_says(path: Path) -> None:
    for value, decided in generations(safe_load(path.read_text())):
        names = {said(member).process_id: process_of(member) for member in value.members}
        threads = Counter(said(member).process_id for member in value.members)
        tasks = [task for found in decided["wanted"].values() for task in found]
        placed = place(threads, [(task.split("_")[0], int(task.split("_")[1])) for task in tasks])
        wanted: dict[str, list[str]] = {name: [] for name in names.values()}
        for task, process_id in sorted(placed.items()):
            wanted[names[process_id]].append(printed(task))
        assert wanted == decided["wanted"]
