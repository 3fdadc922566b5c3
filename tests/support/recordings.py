"""Recordings of real coordinators, as entries that a machine replays: read from the dumps of
kafka-dump-log, with nothing reduced.

A reader of its own, a few lines of patterns, so that what the replay's tests see does not depend on
the parser that the product uses.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from groupreplay.records.entries import Entry, Record
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.records.undecodable import Undecodable, UnknownType

REPOSITORY = Path(__file__).resolve().parents[2]
_HOMES = (REPOSITORY / "tests" / "recordings", REPOSITORY.parent / "shared" / "recordings")

_BATCH = re.compile(
    r"baseOffset: (\d+) .*producerId: (-?\d+) .*partitionLeaderEpoch: (-?\d+) isTransactional:"
    r" (\w+) isControl: (\w+)"
)
_RECORD = re.compile(
    r"\| offset: (\d+) CreateTime: (-?\d+) .*?headerKeys: \[\](?: endTxnMarker: (\w+)"
    r" coordinatorEpoch: -?\d+)? ?(?:key: (.*))?",
    re.S,
)
_PAYLOAD = " payload: "
_TOMBSTONE = "<DELETE>"


@dataclass(frozen=True)
class RecordedGroup:
    """One group of one recording: its entries in order, and the topic names that the recording's
    topics.json gives.
    """

    recording: str
    group_id: str
    offsets_partition: int
    entries: tuple[Entry, ...]
    names: dict[str, str]


@dataclass(frozen=True)
class _Line:
    """One record of a dump, and what its batch says."""

    offset: int
    ts_ms: int
    base_offset: int
    leader_epoch: int
    producer_id: int
    is_transactional: bool
    marker: str | None
    text: str | None


def recordings() -> dict[str, Path]:
    """Every recording by name: those of this repository, and those that lie beside the checkout, if
    any do.
    """
    found: dict[str, Path] = {}
    for home in _HOMES:
        for path in sorted(home.iterdir()) if home.is_dir() else ():
            if (path / "recording.json").is_file() and any(path.glob("dump/*/*.txt.gz")):
                found.setdefault(path.name, path)
    return found


@cache
def topic_names(recording: str) -> dict[str, str]:
    topics = json.loads((recordings()[recording] / "topics.json").read_text())
    return {topic["topic_id"]: topic["topic"] for topic in topics}


@cache
def groups(recording: str) -> tuple[RecordedGroup, ...]:
    """The groups of a recording, in the order of their partitions and first records."""
    found: dict[tuple[int, str], list[Entry]] = {}
    for partition, lines in _replicas(recordings()[recording]).items():
        for entry in _entries(lines):
            found.setdefault((partition, entry.record.group_id), []).append(entry)
    names = topic_names(recording)
    return tuple(
        RecordedGroup(recording, group_id, partition, tuple(entries), names)
        for (partition, group_id), entries in found.items()
    )


def group(recording: str, group_id: str) -> RecordedGroup:
    """One group by its name."""
    return next(each for each in groups(recording) if each.group_id == group_id)


def all_groups() -> Iterator[RecordedGroup]:
    for recording in recordings():
        yield from groups(recording)


def _replicas(recording: Path) -> dict[int, dict[int, _Line]]:
    """partition -> offset -> line: what several brokers hold alike is taken once."""
    found: dict[int, dict[int, _Line]] = {}
    for path in sorted(recording.glob("dump/*/*.txt.gz")):
        numbers = re.search(r"__consumer_offsets-(\d+)", path.name)
        assert numbers is not None, path
        log = found.setdefault(int(numbers[1]), {})
        for line in _lines(path):
            log.setdefault(line.offset, line)
    return dict(sorted(found.items()))


def _lines(path: Path) -> Iterator[_Line]:
    batch: tuple[int, int, int, bool] = (-1, -1, -1, False)
    with gzip.open(path, "rt", encoding="utf-8") as text:
        for line in text:
            line = line.rstrip("\n")
            if header := _BATCH.match(line):
                batch = (int(header[1]), int(header[2]), int(header[3]), header[4] == "true")
            elif record := _RECORD.fullmatch(line):
                base_offset, producer_id, leader_epoch, is_transactional = batch
                yield _Line(
                    int(record[1]),
                    int(record[2]),
                    base_offset,
                    leader_epoch,
                    producer_id,
                    is_transactional,
                    record[3],
                    record[4],
                )


def _entries(lines: dict[int, _Line]) -> Iterator[Entry]:
    """Entries in offset order; commits of a transaction at its marker, if that committed it."""
    pending: dict[int, list[Record]] = {}
    hole, expected = -1, None
    for offset in sorted(lines):
        line = lines[offset]
        if expected is not None and offset != expected:
            hole = offset - 1
        expected = offset + 1
        if line.marker is not None:
            for record in pending.pop(line.producer_id, []):
                if line.marker == "COMMIT":
                    yield Entry(
                        offset, line.ts_ms, line.leader_epoch, line.base_offset, hole, record
                    )
        elif line.is_transactional:
            pending.setdefault(line.producer_id, []).append(_record(line))
        else:
            yield Entry(
                offset, line.ts_ms, line.leader_epoch, line.base_offset, hole, _record(line)
            )


def _record(line: _Line) -> Record:
    assert line.text is not None, line
    _, end = json.JSONDecoder().raw_decode(line.text)
    key, payload = line.text[:end], line.text[end:].removeprefix(_PAYLOAD)
    decoded = decode_json(key.encode(), None if payload == _TOMBSTONE else payload.encode())
    assert not isinstance(decoded, (Undecodable, UnknownType)), (line.offset, decoded)
    return decoded
