"""A file that holds a part of one partition's log, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogFile:
    """kind: kind of its source.
    path, size: as found; size in bytes.
    replica: name of the copy of the log that it belongs to.
    base_offset: offset where it begins, -1 if its name does not say so.
    """

    kind: str
    path: str
    size: int
    replica: str
    offsets_partition: int
    base_offset: int
