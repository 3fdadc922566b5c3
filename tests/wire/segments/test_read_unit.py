"""One unit, from files that are whole, doubled, cut, flipped, bombed, gone or strange: what is good
is read, what is not has a row.
"""

from __future__ import annotations

import struct

import pytest

from groupreplay.wire.segments import raw_rows as wire_rows
from groupreplay.wire.segments.raw_rows import COLUMNS
from tests.wire import encode
from tests.wire.logs import TS, log
from tests.wire.reading import counts, of_kind, offsets, packed, read, reasons

DAY = 86_400_000


# ---------------------------------------------------------------- what a row holds


def test_a_record_row_holds_the_bytes_and_where_they_stood() -> None:
    key, value = encode.epoch("g", 7)
    record, unit = read({"a": encode.batch(40, [(key, value)], ts=TS, leader_epoch=3)}, partition=9)
    assert record == {
        "kind": "record",
        "offsets_partition": 9,
        "offset": 40,
        "ts_ms": TS,
        "leader_epoch": 3,
        "batch_base_offset": 40,
        "last_hole": -1,
        "encoding": "binary",
        "group_id": "g",
        "key": key,
        "value": value,
        "producer_id": -1,
        "source": "segments",
        "input": "__consumer_offsets-9",
        "detail": None,
    }
    assert tuple(unit) == COLUMNS
    assert unit["offset"] == 40
    crc = struct.unpack_from(">I", encode.batch(40, [(key, value)], ts=TS, leader_epoch=3), 17)[0]
    assert unit["detail"] == {
        "first_offset": 40, "next_offset": 41, "first_ts_ms": TS, "last_ts_ms": TS, "records": 1, "kept": 1, "reduced": 0, "control": 0, "aborted": 0,
        "open_commits": 0, "unusable": 0, "duplicates": 0, "holes": 0, "last_hole": -1, "below": 0, "missing": [], "late": 0, "batch_crc": crc,
    }  # fmt: skip


def test_nothing_to_read_is_a_unit_row() -> None:
    (unit,) = read({})
    assert (
        unit["offset"],
        unit["detail"]["first_offset"],
        unit["detail"]["next_offset"],
        unit["detail"]["last_ts_ms"],
    ) == (0, 0, 0, -1)
    (unit,) = read({"a": b""}, start=7, end=10)
    assert (
        unit["detail"]["first_offset"],
        unit["detail"]["next_offset"],
        unit["detail"]["holes"],
        unit["detail"]["last_hole"],
    ) == (7, 7, 3, 9)


def test_columns_come_in_bounded_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groupreplay.wire.segments.read_unit.ROWS_MAX", 4)
    assert offsets(read({"a": b"".join(log(6, 3))})) == list(range(18))
    monkeypatch.setattr("groupreplay.wire.segments.read_unit.ROWS_MAX", 1 << 30)
    monkeypatch.setattr("groupreplay.wire.segments.read_unit.BYTES_MAX", 100)
    assert offsets(read({"a": b"".join(log(6, 3))})) == list(range(18))
    assert wire_rows.ROWS_MAX == 20_000


def test_append_time_is_the_records_time() -> None:
    rows = read(
        {
            "a": encode.batch(
                0,
                [encode.epoch("g"), encode.epoch("g"), *[encode.commit("g")] * 2],
                ts_deltas=[0, 5, 9, 9],
                ts=TS,
                attributes=8,
            )
        }
    )
    assert {row["ts_ms"] for row in of_kind(rows, "record")} == {TS + 9}
    rows = read(
        {
            "a": encode.batch(
                0, [encode.epoch("g"), *[encode.commit("g")] * 3], ts_deltas=[0, 300, 4, -9], ts=TS
            )
        }
    )
    assert [row["ts_ms"] - TS for row in of_kind(rows, "record")] == [0, 300, -9]


