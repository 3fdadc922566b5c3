"""Logs of brokers: which files there are, which of them are the same log, and what of each is new.

A log is known by its kind, its broker and its first line, so that it stays itself when it is rolled
(server.log -> server.log.2026-11-20-23), packed, or met under a second path. What was read of it is
kept as a position in its text, unpacked.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from groupreplay.config.sources import RequestLogSource, ServerLogSource
from groupreplay.records.log_events import REQUEST_LOG
from groupreplay.sources.found_files import FoundFile
from groupreplay.sources.planning import GZIP_WEIGHT
from groupreplay.sources.watermark import TextWatermark
from groupreplay.wire.byte_stream import CHUNK_BYTES, READ_ERRORS, ByteStream
from groupreplay.wire.text.text_units import END_OF_FILE, TextUnit
from groupreplay.workers.files import open_file

FIRST_LINE_BYTES: Final = 4 << 10
"""Bytes of a first line that are read; they are enough of a longer one."""

SPLIT_BYTES: Final = 128 << 20
"""A request log that is not packed is read by several tasks, each so much of it."""

_THREADS: Final = 16
"""Each file costs a look at its beginning: on a remote storage that is waiting, and nothing
else.
"""


@dataclass(frozen=True, slots=True)
class TextFile:
    """source: its source, with broker, time zone and layout.
    identity: hash of kind, broker and first line; "" for a file without a whole first line yet, or
        with a failure.
    is_packed: it is compressed.
    failure: why it cannot be read, "" if it can.
    """

    source: ServerLogSource
    path: str
    size: int
    identity: str
    is_packed: bool
    failure: str


def text_files(source: ServerLogSource, files: Sequence[FoundFile]) -> list[TextFile]:
    """Every file of a source, looked into: at a few KiB each."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(lambda file: _look(source, file), files))


def plan_text_units(
    files: Iterable[TextFile], watermarks: Mapping[str, TextWatermark]
) -> list[TextUnit]:
    """Units of one night, in order of their paths.

    watermarks: identity -> watermark. A file without news has no unit, nor has one whose first line
        is unfinished.
    """
    units = [_unit(file, 0, END_OF_FILE, None) for file in files if file.failure]
    for file in distinct(files):
        known = watermarks.get(file.identity)
        if known is not None and _is_unchanged(file, known):
            continue
        units += [
            _unit(file, start, end, known)
            for start, end in _stretches(file, known.next_position if known else 0)
        ]
    return sorted(units, key=lambda unit: (unit.path, unit.start_position))


def distinct(files: Iterable[TextFile]) -> list[TextFile]:
    """Each log once, in its longest copy."""
    copies: dict[str, list[TextFile]] = defaultdict(list)
    for file in files:
        if file.identity:
            copies[file.identity].append(file)
    return [_longest(same) for same in copies.values()]


def weight(unit: TextUnit) -> int:
    """How long a unit takes to read, in bytes that are not packed."""
    if unit.path.endswith(".gz"):
        return unit.size * GZIP_WEIGHT
    return max(
        0,
        (unit.size if unit.end_position == END_OF_FILE else unit.end_position)
        - unit.start_position,
    )


def _look(source: ServerLogSource, file: FoundFile) -> TextFile:
    stream = ByteStream(file.path, -1, open_file)
    try:
        start = b""
        while len(start) < FIRST_LINE_BYTES and (
            piece := stream.read(FIRST_LINE_BYTES - len(start))
        ):
            start += piece
    finally:
        stream.close()
    line, newline, _ = start.lstrip().partition(b"\n")
    is_whole = bool(line) and (bool(newline) or len(start) >= FIRST_LINE_BYTES)
    failure = "" if is_whole else stream.failure or ""
    return TextFile(
        source,
        file.path,
        file.size,
        _identity(source, line) if is_whole else "",
        stream.is_packed,
        failure,
    )


def _identity(source: ServerLogSource, line: bytes) -> str:
    return hashlib.sha256(b"%s\0%d\0%s" % (source.kind.encode(), source.broker, line)).hexdigest()[
        :16
    ]


def _longest(same: Sequence[TextFile]) -> TextFile:
    """The longest of these files. Copies of one kind and size are alike: the first of them."""
    copies = list({(file.is_packed, file.size): file for file in reversed(same)}.values())[::-1]
    if len(copies) == 1:
        return copies[0]
    plain = max((file.size for file in copies if not file.is_packed), default=-1)
    return max(copies, key=lambda file: (_text_bytes(file, plain), not file.is_packed))


def _text_bytes(file: TextFile, plain: int) -> int:
    """Bytes of its text.

    plain: bytes of the longest copy that is not packed, -1 for none. This file is most likely the
        packed form of it; where its length says otherwise, it is unpacked.
    """
    if not file.is_packed:
        return file.size
    if plain >= 0 and _says_length(file.path, file.size, plain):
        return plain
    stream, length = ByteStream(file.path, -1, open_file), 0
    try:
        while chunk := stream.read(CHUNK_BYTES):
            length += len(chunk)
    finally:
        stream.close()
    return length


def _says_length(path: str, size: int, length: int) -> bool:
    """Whether a gzip file of one member says at its end that it holds so many bytes."""
    try:
        with open_file(path) as stream:
            stream.seek(max(0, size - 4))
            return stream.read(4) == (length & 0xFFFF_FFFF).to_bytes(4, "little")
    except READ_ERRORS:
        return False


def _is_unchanged(file: TextFile, watermark: TextWatermark) -> bool:
    if file.size == watermark.size:
        return True
    if watermark.size < 0:
        return False
    return (
        _says_length(file.path, file.size, watermark.next_position)
        if file.is_packed
        else file.size <= watermark.next_position
    )


def _stretches(file: TextFile, start: int) -> list[tuple[int, int]]:
    if file.source.kind != REQUEST_LOG or file.is_packed:
        return [(start, END_OF_FILE)]
    cuts = range(start, max(file.size, start + 1), SPLIT_BYTES)
    return [*pairwise(cuts), (cuts[-1], END_OF_FILE)]


def _unit(file: TextFile, start: int, end: int, watermark: TextWatermark | None) -> TextUnit:
    source = file.source
    return TextUnit(
        kind=source.kind,
        path=file.path,
        size=file.size,
        broker=source.broker,
        timezone=source.timezone,
        layout=source.layout,
        message_field=source.message_field if isinstance(source, RequestLogSource) else None,
        time_field=source.time_field if isinstance(source, RequestLogSource) else None,
        identity=file.identity,
        start_position=start,
        end_position=end,
        last_ms=watermark.newest_ms if watermark else -1,
        failure=file.failure,
    )
