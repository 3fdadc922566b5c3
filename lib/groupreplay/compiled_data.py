"""Dataclasses of the compiled core, made what they are of the sources: this reaches around mypyc.

Of an annotation mypyc keeps the outermost class alone, and a ClassVar becomes a field; `slots`
makes a second class, which it throws away; neither `copy` nor `pickle` knows how to take an
instance apart. mypyc calls `dataclasses.dataclass` while it makes a module: for that long another
one stands there, which gives each class of the core its annotations back, as its source has them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

Annotations = Mapping[str, Mapping[str, str]]
"""Of the dataclasses of a module: class -> field -> type, as the source has it."""


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
        made.__reduce__ = _reduce
        return made

    before, dataclasses.dataclass = dataclasses.dataclass, dataclass
    try:
        yield
    finally:
        dataclasses.dataclass = before


def _reduce(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """For `copy` and `pickle`."""
    cls: Any = type(value)
    return _made, (cls, *(getattr(value, name) for name in _names(cls)))


def _made(cls: Any, *values: Any) -> Any:
    """By its constructor, since mypyc makes none without one."""
    values_of = dict(zip(_names(cls), values, strict=True))
    later = {name: values_of.pop(name) for name in _later(cls)}
    made = cls(**values_of)
    for name, value in later.items():
        object.__setattr__(made, name, value)
    return made


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(cls))


@cache
def _later(cls: Any) -> tuple[str, ...]:
    """What its constructor does not take."""
    return tuple(each.name for each in dataclasses.fields(cls) if not each.init)
