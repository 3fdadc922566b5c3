"""The model as JSON, and what it adds up."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from groupreplay.report.summary.model import NightSummary
from tests.report.summary.small_night import AS_OF_MS, NIGHT
from tests.report.summary.small_night_summary import SUMMARY


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
    assert plain["stuck"]["episodes"][2]["blocked_by"] == ["m-slow"]
    assert plain["migration"]["half_way"][0]["blockers"][0]["client_id"] == "app-0"


def test_a_night_of_which_nothing_is_known_has_every_part() -> None:
    empty = NightSummary("c", NIGHT, None).as_json()
    assert list(empty) == list(SUMMARY.as_json())
    assert empty["seen"]["coverage"].keys() == SUMMARY.as_json()["seen"]["coverage"].keys()
    assert empty["migration"]["phases"] == []


def test_every_key_is_described() -> None:
    document = (Path(__file__).parents[3] / "docs/operations.md").read_text(encoding="utf-8")
    section = document.partition("### The summary as data\n")[2].partition("\n## ")[0]
    described = set(re.findall(r"`([\w.]+)`", section))
    paths = {".".join(path) for path in _paths(SUMMARY.as_json())}
    keys = {key for name in described for key in name.split(".")}
    assert {path.rpartition(".")[2] for path in paths} <= keys
    assert keys <= {key for path in paths for key in path.split(".")} | {
        *("night_summary", "report", "top", "_ms", "_at_ms")
    }


def _paths(plain: Any, above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if isinstance(plain, dict):
        return {path for key, part in plain.items() for path in _paths(part, (*above, key))}
    if isinstance(plain, list) and plain:
        return {path for part in plain for path in _paths(part, above)}
    return {above}


def test_groups_that_cannot_take_part_are_apart() -> None:
    assert SUMMARY.migration.left_out == 1
    assert sum(each.groups for each in SUMMARY.migration.taking_part) == 6
