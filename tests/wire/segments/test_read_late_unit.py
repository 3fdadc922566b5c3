"""What came late: of files that appeared below the watermark, only what earlier nights had missed,
each record once and told apart.
"""

from __future__ import annotations

import io
from typing import Any

from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from tests.wire import encode
from tests.wire.logs import TS, log
from tests.wire.reading import Row, of_kind, read, rows_of


def read_late(content: bytes, *holes: tuple[int, int]) -> list[Row]:
    files = (UnitFile(SEGMENTS, "a", len(content), "a"),)
    return rows_of(
        Unit(0, holes[0][0], holes[-1][1], files, "segments", "__consumer_offsets-0", holes),
        lambda _: io.BytesIO(content),
    )


def told_of(rows: list[Row]) -> dict[str, Any]:
    """What the unit row says."""
    (unit,) = of_kind(rows, "unit")
    detail: dict[str, Any] = unit["detail"]
    return detail


def test_only_what_was_missed_is_landed_and_under_kinds_of_its_own() -> None:
    content = b"".join(
        encode.batch(base, [encode.epoch("g", base + each) for each in range(3)], ts=TS)
        for base in range(0, 18, 3)
    )
    rows = read_late(content, (4, 8), (12, 15))
    assert [row["offset"] for row in of_kind(rows, "late_record")] == [4, 5, 6, 7, 12, 13, 14]
    assert {row["kind"] for row in rows} == {"late_record", "late", "unit"}
    unit = told_of(rows)
    assert (unit["late"], unit["filled"], unit["missing"], unit["kept"], unit["holes"]) == (
        7,
        [[4, 8], [12, 15]],
        [],
        0,
        0,
    )
    (told,) = of_kind(rows, "late")
    assert (told["offset"], told["detail"], told["ts_ms"]) == (
        4,
        {"records": 7, "filled": [[4, 8], [12, 15]]},
        TS,
    )


def test_how_new_each_stretch_is_that_was_filled_is_said_without_a_clock_that_jumped() -> None:
    times = (TS + 1, TS + 5, TS + 3 * 86_400_000, TS + 4, TS + 9)
    content = b"".join(
        encode.batch(base, [encode.epoch("g")] * 2, ts=ts)
        for base, ts in zip(range(0, 10, 2), times, strict=True)
    )
    told = told_of(read_late(content, (0, 8), (9, 20)))
    assert (told["filled"], told["filled_ms"]) == ([[0, 8], [9, 10]], [TS + 5, TS + 9])


def test_what_is_missing_still_stays_a_hole() -> None:
    late = read_late(encode.batch(22, [encode.epoch("g")] * 2), (20, 30))
    assert (told_of(late)["filled"], told_of(late)["missing"]) == ([[22, 24]], [[20, 22], [24, 30]])
    assert {row["last_hole"] for row in of_kind(late, "late_record")} == {21}
    nothing = read_late(encode.batch(50, [encode.epoch("g")]), (20, 30))
    assert (told_of(nothing)["late"], told_of(nothing)["filled"], told_of(nothing)["missing"]) == (
        0,
        [],
        [[20, 30]],
    )
    assert {row["kind"] for row in nothing} == {"unit"}


def test_what_lies_below_the_first_record_of_all_is_no_hole_to_those_above() -> None:
    rows = read_late(encode.batch(50, [encode.epoch("g")] * 50), (0, 100))
    assert {row["last_hole"] for row in of_kind(rows, "late_record")} == {-1}
    assert (told_of(rows)["filled"], told_of(rows)["missing"]) == ([[50, 100]], [[0, 50]])


def test_nights_and_what_came_late_are_the_whole_log() -> None:
    content = b"".join(log(6, 3))
    whole = {row["offset"] for row in of_kind(read({"a": content}), "record")}
    above = {row["offset"] for row in of_kind(read({"a": content}, start=9), "record")}
    late = {row["offset"] for row in of_kind(read_late(content, (0, 9)), "late_record")}
    assert late | above == whole
    assert not late & above


def test_transactions_that_came_late_are_told_apart_too() -> None:
    commit = encode.batch(3, [encode.commit("g", ts_ms=TS)], ts=TS, producer_id=7, attributes=0x10)
    rows = read_late(encode.batch(0, [encode.epoch("g")] * 3) + commit, (0, 4))
    assert [row["offset"] for row in of_kind(rows, "late_open_commit")] == [3]
    assert [
        row["offset"]
        for row in of_kind(read_late(encode.marker(5, 7, True), (0, 9)), "late_marker")
    ] == [5]
