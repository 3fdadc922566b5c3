"""Records as a consumer gives them: the rows are those of a segment, but for what a consumer is not
shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from groupreplay.wire.segments.batches import LogRecord
from groupreplay.wire.segments.raw_rows import COLUMNS
from groupreplay.wire.segments.read_live import UNKNOWN_MS, LiveReader
from groupreplay.wire.segments.units import KAFKA, Unit
from tests.wire.encode import batch, commit, epoch
from tests.wire.reading import of_kind, read

DAY_MS = 86_400_000
NOW_MS = 1_795_240_000_000
GROUP = epoch("a")


def records(*offsets: int, ts_ms: int = NOW_MS) -> list[LogRecord]:
    """Commits of one key, which are reduced to the first and the last."""
    key, value = commit("g")[:2]
    return [LogRecord(offset, ts_ms, key, value) for offset in offsets]


def rows(
    stretches: Sequence[Sequence[LogRecord]], start: int, end: int, since_ms: int = UNKNOWN_MS
) -> list[dict[str, Any]]:
    reader = LiveReader(Unit(3, start, end, (), KAFKA, "__consumer_offsets-3"), since_ms)
    found = [reader.feed(stretch) for stretch in stretches]
    columns = [*[each for each in found if each], reader.finish()]
    told = [
        dict(zip(COLUMNS, values, strict=True))
        for each in columns
        for values in zip(*each.values(), strict=True)
    ]
    return [{**row, "detail": json.loads(row["detail"]) if row["detail"] else None} for row in told]


def unit(found: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = of_kind(found, "unit")
    detail: dict[str, Any] = row["detail"]
    return detail


@pytest.mark.parametrize("cuts", [(), (1,), (1, 2, 3, 4, 5)])
def test_rows_are_those_of_the_segment_however_records_arrive(cuts: tuple[int, ...]) -> None:
    log = [commit("a"), commit("a"), commit("a"), GROUP, commit("a"), commit("b", topic="u")]
    of_segment = read({"x": batch(0, log, ts=NOW_MS)}, partition=3)
    given = [LogRecord(row_offset, NOW_MS, each[0], each[1]) for row_offset, each in enumerate(log)]
    found = rows([given[a:b] for a, b in zip((0, *cuts), (*cuts, len(given)), strict=True)], 0, 6)
    unseen = ("leader_epoch", "batch_base_offset", "producer_id", "source", "input")
    assert [
        {key: row[key] for key in row if key not in unseen} for row in of_kind(found, "record")
    ] == [
        {key: row[key] for key in row if key not in unseen} for row in of_kind(of_segment, "record")
    ]
    assert all(
        row["leader_epoch"] == row["batch_base_offset"] == row["producer_id"] == -1 for row in found
    )
    assert {
        name: unit(found)[name]
        for name in ("records", "kept", "reduced", "first_offset", "next_offset", "holes")
    } == {
        name: of_kind(of_segment, "unit")[0]["detail"][name]
        for name in ("records", "kept", "reduced", "first_offset", "next_offset", "holes")
    }


def test_what_is_missing_is_a_hole_at_the_start_inside_and_at_the_end() -> None:
    found = rows([records(12, 13), records(17)], 10, 20)
    assert {
        name: unit(found)[name]
        for name in ("first_offset", "next_offset", "holes", "last_hole", "control")
    } == {
        "first_offset": 10,
        "next_offset": 20,
        "holes": 2 + 3 + 2,
        "last_hole": 19,
        "control": 0,
    }
    assert [(row["offset"], row["last_hole"]) for row in of_kind(found, "record")] == [
        (12, 11),
        (17, 16),
    ]


def test_a_unit_without_records_is_one_hole() -> None:
    found = rows([], 10, 20)
    assert [row["kind"] for row in found] == ["unit"]
    assert (
        unit(found)["holes"],
        unit(found)["last_hole"],
        unit(found)["next_offset"],
        unit(found)["last_ts_ms"],
    ) == (10, 19, 20, -1)


def test_what_the_cleaner_cannot_have_reached_is_no_hole() -> None:
    """Between two young records, and after one, markers and aborted commits alone can be missing;
    before the first anything can.
    """
    found = rows([records(12, 14), records(17)], 10, 20, since_ms=NOW_MS)
    assert (unit(found)["holes"], unit(found)["last_hole"], unit(found)["control"]) == (
        2,
        11,
        1 + 2 + 2,
    )
    assert {row["last_hole"] for row in of_kind(found, "record")} == {11}


def test_a_gap_beside_an_older_record_is_a_hole() -> None:
    older = NOW_MS - 1
    found = rows([[*records(10, ts_ms=older), *records(12), *records(14)]], 10, 15, since_ms=NOW_MS)
    assert (unit(found)["holes"], unit(found)["last_hole"], unit(found)["control"]) == (1, 11, 1)
    assert unit(rows([records(10, ts_ms=older)], 10, 12, since_ms=NOW_MS))["holes"] == 1


def test_a_time_that_is_days_off_is_told_and_is_not_as_of() -> None:
    found = rows([[*records(0, 1), *records(2, ts_ms=NOW_MS + 9 * DAY_MS), *records(3, 4)]], 0, 5)
    assert [(row["offset"], row["detail"]) for row in of_kind(found, "clock")] == [
        (2, {"ts_ms": NOW_MS + 9 * DAY_MS})
    ]
    assert (unit(found)["first_ts_ms"], unit(found)["last_ts_ms"]) == (NOW_MS, NOW_MS)


def test_tombstones_and_broken_keys_are_rows() -> None:
    found = rows(
        [
            [
                LogRecord(0, NOW_MS, b"\0", b"x"),
                LogRecord(1, NOW_MS, None, None),
                LogRecord(2, NOW_MS, commit("g")[0], None),
            ]
        ],
        0,
        3,
    )
    assert [
        (row["offset"], row["key"], row["value"], row["group_id"])
        for row in of_kind(found, "record")
    ] == [
        (0, b"\0", b"x", ""),
        (1, b"", None, ""),
        (2, commit("g")[0], None, "g"),
    ]
