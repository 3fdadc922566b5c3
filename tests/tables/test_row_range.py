"""Ranges of rows, as SQL and against the partition values of files."""

from __future__ import annotations

from datetime import date
from itertools import product
from typing import TYPE_CHECKING

import pytest

from groupreplay.tables.row_range import RowRange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NIGHT = date(2026, 1, 2)
RANGES = [
    RowRange("c"),
    RowRange("c", NIGHT),
    RowRange("c", NIGHT, with_open=True),
    RowRange("c", NIGHT, kinds=("a", "b")),
    RowRange("c", before=NIGHT),
]
VALUES = [
    {"cluster": cluster, "logical_date": day, "is_final": final, "kind": kind}
    for cluster, day, final, kind in product(
        ("c", "d"), ("2026-01-01", "2026-01-02", "2026-01-03"), ("true", "false"), ("a", "c")
    )
]


@pytest.mark.parametrize("each", RANGES, ids=lambda each: each.sql)
def test_a_range_holds_what_its_sql_does(spark: SparkSession, each: RowRange) -> None:
    rows = ", ".join(
        f"('{of['cluster']}', DATE'{of['logical_date']}', {of['is_final']}, '{of['kind']}', {place})"
        for place, of in enumerate(VALUES)
    )
    columns = "cluster, logical_date, is_final, kind, place"
    found = spark.sql(f"SELECT place FROM VALUES {rows} AS t({columns}) WHERE {each.sql}").collect()
    by_sql = {row["place"] for row in found}
    assert by_sql == {place for place, of in enumerate(VALUES) if each.holds(of)}
    assert 0 < len(by_sql) < len(VALUES)
