"""What an error in a configuration says was expected, and which key was meant."""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union, get_args, get_origin, get_type_hints

from groupreplay.config.model import Config
from groupreplay.config.tree import WORDS


def below(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def expected(hint: Any, metadata: Mapping[str, Any]) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        return f"{expected(get_args(hint)[0], metadata)}, or null"
    if "expected" in metadata:
        return str(metadata["expected"])
    if get_origin(hint) is tuple:
        return "a list of sources"
    words = WORDS.get(hint, "a mapping")
    return (
        f"{words} from {metadata['min']} to {metadata['max']}"
        if "min" in metadata and hint is int
        else words
    )


def nearest(name: str, names: Sequence[str]) -> str:
    for near in difflib.get_close_matches(name.lower(), names, 1, 0.6):
        return f"; did you mean {near!r}?"
    return f"; expected one of {', '.join(names)}"


def nearest_key(name: str, names: Sequence[str]) -> str:
    """The nearest key of this section, or the place where a key of just this name belongs, else
    every key of this section.
    """
    elsewhere = dict(places(Config, ""))
    return f"; did you mean {elsewhere[name]!r}?" if name in elsewhere else nearest(name, names)


def places(cls: Any, key: str) -> Iterator[tuple[str, str]]:
    """Every key's last name and its dotted place, below the class."""
    hints = get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if dataclasses.is_dataclass(hints[field.name]):
            yield from places(hints[field.name], below(key, field.name))
        elif not field.metadata.get("computed"):
            yield field.name, below(key, field.name)
