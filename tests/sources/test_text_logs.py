"""Which logs of brokers are read, and from where: whatever rolled, packed or copied them since."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from groupreplay.config.model import Config
from groupreplay.config.sources import RequestLogSource, ServerLogSource
from groupreplay.errors import SourceUnreadable
from groupreplay.night.plans.inputs import Inputs, find_inputs
from groupreplay.sources import text_logs
from groupreplay.sources.found_files import FoundFile, find_files
from groupreplay.sources.text_logs import (
    TextFile,
    distinct,
    plan_text_units,
    text_files,
)
from groupreplay.sources.watermark import TextWatermark
from groupreplay.wire.text.text_units import END_OF_FILE, TextUnit

FIRST = b"[2026-11-20 10:00:00,000] INFO starting (kafka.Kafka$)\n"
MORE = b"[2026-11-20 10:00:01,000] INFO started (kafka.server.KafkaServer)\n"


def source(path: Path | str, kind: str = "server_log", broker: int = 1) -> ServerLogSource:
    cls = RequestLogSource if kind == "request_log" else ServerLogSource
    return cls(kind=kind, path=str(path), broker=broker, timezone="UTC")


def look(path: Path | str, kind: str = "server_log", broker: int = 1) -> list[TextFile]:
    of = source(path, kind, broker)
    return text_files(of, find_files(of).files)


def read(file: TextFile, text: bytes) -> dict[str, TextWatermark]:
    return {
        file.identity: TextWatermark(len(text), size=file.size, newest_ms=5, last_seen="2026-11-20")
    }


def stretches(units: list[TextUnit]) -> list[tuple[str, int, int]]:
    return [(Path(unit.path).name, unit.start_position, unit.end_position) for unit in units]


def test_a_log_stays_itself_when_it_grows_rolls_and_is_packed(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(FIRST)
    (before,) = look(tmp_path)
    landed = read(before, FIRST)
    assert plan_text_units([before], landed) == []
    log.write_bytes(FIRST + MORE)
    assert stretches(plan_text_units(look(tmp_path), landed)) == [
        ("server.log", len(FIRST), END_OF_FILE)
    ]
    log.rename(tmp_path / "server.log.2026-11-20-10")
    log.write_bytes(MORE)
    new = plan_text_units(look(f"{tmp_path}/server.log*"), landed)
    assert stretches(new) == [
        ("server.log", 0, END_OF_FILE),
        ("server.log.2026-11-20-10", len(FIRST), END_OF_FILE),
    ]
    assert [unit.last_ms for unit in new] == [-1, 5]
    packed = gzip.compress(FIRST + MORE)
    (tmp_path / "server.log.2026-11-20-10").unlink()
    (tmp_path / "server.log.2026-11-20-10.gz").write_bytes(packed)
    assert stretches(plan_text_units(look(f"{tmp_path}/*.gz"), landed)) == [
        ("server.log.2026-11-20-10.gz", len(FIRST), END_OF_FILE)
    ]
    all_of_it = read(before, FIRST + MORE)
    assert plan_text_units(look(f"{tmp_path}/*.gz"), all_of_it) == []


def test_identity_is_of_kind_broker_and_first_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\r\n" + FIRST + MORE)
    (tmp_path / "b").write_bytes(FIRST)
    same = {file.identity for file in look(tmp_path)}
    others = {look(tmp_path, "request_log")[0].identity, look(tmp_path, broker=2)[0].identity}
    assert len(same) == 1
    assert len(same | others) == 3


def test_of_copies_the_longest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(FIRST)
    (tmp_path / "b.log").write_bytes(FIRST + MORE)
    (tmp_path / "c.log").write_bytes(FIRST + MORE)
    (tmp_path / "d.log.gz").write_bytes(gzip.compress(FIRST + MORE))
    assert [Path(file.path).name for file in distinct(look(tmp_path))] == ["b.log"]
    (tmp_path / "e.log.gz").write_bytes(gzip.compress(FIRST) + gzip.compress(MORE * 2))
    assert [Path(file.path).name for file in distinct(look(tmp_path))] == ["e.log.gz"]


def test_a_file_without_a_whole_first_line_waits(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    for text in (b"", b"\n\n", FIRST[:-1]):
        log.write_bytes(text)
        (file,) = look(log)
        assert (file.identity, file.failure) == ("", "")
        assert plan_text_units([file], {}) == []
    log.write_bytes(b"x" * text_logs.FIRST_LINE_BYTES)
    (long,) = look(log)
    log.write_bytes(b"x" * text_logs.FIRST_LINE_BYTES * 2 + b"\n")
    assert long.identity == look(log)[0].identity != ""


def test_what_cannot_be_read_is_a_unit_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(FIRST)[:12])
    (tmp_path / "b").write_bytes(FIRST)
    units = plan_text_units(look(tmp_path), {})
    assert [(Path(unit.path).name, bool(unit.failure), unit.identity != "") for unit in units] == [
        ("a.gz", True, False),
        ("b", False, True),
    ]
    assert TextUnit.from_json(units[0].to_json()) == units[0]


def test_large_request_logs_are_split_and_server_logs_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_logs, "SPLIT_BYTES", 100)
    (tmp_path / "r").write_bytes(FIRST + MORE * 3)
    assert stretches(plan_text_units(look(tmp_path, "request_log"), {})) == [
        ("r", 0, 100),
        ("r", 100, 200),
        ("r", 200, END_OF_FILE),
    ]
    assert stretches(plan_text_units(look(tmp_path), {})) == [("r", 0, END_OF_FILE)]
    (file,) = look(tmp_path, "request_log")
    again = {file.identity: TextWatermark(100, size=-1, newest_ms=5, last_seen="2026-11-20")}
    assert stretches(plan_text_units([file], again)) == [("r", 100, 200), ("r", 200, END_OF_FILE)]


def test_inputs_hold_each_file_once_and_a_source_must_give_something(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(FIRST)
    (tmp_path / "link.log").symlink_to(tmp_path / "server.log")

    def inputs(*sources: ServerLogSource) -> Inputs:
        return find_inputs(Config(cluster="c", warehouse="/none", sources=sources))

    found = inputs(source(tmp_path), source(tmp_path / "*.log"), source(tmp_path, broker=2))
    assert [file.source.broker for file in found.texts] == [1, 2]
    (tmp_path / "broken.gz").write_bytes(gzip.compress(FIRST)[:11])
    with pytest.raises(SourceUnreadable, match="gzip") as caught:
        inputs(source(tmp_path / "*.gz"))
    assert caught.value.exit_code == 3


def test_a_found_file_that_is_gone_is_told(tmp_path: Path) -> None:
    (gone,) = text_files(source(tmp_path), [FoundFile(str(tmp_path / "gone"), 5)])
    assert gone.failure.startswith("cannot be opened")
