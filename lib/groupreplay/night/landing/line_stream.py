"""Lines of brokers' logs, as a stream that `land_units` lands into `raw_lines`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession

from groupreplay.night.landing.land_units import Found, mapped_units
from groupreplay.night.landing.landed import LinesLanding
from groupreplay.night.landing.landed_lines import after_files
from groupreplay.sources.planning import pack
from groupreplay.sources.text_logs import weight
from groupreplay.wire.text.text_rows import FILE, LINE
from groupreplay.wire.text.text_units import TextUnit
from groupreplay.workers.read_text_units import DDL, read_text_units

RAW_LINES: Final = "raw_lines"


@dataclass(frozen=True, slots=True)
class LineStream:
    """Units of logs of brokers.

    units: at least one.
    """

    units: tuple[TextUnit, ...]

    table: ClassVar[str] = RAW_LINES
    row_kind: ClassVar[str] = LINE
    summary_kind: ClassVar[str] = FILE
    summary_columns: ClassVar[tuple[str, ...]] = ("counts",)

    def raw_rows(self, spark: SparkSession) -> DataFrame:
        packed = pack(self.units, spark.sparkContext.defaultParallelism, weight)
        texts = [[unit.to_json() for unit in task] for task in packed]
        return mapped_units(spark, texts, read_text_units, DDL)

    def labels(self, before: LinesLanding) -> Mapping[str, Column]:
        return {}

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()

    def rows_left(self, found: Found) -> pa.Table | None:
        return None

    def after(self, before: LinesLanding, found: Found, logical_date: date) -> LinesLanding:
        stretches = [json.loads(counts) for (counts,) in sorted(found.summaries)]
        return replace(
            after_files(before, stretches, logical_date),
            sources=tuple(sorted({*before.sources, *(unit.kind for unit in self.units)})),
            rows=before.rows + found.rows,
        )
