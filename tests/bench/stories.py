"""Stories of recordings as templates: the records of one group, ready to be written again for
thousands of other groups.

A copy differs from its story in the last digits of the group id, in offsets and in times. All of
them have a fixed width, so a copy of a record is the story's bytes with a few places overwritten:
what varies is known here as positions, and `segments` fills them in for many records at once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.batch_records import parse_records
from groupreplay.wire.segments.batches import CONTROL, TRANSACTIONAL, Batch, LogRecord
from groupreplay.wire.segments.record_batch import SegmentReader
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file

DIGITS = 7
"""Of the number that ends a copy's group id."""
HEADER_BYTES = 61
"""Of a record batch."""
DAY_MS = 86_400_000
TIMES_MAX = 2
"""Most times that a value holds (a commit of the first versions: when, and until when it is
kept).
"""

_INT64 = struct.Struct(">q")
_DELETED_FIRST = {0: 0, 1: 0, 8: 1, 7: 2, 5: 3, 16: 4, 6: 5, 4: 6, 3: 7, 2: 8}
"""In which order the tombstones of a deleted group stand, by key type."""


RECORDINGS_FOLDER = Path(__file__).resolve().parents[1] / "recordings"


@dataclass(slots=True)
class Unit:
    """Records that were appended together.

    at_ms: since the story began.
    first, count: among the story's records.
    commits: all are commits.
    """

    at_ms: int
    first: int
    count: int
    commits: bool


@dataclass(slots=True)
class Template:
    """A record as bytes, its length first, and where in them stand: the group's digits, times (with
    what they say in the story) and a committed offset; -1 for none.

    delta_at: offset delta, one byte.
    ts_delta: ms after the first record of its batch.
    """

    data: bytes
    digits_at: int
    times: list[tuple[int, int]]
    offset_at: int
    offset: int
    delta_at: int
    ts_delta: int


@dataclass(slots=True)
class Story:
    """One group's records in one recording.

    began_ms: time of the first one.
    ending: records that delete the group when the story is over.
    """

    name: str
    began_ms: int = 0
    units: list[Unit] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    is_commit: list[bool] = field(default_factory=list)
    ending: Unit | None = None

    @property
    def lasts_ms(self) -> int:
        return self.units[-1].at_ms

    def group_id(self, number: int) -> str:
        return f"{self.name}-{number:0{DIGITS}}"


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value: int) -> bytes:
    """Zigzag, as inside record batches."""
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def encode_record(
    ts_delta: int, offset_delta: int, key: bytes, value: bytes | None
) -> tuple[bytes, int, int, int]:
    """(bytes, position of the key, of the value, of the offset delta)."""
    head = b"\x00" + varint(ts_delta)
    before_key = head + varint(offset_delta) + varint(len(key))
    before_value = varint(-1 if value is None else len(value))
    body = b"".join((before_key, key, before_value, value or b"", b"\x00"))
    length = varint(len(body))
    key_at = len(length) + len(before_key)
    return length + body, key_at, key_at + len(key) + len(before_value), len(length) + len(head)


def read_stories(recording: Path) -> list[Story]:
    """Every group of a recording that has no transactions, by name; the first broker's segments."""
    brokers = sorted((recording / "segments").iterdir())
    stories: dict[bytes, list[tuple[int, list[LogRecord]]]] = {}
    refused: set[bytes] = set()
    for path in sorted(brokers[0].glob("*/*.log")):
        for batch in batches_of(path):
            for group, records in _by_group(batch).items():
                stories.setdefault(group, []).append((records[0].ts_ms, records))
                if batch.attributes & TRANSACTIONAL:
                    refused.add(group)
    return [
        _story(group, units) for group, units in sorted(stories.items()) if group not in refused
    ]


def batches_of(path: Path) -> Iterator[Batch]:
    """The batches of a segment that hold data."""
    for item in SegmentReader(ByteStream(str(path), -1, open_file), str(path), Codecs(), -1, -1):
        if isinstance(item, Batch) and not item.attributes & CONTROL:
            yield item


def _by_group(batch: Batch) -> dict[bytes, list[LogRecord]]:
    groups: dict[bytes, list[LogRecord]] = {}
    for record in parse_records(batch)[0]:
        key = record.key or b""
        groups.setdefault(key[4 : 4 + int.from_bytes(key[2:4], "big")], []).append(record)
    return groups


def _story(group: bytes, batches: list[tuple[int, list[LogRecord]]]) -> Story:
    story = Story(group.decode(), batches[0][0])
    times = range(story.began_ms - DAY_MS, batches[-1][0] + DAY_MS)
    live: dict[bytes, None] = {}
    for ts_ms, records in batches:
        first = len(story.templates)
        for number, record in enumerate(records):
            key = record.key or b""
            _add(story, key, record.value, number, record.ts_ms - ts_ms, times)
            live.pop(key, None)
            if record.value is not None:
                live[key] = None
        at_ms = max(ts_ms - story.began_ms, story.units[-1].at_ms if story.units else 0)
        story.units.append(Unit(at_ms, first, len(records), all(story.is_commit[first:])))
    first = len(story.templates)
    for number, key in enumerate(sorted(live, key=lambda one: _DELETED_FIRST.get(one[1], 9))):
        _add(story, key, None, number, 0, times)
    story.ending = Unit(story.lasts_ms + 1000, first, len(story.templates) - first, False)
    return story


def _add(
    story: Story, key: bytes, value: bytes | None, number: int, ts_delta: int, times: range
) -> None:
    is_commit = key[0] == 0 and key[1] <= 1 and value is not None
    size = 2 + 2 + len(story.name.encode())
    new_key = (
        key[:2]
        + (size - 4 + 1 + DIGITS).to_bytes(2, "big")
        + key[4:size]
        + b"-"
        + b"0" * DIGITS
        + key[size:]
    )
    data, key_at, value_at, delta_at = encode_record(ts_delta, number, new_key, value)
    found = [(value_at + pos, time) for pos, time in _times_in(value or b"", times)]
    offset_at = value_at + 2 if is_commit else -1
    offset = _INT64.unpack_from(data, offset_at)[0] if is_commit else 0
    story.templates.append(
        Template(data, key_at + size + 1, found[:TIMES_MAX], offset_at, offset, delta_at, ts_delta)
    )
    story.is_commit.append(is_commit)


def _times_in(value: bytes, times: range) -> Iterable[tuple[int, int]]:
    """Every int64 that is a time of the recording (a day either way): one in ten million million
    other places looks like one.
    """
    pos = 2
    while pos + 8 <= len(value):
        number = _INT64.unpack_from(value, pos)[0]
        if number in times:
            yield pos, number
            pos += 8
        else:
            pos += 1
