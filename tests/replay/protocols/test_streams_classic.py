"""The worked examples of the design of incremental rebalancing with learner tasks, as Kafka's own
assignor plays them (tests/streams_harness), replayed and compared generation by generation.

`rows` of a scenario are what the tables say of it: `hand_overs`, each with the generations that
took and gave the task, and `replicas`, each with the generations that began and ended it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from groupreplay.replay.facts import Fact
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.streams_facts import ACTIVE, HeldTask, StreamsRebalance, TaskHandOver
from tests.replay.test_scenarios import log_of
from tests.support.replaying import replayed
from tests.support.yaml_text import safe_load

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios" / "streams").glob("*.yaml"))


def process(process_id: str | None) -> str | None:
    """S1 for ..1."""
    return None if process_id is None else f"S{int(process_id.rpartition('-')[2])}"


def task(row: HeldTask | TaskHandOver) -> str:
    return f"{row.subtopology}_{row.partition}"


def by_process(rows: Iterable[HeldTask], *roles: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        if row.role in roles:
            found.setdefault(str(process(row.process_id)), set()).add(task(row))
    return found


def as_sets(listed: dict[str, list[str]]) -> dict[str, set[str]]:
    return {name: set(tasks) for name, tasks in listed.items() if tasks}


def open_rows(machine: GroupReplay, kind: type[Any]) -> list[Any]:
    return [fact for fact in machine.open_facts() if isinstance(fact, kind) and not fact.is_final]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_generation_is_told_as_it_was_decided(path: Path) -> None:
    scenario = safe_load(path.read_text())
    machine = GroupReplay("g", 0, {})
    for entry, decided in zip(
        log_of(scenario["entries"]).entries, scenario["decided"], strict=True
    ):
        machine.replay(entry)
        machine.flush()
        spans = [s for s in open_rows(machine, HeldTask) if s.end_reason == "OPEN"]
        (row,) = open_rows(machine, StreamsRebalance)
        assert row.epoch == decided["generation"]
        assert by_process(spans, ACTIVE) == as_sets(decided["active"])
        kept = as_sets(decided["placeholder"])
        for role in ("WARMUP", "STANDBY"):
            told, wanted = by_process(spans, role), as_sets(decided[role.lower()])
            for name in told.keys() | wanted.keys():
                both = told.get(name, set()) ^ wanted.get(name, set())
                assert both <= kept.get(name, set()), (row.epoch, role, name)
        owed = {
            task(move): process(move.to_process_id)
            for move in open_rows(machine, TaskHandOver)
            if move.granted_at is None
        }
        assert owed == {each: name for name, its in decided["owed"].items() for each in its}
        assert row.tasks_owed == len(owed)
        assert row.tasks_revoked == sum(map(len, decided["revoked"].values()))
        assert row.next_kind == next_kind(decided["next"])
        cause = decided["cause"].replace("LEFT", "LEFT_OR_FENCED").split()[0].strip(",")
        assert cause in (row.cause, *row.also)
        if row.tasks_misplaced is not None:
            assert row.tasks_misplaced == len(misplaced(decided))


def next_kind(scheduled: dict[str, Any]) -> str:
    if "FOLLOWUP" in scheduled.values():
        return "FOLLOWUP"
    return "PROBING" if scheduled else "NONE"


def misplaced(decided: dict[str, Any]) -> set[str]:
    """Tasks with state that are neither where they are wanted nor owed there."""
    there = {
        (each, name)
        for word in ("active", "owed")
        for name, its in decided[word].items()
        for each in its
    }
    return {
        each for name, its in decided["wanted"].items() for each in its if (each, name) not in there
    }


def told(facts: Iterable[Fact]) -> dict[str, list[dict[str, Any]]]:
    """Hand-overs and replicas of all facts, by generations."""
    rows = list(facts)
    epochs = {r.decided_at: r.epoch for r in rows if isinstance(r, StreamsRebalance)}
    hand_overs = [
        {
            "task": task(r),
            "from": process(r.from_process_id),
            "to": process(r.to_process_id),
            "kind": r.hand_over_kind,
            "cause": r.cause,
            "outcome": r.outcome,
            "taken": epochs[r.released_at],
            "given": epochs.get(r.granted_at),
            "learning_since": epochs.get(r.learning_started_at),
            "not_ready": epochs.get(r.last_not_ready_at),
            "ready": epochs.get(r.ready_at),
            "gap": r.gap_records,
        }
        for r in rows
        if isinstance(r, TaskHandOver)
    ]
    replicas = [
        {
            "task": task(r),
            "at": process(r.process_id),
            "role": r.role,
            "begun": r.assigned_epoch,
            "ended": r.released_epoch,
            "end": r.end_reason,
        }
        for r in rows
        if isinstance(r, HeldTask) and r.role != ACTIVE
    ]
    return {
        "hand_overs": sorted(hand_overs, key=lambda r: (r["taken"], r["task"])),
        "replicas": sorted(replicas, key=lambda r: (r["begun"], r["task"], r["at"])),
    }


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_rows_of_a_worked_example(path: Path) -> None:
    scenario = safe_load(path.read_text())
    assert told(replayed(log_of(scenario["entries"]).entries, {})) == scenario["rows"]