def test_a_key_that_names_no_group_is_kept() -> None:
    keys: list[bytes | None] = [
        b"",
        None,
        b"\0",
        b"\0\3\0\x09abc",
        b"\0\1\0\x09abc",
        b"\0\x63\0\1gmore",
        b"\0\3\xff\xff",
        b"\0\3\0\2\xff\xfe",
    ]
    rows = of_kind(read({"a": encode.batch(0, [(key, b"v") for key in keys])}), "record")
    assert [row["group_id"] for row in rows] == ["", "", "", "", "", "g", "", "\\xff\\xfe"]
    assert [row["key"] for row in rows] == [key or b"" for key in keys]


# ---------------------------------------------------------------- ranges, holes


@pytest.mark.parametrize("name", ["a", "/logs/00000000000000000000.log"])
def test_units_share_a_log_out_between_them(name: str) -> None:
    content = b"".join(log(6, 3))
    whole = read({name: content})
    for cut in range(19):
        before, after = read({name: content}, end=cut), read({name: content}, start=cut)
        assert offsets(before) + offsets(after) == offsets(whole)
        assert counts(before)["holes"] == counts(after)["holes"] == 0
        assert counts(before)["next_offset"] == cut == counts(after)["first_offset"]
        assert counts(after)["below"] == cut


def test_what_is_missing_is_a_hole() -> None:
    cleaned = encode.batch(
        10, {2: encode.epoch("g"), 3: encode.epoch("g"), 7: encode.epoch("g")}, last_delta=9
    )
    rows = read(
        {"a": cleaned + encode.batch(25, [encode.epoch("g")]) + encode.batch(26, [], last_delta=3)},
        end=32,
    )
    assert [(row["offset"], row["last_hole"]) for row in of_kind(rows, "record")] == [
        (12, 11),
        (13, 11),
        (17, 16),
        (25, 24),
    ]
    unit = counts(rows)
    assert (unit["first_offset"], unit["next_offset"], unit["records"]) == (10, 30, 4)
    assert (unit["holes"], unit["last_hole"]) == (2 + 3 + 2 + 5 + 4 + 2, 31)


def test_a_log_that_begins_above_the_start_has_a_hole_there() -> None:
    rows = read({"a": encode.batch(25, [encode.epoch("g")])}, start=20)
    assert (
        of_kind(rows, "record")[0]["last_hole"],
        counts(rows)["holes"],
        counts(rows)["first_offset"],
    ) == (24, 5, 20)


def test_a_batch_that_spans_the_start_is_cut_there() -> None:
    rows = read({"a": encode.batch(0, [encode.epoch("g")] * 6)}, start=4)
    assert (offsets(rows), counts(rows)["below"], counts(rows)["holes"]) == ([4, 5], 4, 0)


# ---------------------------------------------------------------- codecs


@pytest.mark.parametrize(
    ("codec", "xerial"), [(0, True), (1, True), (2, True), (2, False), (3, True), (4, True)]
)
def test_every_codec_gives_the_same_rows(codec: int, xerial: bool) -> None:
    plain, coded = (
        read({"a": b"".join(log())}),
        read({"a": b"".join(log(codec=codec, xerial=xerial))}),
    )
    assert coded[:-1] == plain[:-1]


def test_a_codec_that_does_not_exist_is_damage() -> None:
    broken = encode.seal(0, b"xx", count=1, last_delta=0, attributes=7)
    rows = read({"a": broken + encode.batch(1, [encode.epoch("g")])})
    assert (reasons(rows), offsets(rows), counts(rows)["last_hole"]) == (
        ["compression codec 7: there is no such codec"],
        [1],
        0,
    )


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_bomb_is_damage(codec: int) -> None:
    bomb = encode.seal(
        0,
        encode.compress(codec, bytes((300 if codec == 3 else 40) << 20), xerial=False),
        count=1,
        last_delta=0,
        attributes=codec,
    )
    if codec == 2:  # snappy shrinks zeros twentyfold at most: a size that lies does as well
        bomb = encode.seal(
            0, b"\xff\xff\xff\xff\x0f" + bytes(100), count=1, last_delta=0, attributes=codec
        )
    rows = read({"a": bomb + encode.batch(1, [encode.epoch("g")])})
    assert offsets(rows) == [1]
    assert "unpacks to more than" in reasons(rows)[0]


