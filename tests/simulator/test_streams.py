"""Small histories of streams groups, on Kafka's own coordinator: every row of every table is what
the coordinator's memory says, and no rule finds fault with Kafka.

Longer ones, of seeds that nobody has seen, are for `make soak`.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pytest

from tests.simulator.broken import other_than
from tests.simulator.check_streams import (
    CHECKS,
    StreamsCheck,
    anomalies_of,
    check_all,
    compared,
    differences,
    rows_of,
)
from tests.simulator.compare import MISSING, ROWS, TWICE, Comparison, Key, Untold, Wanted
from tests.simulator.conftest import Play
from tests.simulator.played import Played
from tests.simulator.replayed import replay_recording
from tests.simulator.streams.history import StreamsHistory, read_streams
from tests.simulator.tables import FactTables, Row
from tests.simulator.truth import read_truth

HISTORIES: Final = (
    # Members of an older build than their group's topology, one process id on two machines, racks.
    Played(4, 6, 0.2, "streams", "4.2.1"),
    # Threads that wait while they keep replicas, and threads whose siblings keep them: their
    # hand-overs were called cold.
    Played(2, 8, 0.3, "streams", "4.3.1"),
    Played(9, 6, 0.2, "streams", "4.1.2"),
    Played(9, 6, 0.2, "streams", "4.4.0"),
)
LONG_HISTORIES: Final = (
    # A coordinator goes before a group has its first target.
    Played(1003000009, 38, 0.65, "streams", "4.3.1"),
    # An empty group is dropped from memory, and nothing is written of that.
    Played(1005000108, 38, 0.65, "streams", "4.4.0"),
)
"""That failed once, for `make soak`."""
TABLES: Final = tuple(check.table for check in CHECKS)
TRIES: Final = 2
"""Rows that are broken of each table and column."""


@pytest.mark.parametrize(
    "history",
    [*HISTORIES, *(pytest.param(each, marks=pytest.mark.soak) for each in LONG_HISTORIES)],
    ids=lambda history: str(history.name),
)
def test_every_row_is_what_the_coordinator_held(history: Played, play: Play) -> None:
    recording = play(history)
    groups = read_streams(recording, read_truth(recording))
    replayed = replay_recording(recording)
    compared = check_all(groups, replayed, FactTables(recording, replayed))
    told = [line for each in compared for line in differences(each, groups, 2)]
    assert not told, "\n".join((history.command(), *told[:60]))
    assert not anomalies_of(groups, replayed)
    rows = Counter[str]()
    for each in compared:
        rows[each.table] += each.agree[ROWS]
    assert rows["member_assignments"] > 10  # of lives as classic groups
    assert rows["task_assignments"] > 100
    assert rows["task_handovers"] > 50
    # Brokers convert from 4.2 on.
    assert bool(rows["group_conversions"]) == (history.version != "4.1.2")


@pytest.fixture(scope="module")
def cases(play: Play) -> Mapping[str, Case]:
    recording = play(HISTORIES[0])
    history = read_streams(recording, read_truth(recording))
    replayed = replay_recording(recording)
    return {
        check.table: Case(history, check, check.wanted(history), rows_of(history, replayed, check))
        for check in CHECKS
    }


@dataclass(frozen=True, slots=True)
class Case:
    """One table of a history: what must be, and what is."""

    history: StreamsHistory
    check: StreamsCheck
    wanted: Mapping[Key, Wanted]
    rows: Sequence[Row]

    def compare(self, rows: Sequence[Row]) -> Comparison:
        return compared(self.history, self.check, self.wanted, rows)

    def judged(self, column: str | None = None) -> list[int]:
        """Places of some rows that are looked at, in this column if one is given."""
        found = []
        for place, row in enumerate(self.rows):
            must = self.wanted.get(self.check.key_of(self.history, row))
            value = must.values.get(column or "") if must is not None else None
            if must is not None and not isinstance(value, Untold):
                found.append(place)
        return random.Random(column).sample(found, min(TRIES, len(found)))


def test_what_is_rare_is_played(cases: Mapping[str, Case]) -> None:
    reasons = {row["reason"] for row in cases["stuck"].rows}
    assert {"STALE_TOPOLOGY", "DUPLICATE_PROCESS_ID"} <= reasons
    assert any(row["rack_id"] for row in cases["members"].rows)


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_is_gone_or_there_twice_is_noticed(
    table: str, cases: Mapping[str, Case]
) -> None:
    case = cases[table]
    assert case.judged(), "no row to break: play a longer history"
    for place in case.judged():
        gone = case.compare([*case.rows[:place], *case.rows[place + 1 :]]).differ
        assert gone == {MISSING: 1}, case.rows[place]
        assert case.compare([*case.rows, case.rows[place]]).differ == {TWICE: 1}, case.rows[place]


@pytest.mark.parametrize("table", TABLES)
def test_a_wrong_value_in_any_column_is_noticed(table: str, cases: Mapping[str, Case]) -> None:
    case = cases[table]
    for field in dataclasses.fields(case.check.fact):
        places = case.judged(field.name)
        assert places, (field.name, "no row to break: play a longer history")
        for place in places:
            rows = list(case.rows)
            wrong = other_than(rows[place][field.name], by=10**9)
            rows[place] = {**rows[place], field.name: wrong}
            assert case.compare(rows).differ, (field.name, case.rows[place])
