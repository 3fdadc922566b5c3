"""Where one operation ends and the next begins. Cases are those that recordings of 3.9 to 4.3
showed, and those that the write order implies.
"""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.operations import Operation
from tests.support.building import GROUP, NAMES, Log, record
from tests.support.recordings import all_groups
from tests.support.replaying import operations_of, replayed
from tests.support.words import Form


def k8(member: str, epoch: int = 5, prev: int = 4, **words: Any) -> Form:
    return {"k8": member, "epoch": epoch, "prev": prev, **words}


def k5c(member: str) -> Form:
    return {"k5": member, "classic": True}


def other(key_type: int, member: str = "") -> Form:
    return {"other": key_type, "member": member}


def otherx(key_type: int, member: str = "") -> Form:
    return {"otherx": key_type, "member": member}


def k22(member: str, epoch: int = 5) -> Form:
    return {"streams_current": member, "epoch": epoch}


def leaves(member: str, epoch: int) -> list[Form]:
    """A member of a streams group goes."""
    return [
        {"streams_currentx": member},
        {"streams_targetx": member},
        {"streams_memberx": member},
        {"streams_group": epoch},
    ]


CASES: dict[str, list[list[Form]]] = {
    # ---- several operations of one group in one millisecond and batch
    "K8 | K8 of two members; another version's p35:47": [[k8("A")], [k8("B")]],
    "K5 K8 | K5 K8; migration-4.0 p2:113": [[{"k5": "A"}, k8("A")], [{"k5": "B"}, k8("B")]],
    "K5 K3 K8 | K5 K3 K8; consumer-4.3 p5:5": [[{"k5": "A"}, {"k3": 4}, k8("A", 3, 0)], [{"k5": "B"}, {"k3": 5}, k8("B", 3, 0)]],
    "K8 | K5 K3 K8; 4.3 with 60 members, p36:185": [[k8("A")], [{"k5": "B"}, {"k3": 6}, k8("B", 5, 0)]],
    "K7* K6 K8 | K8X K7X K5X K3; 4.3 with 60 members, p36:1131": [
        [{"k7": "A"}, {"k7": "B"}, {"k6": 5}, k8("A")],
        [{"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 6}],
    ],
    "K7* K6 | K8X K7X K5X K3": [[{"k7": "A"}, {"k6": 5}], [{"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 6}]],
    "K8X K7X K5X K3 | the same of another member": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 5}],
        [{"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 6}],
    ],
    "K8X K7X K5X K3 | K5 K3 K7 K6 K8: one leaves, another joins": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 5}],
        [{"k5": "B"}, {"k3": 6}, {"k7": "B"}, {"k6": 6}, k8("B", 6, 0)],
    ],
    "K8X K7X K5X K3 | K6 K8: one leaves, the next heartbeat finds targets as they were (4.0)": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 5}],
        [{"k6": 5}, k8("B")],
    ],
    "K3 | K5 K3 K8: metadata changed, then a join": [[{"k3": 5}], [{"k5": "B"}, {"k3": 6}, k8("B", 4, 0)]],
    "K16 K3 | K16: two expressions resolved": [[{"k16": "f.*", "topics": ["foo"]}, {"k3": 5}], [{"k16": "b.*", "topics": ["bar"]}]],
    "K8X K7X K5X K3 | K6X K4X K3X: the last one leaves, the group is deleted": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 5}],
        [{"k6x": True}, {"k4x": True}, {"k3x": True}],
    ],
    "K2 | K2": [[{"k2": 3, "members": {"a": {}}}], [{"k2": 4, "members": {"a": {}}}]],
    "K22 | K22: streams": [[k22("A")], [k22("B")]],
    "K22X K21X K19X K17 | the same of another member": [leaves("A", 5), leaves("B", 6)],
    "K22X K21X K19X K17 | K21 K20 K22: the next heartbeat": [
        leaves("A", 5), [{"streams_target": "B"}, {"streams_target_epoch": 5}, k22("B")]],
    "K22X K21X K19X K17 | K20 with its time K22: the next heartbeat (4.3)": [
        leaves("A", 5), [{"streams_target_epoch": 5, "stamp": 7}, k22("B")]],
    "K22X K21X K19X K17 | K20 without a time K22: the next heartbeat (4.1, 4.2)": [
        leaves("A", 5), [{"streams_target_epoch": 5}, k22("B")]],
    "K22X K21X K19X K17 | K20X K17X K23X: the last one leaves, the group is deleted": [
        leaves("A", 5), [{"streams_target_epochx": 1}, {"streams_groupx": 1}, {"streams_topologyx": 1}]],
    "K17 | K19 K17 K22: metadata changed, then a join": [
        [{"streams_group": 5}], [{"streams_member": "B"}, {"streams_group": 6}, k22("B", 1)]],
    "K17 | K17: a description stored (4.4), then metadata changed": [[{"streams_group": 5}], [{"streams_group": 6}]],
    "K21 K20 | K22X K21X K19X K17: by a timer, then one leaves": [
        [{"streams_target": "A"}, {"streams_target_epoch": 5}], leaves("B", 6)],
    "K21 K20 K22 | K22: a target computed, then another member": [
        [{"streams_target": "A"}, {"streams_target_epoch": 5}, k22("A")], [k22("B")]],
    "K22 (-2) | K22X ..: a static member leaves for a while, then for good (4.4)": [[k22("A", -2)], leaves("A", 6)],
    "K14 | K14: share": [[other(14, "A")], [other(14, "B")]],
    # ---- one operation
    "K5 K3 K7* K6 K8: a join; sequence 2": [[{"k5": "A"}, {"k3": 5}, {"k7": "A"}, {"k7": "B"}, {"k6": 5}, k8("A", 5, 0)]],
    "K5 K4 K3 K7 K6 K8: a join up to 4.0": [[{"k5": "A"}, {"k4": {"foo": 1}}, {"k3": 5}, {"k7": "A"}, {"k6": 5}, k8("A", 5, 0)]],
    "K7* K6 K8: a target computed; sequence 3": [[{"k7": "A"}, {"k6": 5}, k8("B")]],
    "K3 K7* K6 K8: metadata changed; sequence 6": [[{"k3": 5}, {"k7": "A"}, {"k6": 5}, k8("A")]],
    "K8X K7X K5X twice, K3: several leave at once": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 6}],
    ],
    "K8X K7X K5X K16X K3 K6: the last one leaves (4.4)": [[{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k16x": "f.*"}, {"k3": 6}, {"k6": 6}]],
    "K19 K23 K17 K21* K20 K22: a join of a streams group; streams reference 7.2": [
        [{"streams_member": "A"}, {"streams_topology": 0}, {"streams_group": 5}, {"streams_target": "A"}, {"streams_target": "B"},
         {"streams_target_epoch": 5}, k22("A")]],
    "K17 K21* K20 K22: topics changed; other-groups-4.2 p14:6": [
        [{"streams_group": 5}, {"streams_target": "A"}, {"streams_target_epoch": 5}, k22("A")]],
    "K22X K21X K19X K17 K20 without a time: the last one leaves a streams group (4.4)": [
        [*leaves("A", 5), {"streams_target_epoch": 5}]],
    "K22X K21X K19X K19 K21 K22 (0) K19 K17 K21* K20 K22: a static return to a streams group (4.4)": [
        [*leaves("A", 5)[:3], {"streams_member": "B"}, {"streams_target": "B"}, k22("B", 0), {"streams_member": "B"},
         {"streams_group": 5}, {"streams_target": "C"}, {"streams_target": "B"}, {"streams_target_epoch": 5}, k22("B")]],
    "K22X K21X K19X K19 K21 K22 (0) K22: a static return that changes nothing (4.4)": [
        [*leaves("A", 5)[:3], {"streams_member": "B"}, {"streams_target": "B"}, k22("B", 0), k22("B")]],
    "a static return: two K5 of one member around its K8 of epoch 0; consumer-4.3 p29:55": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k5": "B"}, {"k7": "B"}, k8("B", 0, 0), {"k5": "B"}, k8("B", 5, 0)],
    ],
    "a static return with another subscription: records of the group behind the K8 of epoch 0": [
        [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k5": "B"}, {"k7": "B"}, k8("B", 0, 0), {"k3": 6}, {"k7": "B"}, {"k6": 6}, k8("B", 6, 0)],
    ],
    "an online upgrade: two K3, K8s of every classic member; migration-4.3 p25:31": [
        [
            {"k2x": True}, k5c("a"), k5c("b"), {"k3": 5}, {"k7": "a"}, {"k7": "b"}, {"k6": 5}, k8("a", 5, 5), k8("b", 5, 5),
            {"k5": "U"}, {"k3": 6}, {"k7": "U"}, {"k6": 6}, k8("U", 6, 0),
        ],
    ],
    "an online upgrade in which a static member is replaced; migration-4.3 p11:24": [
        [
            {"k2x": True}, k5c("a"), k5c("b"), {"k3": 5}, {"k7": "a"}, {"k7": "b"}, {"k6": 5}, k8("a", 5, 5), k8("b", 5, 5),
            {"k8x": "a"}, {"k7x": "a"}, {"k5x": "a"}, k5c("A"), {"k7": "A"}, k8("A", 0, 0), {"k5": "A"}, k8("A", 5, 0),
        ],
        [k8("b", 6, 5)],
    ],
    "an online downgrade: K8X* K7X* K6X K5X* K4X K3X K2": [
        [{"k8x": "a"}, {"k8x": "U"}, {"k7x": "a"}, {"k7x": "U"}, {"k6x": True}, {"k5x": "a"}, {"k5x": "U"}, {"k4x": True}, {"k3x": True},
         {"k2": 6, "members": {"a": {}}}],
    ],
    "K2X K5 K3 K7 K6 K8: an offline upgrade; sequence 11": [[{"k2x": True}, {"k5": "U"}, {"k3": 1}, {"k7": "U"}, {"k6": 1}, k8("U", 1, 0)]],
    "K6X K4X K3X: a group removed": [[{"k6x": True}, {"k4x": True}, {"k3x": True}]],
    "K10 K11 K13 K12 K14 K15: a share member joins; other-groups-4.2 p31:0": [
        [other(10, "A"), other(11), other(13, "A"), other(12), other(14, "A"), other(15)],
    ],
    "K11 K13* K12 K14: a share group rebalances": [[other(11), other(13, "A"), other(13, "B"), other(12), other(14, "A")]],
    "K19 K23 K17 K22: a streams member joins; other-groups-4.2 p14:0": [[other(19, "A"), other(23), other(17), other(22, "A")]],
    "K22X K21X K19X K17: a streams member leaves": [[otherx(22, "A"), otherx(21, "A"), otherx(19, "A"), other(17)]],
}  # fmt: skip


def split(entries: list[Entry]) -> list[list[Entry]]:
    return [operation.entries for operation in operations_of(entries)]


@pytest.mark.parametrize("case", CASES)
def test_records_of_one_millisecond_are_split_by_their_shape(case: str) -> None:
    operations = CASES[case]
    entries = Log().write(*(form for operation in operations for form in operation))
    assert [len(operation) for operation in split(entries)] == [
        len(operation) for operation in operations
    ]


@pytest.mark.parametrize("case", CASES)
def test_every_batch_boundary_ends_an_operation(case: str) -> None:
    """Also two of one timestamp (33 commits and one K8 | K8 in the recordings)."""
    entries = Log().write(*(form for operation in CASES[case] for form in operation))
    apart = [entry._replace(batch_base_offset=entry.offset) for entry in entries]
    assert [len(operation) for operation in split(apart)] == [1] * len(apart)
    later = [entry._replace(ts_ms=entry.ts_ms + index) for index, entry in enumerate(entries)]
    assert [len(operation) for operation in split(later)] == [1] * len(later)


def test_a_commit_between_group_records_ends_an_operation() -> None:
    """Commits are glued to group records in busy batches (migration-4.0 p48:133), and an operation
    never holds one.
    """
    join: list[Form] = [
        {"k5": "A"},
        {"k3": 1},
        {"k7": "A", "target": {"foo": [0]}},
        {"k6": 1},
        {"k8": "A", "epoch": 1, "prev": 0, "assigned": {"foo": [0]}},
    ]
    leave: list[Form] = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 2}]
    facts = replayed(
        Log().write(*join, {"k1": "foo-0"}, *leave, {"k1": "foo-0"}, {"k1x": "foo-0"}), NAMES
    )
    epochs = [fact for fact in facts if fact.KIND == "epoch"]
    assert [getattr(epoch, "cause", None) for epoch in epochs] == ["JOIN", "LEFT_OR_FENCED"]
    assert not [fact for fact in facts if fact.KIND == "anomaly"]


