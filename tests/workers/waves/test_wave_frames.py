"""Rows of chains become rows of waves, of the columns that Spark is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import pyarrow as pa
import pytest

from groupreplay.replay.decision_facts import Churn
from groupreplay.workers.waves.wave_events import WaveEvents
from groupreplay.workers.waves.wave_frames import (
    CHAIN_COLUMNS,
    EVENTS_DDL,
    WAVES_DDL,
    Cut,
    cutting,
    cutting_events,
)
from groupreplay.workers.waves.waves import Wave, WaveLimits
from tests.support.building import NAMES, Log
from tests.support.replaying import replayed

LIMITS = WaveLimits(gap_ms=60_000, registration_ms=900_000, expansion_ms=300_000)


def chain() -> dict[str, Any]:
    """A member joins, and an hour later, less a minute, leaves."""
    log = Log()
    log.write({"k5": "A"}, {"k3": 1}, {"k8": "A", "epoch": 1, "prev": 0})
    log.at(3_500_000).write({"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 2})
    (found,) = (each for each in replayed(log.entries, NAMES) if isinstance(each, Churn))
    return {name: value for name, value in asdict(found).items() if name in CHAIN_COLUMNS}


def names_of(ddl: str) -> list[str]:
    return [part.split("`")[1] for part in ddl.split(", ")]


@pytest.mark.parametrize(
    ("made", "ddl", "rows"),
    [
        (lambda: cutting(LIMITS), WAVES_DDL, Wave),
        (lambda: cutting_events(LIMITS.gap_ms), EVENTS_DDL, WaveEvents),
    ],
    ids=["waves", "events"],
)
def test_each_wave_is_a_row_of_the_columns_that_spark_is_told(
    made: Callable[[], Cut], ddl: str, rows: type[Any]
) -> None:
    names = [each.name for each in fields(rows)]
    assert names_of(ddl) == names
    batch = pa.RecordBatch.from_pylist([chain() | {"now_ms": 10**12}])
    (found,) = made()([batch])
    assert found.schema.names == names
    assert found.num_rows == 2, "further apart than the limit"


def test_a_batch_without_chains_gives_no_rows_and_the_same_columns() -> None:
    none = pa.RecordBatch.from_pylist([chain() | {"now_ms": 10**12}]).slice(0, 0)
    (found,) = cutting(LIMITS)([none])
    assert (found.num_rows, found.schema.names) == (0, names_of(WAVES_DDL))
