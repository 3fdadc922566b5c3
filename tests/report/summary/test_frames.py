"""What the queries of the summary find in the tables of a night.

Holds report/joins/next_flips.py, report/summary/decisions_frames.py.
Holds report/summary/streams_frames.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from groupreplay.report.summary.frames import (
    SUMMARY_QUERIES,
    SUMMARY_TABLES,
    summary_frames,
    summary_rows,
)
from groupreplay.report.summary.read import Found, night_summary
from groupreplay.tables.schemas import table_schema
from tests.report.summary.small_night import (
    AS_OF,
    AS_OF_MS,
    NIGHT,
    group_row,
    small_night,
)
from tests.report.summary.small_night_found import FOUND
from tests.report.summary.small_night_summary import SUMMARY

USUAL: dict[str, Any] = {
    "BooleanType": False,
    "IntegerType": 0,
    "LongType": 0,
    "StringType": "",
    "TimestampType": AS_OF,
    "ArrayType": [],
    "MapType": {},
    "DoubleType": 0.0,
    "DateType": NIGHT,
}

Fill = Callable[..., dict[str, DataFrame]]


def _filled(schema: StructType, row: dict[str, Any]) -> tuple[Any, ...]:
    """A row with every NOT NULL column filled in."""
    unknown = row.keys() - set(schema.names)
    assert not unknown, unknown
    return tuple(
        row.get(field.name, None if field.nullable else USUAL[type(field.dataType).__name__])
        for field in schema
    )


@pytest.fixture
def fill(spark: SparkSession) -> Fill:
    def build(**rows: list[dict[str, Any]]) -> dict[str, DataFrame]:
        schemas = {name: table_schema(spark, name).struct for name in SUMMARY_TABLES}
        return {
            name: spark.createDataFrame(
                [_filled(schema, row) for row in rows.get(name, [])], schema
            )
            for name, schema in schemas.items()
        }

    return build


def _found(tables: dict[str, DataFrame], top: int, empty: Collection[str] = ()) -> Found:
    """empty: tables that are not asked where nothing else is."""
    return {
        name: summary_rows(frame.collect())
        for name, frame in summary_frames(tables.__getitem__, NIGHT, top, empty).items()
    }


def test_a_night_is_found_as_it_was(fill: Fill) -> None:
    found = _found(fill(**small_night()), top=5)
    assert {name: _sorted(rows) for name, rows in found.items()} == {
        name: _sorted(rows) for name, rows in FOUND.items()
    }
    assert night_summary(found, cluster="prod", logical_date=NIGHT, as_of_ms=AS_OF_MS) == SUMMARY


def _sorted(rows: Any) -> list[Any]:
    return sorted(rows, key=lambda row: repr(sorted(row.items())))


def test_only_top_rows_are_collected(fill: Fill) -> None:
    many = [
        group_row(f"g{each:03}", "MIGRATING", 2, 1, mixed_since_at=AS_OF - timedelta(minutes=each))
        for each in range(100)
    ]
    stuck = [
        {
            "group_id": f"g{each}",
            "member_id": "m",
            "reason": "FENCE_LOOP",
            "stuck_ms": each,
            "is_open": each < 3,
        }
        for each in range(100)
    ]
    asked = {"migration_progress": many, "stuck_members": stuck}
    found = _found(fill(**asked), top=4, empty=set(SUMMARY_TABLES) - asked.keys())
    lengths = {name: len(rows) for name, rows in found.items() if rows}
    assert lengths == {
        "fleet": 1,
        "half_way": 4,
        "classic_clients": 1,
        "stuck_reasons": 1,
        "stuck": 4,
    }
    assert {row["group_id"] for row in found["half_way"]} == {"g099", "g098", "g097", "g096"}
    assert {row["group_id"] for row in found["stuck"]} == {"g0", "g1", "g2", "g99"}


def test_a_night_without_rows_says_no_more_than_one_that_is_not_asked(fill: Fill) -> None:
    asked = night_summary(_found(fill(), top=5), cluster="c", logical_date=NIGHT, as_of_ms=None)
    assert asked == night_summary({}, cluster="c", logical_date=NIGHT, as_of_ms=None)


def test_what_asks_empty_tables_alone_is_left_out(fill: Fill) -> None:
    tables = fill()
    assert not summary_frames(tables.__getitem__, NIGHT, 5, empty=SUMMARY_TABLES)
    empty = set(SUMMARY_TABLES) - {"stuck_groups", "coverage"}
    asked = {"stuck_reasons", "stuck", "loops", "coverage"}
    assert summary_frames(tables.__getitem__, NIGHT, 5, empty).keys() == asked
    assert summary_frames(tables.__getitem__, NIGHT, 5).keys() == {
        query.name for query in SUMMARY_QUERIES
    }
