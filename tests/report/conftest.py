"""Small hand-made frames of `replayed` and `raw_records`, and one night to report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import Thresholds
from groupreplay.config.sources import TEXT_KINDS
from groupreplay.report.context import ReportContext
from groupreplay.workers.evidence_slices import EVIDENCE
from groupreplay.workers.fact_frames import REPLAYED
from tests.support.fact_frames import frame_of

AS_OF_MS = 1_700_000_000_000
NIGHT = date(2023, 11, 15)
RAW_DDL = (
    "kind STRING, offsets_partition INT, offset BIGINT, ts_ms BIGINT, group_id STRING, key BINARY,"
    " value BINARY, source STRING, input STRING, detail STRING, log_incarnation INT"
)

Stage = Callable[..., DataFrame]
Prove = Callable[..., ReportContext]


@pytest.fixture
def stage(spark: SparkSession) -> Stage:
    """Facts, and the grouped map's own rows -> a frame of `replayed`."""

    def build(*facts: Any) -> DataFrame:
        return frame_of(spark, REPLAYED, facts)

    return build


@pytest.fixture
def land(spark: SparkSession) -> Callable[..., DataFrame]:
    """Dicts -> a frame of `raw_records`, as far as reports read it."""

    def build(*rows: dict[str, Any]) -> DataFrame:
        usual = {
            "offsets_partition": 3,
            "offset": -1,
            "ts_ms": -1,
            "source": "segments",
            "input": "__consumer_offsets-3",
        }
        names = [column.split()[0] for column in RAW_DDL.split(", ")]
        return spark.createDataFrame(
            [tuple((usual | row).get(name) for name in names) for row in rows], RAW_DDL
        )

    return build


@pytest.fixture
def context() -> ReportContext:
    return ReportContext(
        cluster="c",
        logical_date=NIGHT,
        as_of_ms=AS_OF_MS,
        thresholds=Thresholds(),
        log_kinds=frozenset(TEXT_KINDS),
    )


@pytest.fixture
def prove(spark: SparkSession, context: ReportContext) -> Prove:
    """Facts of lines -> a context in which they are evidence, all of this night."""

    def build(*facts: Any) -> ReportContext:
        frame = frame_of(spark, EVIDENCE, facts)
        return replace(
            context,
            evidence=frame,
            evidence_tonight=frame,
            lines_as_of_ms=AS_OF_MS,
            log_kinds=frozenset({"server_log", "request_log"}),
        )

    return build
