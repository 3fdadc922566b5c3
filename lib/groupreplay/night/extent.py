"""How far back a night's replay reaches: its own rows, and those that it takes up from nights
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.night.earlier.history import before, of_date
from groupreplay.night.frames.left_out import (
    LeftOut,
    Nights,
    nights_of_other_logs,
    nights_without,
)
from groupreplay.night.frames.night_rows import Extent
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.landing.record_stream import RAW_RECORDS
from groupreplay.night.plans.night import Night
from groupreplay.night.plans.results import Results


def find_extent(night: Night, results: Results) -> Extent:
    """Asks Spark which raw rows of nights before are still there, if any groups were left out then.

    results: what the run has made so far, the choice of groups among it.
    """
    landing, groups = results.landed, results.groups
    late = None
    if landing.late_until:
        until = of_date(night.nights, date.fromisoformat(landing.late_until))
        late = until.landing if until else None
    without = nights_without(night.nights, night.logical_date, groups)
    gone = nights_of_other_logs(without, landing, all_of_them=late is not None)
    if without:
        gone |= deleted_nights(night.rows(RAW_RECORDS), without)
    logs = {partition: each.log_incarnation for partition, each in landing.watermarks.items()}
    left_out = LeftOut(groups, without, gone, logs)
    first = before(night.nights, left_out.since or night.logical_date)
    return Extent(
        night.logical_date,
        landing,
        night.earlier.landing if night.earlier else None,
        first.landing if first else RecordsLanding(),
        late,
        left_out,
    )


def deleted_nights(raw: DataFrame, without: Sequence[Nights]) -> frozenset[date]:
    """Nights whose records were landed and deleted since.

    raw: `raw_records` of one cluster; its partitions alone are looked at.
    """
    landed = {night.logical_date for each in without for night in each.nights if night.landing.rows}
    if not landed:
        return frozenset()
    kept = raw.where(sf.col("logical_date").isin(*landed)).select("logical_date").distinct()
    return frozenset(landed - {row["logical_date"] for row in kept.collect()})
