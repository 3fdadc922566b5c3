"""The model as JSON, and what it adds up."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from groupreplay.report.summary.model import NightSummary
from tests.report.summary.small_night import AS_OF_MS, NIGHT, SUMMARY


def test_it_is_json_and_loses_nothing() -> None:
    plain = SUMMARY.as_json()
    assert json.loads(json.dumps(plain)) == plain
    assert_same(SUMMARY, plain)


def assert_same(value: Any, plain: Any) -> None:
    if is_dataclass(value):
        assert [each.name for each in fields(value)] == list(plain)
        for name, part in plain.items():
            assert_same(getattr(value, name), part)
    elif isinstance(value, tuple):
        assert isinstance(plain, list)
        for each, part in zip(value, plain, strict=True):
            assert_same(each, part)
    else:
        assert str(value) == str(plain)


def test_values_are_no_text_but_names() -> None:
    plain = SUMMARY.as_json()
    assert (plain["logical_date"], plain["as_of_ms"]) == ("2026-11-21", AS_OF_MS)
    assert plain["hand_overs"]["slowest"][0]["revoke_ms"] == 45_300
    assert plain["stuck"]["episodes"][1]["blocked_by"] == ["m-slow"]
    assert plain["migration"]["half_way"][0]["blockers"][0]["client_id"] == "app-0"


def test_a_night_of_which_nothing_is_known_has_every_part() -> None:
    empty = NightSummary("c", NIGHT, None).as_json()
    assert list(empty) == list(SUMMARY.as_json())
    assert empty["seen"]["coverage"].keys() == SUMMARY.as_json()["seen"]["coverage"].keys()
    assert empty["migration"]["phases"] == []


def test_groups_that_cannot_take_part_are_apart() -> None:
    assert SUMMARY.migration.left_out == 1
    assert sum(each.groups for each in SUMMARY.migration.taking_part) == 6
