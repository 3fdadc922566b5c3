"""What simulated brokers write is read as what real ones do, and their truth is about it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from groupreplay.wire.text.broker_clock import BrokerClock
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN, LineLayout
from groupreplay.wire.text.request_log import RequestLogParser
from groupreplay.wire.text.server_log import ServerLogParser
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file
from tests.simulator.simulate import NotSimulated, for_version, simulate

SEED, GROUPS, HOURS = 5, 8, 0.15


@pytest.fixture(scope="module", params=["4.0.2", "4.3.1"])
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp(request.param) / "recording"
    return simulate(out, SEED, GROUPS, HOURS, "failover", request.param, segments_mb=0.02)


def operations(recording: Path) -> list[dict[str, Any]]:
    with gzip.open(recording / "truth" / "operations.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def rows(recording: Path, broker: int) -> Iterator[tuple[int, int, int]]:
    """Partition, offset and timestamp of each record that the product lands as one."""
    for folder in sorted((recording / "segments" / f"broker-{broker}").iterdir()):
        found = sorted(folder.glob("*.log"))
        files = tuple(UnitFile(SEGMENTS, str(path), path.stat().st_size, "1") for path in found)
        partition = int(folder.name.rpartition("-")[2])
        unit = Unit(partition, -1, -1, files, SEGMENTS, folder.name)
        for columns in read_unit(unit, open_file, Codecs()):
            kinds = columns["kind"]
            assert set(kinds) <= {"record", "marker", "commit", "open_commit", "unit"}
            for number, kind in enumerate(kinds):
                if kind == "record":
                    yield partition, columns["offset"][number], columns["ts_ms"][number]


@pytest.mark.broker
def test_operations_tile_the_log_and_have_its_times(recording: Path) -> None:
    told: dict[tuple[int, int], int] = {}
    for one in operations(recording):
        for offset in range(one["b"], one["e"] + 1):
            assert told.setdefault((one["p"], offset), one["t"]) == one["t"]
    ends = Counter(partition for partition, _ in told)
    assert all(
        (partition, offset) in told for partition in ends for offset in range(ends[partition])
    )
    read = list(rows(recording, 1))
    assert len(read) > 100
    assert all(told[partition, offset] == at for partition, offset, at in read)


@pytest.mark.broker
def test_every_replica_holds_the_whole_log_in_segments_of_its_own(recording: Path) -> None:
    brokers = json.loads((recording / "recording.json").read_text())["brokers"]
    assert brokers > 1
    first = list(rows(recording, 1))
    assert all(list(rows(recording, broker)) == first for broker in range(2, brokers + 1))
    assert any(
        len(list(folder.iterdir())) > 1
        for folder in (recording / "segments" / "broker-1").iterdir()
    )


@pytest.mark.broker
def test_clocks_of_brokers_differ(recording: Path) -> None:
    clocks = json.loads((recording / "recording.json").read_text())["simulated"]["clocks_ms"]
    found = {(one["br"], one["t"] - one["tt"]) for one in operations(recording)}
    assert found <= {(int(broker), wrong) for broker, wrong in clocks.items()}
    assert len({wrong for _, wrong in found}) > 1


@pytest.mark.broker
def test_every_line_of_a_server_log_is_known(recording: Path) -> None:
    events: Counter[str] = Counter()
    for path in recording.glob("broker-*.server.log"):
        parser = ServerLogParser(LineLayout.of(DEFAULT_PATTERN), BrokerClock("UTC"))
        for line in path.read_bytes().splitlines():
            event = parser.parse(line)
            if line.startswith(b"["):
                assert isinstance(event, LogEvent), line
                events[event.event] += 1
    assert {"SHARD_LOADED", "MEMBER_JOINED", "GROUP_EPOCH_BUMPED", "JOIN_PHASE_STARTED"} <= set(
        events
    )


def to_ms(text: str) -> int | None:
    try:
        at = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f")
    except ValueError:
        return None
    return int(at.replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.broker
def test_every_line_of_a_request_log_is_known(recording: Path) -> None:
    parser = RequestLogParser(to_ms)
    events: Counter[str] = Counter()
    for path in recording.glob("broker-*.request.log.gz"):
        with gzip.open(path, "rb") as lines:
            for line in lines:
                found = parser.parse(line)
                assert isinstance(found, list), line
                events.update(one.event for one in found)
    assert {"CONSUMER_GROUP_HEARTBEAT", "JOIN_GROUP", "SYNC_GROUP", "OFFSET_COMMIT"} <= set(events)


@pytest.mark.broker
def test_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    once, again = (
        simulate(tmp_path / name, 6, 5, 0.05, "all", "4.3.1") for name in ("once", "again")
    )
    files = sorted(path.relative_to(once) for path in once.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert all((once / name).read_bytes() == (again / name).read_bytes() for name in files)


@pytest.mark.soak
def test_a_streams_history_is_the_same_again(tmp_path: Path) -> None:
    """Sets of StickyTaskAssignor were walked in another order each time. In lines of logs the order
    of tasks varies yet."""
    once, again = (
        simulate(tmp_path / name, 412685030, 60, 1, "streams", "4.1.2")
        for name in ("once", "again")
    )
    files = sorted(path.relative_to(once) for path in once.rglob("segments/**/*.log"))
    assert len(files) > 50
    assert all((once / name).read_bytes() == (again / name).read_bytes() for name in files)


def test_sources_for_a_version() -> None:
    text = (
        "a\n//#if >= 4.2\nb\n//#if < 4.3\nc\n//#endif\n//#elif >= 4.1\nd\n//#else\ne\n//#endif\nf"
    )
    taken = {
        version: for_version(text, version).split()
        for version in ("4.0.2", "4.1.2", "4.2.1", "4.3.1")
    }
    assert taken == {"4.0.2": [*"aef"], "4.1.2": [*"adf"], "4.2.1": [*"abcf"], "4.3.1": [*"abf"]}
    assert all(len(for_version(text, version).split("\n")) == 12 for version in taken)


def test_a_folder_that_is_no_recording_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(NotSimulated, match="is no recording"):
        simulate(tmp_path, 1, 1, 0.01)
    assert (tmp_path / "mine").exists()
