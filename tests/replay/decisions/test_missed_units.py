"""What is counted as it changes is what a look at the whole group says, after every operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.decisions.missed_units import away_partitions, wanted
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.life import CLASSIC, STREAMS, Life
from groupreplay.replay.snapshot import MIGRATING, migration_phase
from tests.replay.test_scenarios import SCENARIOS, log_of
from tests.support.building import NAMES
from tests.support.recordings import RecordedGroup, all_groups
from tests.support.yaml_text import safe_load

_ALL = list(all_groups())


def waiting(life: Life) -> int:
    return sum(unit not in life.holders for unit in life.unowned)


def classic(life: Life) -> list[str]:
    return sorted(i for i, member in life.members.items() if member.protocol == CLASSIC)


def check(entries: list[Entry], names: dict[str, str]) -> int:
    """Replays a log, and asks after every record. Returns how often there was something."""
    replay, found = GroupReplay("g", 0, names), 0
    for entry in entries:
        replay.replay(entry)
        machine = replay._machine
        if machine is None or machine.life.protocol == STREAMS:
            continue
        life, membership = machine.life, machine.membership
        missed, away = membership.owners.missed, membership.days._away
        told = (missed.wanted(), missed.unheld(), away.count())
        assert told == (wanted(life), waiting(life), away_partitions(life)), entry
        if life.mixed is not None and migration_phase(life) == MIGRATING:
            assert life.mixed.blocked_by == classic(life)
        found += any(told)
    return found


@pytest.mark.parametrize("group", _ALL, ids=lambda group: f"{group.recording}-{group.group_id}")
def test_of_recorded_groups(group: RecordedGroup) -> None:
    check(list(group.entries), dict(group.names))


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_of_scenarios(path: Path) -> None:
    scenario: dict[str, Any] = safe_load(path.read_text())
    check(log_of(scenario["records"]).entries, scenario.get("names", NAMES))


def test_there_is_something_to_count() -> None:
    assert sum(check(list(group.entries), dict(group.names)) for group in _ALL) > 1_000
