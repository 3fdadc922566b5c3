"""Rules of a consumer group's operation: I1, I2, I4, I5, I14 and I16, each where it holds and where
it does not. A recorded log changed to break each is in `test_rule_table.py`.

Source: docs/rules.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.facts import Anomaly
from groupreplay.replay.rules.of_operations import missing_epoch
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed
from tests.support.words import Form


def joined(member: str, epoch: int, target: Iterable[int] = ()) -> list[Form]:
    held = {"foo": list(target)} if target else {}
    return [
        {"k5": member},
        {"k3": epoch},
        {"k7": member, "target": held},
        {"k6": epoch},
        {"k8": member, "epoch": epoch, "prev": 0, "assigned": held},
    ]


def gone(*members: str) -> list[Form]:
    return [{f"{key}x": member} for member in members for key in ("k8", "k7", "k5")]


def broken(entries: Sequence[Entry], *rules: str) -> list[tuple[str, int, str]]:
    """(rule, offset, code) of what is found of these rules."""
    found = [each for each in replayed(entries, NAMES) if isinstance(each, Anomaly)]
    return [
        (each.rule.partition("_")[0], each.evidence_offset, each.detail_code)
        for each in found
        if each.rule.partition("_")[0] in rules
    ]


def log_of(*operations: Sequence[Form]) -> list[Entry]:
    log = Log()
    for forms in operations:
        log.write(*forms)
    return log.entries


@pytest.mark.parametrize(
    ("epoch", "found"),
    [(2, []), (3, [("I4", 6, "EPOCH_NOT_NEXT")]), (1, [("I4", 6, "EPOCH_NOT_NEXT")])],
)
def test_each_epoch_is_the_next_one(epoch: int, found: list[tuple[str, int, str]]) -> None:
    assert broken(log_of(joined("A", 1), joined("B", epoch)), "I4") == found


def test_behind_a_hole_epochs_may_have_been_lost() -> None:
    log = Log()
    log.write(*joined("A", 1))
    log.skip(1)
    log.write(*joined("B", 5))
    assert broken(log.entries, "I4", "I5") == []


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (2, []),
        (3, [("I5", 8, "TARGET_PAST_EPOCH")]),
        (0, [("I5", 8, "TARGET_EPOCH_FALLS")]),
    ],
)
def test_a_target_is_of_no_epoch_that_is_not_begun_and_of_none_before(
    target: int, found: list[tuple[str, int, str]]
) -> None:
    operation: list[Form] = [{"k5": "B"}, {"k3": 2}, {"k7": "B"}, {"k6": target}]
    assert broken(log_of(joined("A", 1), operation), "I5") == found


def test_a_partition_has_one_owner_and_is_released_before_it_is_granted() -> None:
    entries = log_of(joined("A", 1, [0]), joined("B", 2, [0]))
    assert broken(entries, "I1", "I14") == [
        ("I14", 9, "GRANTED_WHILE_HELD"),
        ("I1", 9, "HELD_BY_SEVERAL"),
    ]
    released: list[Form] = [{"k8": "A", "epoch": 1, "prev": 1}]
    assert broken(log_of(joined("A", 1, [0]), released, joined("B", 2, [0])), "I1", "I14") == []


@pytest.mark.parametrize("epoch_is_last", [True, False])
def test_two_targets_are_judged_where_the_k6_shows_that_none_is_missing(
    epoch_is_last: bool,
) -> None:
    both: list[Form] = [
        {"k5": "B"},
        {"k3": 2},
        {"k7": "B", "target": {"foo": [0]}},
    ]
    if epoch_is_last:
        both.append({"k6": 2})
    found = broken(log_of(joined("A", 1, [0]), both), "I2")
    assert found == [("I2", 8, "IN_SEVERAL_TARGETS")] * epoch_is_last


def test_a_removal_begins_one_epoch() -> None:
    three = [joined("A", 1), joined("B", 2), joined("C", 3)]
    assert broken(log_of(*three, [*gone("A", "B"), {"k3": 4}]), "I16") == []


def test_an_operation_that_removes_and_begins_two_epochs_is_found() -> None:
    """A K3 that follows the one of a removal alone is an operation of its own."""
    apart: list[Form] = [*gone("A"), {"k3": 3}, {"k3": 4}]
    both: list[Form] = [*gone("A"), {"k5": "C"}, {"k3": 3}, {"k7": "C"}, {"k3": 4}, {"k6": 4}]
    before = [joined("A", 1), joined("B", 2)]
    assert broken(log_of(*before, apart), "I16") == []
    assert broken(log_of(*before, both), "I16") == [("I16", 17, "REMOVAL_EPOCHS")]


def test_a_removal_without_an_epoch_is_known_by_the_next_record() -> None:
    entries = log_of(
        joined("A", 1), joined("B", 2), gone("A"), [{"k8": "B", "epoch": 2, "prev": 2}]
    )
    assert broken(entries[:-1], "I16") == []
    assert broken(entries, "I16") == [("I16", 12, "REMOVAL_EPOCHS")]


def test_a_replaced_member_begins_no_epoch() -> None:
    """GroupMetadataManager.replaceMember."""
    first = [{**form, "instance": "i"} if "k5" in form else form for form in joined("A", 1)]
    back: list[Form] = [
        *gone("A"),
        {"k5": "B", "instance": "i"},
        {"k7": "B"},
        {"k8": "B", "epoch": 1, "prev": 0},
    ]
    entries = log_of(first, back, [{"k8": "B", "epoch": 1, "prev": 1}])
    assert broken(entries, "I16") == []


@pytest.mark.parametrize(("last_hole", "found"), [(-1, 1), (40, 1), (41, 0)])
def test_behind_a_hole_the_missing_epoch_may_be_lost(last_hole: int, found: int) -> None:
    findings = list(missing_epoch((2_000, 40, 3), last_hole, "T18"))
    assert [(each.rule, each.offset, each.params["members"]) for each in findings] == [
        ("T18", 40, "3")
    ] * found
