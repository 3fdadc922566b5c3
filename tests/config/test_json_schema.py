"""`conf/schema.json` and the strict reader say the same of every key."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from groupreplay.config.json_schema import as_text, json_schema
from groupreplay.config.model import Config
from groupreplay.config.reader import _Reader
from groupreplay.errors import ConfigError
from tests.support.base_config import load_base
from tests.support.json_schema import fits
from tests.support.yaml_text import safe_load

ROOT: Final = Path(__file__).parent.parent.parent
SCHEMA: Final = ROOT / "conf/schema.json"
REWRITE: Final = bool(os.environ.get("REWRITE_GOLDEN"))
"""REWRITE_GOLDEN=1 writes the schema anew; look at the difference before you keep it."""

REQUIRED: Final = {
    "cluster": "c",
    "warehouse": "/w",
    "sources": [{"kind": "segments", "path": "/logs"}],
}
VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    "",
    "text",
    "4.1",
    "upgrade",
    "2.12.1-rc",
    -1,
    0,
    1,
    2,
    999,
    1_000,
    30_000,
    10**7,
    10**12,
    1.5,
    [],
    ["*"],
    [""],
    [1],
    ["client_id"],
    ["client_idd"],
    {},
    {"text": 1},
    [{"pattern": "a*"}],
    [{"pattern": "a*", "learner_ms": 5_000}],
    [{"pattern": "a*", "learner_ms": 5}],
    [{"pattern": "a*", "learner": 5_000}],
    [{"learner_ms": 5_000}],
    [{"pattern": "a"}] * 201,
    [{"name": "*", "early": "3.7", "full": "4.0"}],
    [{"name": "*", "early": 3.7, "full": "4.0"}],
    [{"name": "*", "early": "3.7"}],
)
PLAIN: Final[tuple[Any, ...]] = tuple(
    each for each in VALUES if not isinstance(each, (dict, list)) or len(each) < 2
)
SOURCES: Final[tuple[dict[str, Any], ...]] = (
    {"kind": "dump_log", "path": "d"},
    {"kind": "topics", "path": "t.json"},
    {"kind": "topics", "from": "kafka"},
    {"kind": "topics", "from": "kafka", "bootstrap_servers": "b:1"},
    {"kind": "server_log", "path": "s", "broker": 1, "timezone": "UTC", "layout": "[%d] %m"},
    {"kind": "request_log", "path": "s", "broker": 1, "timezone": "UTC", "time_field": "t"},
    {"kind": "kafka", "bootstrap_servers": "b:1,b:2", "options": {"a.b": True, "c": 1, "d": "e"}},
    {"kind": "segment", "path": "x"},
    {"kind": "segments"},
    {"path": "x"},
    {},
    {"kind": "segments", "path": "x", "broker": 1},
    {"kind": "topics", "path": "x", "from": "kafka"},
    {"kind": "topics", "from": "file"},
    {"kind": "server_log", "path": "s", "broker": 1},
    {"kind": "server_log", "path": "s", "broker": -1, "timezone": "UTC"},
    {"kind": "server_log", "path": "s", "broker": 1, "timezone": "UTC", "time_field": "t"},
    {"kind": "kafka", "bootstrap_servers": "b"},
    {"kind": "kafka", "bootstrap_servers": "b:1", "options": {"group.id": "g"}},
    {"kind": "kafka", "bootstrap_servers": "b:1", "options": {"a": []}},
    {"kind": "kafka", "bootstrap_servers": "b:1", "path": "x"},
)


@cache
def schema() -> dict[str, Any]:
    return json_schema()


def is_read(tree: dict[str, Any]) -> bool:
    """By the reader, but for what keys must say together."""
    try:
        _Reader({"file": tree}, "file").section(Config, tree, "")
    except ConfigError:
        return False
    return True


def agree(tree: dict[str, Any]) -> bool:
    return is_read(tree) == fits(tree, schema(), schema())


def test_the_file_is_what_the_model_says() -> None:
    text = as_text(schema())
    if REWRITE:
        SCHEMA.write_text(text, encoding="utf-8")
    assert text == SCHEMA.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("key", list(schema()["properties"]))
def test_a_key_holds_what_the_reader_takes(key: str) -> None:
    below = schema()["properties"][key].get("properties")
    trees = [{**REQUIRED, key: value} for value in VALUES]
    trees += [{**REQUIRED, key: {name: value}} for name in below or () for value in PLAIN]
    assert [tree[key] for tree in trees if not agree(tree)] == []
    assert key == "sources" or any(map(is_read, trees)), "some fit"
    assert not all(map(is_read, trees)), "some do not"


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_a_source_has_what_the_reader_takes(source: dict[str, Any]) -> None:
    assert agree({**REQUIRED, "sources": [source]})


def test_what_is_missing_or_misspelt_is_found() -> None:
    assert agree(REQUIRED)
    assert fits(REQUIRED, schema(), schema())
    for key in REQUIRED:
        assert not fits({k: v for k, v in REQUIRED.items() if k != key}, schema(), schema())
    assert not fits({**REQUIRED, "threshold": {}}, schema(), schema())


def test_a_variable_of_the_environment_may_stand_where_the_reader_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A", "5")
    for tree in (
        {"report": {"top": "${env:A}"}},
        {"cluster": "c-${env:A}"},
        {"report": "${env:A}"},
    ):
        assert agree({**REQUIRED, **tree}), tree


@pytest.mark.parametrize("name", ["demo", "local", "nightly"])
def test_examples_fit(name: str) -> None:
    tree = safe_load((ROOT / f"conf/{name}.yaml").read_text(encoding="utf-8"))
    assert fits({**REQUIRED, **tree}, schema(), schema())


def test_every_default_fits_and_is_said() -> None:
    base = load_base()
    assert fits({**REQUIRED, **base}, schema(), schema())
    for section, value in base.items():
        said = schema()["properties"][section]
        if isinstance(value, dict):
            said = {name: each["default"] for name, each in said["properties"].items()}
            assert said == value
        else:
            assert said["default"] == value


def test_keys_are_explained_by_the_comments_above_them() -> None:
    keys = schema()["properties"]
    slices = keys["replay"]["properties"]["slices"]["description"]
    assert slices.startswith("Hash slices of groups. null: one for every")
    assert slices.endswith("shows in no output.")
    without = [
        name
        for section in keys.values()
        for name, each in section.get("properties", {}).items()
        if "description" not in each
    ]
    assert without == []
