"""Configurations as trees: laid over each other, and changed at one place."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from groupreplay.config.tree import found, merged, nested, put
from groupreplay.errors import ConfigError


def test_what_lies_above_wins_key_by_key() -> None:
    below: dict[str, Any] = {"a": {"x": 1, "y": [1, 2]}, "b": 3}
    above: dict[str, Any] = {"a": {"y": [9]}, "c": None}
    assert merged(below, above) == {"a": {"x": 1, "y": [9]}, "b": 3, "c": None}
    assert below == {"a": {"x": 1, "y": [1, 2]}, "b": 3}, "no layer is changed"


def test_a_mapping_gives_way_to_what_is_none() -> None:
    assert merged({"a": {"x": 1}}, {"a": 5}) == {"a": 5}
    assert merged({"a": 5}, {"a": {"x": 1}}) == {"a": {"x": 1}}


def test_a_dotted_key_is_a_tree() -> None:
    assert nested("a.b.c", 5) == {"a": {"b": {"c": 5}}}


def test_a_place_in_a_list_is_set_and_the_list_is_copied() -> None:
    sources = [{"kind": "segments"}, {"kind": "topics"}]
    tree: dict[str, Any] = {"sources": sources}
    put(tree, "sources.1.kind", "kafka", "--set")
    assert tree == {"sources": [{"kind": "segments"}, {"kind": "kafka"}]}
    assert sources[1] == {"kind": "topics"}


def test_what_is_not_there_is_made() -> None:
    tree: dict[str, Any] = {}
    put(tree, "a.b", 1, "--set")
    assert tree == {"a": {"b": 1}}


@pytest.mark.parametrize("place", ["2", "-1", "x"])
def test_a_list_has_the_places_that_it_has(place: str) -> None:
    with pytest.raises(ConfigError, match=r"the list sources has the places 0 to 1, found"):
        put({"sources": [{}, {}]}, f"sources.{place}.kind", 1, "--set")


def test_below_a_text_nothing_can_be_set() -> None:
    with pytest.raises(ConfigError, match="cluster holds 'prod', so nothing can be set below it"):
        put({"cluster": "prod"}, "cluster.name", 1, "--set")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "an empty list"),
        ({}, "an empty mapping"),
        ({"a": 1}, "a mapping"),
        (None, "nothing"),
        ("x", "'x'"),
        (5, "5"),
        (datetime.date(2026, 11, 20), "2026-11-20 (a date; put a text in quotes)"),
        ("x" * 99, "'" + "x" * 56 + "..."),
    ],
)
def test_what_stands_there_is_said_in_short(value: Any, words: str) -> None:
    assert found(value) == words
