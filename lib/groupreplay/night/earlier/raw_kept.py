"""Whether the raw rows of past nights are still there, for those who replay them again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pyspark.sql import functions as sf

from groupreplay.errors import NotReady
from groupreplay.night.earlier.history import PastNight
from groupreplay.night.landing.line_stream import RAW_LINES
from groupreplay.night.landing.record_stream import RAW_RECORDS
from groupreplay.tables.warehouse import Warehouse


def check_kept(warehouse: Warehouse, nights: Sequence[PastNight]) -> None:
    """Raises NotReady where rows of a night were deleted.

    nights: the nights that are to be replayed, in order, with all that come after.
    """
    kept = {
        RAW_RECORDS: _nights_in(warehouse, RAW_RECORDS),
        RAW_LINES: _nights_in(warehouse, RAW_LINES),
    }
    gone = [
        (place, table)
        for place, night in enumerate(nights)
        for table, landed in (
            (RAW_RECORDS, night.landing.raw_version),
            (RAW_LINES, night.lines.raw_version if night.lines else -1),
        )
        if landed >= 0 and night.logical_date not in kept[table]
    ]
    if not gone:
        return
    place, table = gone[-1]
    what = (
        f"rows of night {nights[place].logical_date} of cluster {warehouse.cluster} were deleted"
        f" from {table}"
    )
    rest = nights[place + 1 :]
    if not rest:
        raise NotReady(
            f"no night can be rebuilt: {what}",
            "only a new warehouse can replay what the logs still hold",
        )
    raise NotReady(
        f"{what}: the first night that can be rebuilt is {rest[0].logical_date}",
        f"rebuild from it by --logical-date {rest[0].logical_date}",
    )


def _nights_in(warehouse: Warehouse, table: str) -> set[date]:
    """Every night that landed something has a row that says what was read."""
    if not warehouse.exists(table):
        return set()
    summaries = warehouse.read(table).where(
        (sf.col("cluster") == warehouse.cluster) & sf.col("kind").isin("unit", "file")
    )
    return {row["logical_date"] for row in summaries.select("logical_date").distinct().collect()}
