"""The JSON of a run's plan, in the column `plan` of `runs`: what is read, and what was made of it.

One codec writes and reads all of its types by their fields. A field that a text lacks takes its
default, and one that no type has is skipped, so that runs of other versions can be read. Names and
shapes are those that released versions wrote: `runs.plan` of an old warehouse is read for ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.sources.watermark import PartitionWatermark, TextWatermark

T = TypeVar("T")

_NAMES: Final[Mapping[type, Mapping[str, str]]] = {
    RecordsLanding: {"watermarks": "partitions"},
    PartitionWatermark: {"next_position": "next_offset"},
}
"""Type -> field -> its name in the JSON, where that is another."""

_NONES: Final[Mapping[type, Mapping[str, Any]]] = {PartitionWatermark: {"mark": ()}}
"""Type -> field -> what stands for None in the JSON, where that is not null."""

_LISTS: Final[Mapping[type, tuple[str, ...]]] = {
    TextWatermark: ("next_position", "size", "newest_ms", "last_seen")
}
"""Types that are lists of these fields in the JSON: there are thousands of them."""


def from_json(expected: type[T], text: str) -> T:
    """Inverse of `joined_json`. Raises KeyError, TypeError or ValueError for a text that is no such
    value.
    """
    found: T = _value(expected, json.loads(text))
    return found


def joined_json(*values: Any) -> str:
    """One JSON object with the fields of all these. Each is read back by `from_json`, which skips
    what the others wrote.

    values: dataclasses whose fields are numbers, texts, tuples, mappings and dataclasses.
    """
    fields_of_all: dict[str, Any] = {}
    for value in values:
        fields_of_all |= _plain(value)
    return json.dumps(fields_of_all, separators=(",", ":"))


def _plain(value: Any) -> Any:
    of = type(value)
    if of in _LISTS:
        return [_plain(getattr(value, name)) for name in _LISTS[of]]
    if is_dataclass(of):
        names, nones = _NAMES.get(of, {}), _NONES.get(of, {})
        found = {each.name: getattr(value, each.name) for each in fields(of)}
        return {
            names.get(name, name): _plain(nones.get(name) if each is None else each)
            for name, each in found.items()
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _value(expected: Any, plain: Any) -> Any:
    """expected: the type, as annotations have it."""
    origin, arguments = get_origin(expected), get_args(expected)
    if origin is UnionType:
        # `_NONES` writes an empty list.
        (given,) = (each for each in arguments if each is not NoneType)
        return None if plain is None or plain == [] else _value(given, plain)
    if origin is tuple:
        types = [arguments[0]] * len(plain) if arguments[-1] is Ellipsis else arguments
        return tuple(_value(each, one) for each, one in zip(types, plain, strict=True))
    if origin is Mapping:
        key_type, value_type = arguments
        return {key_type(key): _value(value_type, each) for key, each in plain.items()}
    if expected in _LISTS:
        return expected(**dict(zip(_LISTS[expected], plain, strict=True)))
    if isinstance(expected, type) and is_dataclass(expected):
        found = _fields(expected)
        return expected(
            **{
                name: _value(kind, plain[given])
                for given, (name, kind) in found.items()
                if given in plain
            }
        )
    if isinstance(expected, type) and issubclass(expected, tuple):
        return expected(*plain)
    return plain


@lru_cache
def _fields(of: Any) -> Mapping[str, tuple[str, Any]]:
    """Name in the JSON -> (field, its type)."""
    names, hints = _NAMES.get(of, {}), get_type_hints(of)
    return {names.get(each.name, each.name): (each.name, hints[each.name]) for each in fields(of)}
