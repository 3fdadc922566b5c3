"""How a layout is written down: structs of fields with the versions that have them, their tags and
their defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

NEVER_FLEXIBLE = 1 << 15
"""Above every version: keys and the classic protocol's embedded messages stay with plain lengths
for ever.
"""


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields in wire order; `build` takes their values by position.

    flexible_since: first version with compact lengths and tagged sections.
    """

    fields: tuple[Field, ...]
    build: Callable[..., Any]
    flexible_since: int = 0


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    name: Kafka's own, in camelCase, as the JSON of kafka-dump-log has it.
    kind: int8, int16, uint16, int32, int64, uuid, string, bytes, struct, [int16], [int32],
        [string], [struct], or `subscription` and `assignment`: bytes that hold an embedded message.
        In user data of Kafka Streams alone: utf, utf16 (texts of Java), [2 int32 raw].
    struct: layout of a struct and of each element of a [struct]; None for other kinds.
    since, until: first and last version that have it.
    tag: None for an ordinary field.
    default: stands for it where it is absent.
    """

    name: str
    kind: str
    struct: Struct | None = None
    nullable: bool = False
    since: int = 0
    until: int = NEVER_FLEXIBLE
    tag: int | None = None
    default: Any = None

    def is_in(self, version: int) -> bool:
        return self.since <= version <= self.until


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def dict_struct(*fields: Field) -> Struct:
    """A struct that is kept as a dict of snake_case names."""
    names = tuple(snake_case(one.name) for one in fields)
    return Struct(fields, lambda *values: dict(zip(names, values, strict=True)))