def test_a_cleaned_operation_is_one_by_its_batch() -> None:
    """In cleaned segments offsets have gaps, and the batch's base offset survives (compacted-4.3
    p24:971 K7, 974 K8 of base 971).
    """
    first, second = (
        Entry(offset, 5, 0, 971, 973 if offset == 974 else -1, record(form))
        for offset, form in ((971, {"k7": "A"}), (974, k8("A")))
    )
    assert split([first, second]) == [[first, second]]


def test_an_operation_knows_where_it_stood() -> None:
    entries = Log().skip(10).leader(3).at(77).write({"k5": "A"}, {"k3": 5}, k8("A", 4, 0))
    operation = Operation(entries)
    assert (
        operation.offset,
        operation.last_offset,
        operation.ts_ms,
        operation.leader_epoch,
        operation.last_hole,
    ) == (10, 12, 77, 3, 9)


def test_no_operation_of_a_recording_holds_two_first_records() -> None:
    """A check of the rule by what it must never do: two joins, two leaves' K3s or two K2s in one
    operation.
    """
    for group in all_groups():
        entries = [entry for entry in group.entries if not isinstance(entry.record, OffsetCommit)]
        for operation in split(entries):
            kinds = [
                type(entry.record).__name__
                for entry in operation
                if getattr(entry.record, "value", None) is not None
            ]
            upgrades = (
                getattr(operation[0].record, "value", 0) is None
                and type(operation[0].record).__name__ == "GroupMetadata"
            )
            assert kinds.count("ConsumerGroupMetadata") <= 1 + upgrades, (
                group.recording,
                group.group_id,
                operation[0].offset,
            )
            assert kinds.count("GroupMetadata") <= 1
            assert len({entry.record.group_id for entry in operation}) == 1
            assert operation[0].record.group_id == group.group_id != GROUP
