"""The lives that groups of Kafka Streams spend as classic groups: the checks of all other groups hold
of them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.simulator.check import check_history
from tests.simulator.compare import Comparison
from tests.simulator.expected import (
    coordinator_failovers,
    departure_waves,
    group_days,
    group_epochs,
    member_assignments,
    member_states,
    members,
    revocation_latencies,
    static_accounting,
    stuck,
)
from tests.simulator.expected.history import History
from tests.simulator.streams.history import StreamsHistory
from tests.simulator.tables import Row, Tables

CHECKS: Final = (
    member_states.CHECK,
    member_assignments.CHECK,
    members.CHECK,
    group_epochs.CHECK,
    revocation_latencies.CHECK,
    stuck.MEMBERS,
    stuck.GROUPS,
    coordinator_failovers.CHECK,
    departure_waves.CHECK,
    static_accounting.CHECK,
    group_days.CHECK,
)


class ClassicLives:
    """Rows that are of no life of a streams group."""

    def __init__(self, history: StreamsHistory, tables: Tables) -> None:
        self._history = history
        self._tables = tables

    def rows(self, table: str) -> Sequence[Row]:
        return [row for row in self._tables.rows(table) if self._history.of_row(row) is None]


def check_classic_lives(
    history: StreamsHistory, tables: Tables, named: str = ""
) -> list[Comparison]:
    """Every table whose name has `named` in it."""
    known = History(history.truth)
    return check_history(known, ClassicLives(history, tables), named, CHECKS)
