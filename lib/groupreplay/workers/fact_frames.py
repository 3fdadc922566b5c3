"""Facts -> frames of one wide union schema: `kind`, then every field of every fact once.

Everything a slice leaves in one pass, as rows of one shape: a column that a kind does not have is
NULL. Column types follow from the dataclasses (int -> BIGINT, str -> STRING, bool -> BOOLEAN, bytes
-> BINARY, lists -> ARRAY), so that a new field needs nothing here. Lines of broker logs give few
facts and these leave so, into table `evidence` (a test holds its columns to these); records give
many: `workers.packed`.

Scalar columns are Arrow-backed: object columns cost twice the time, and a list of ints with a None
would turn into floats, silently. Arrays go as objects, because Arrow-backed ones are mapped one by
one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from types import UnionType
from typing import Any, ClassVar, Final, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pyarrow as pa

from groupreplay.replay.facts import FACTS
from groupreplay.workers.arrays import bounded_array

RAW_BYTES_KEPT: Final = 1024
"""How much of a row that could not be decoded is kept to look at."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Undecoded:
    """One raw row that is no record, or one that is, but for user data in it that no layout fits.

    raw: key and value, at most RAW_BYTES_KEPT of them.
    raw_bytes: how many there were.
    """

    KIND: ClassVar[str] = "undecoded"
    group_id: str
    offsets_partition: int
    offset: int
    reason: str
    raw: bytes
    raw_bytes: int
    encoding: str


@dataclasses.dataclass(slots=True, kw_only=True)
class Counts:
    """What became of the raw rows of one partition in one slice: every row is in just one of the
    three.
    """

    KIND: ClassVar[str] = "counts"
    offsets_partition: int
    decoded: int = 0
    unknown: int = 0
    undecoded: int = 0


@dataclasses.dataclass(slots=True, kw_only=True)
class GroupState:
    """State of a group that changed.

    state_bytes: the encoded state, None when the group is gone.
    """

    KIND: ClassVar[str] = "group_state"
    group_id: str
    offsets_partition: int
    state_bytes: bytes | None


KINDS: Final[tuple[type[Any], ...]] = (*FACTS, Undecoded, Counts, GroupState)

_SCALARS: Final = {int: pa.int64(), str: pa.string(), bool: pa.bool_(), bytes: pa.binary()}
_SPARK: Final = {
    pa.int64(): "BIGINT",
    pa.string(): "STRING",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "BINARY",
}


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    return hint


def _arrow_type(hint: Any) -> pa.DataType:
    hint = _without_none(hint)
    if get_origin(hint) is list:
        return pa.list_(_SCALARS[_without_none(get_args(hint)[0])])
    return _SCALARS[hint]


def _union_columns(kinds: Iterable[type[Any]]) -> dict[str, pa.DataType]:
    columns: dict[str, pa.DataType] = {"kind": pa.string()}
    for kind in kinds:
        hints = get_type_hints(kind)
        for field in dataclasses.fields(kind):
            column_type = _arrow_type(hints[field.name])
            if columns.setdefault(field.name, column_type) != column_type:
                raise TypeError(
                    f"{kind.__name__}.{field.name} is {column_type}, elsewhere"
                    f" {columns[field.name]}: give one of them another name"
                )
    return columns


def _spark_type(column_type: pa.DataType) -> str:
    return (
        f"ARRAY<{_SPARK[column_type.value_type]}>"
        if pa.types.is_list(column_type)
        else _SPARK[column_type]
    )


class UnionSchema:
    """Columns that facts of several kinds share.

    names: fields that have a column, None: all fields. `kind` always has one.
    columns: name -> type of every column of a frame of these kinds, in order.
    ddl: the same for Spark, which matches columns by name.
    fields: kind -> names of its fields.
    """

    def __init__(self, kinds: Sequence[type[Any]], names: Collection[str] | None = None) -> None:
        columns = _union_columns(kinds)
        self.columns = (
            columns
            if names is None
            else {name: each for name, each in columns.items() if name == "kind" or name in names}
        )
        self.ddl = ", ".join(
            f"`{name}` {_spark_type(column_type)}" for name, column_type in self.columns.items()
        )
        self.fields = {
            kind: tuple(field.name for field in dataclasses.fields(kind)) for kind in kinds
        }


REPLAYED: Final = UnionSchema(KINDS)
"""Every kind that the replay of records gives."""


def _scalar_column(parts: list[Sequence[Any] | int], column_type: pa.DataType) -> pd.Series[Any]:
    chunks = [
        pa.nulls(part, column_type) if isinstance(part, int) else bounded_array(part, column_type)
        for part in parts
    ]
    # In one piece: Spark cannot take a column of several.
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.concat_arrays(chunks)))


def _array_column(parts: list[Sequence[Any] | int]) -> pd.Series[Any]:
    cells = np.empty(
        sum(part if isinstance(part, int) else len(part) for part in parts), dtype=object
    )
    start = 0
    for part in parts:
        if isinstance(part, int):
            start += part
            continue
        for index, cell in enumerate(part, start):
            cells[index] = cell
        start += len(part)
    return pd.Series(cells)


class GatheredFacts:
    """Facts of any kind of a schema, by kind.

    rows: how many facts are held.
    """

    def __init__(self, schema: UnionSchema) -> None:
        self.schema = schema
        self._facts: dict[type[Any], list[Any]] = {kind: [] for kind in schema.fields}
        self.rows = 0

    def add(self, facts: Sequence[Any]) -> None:
        for fact in facts:
            self._facts[type(fact)].append(fact)
        self.rows += len(facts)

    def take_facts(self) -> list[tuple[type[Any], list[Any]]]:
        """All that was gathered since the last call; no kind without facts."""
        gathered = [(kind, facts) for kind, facts in self._facts.items() if facts]
        self._facts = {kind: [] for kind in self._facts}
        self.rows = 0
        return gathered

    def values(self, kind: type[Any], facts: Iterable[Any]) -> dict[str, Sequence[Any]]:
        """Field -> its value in each of these facts of one kind."""
        fields = self.schema.fields[kind]
        return dict(zip(fields, zip(*map(attrgetter(*fields), facts), strict=True), strict=True))


class FactFrames(GatheredFacts):
    """Gathers facts of any kind of a schema and gives them back as frames of its columns."""

    def take(self) -> pd.DataFrame:
        """All that was gathered since the last call, kind by kind, as one frame."""
        parts: dict[str, list[Sequence[Any] | int]] = {name: [] for name in self.schema.columns}
        for kind, facts in self.take_facts():
            values = self.values(kind, facts) | {"kind": (kind.KIND,) * len(facts)}
            for name, column in parts.items():
                column.append(values.get(name, len(facts)))
        return pd.DataFrame(
            {
                name: (
                    _array_column(parts[name])
                    if pa.types.is_list(column_type)
                    else _scalar_column(parts[name], column_type)
                )
                for name, column_type in self.schema.columns.items()
            }
        )
