"""Configurations as trees of mappings and lists, before anything is known of their keys: laid over
each other, and changed at one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groupreplay.errors import ConfigError

WORDS = {
    str: "a text",
    int: "a whole number",
    list: "a list",
    dict: "a mapping",
    bool: "true or false",
    float: "a fraction",
    type(None): "nothing",
}


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    tree = dict(below)
    for key, value in above.items():
        mine = tree.get(key)
        tree[key] = (
            merged(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
        )
    return tree


def nested(key: str, value: Any) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    nested: dict[str, Any] = value
    return nested


def put(tree: dict[str, Any], key: str, value: Any, name: str) -> None:
    """Sets the dotted key in the tree; a number is a place in a list. Lists are copied, so that no
    layer is changed.
    """
    parts = key.split(".")
    at: Any = tree
    for depth, part in enumerate(parts):
        place: Any = part
        if isinstance(at, list):
            if not part.isdecimal() or int(part) >= len(at):
                raise ConfigError(
                    name,
                    key,
                    f"the list {'.'.join(parts[:depth])} has the places 0 to {len(at) - 1}, found"
                    f" {part!r}",
                )
            place = int(part)
        elif not isinstance(at, dict):
            raise ConfigError(
                name,
                key,
                f"{'.'.join(parts[:depth])} holds {found(at)}, so nothing can be set below it",
            )
        if depth == len(parts) - 1:
            at[place] = value
            return
        below = at[place] if isinstance(at, list) else at.get(part, {})
        at[place] = (
            list(below)
            if isinstance(below, list)
            else dict(below)
            if isinstance(below, dict)
            else below
        )
        at = at[place]


def found(value: Any) -> str:
    """What stands there, short, with a word on YAML's surprises."""
    if isinstance(value, (dict, list)):
        return f"an empty {WORDS[type(value)][2:]}" if not value else WORDS[type(value)]
    if value is None:
        return "nothing"
    text = (
        repr(value)
        if isinstance(value, (str, int, float))
        else f"{value} (a {type(value).__name__}; put a text in quotes)"
    )
    return text if len(text) <= 60 else f"{text[:57]}..."
