"""Facts of any kind with a value of the right type in every field."""

from __future__ import annotations

import dataclasses
from typing import Any, get_type_hints

BIG = 2**53 + 1
"""What a float would not hold."""


def made(kind: type[Any], **given: Any) -> Any:
    """given: values of fields instead of the usual ones."""
    values: dict[Any, Any] = {
        int: BIG,
        str: 'a"ü\n\0b',
        bool: True,
        bytes: b"\x00\xff",
        list[str]: ["x", ""],
        list[int]: [BIG],
        list[str | None]: ["x", None],
    }
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        given.setdefault(
            field.name, values.get(hint, values.get(getattr(hint, "__args__", (None,))[0]))
        )
    return kind(**given)


def nothing(kind: type[Any]) -> dict[str, None]:
    """None for every field that may be so."""
    return {
        field.name: None
        for field in dataclasses.fields(kind)
        if field.default is not dataclasses.MISSING or "None" in str(field.type)
    }
