"""I15: the order of tombstones in one operation.

Source: docs/rules.md, I15; GroupMetadataManager.removeMember, ConsumerGroup.createGroupTombstoneRecords.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Anomaly
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed
from tests.support.words import Form

JOINED: list[Form] = [
    {"k5": "A"},
    {"k3": 1},
    {"k7": "A", "target": {"foo": [0]}},
    {"k6": 1},
    {"k8": "A", "epoch": 1, "prev": 0, "assigned": {"foo": [0]}},
]
LEAVE: list[Form] = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 2}]
DELETED: list[Form] = [*LEAVE[:3], {"k6x": True}, {"k3x": True}]


def found(entries: Sequence[Entry]) -> list[tuple[int, str, list[str]]]:
    return [
        (each.evidence_offset, each.detail_code, each.detail_values)
        for each in replayed(entries, NAMES)
        if isinstance(each, Anomaly) and each.rule.startswith("I15_")
    ]


def log_of(*operations: Sequence[Form]) -> list[Entry]:
    log = Log()
    for forms in operations:
        log.write(*forms)
    return log.entries


@pytest.mark.parametrize("last", [LEAVE, DELETED])
def test_a_member_goes_from_its_k8_to_its_k5_and_a_group_last(last: list[Form]) -> None:
    assert found(log_of(JOINED, last)) == []


@pytest.mark.parametrize(
    ("last", "offset", "code", "values"),
    [
        ([LEAVE[1], LEAVE[0], *LEAVE[2:]], 6, "TOMBSTONE_AFTER", ["8", "7"]),
        ([LEAVE[0], LEAVE[2], LEAVE[1], LEAVE[3]], 7, "TOMBSTONE_AFTER", ["7", "5"]),
        ([LEAVE[1], LEAVE[2], LEAVE[3]], 6, "TOMBSTONE_BEFORE_MEMBER", ["5", "8", "A"]),
        ([LEAVE[0], {"k6x": True}, *LEAVE[1:3]], 6, "TOMBSTONE_BEFORE_MEMBER", ["6", "7", "A"]),
        ([{"k3x": True}], 5, "TOMBSTONE_BEFORE_MEMBER", ["3", "5", "A"]),
    ],
    ids=["K7 before K8", "K5 before K7", "K8 left", "K7 left", "member left"],
)
def test_a_tombstone_out_of_order_is_found_once_an_operation(
    last: list[Form], offset: int, code: str, values: list[str]
) -> None:
    assert found(log_of(JOINED, last)) == [(offset, code, values)]


def test_one_member_does_not_wait_for_another() -> None:
    others: list[Form] = [{"k5": "B"}, {"k3": 2}, {"k7": "B"}, {"k6": 2}]
    both: list[Form] = [*LEAVE[:3], {"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 3}]
    join = [*others, {"k8": "B", "epoch": 2, "prev": 0}]
    assert found(log_of(JOINED, join, both)) == []


def test_what_may_be_lost_is_not_called_left_behind() -> None:
    log = Log()
    log.write(*JOINED)
    log.skip(1)
    log.write({"k3x": True})
    assert found(log.entries) == []
