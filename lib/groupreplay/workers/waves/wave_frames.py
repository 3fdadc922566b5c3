"""Rows of chains -> rows of waves, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa

from groupreplay.replay.decision_facts import Churn
from groupreplay.workers.task import worker_task
from groupreplay.workers.waves.gone_members import Chain
from groupreplay.workers.waves.wave_events import WaveEvents, events_of
from groupreplay.workers.waves.waves import Wave, WaveLimits, waves_of

Cut = Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]
"""What `mapInArrow` takes."""

CHAIN_COLUMNS: Final = tuple(each.name for each in fields(Churn))

_TYPES: Final = {"int": pa.int64(), "str": pa.string(), "bool": pa.bool_()}
_SPARK: Final = {pa.int64(): "BIGINT", pa.string(): "STRING", pa.bool_(): "BOOLEAN"}


def _type(annotation: str) -> pa.DataType:
    inner = annotation.removesuffix(" | None")
    if inner.startswith("list["):
        return pa.list_(_type(inner[5:-1]))
    return _TYPES[inner]


def _schema(rows: type[Any]) -> pa.Schema:
    return pa.schema([(each.name, _type(str(each.type))) for each in fields(rows)])


def _ddl(rows: type[Any]) -> str:
    def name(kind: pa.DataType) -> str:
        is_list = pa.types.is_list(kind)
        return f"ARRAY<{name(kind.value_type)}>" if is_list else _SPARK[kind]

    return ", ".join(f"`{each.name}` {name(each.type)}" for each in _schema(rows))


WAVES_DDL: Final = _ddl(Wave)
EVENTS_DDL: Final = _ddl(WaveEvents)


def cutting(limits: WaveLimits) -> Cut:
    """The function of a map over CHAIN_COLUMNS and now_ms: one row a wave, of WAVES_DDL."""
    return _map(Wave, lambda chain: waves_of(chain, limits, chain["now_ms"]))


def cutting_events(gap_ms: int) -> Cut:
    """The function of a map over CHAIN_COLUMNS: one row a wave, of EVENTS_DDL."""
    return _map(WaveEvents, lambda chain: events_of(chain, gap_ms))


def _map(rows: type[Any], waves: Callable[[Chain], Iterable[Any]]) -> Cut:
    schema = _schema(rows)

    def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with worker_task():
            for batch in batches:
                found = [wave for chain in batch.to_pylist() for wave in waves(chain)]
                # Not `asdict`: it copies every element of every list, which took most of the time.
                columns = {name: [*map(attrgetter(name), found)] for name in schema.names}
                yield pa.RecordBatch.from_pydict(columns, schema=schema)

    return cut
