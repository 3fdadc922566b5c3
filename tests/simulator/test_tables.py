"""Rows of Delta tables, as the checker holds them against the truth."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa

from tests.simulator.columns import COLUMNS
from tests.simulator.tables import rows_of


def test_times_and_days_are_numbers_as_in_facts() -> None:
    told = {
        "day": pa.array([date(1970, 1, 3)]),
        "from_at": pa.array([datetime(1970, 1, 3, 0, 0, 1, 500_000, UTC)]),
        "moved": pa.array([7]),
        "high_unknown": pa.array([0]),
    }
    stored = pa.table(
        told | {name: pa.nulls(1) for name in COLUMNS["group_days"] if name not in told}
    )
    (row,) = rows_of("group_days", stored)
    assert (row["day"], row["from_at"], row["moved"]) == (2, 2 * 86_400_000 + 1_500, 7)
