"""How it is told that another log took the place of one."""

from __future__ import annotations

from groupreplay.wire.segments.other_logs import LEADER_EPOCH, detail_of, shown


def test_a_code_and_its_parameters_come_back() -> None:
    text = shown(LEADER_EPOCH, offset=7, leader_epoch=3, path="a b")
    assert detail_of(text) == {
        "shown_by": LEADER_EPOCH,
        "offset": 7,
        "leader_epoch": 3,
        "path": "a b",
    }


def test_a_plan_of_version_0_3_has_a_sentence() -> None:
    assert detail_of("offset 7 has another leader epoch") == {
        "found": "offset 7 has another leader epoch"
    }
