"""`anomalies`, `undecoded` and `coverage`: it was Kafka itself that wrote the log, and nothing of
it is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row


def _nothing(history: History) -> dict[Key, Wanted]:
    return {}


def _anomaly_key(history: History, row: Row) -> Key:
    return row["group_id"], row["rule"], row["evidence_offset"], row["detail"]


def _excuse(history: History, row: Row) -> str:
    """Clocks of two brokers can differ: then a difference of times is NULL, and said to be so."""
    is_told = row["rule"] == "NEGATIVE_DURATION" and row["severity"] == "INFO"
    goes_back = any(
        later.at < before.at
        for before, later in pairwise(history.truth.operations.get(row["group_id"], ()))
    )
    return "differences of two brokers' clocks" if is_told and goes_back else ""


def _undecoded_key(history: History, row: Row) -> Key:
    return row["group_id"], row["offsets_partition"], row["offset"]


def _coverage(history: History) -> dict[Key, Wanted]:
    """One row a partition: everything from its first offset to its last was read and understood."""
    wanted: dict[Key, Wanted] = {}
    for partition, log in history.truth.logs.items():
        values: dict[str, Any] = {
            "first_offset": 0,
            "next_offset": log.next_offset,
            "first_at": log.first_at,
            "last_at": log.last_at,
            "landed": log.landed,
            "decoded": log.landed,
            "unknown": 0,
            "undecoded": 0,
            "reduced": log.reduced,
            "control": log.markers,
            "aborted": log.aborted,
            "open_commits": log.unsettled,
            "duplicates": log.next_offset * (history.truth.brokers - 1),
            "holes": 0,
            "late": 0,
        }
        wanted[f"__consumer_offsets-{partition}",] = Wanted(values, ())
    return wanted


def _coverage_key(history: History, row: Row) -> Key:
    return (row["input"],)


ANOMALIES: Final = Check("anomalies", _nothing, _anomaly_key, _excuse)
UNDECODED: Final = Check("undecoded", _nothing, _undecoded_key)
COVERAGE: Final = Check("coverage", _coverage, _coverage_key)
