"""Dataclasses of the compiled core, made to behave as uncompiled ones: this reaches around mypyc.

mypyc keeps the outermost class of an annotation alone, and makes a field of a ClassVar. It throws
away the second class that `slots` makes. Neither `copy` nor `pickle` can take an instance apart.
mypyc calls `dataclasses.dataclass` while it makes a module. While the core is loaded, another
function stands in its place: it gives each class its annotations back, as its source has them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

Annotations = Mapping[str, Mapping[str, str]]
"""The dataclasses of a module: class -> field -> type, as the source has it."""


@contextmanager
def annotated(modules: Mapping[str, Annotations]) -> Iterator[None]:
    """While one of these modules is made, and those that it asks for."""

    def dataclass(cls: type[Any] | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda each: dataclass(each, **options)
        annotations = modules.get(cls.__module__, {}).get(cls.__name__)
        if annotations is None:
            return before(cls, **options)
        cls.__annotations__ = dict(annotations)
        made: Any = before(cls, **options | {"slots": False})
        made.__reduce__, made.__copy__ = _reduce, _copied
        return made

    before, dataclasses.dataclass = dataclasses.dataclass, dataclass
    try:
        yield
    finally:
        dataclasses.dataclass = before


def _reduce(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """For `pickle`."""
    parts = _parts(value.__class__)
    return _made, (type(value), *parts.values_of(value), *parts.later_of(value))


def _copied(value: Any) -> Any:
    """For `copy`."""
    parts = _parts(value.__class__)
    return _made(type(value), *parts.values_of(value), *parts.later_of(value))


def _made(cls: Any, *values: Any) -> Any:
    """By its constructor, since mypyc makes none without one."""
    parts = _parts(cls)
    made = cls(**dict(zip(parts.names, values, strict=False)))
    for name, value in zip(parts.later, values[len(parts.names) :], strict=True):
        object.__setattr__(made, name, value)
    return made


class _Parts(NamedTuple):
    """names, values_of: what its constructor takes. later, later_of: what it does not."""

    names: tuple[str, ...]
    values_of: Callable[[Any], tuple[Any, ...]]
    later: tuple[str, ...]
    later_of: Callable[[Any], tuple[Any, ...]]


@cache
def _parts(cls: Any) -> _Parts:
    fields = dataclasses.fields(cls)
    names = tuple(each.name for each in fields if each.init)
    later = tuple(each.name for each in fields if not each.init)
    return _Parts(names, _getter(names), later, _getter(later))


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)
