"""Recorded segments as files that grow: rolled where the seed says, and copied at any byte.

A night sees what a copy of the broker's folder would hold: whole files, and a last one that ends
anywhere, even inside a batch. Nothing is written to disk.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from groupreplay.sources.log_files import LogFile
from groupreplay.wire.segments.units import SEGMENTS

_FOLDER: Final = re.compile(r"__consumer_offsets-(\d+)")
_HEADER: Final = struct.Struct(">qi")
"""What every batch begins with: its base offset, and the bytes that follow these twelve."""


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """One replica of one partition's log. data: all its batches, as stored."""

    replica: str
    partition: int
    data: bytes

    @property
    def batches(self) -> list[tuple[int, int]]:
        """(position, base offset) of each batch."""
        found, position = [], 0
        while position + _HEADER.size <= len(self.data):
            base_offset, size = _HEADER.unpack_from(self.data, position)
            found.append((position, base_offset))
            position += _HEADER.size + size
        return found


def partition_logs(recording: Path) -> list[PartitionLog]:
    """The logs of a recording, its segments joined."""
    parts: dict[tuple[str, int], list[bytes]] = {}
    for path in sorted(recording.glob("segments/*/__consumer_offsets-*/*.log*")):
        folder = _FOLDER.fullmatch(path.parent.name)
        assert folder is not None, path
        read = gzip.decompress if path.suffix == ".gz" else bytes
        parts.setdefault((path.parent.parent.name, int(folder[1])), []).append(
            read(path.read_bytes())
        )
    return [PartitionLog(*key, b"".join(part)) for key, part in sorted(parts.items())]


@dataclass(slots=True)
class GrowingFiles:
    """Logs as files, of which each night sees the first bytes.

    rolls: log -> (position, base offset) where each of its files begins, in order. contents: path
    -> bytes, of the whole file: what lies behind a night's size was appended later.
    """

    logs: Sequence[PartitionLog]
    rolls: Mapping[PartitionLog, Sequence[tuple[int, int]]]
    contents: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for log in self.logs:
            for path, begin, end in self._files(log):
                self.contents[path] = log.data[begin:end]

    def _files(self, log: PartitionLog) -> Iterator[tuple[str, int, int]]:
        """Path, first and one past the last position of each file; none of an empty log."""
        begins = self.rolls[log]
        ends = [*(position for position, _ in begins[1:]), len(log.data)] if begins else []
        for (begin, base_offset), end in zip(begins, ends, strict=True):
            folder = f"/{log.replica}/__consumer_offsets-{log.partition}"
            yield f"{folder}/{base_offset:020}.log", begin, end

    def at(self, sizes: Mapping[PartitionLog, int]) -> list[LogFile]:
        """The files as they stand when each log is so many bytes long."""
        found = []
        for log in self.logs:
            files = self._files(log)
            for (path, begin, end), (_, base_offset) in zip(files, self.rolls[log], strict=True):
                if begin < sizes[log]:
                    size = min(end, sizes[log]) - begin
                    replica = f"/{log.replica}"
                    file = LogFile(SEGMENTS, path, size, replica, log.partition, base_offset)
                    found.append(file)
        return found

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.contents[path])


def whole(logs: Sequence[PartitionLog]) -> GrowingFiles:
    """Every log in one file."""
    return GrowingFiles(logs, {log: log.batches[:1] for log in logs})


def rolled(logs: Sequence[PartitionLog], chance: random.Random, most: int = 5) -> GrowingFiles:
    """Every log in one to `most` files."""
    rolls = {}
    for log in logs:
        first, *others = log.batches
        count = min(chance.randrange(most), len(others))
        rolls[log] = [first, *sorted(chance.sample(others, count))]
    return GrowingFiles(logs, rolls)


def random_sizes(
    logs: Sequence[PartitionLog], nights: int, chance: random.Random
) -> list[dict[PartitionLog, int]]:
    """For each night how long each log is by then, in bytes: it ends anywhere; all at the last."""
    grown = {
        log: sorted(chance.randint(0, len(log.data)) for _ in range(nights - 1)) for log in logs
    }
    return [
        {log: sizes[night] if night < nights - 1 else len(log.data) for log, sizes in grown.items()}
        for night in range(nights)
    ]
