"""`anomalies`, `undecoded` and `coverage`: it was Kafka itself that wrote the log, and nothing of
it is lost. The assignor of a classic group's leader is the client's: what it gives to two members
breaks a rule, and must."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.holdings import is_new_generation
from tests.simulator.lives import given_to_several
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, Operation, Truth

GIVEN_ONCE: Final = "I24_GIVEN_ONCE"

SESSION_MS: Final = 60_000
"""The longest session that Kafka allows by default."""


def _nothing(history: History) -> dict[Key, Wanted]:
    return {}


def _broken(history: History) -> dict[Key, Wanted]:
    """One row for a generation in which a leader gave a partition to several members; none for a
    downgrade, which lists what members had."""
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        for before, operation in life.steps():
            is_begun = is_new_generation(before, operation)
            is_led = before is None or before.protocol == CLASSIC
            shared = given_to_several(operation) if operation.protocol == CLASSIC else {}
            if shared and is_begun and is_led:
                first = operation.first_offset
                key = life.group_id, GIVEN_ONCE, first, _given_twice(operation, shared)
                wanted[key] = Wanted({"severity": "WARN"}, (first,))
    return wanted


def _given_twice(operation: Operation, shared: Mapping[tuple[str, int], Sequence[str]]) -> str:
    (topic, number), holders = min(shared.items())
    return (
        f"generation {operation.epoch} gives {len(shared)} partitions to several members;"
        f" the first, {topic}-{number}, to {', '.join(holders)}"
    )


def _anomaly_key(history: History, row: Row) -> Key:
    """Of a generation given twice, the operation that it lies in."""
    offset = row["evidence_offset"]
    if row["rule"] == GIVEN_ONCE:
        operation = history.operation_at(row["group_id"], offset)
        offset = operation.first_offset if operation is not None else -1 - offset
    return row["group_id"], row["rule"], offset, row["detail"]


def _longest_session_ms(truth: Truth) -> int:
    return int(truth.broker_config.get("group.consumer.max.session.timeout.ms", 60_000))


def _excuse(history: History, row: Row) -> str:
    """Rules that can be broken by brokers that are well: docs/rules.md says when."""
    truth = history.truth
    if row["rule"] == "NEGATIVE_DURATION" and _goes_back(truth, row["group_id"]):
        return "clocks of two brokers that differ"
    if row["rule"] == "I22_REACHES_TARGET" and _longest_session_ms(truth) > SESSION_MS:
        return "sessions that may be longer than usual"
    if row["rule"] == "I18_ONE_KIND" and _is_forgotten(history, row):
        return "groups that the coordinator forgot, and wrote nothing"
    return ""


def _is_forgotten(history: History, row: Row) -> bool:
    """Whether the rule was broken by the operation that began a life unwritten."""
    operation = history.operation_at(row["group_id"], row["evidence_offset"])
    return any(
        life.operations[0] is operation and history.begins_unwritten(life) for life in history.lives
    )


def _goes_back(truth: Truth, group_id: str) -> bool:
    """Whether an operation of a group, or a commit, has an earlier time than one before it."""
    written = [(each.first_offset, each.at) for each in truth.operations.get(group_id, ())]
    for key, commits in truth.commits.items():
        if key.group_id == group_id:
            written += [(each.offset, each.at) for each in commits]
    return any(later < before for (_, before), (_, later) in pairwise(sorted(written)))


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


ANOMALIES: Final = Check("anomalies", _broken, _anomaly_key, _excuse)
UNDECODED: Final = Check("undecoded", _nothing, _undecoded_key)
COVERAGE: Final = Check("coverage", _coverage, _coverage_key)
