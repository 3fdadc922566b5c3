"""Reading of brokers' logs: every line once and told for what it is, however the file is cut,
packed or broken; and memory stays flat.

Holds wire/text/read_text_unit.py.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.tables.schemas import ddl_text
from groupreplay.wire.text import text_lines
from groupreplay.wire.text.text_units import END_OF_FILE
from groupreplay.workers import read_text_units as under_test
from tests.workers.text_units import (
    adds_up,
    contacts,
    event_line,
    of_kind,
    request_line,
    requests,
    rows_of,
    server_line,
    told,
    unit,
)

SERVER = b"".join(
    [
        b"not a line at all\n\xff\xfe\0\n",
        server_line(0),
        event_line(1),
        b"java.lang.IllegalStateException: no\r\n\tat kafka.Kafka.main(Kafka.java)\n",
        server_line(2, "caf\xe9 ".encode("latin-1").decode("latin-1")),
        event_line(3),
    ]
)


def test_a_server_log_is_told_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(SERVER + event_line(4)[:-1])
    rows = rows_of(unit(path))
    lines, counts = of_kind(rows, "line"), told(rows)
    assert [
        (row["event"], row["group_id"], row["member_id"], row["offsets_partition"]) for row in lines
    ] == [
        ("MEMBER_LEFT", "g", "m-1", 7),
        ("MEMBER_LEFT", "g", "m-3", 7),
    ]
    assert [SERVER[row["position"] :].startswith(row["line"].encode()) for row in lines] == [
        True,
        True,
    ]
    assert [
        (
            row["last_ms"] - row["at_ms"],
            row["requests"],
            row["longest_gap_ms"],
            row["last_position"] - row["position"],
        )
        for row in lines
    ] == [(0, 1, 0, 0)] * 2
    assert (
        counts["lines"],
        counts["matched"],
        counts["unmatched"],
        counts["continuation"],
        counts["damaged"],
    ) == (8, 2, 2, 2, 2)
    assert counts["loggers"] == {"kafka.server.KafkaServer": 2}
    assert (counts["from_position"], counts["next_position"], counts["failure"]) == (
        0,
        len(SERVER),
        None,
    )
    assert (counts["first_ms"], counts["last_ms"]) == (lines[0]["at_ms"], lines[1]["at_ms"])
    (damage,) = of_kind(rows, "damage")
    assert (damage["position"], damage["requests"], damage["line"]) == (0, 2, "not a line at all")
    assert json.loads(damage["counts"]) == {"lines": 2, "bytes": 22}
    assert {(row["source"], row["input"], row["broker"]) for row in rows} == {
        ("server_log", str(path), 1)
    }


def test_the_rest_of_an_exception_belongs_to_the_night_before(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    before = server_line(0)
    path.write_bytes(before + b"\tat a.B.c(B.java)\n" + event_line(1))
    rows = rows_of(unit(path, start=len(before)))
    assert (told(rows)["continuation"], told(rows)["damaged"], told(rows)["matched"]) == (1, 0, 1)


def test_every_cut_of_a_file_into_nights_lands_each_line_once(tmp_path: Path) -> None:
    path, whole = tmp_path / "server.log", SERVER + event_line(4)
    path.write_bytes(whole)
    once = [(row["position"], row["member_id"]) for row in of_kind(rows_of(unit(path)), "line")]
    for cut in range(0, len(whole), 3):
        path.write_bytes(whole[:cut])
        first = rows_of(unit(path))
        path.write_bytes(whole)
        second = rows_of(unit(path, start=told(first)["next_position"]))
        found = [
            (row["position"], row["member_id"])
            for row in of_kind(first, "line") + of_kind(second, "line")
        ]
        assert found == once, cut
        assert told(first)["lines"] + told(second)["lines"] == whole.count(b"\n")


@pytest.mark.parametrize("seed", range(3))
def test_any_split_of_a_request_log_gives_the_rows_of_the_whole(tmp_path: Path, seed: int) -> None:
    path, text = tmp_path / "request.log", requests(seed)
    path.write_bytes(text)
    whole = rows_of(unit(path, "request_log"))
    assert adds_up(told(whole))
    assert told(whole)["lines"] == text.count(b"\n")
    assert told(whole)["reduced"] > 0
    chance = random.Random(seed)
    for parts in (2, 3, 7, 400):
        cuts = sorted({0, *chance.sample(range(1, len(text)), parts - 1)})
        units = [
            unit(path, "request_log", start, end)
            for start, end in zip(cuts, [*cuts[1:], END_OF_FILE], strict=True)
        ]
        rows = rows_of(*units)
        counts = [json.loads(row["counts"]) for row in of_kind(rows, "file")]
        assert contacts(rows) == contacts(whole)
        for name in ("lines", "matched", "passed", "damaged"):
            assert sum(each[name] for each in counts) == told(whole)[name]
        assert max(each["next_position"] or 0 for each in counts) == len(text)


def test_a_packed_log_is_read_as_the_plain_one_and_told_when_it_ends_early(tmp_path: Path) -> None:
    plain, packed = tmp_path / "request.log", tmp_path / "request.log.gz"
    text = requests(1)
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    ignored = {"input", "counts"}

    def told_alike(path: Path) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in row.items() if name not in ignored}
            for row in rows_of(unit(path, "request_log"))
        ]

    assert told_alike(packed) == told_alike(plain)
    packed.write_bytes(gzip.compress(text)[:-200])
    rows = rows_of(unit(packed, "request_log"))
    assert told(rows)["failure"] == "gzip ends early"
    assert 0 < told(rows)["lines"] < text.count(b"\n")
    assert of_kind(rows, "damage")[-1]["detail"] == "gzip ends early"
    assert text[: told(rows)["next_position"]].count(b"\n") == told(rows)["lines"]


def test_a_file_that_is_gone_or_failed_is_one_damage(tmp_path: Path) -> None:
    for each in (
        unit(tmp_path / "gone"),
        unit(tmp_path / "gone", failure="cannot be opened: no", identity=""),
    ):
        rows = rows_of(each)
        assert [row["kind"] for row in rows] == ["damage", "file"]
        assert rows[0]["detail"].startswith("cannot be opened")
        assert (told(rows)["lines"], told(rows)["next_position"]) == (
            0,
            0 if not each.failure else None,
        )


@pytest.mark.parametrize("kind", ["server_log", "request_log"])
def test_a_line_too_long_is_passed_over_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(text_lines, "LINE_BYTES_MAX", 6 << 20)
    good = event_line(1) if kind == "server_log" else request_line(1, epoch=0)
    path = tmp_path / "a.log"
    with path.open("wb") as file:
        file.write(good)
        for _ in range(50):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + good + b"y" * (7 << 20))
    tracemalloc.start()
    rows = rows_of(unit(path, kind))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20
    counts = told(rows)
    assert (counts["lines"], counts["matched"], counts["too_long"], len(of_kind(rows, "line"))) == (
        3,
        2,
        1,
        2,
    )
    assert counts["next_position"] == path.stat().st_size - (7 << 20)
    (damage,) = of_kind(rows, "damage")
    assert (damage["position"], len(damage["line"]), json.loads(damage["counts"])["bytes"]) == (
        len(good),
        1024,
        (50 << 20) + 1,
    )


def test_a_log_of_another_program_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(b'127.0.0.1 - - [20/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5\n' * 500)
    server, request = rows_of(unit(path)), rows_of(unit(path, "request_log"))
    assert (told(server)["damaged"], len(of_kind(server, "damage"))) == (500, 1)
    assert (told(request)["passed"], len(request)) == (500, 1)


def test_loggers_beyond_the_first_are_told_together(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(
        b"".join(
            server_line(0, logger=f"l{number}") * (1 + (number < 50)) for number in range(6_000)
        )
    )
    loggers = told(rows_of(unit(path)))["loggers"]
    assert len(loggers) == 51
    assert sum(loggers.values()) == 6_050


def test_times_go_on_in_the_second_pass_of_the_hour_that_comes_twice(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    first, second = (
        event_line(seconds).replace(b"2026-11-20 10", b"2026-10-25 02") for seconds in (3000, 60)
    )
    path.write_bytes(first + second + second.replace(b"02:01", b"02:07"))
    berlin: dict[str, Any] = {"timezone": "Europe/Berlin"}
    once = of_kind(rows_of(unit(path, **berlin)), "line")
    again = of_kind(
        rows_of(unit(path, start=len(first + second), last_ms=once[1]["at_ms"], **berlin)), "line"
    )
    assert [row["at_ms"] - once[0]["at_ms"] for row in once] == [0, 660_000, 1_020_000]
    assert again[0]["at_ms"] == once[2]["at_ms"]


def test_a_layout_that_is_not_kafkas_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "request.log"
    body = (
        request_line(1, epoch=0)[25:]
        .replace(b"DEBUG ", b"")
        .replace(b" (kafka.request.logger)", b"")
    )
    path.write_bytes(b"2026-11-20T10:00:01.000Z|DEBUG|kafka.request.logger|" + body.lstrip())
    rows = rows_of(
        unit(
            path,
            "request_log",
            layout="%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}|%p|%c|%m%n",
            timezone="Asia/Tokyo",
        )
    )
    (row,) = of_kind(rows, "line")
    assert (row["at_ms"], row["started_ms"], row["group_id"]) == (
        1795168801000 - 0,
        row["at_ms"] - 2,
        "g",
    )


def test_lines_that_a_shipper_wrapped_are_read(tmp_path: Path) -> None:
    path = tmp_path / "shipped.json"
    line = request_line(1, epoch=0).decode().strip()
    stripped = line.partition("DEBUG ")[2].removesuffix(" (kafka.request.logger)")
    shipped = [
        {"log": {"message": line}},
        {"log": {"message": stripped}, "@timestamp": "2026-11-20T10:00:05.000Z"},
        {"other": 1},
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in shipped))
    rows = rows_of(unit(path, "request_log", message_field="log.message", time_field="@timestamp"))
    first, second = of_kind(rows, "line")
    assert (first["group_id"], second["group_id"], second["at_ms"] - first["at_ms"]) == (
        "g",
        "g",
        4_000,
    )
    assert (told(rows)["matched"], told(rows)["passed"], told(rows)["damaged"]) == (2, 1, 0)


def test_columns_are_those_of_the_table() -> None:
    columns = dict(
        re.findall(r"^  (\w+) +(\S+?)(?: NOT NULL)?\s", ddl_text("raw_lines"), re.MULTILINE)
    )
    read = dict(each.split(" ") for each in under_test.DDL.replace("`", "").split(", "))
    assert columns == {"cluster": "STRING", "logical_date": "DATE"} | read


def test_values_that_no_column_holds_do_not_fail_the_task() -> None:
    assert under_test._array([1 << 70, None, 5], pa.int64()).to_pylist() == [None, None, 5]
    assert under_test._array([("\ud800", "a"), ()], pa.list_(pa.string())).to_pylist() == [
        ["\\ud800", "a"],
        [],
    ]
    assert under_test._array(["\ud800", None], pa.string()).to_pylist() == ["\\ud800", None]


PIECES = st.sampled_from(
    [
        SERVER,
        event_line(5),
        request_line(6),
        request_line(7, epoch=0),
        b"\n",
        b"\r\n",
        b'{"requestApiKey":68}',
        b"Completed request:{",
    ]
)


@given(
    st.lists(st.binary(max_size=40) | PIECES, max_size=12),
    st.sampled_from(["server_log", "request_log"]),
    st.integers(0, 200),
    st.booleans(),
)
def test_whatever_a_file_holds_it_is_counted(
    tmp_path_factory: pytest.TempPathFactory,
    pieces: list[bytes],
    kind: str,
    start: int,
    packed: bool,
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.log"
    text = b"".join(pieces)
    path.write_bytes(gzip.compress(text) if packed else text)
    whole, rest = told(rows_of(unit(path, kind))), told(rows_of(unit(path, kind, start=start)))
    assert adds_up(whole)
    assert adds_up(rest)
    if packed or not text.startswith(b"\x1f\x8b"):
        assert whole["lines"] == text.count(b"\n")
        assert rest["lines"] == max(0, text.count(b"\n", max(0, start - 1)) - (start > 0))


def test_chunks_are_read_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "request.log"
    path.write_bytes(request_line(1, key=1, padding=1000) * 10_000)

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"unit": [unit(path, "request_log").to_json()]})

    assert [batch.num_rows for batch in under_test.read_text_units(batches())] == [1]
