"""Tables that streams groups have as consumer groups do: `static_accounting`, `group_days` and
`coordinator_failovers`, with active tasks for partitions. What moved, and what it cost, is said
nowhere: their tasks have tables of their own (docs/measures.md, Days of groups).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.simulator.check import compared
from tests.simulator.compare import Comparison, Key, Wanted
from tests.simulator.expected import coordinator_failovers, group_days, static_accounting
from tests.simulator.expected.history import Check, History
from tests.simulator.lives import Life
from tests.simulator.streams.epochs import causes_of, epochs_of
from tests.simulator.streams.history import StreamsHistory
from tests.simulator.streams.stuck import as_consumers
from tests.simulator.tables import Tables
from tests.simulator.truth import STREAMS


class AsConsumers(History):
    """Lives of streams groups, with tasks for partitions."""

    def __init__(self, history: StreamsHistory) -> None:
        super().__init__(history.truth)
        self.streams = history
        self.lives = [as_consumers(life) for life in history.lives]
        of_lives = zip(self.lives, history.lives, strict=True)
        self._incarnations = {id(life): history.incarnation(of) for life, of in of_lives}

    def incarnation(self, life: Life) -> Any:
        return self._incarnations[id(life)]

    def was_streams(self, life: Life) -> bool:
        return False

    def begins_unwritten(self, life: Life) -> bool:
        return False

    def judged(self, life: Life, wanted: Wanted) -> Wanted:
        return wanted


Values = Callable[[AsConsumers, Key, Mapping[str, Any]], Mapping[str, Any]]
"""Values of a streams group in place of a consumer group's, by the key and values of that row."""


def _absences(history: AsConsumers, key: Key, values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"member_protocol": STREAMS, "moved": None}


def _failovers(history: AsConsumers, key: Key, values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"protocol": STREAMS}


_NO_PARTITIONS: Final[dict[str, Any]] = {
    **dict.fromkeys(("consumer_ms", "partitions_ms", "unowned_ms", "away_ms"), 0),
    **dict.fromkeys(("low_ms", "high_ms", "high_unknown", "sync_ms", "transitions_hidden"), 0),
    **dict.fromkeys(("moved", "returned", "handovers"), 0),
    **dict.fromkeys(("availability_least_pct", "availability_most_pct")),
    **dict.fromkeys(("handover_p50_ms", "handover_p95_ms", "handover_max_ms")),
    "handover_hist": [],
}


def _days(history: AsConsumers, key: Key, values: Mapping[str, Any]) -> Mapping[str, Any]:
    begun = [
        causes_of(life, epoch)[0][0]
        for life in history.streams.lives
        if life.group_id == key[0]
        for epoch in epochs_of(life)
        if values["from_at"] <= epoch.opened.at <= values["to_at"]
    ]
    return {**_NO_PARTITIONS, "causes": dict(Counter(begun))}


_TABLES: Final[tuple[tuple[Check, Values], ...]] = (
    (static_accounting.CHECK, _absences),
    (group_days.CHECK, _days),
    (coordinator_failovers.CHECK, _failovers),
)


def _of_streams(check: Check, values: Values) -> Check:
    def wanted(history: History) -> dict[Key, Wanted]:
        assert isinstance(history, AsConsumers)
        return {
            key: replace(must, values={**must.values, **values(history, key, must.values)})
            for key, must in check.wanted(history).items()
        }

    return replace(check, wanted=wanted)


CHECKS: Final = tuple(_of_streams(*each) for each in _TABLES)


def check_as_consumers(
    history: StreamsHistory, tables: Tables, named: str = ""
) -> list[Comparison]:
    """Rows of lives as streams groups, of every table whose name has `named` in it."""
    known, found = AsConsumers(history), []
    for check in CHECKS:
        if named in check.table:
            rows = [row for row in tables.rows(check.table) if history.of_row(row) is not None]
            found.append(compared(check, known, check.wanted(known), rows))
    return found
