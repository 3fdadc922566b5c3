"""Facts of any kind with a value of the right type in every field."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args, get_origin, get_type_hints

BIG = 2**53 + 1
"""What a float would not hold."""


_VALUES: dict[Any, Any] = {
    int: BIG,
    str: 'a"ü\n\0b',
    bool: True,
    bytes: b"\x00\xff",
    list[str]: ["x", ""],
    list[str | None]: ["x", None],
}


def _value(hint: Any) -> Any:
    """Of a type that a field may have."""
    if hint in _VALUES:
        return _VALUES[hint]
    args = [each for each in get_args(hint) if each is not type(None)]
    return [_value(args[0])] if get_origin(hint) is list else _value(args[0])


def made(kind: type[Any], **given: Any) -> Any:
    """given: values of fields instead of the usual ones."""
    hints = get_type_hints(kind)
    usual = {
        field.name: _value(hints[field.name])
        for field in dataclasses.fields(kind)
        if field.name not in given
    }
    return kind(**usual | given)


def nothing(kind: type[Any]) -> dict[str, None]:
    """None for every field that may be so."""
    hints = get_type_hints(kind)
    return {
        field.name: None
        for field in dataclasses.fields(kind)
        if get_origin(hints[field.name]) is not list and type(None) in get_args(hints[field.name])
    }
