"""Rows of queries -> the dataclasses of the model. A field is a column: whoever asks the tables
takes the columns to ask for from the class, so that both sides agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

Made = TypeVar("Made")

LifeKey = tuple[int, ...]
"""How often the offsets topic was created again, and the first offset of the group's life."""


def columns(cls: type[Any]) -> tuple[str, ...]:
    """What a query gives for a class. A name that ends in `_at_ms` is a time in ms since 1970, of
    the column without `_ms`; every other is a column as it stands.
    """
    return tuple(field.name for field in fields(cls))


def read_rows(cls: type[Made], rows: Iterable[Mapping[str, Any]]) -> tuple[Made, ...]:
    """Objects of the rows, in their order. A column that a row lacks is NULL, or the default."""
    known = fields(cls)  # type: ignore[arg-type]
    made = []
    for row in rows:
        values = {}
        for field in known:
            value = row.get(field.name)
            if value is None and field.default is not MISSING:
                value = field.default
            values[field.name] = _tuples(value)
        made.append(cls(**values))
    return tuple(made)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
