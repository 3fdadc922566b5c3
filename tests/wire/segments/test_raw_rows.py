"""Rows to columns, and stretches of damage that belong together."""

from __future__ import annotations

import json

from groupreplay.wire.segments.batches import Conflict, Damage
from groupreplay.wire.segments.raw_rows import COLUMNS, RowBuffer
from groupreplay.wire.segments.units import Unit

UNIT = Unit(7, -1, -1, (), "segments", "in")


def test_columns_are_in_order_and_emptied() -> None:
    buffer = RowBuffer(UNIT)
    buffer.add("clock", 5, {"ts_ms": 9}, ts_ms=9, value=b"v", producer_id=3, last_hole=4)
    columns = buffer.take()
    assert tuple(columns) == COLUMNS
    assert [column[0] for column in columns.values()] == [
        "clock",
        7,
        5,
        9,
        -1,
        -1,
        4,
        "",
        "",
        None,
        b"v",
        3,
        "segments",
        "in",
        '{"ts_ms":9}',
    ]
    assert set(map(len, buffer.take().values())) == {0}
    assert buffer.size == 0


def test_stretches_of_damage_that_follow_each_other_are_one() -> None:
    buffer = RowBuffer(UNIT)
    for damage in (
        Damage("a", 0, 10, "x", 3, b"r"),
        Damage("a", 10, 5, "x"),
        Damage("a", 15, 5, "y"),
        Damage("b", 20, 1, "y"),
        Damage("b", 22, 1, "y"),
    ):
        buffer.add_damage(damage, -1)
    buffer.add_conflict(Conflict(1, 2, 5, 4, "p"), 0)
    columns = buffer.take()
    assert [
        (json.loads(text)["position"], json.loads(text)["bytes"]) for text in columns["detail"][:-1]
    ] == [(0, 15), (15, 5), (20, 1), (22, 1)]
    assert (columns["offset"][0], columns["value"][0], columns["kind"][-1]) == (3, b"r", "conflict")
