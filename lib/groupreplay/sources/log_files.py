"""A file that holds a part of one partition's log, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogFile:
    """kind: of its source.
    path, size: as found.
    replica: the copy of the log it belongs to.
    base_offset: where it begins, -1 if no name says so.
    """

    kind: str
    path: str
    size: int
    replica: str
    offsets_partition: int
    base_offset: int