# ---------------------------------------------------------------- gzip, ends of files


def test_gzip_segments_are_read() -> None:
    content = b"".join(log())
    assert read({"a.log.gz": packed(content)}) == read({"a.log.gz": content})
    half = len(content) // 2
    assert read({"a.gz": packed(content[:half]) + packed(content[half:])}) == read(
        {"a.gz": content}
    )


def test_a_truncated_gzip_keeps_its_good_part() -> None:
    batches = log(40, 3)
    whole = packed(b"".join(batches))
    rows = read({"a.gz": whole[: len(whole) * 2 // 3]})
    assert 0 < len(offsets(rows)) < 120
    assert offsets(rows) == list(range(len(offsets(rows))))
    assert reasons(rows) == ["gzip ends early"]


def test_the_last_batch_half_written_is_the_end_of_the_file() -> None:
    batches = log(3, 3)
    content = b"".join(batches)
    for cut in range(len(content) - len(batches[2]) + 1, len(content)):
        rows = read({"a": content[:cut]})
        assert (offsets(rows), reasons(rows)) == (list(range(6)), [])
        assert counts(rows)["next_offset"] == 6


def test_what_grew_after_the_plan_is_left_alone() -> None:
    batches = log(3, 3)
    rows = read({"a": b"".join(batches)}, sizes={"a": len(batches[0]) + len(batches[1]) + 20})
    assert (offsets(rows), reasons(rows)) == (list(range(6)), [])


def test_a_file_that_shrank_after_the_plan_is_damage() -> None:
    rows = read({"a": log(1)[0]}, sizes={"a": 1000})
    assert offsets(rows) == [0, 1, 2]
    assert reasons(rows)[0].startswith("shorter by")


def test_a_preallocated_tail_is_the_end_of_the_file() -> None:
    rows = read({"a": b"".join(log(2)) + bytes(10_000)})
    assert (offsets(rows), reasons(rows)) == (list(range(6)), [])


def test_a_file_that_vanished_is_damage_and_the_other_replica_is_read() -> None:
    content = b"".join(log())
    rows = read({"a": content, "b": content}, vanished=("a",))
    assert offsets(rows) == list(range(15))
    (row,) = of_kind(rows, "damage")
    assert (row["detail"]["path"], row["detail"]["position"], row["offset"]) == ("a", 0, -1)
    assert row["detail"]["reason"].startswith("cannot be opened: FileNotFoundError")
    assert offsets(read({"a": content}, vanished=("a",))) == []


# ---------------------------------------------------------------- clocks


def clock(*days: float) -> list[int]:
    content = b"".join(
        encode.batch(number, [encode.epoch("g")], ts=TS + int(day * DAY))
        for number, day in enumerate(days)
    )
    rows = read({"a": content})
    assert {(row["offset"], row["detail"]["ts_ms"]) for row in of_kind(rows, "clock")} == {
        (number, TS + int(day * DAY))
        for number, day in enumerate(days)
        if number in offsets(rows, "clock")
    }
    outliers = offsets(rows, "clock")
    assert counts(rows)["last_ts_ms"] == max(
        TS + int(day * DAY) for number, day in enumerate(days) if number not in outliers
    )
    return outliers


def test_a_batch_a_day_off_from_both_neighbours_is_told_and_does_not_count() -> None:
    assert clock(0, 0, 1, 0, 0) == [2]
    assert clock(0, 0, -400, 0, 0) == [2]
    assert clock(0, 0, 0.99, 0) == []
    assert clock(0, 2, 4, 6) == []
    assert clock(0, 0, 30) == []
    assert clock(0, 9, 0, 9, 0) == [1, 3]
    assert clock(0, 0, 5, 5, 5) == []
    assert clock(0, 9, 9, 0) == []
