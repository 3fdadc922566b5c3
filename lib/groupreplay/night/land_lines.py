"""Step land, for logs of brokers: units -> rows of `raw_lines`, in one commit, as `land` does for
the offsets topic.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from pyspark.sql import Column, Observation
from pyspark.sql import functions as sf

from groupreplay.night.land_records import mapped_units
from groupreplay.night.lines_landed import LinesLanding
from groupreplay.sources.planning import pack
from groupreplay.sources.text_logs import weight
from groupreplay.tables.warehouse import NO_VERSION, Warehouse
from groupreplay.wire.text.text_rows import FILE, LINE
from groupreplay.wire.text.text_units import TextUnit
from groupreplay.workers.read_text_units import DDL, read_text_units

RAW_LINES: Final = "raw_lines"


def land_lines(
    warehouse: Warehouse,
    logical_date: date,
    units: Sequence[TextUnit],
    before: LinesLanding,
    user_metadata: Mapping[str, Any],
    *,
    resumed: bool = False,
) -> LinesLanding:
    """Lands units into a night, in one commit that may be repeated: it replaces the whole night by
    what it had landed before and these.

    units: at least one.
    before: what the nights before it landed and, where it ran before, what it landed itself.
    resumed: as of `land`.
    """
    warehouse.create_all([RAW_LINES])
    night = {"cluster": sf.lit(warehouse.cluster), "logical_date": sf.lit(logical_date)}
    where = f"cluster = '{warehouse.cluster}' AND logical_date = DATE'{logical_date}'"
    version = (
        warehouse.version_of_run(RAW_LINES, user_metadata, before.raw_version)
        if resumed
        else NO_VERSION
    )
    if version != NO_VERSION:
        found = _told_by(warehouse, version, where, before)
    else:
        packed = pack(units, warehouse.spark.sparkContext.defaultParallelism, weight)
        texts = [[unit.to_json() for unit in task] for task in packed]
        observation = Observation("lines")
        lines = mapped_units(warehouse.spark, texts, read_text_units, DDL).withColumns(night)
        rows = warehouse.shaped(RAW_LINES, lines).observe(observation, *_told())
        if before.raw_version >= 0:
            rows = rows.unionByName(warehouse.read(RAW_LINES, before.raw_version).where(where))
        version = warehouse.replace(RAW_LINES, rows, where, user_metadata)
        found = observation.get
    after = before.landed([json.loads(told) for told in sorted(set(found["files"]))], logical_date)
    return replace(
        after,
        sources=tuple(sorted({*before.sources, *(unit.kind for unit in units)})),
        rows=before.rows + found["rows"],
        kinds=tuple(sorted({*before.kinds, *found["kinds"]})),
        raw_version=version,
    )


def _told() -> list[Column]:
    """Aggregates of raw lines: `files`, what each stretch came to, `rows`, those of lines, and
    `kinds`.
    """
    files = sf.collect_list(sf.when(sf.col("kind") == FILE, sf.col("counts"))).alias("files")
    return [
        files,
        sf.count_if(sf.col("kind") == LINE).alias("rows"),
        sf.collect_set("kind").alias("kinds"),
    ]


def _told_by(
    warehouse: Warehouse, version: int, where: str, before: LinesLanding
) -> Mapping[str, Any]:
    """`_told` of what a commit added to its night, read off the table.

    before: what it found there.
    """
    rows = warehouse.read(RAW_LINES, version).where(where)
    files = rows.where(sf.col("kind") == FILE).select("counts")
    if before.raw_version >= 0:
        earlier = warehouse.read(RAW_LINES, before.raw_version).where(where)
        files = files.exceptAll(earlier.where(sf.col("kind") == FILE).select("counts"))
    found = rows.agg(*_told()).collect()[0].asDict()
    return {
        **found,
        "files": [row["counts"] for row in files.collect()],
        "rows": found["rows"] - before.rows,
    }
