"""What one task reads: a stretch of one partition's log, and every file that holds a part of it.

Units are made by the plan and travel to the tasks as JSON, so they hold nothing but text and
numbers.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

SEGMENTS = "segments"
DUMP_LOG = "dump_log"
KAFKA = "kafka"

NO_BOUND: Final = -1
"""No bound: as a start, from wherever the log begins; as an end, as far as the log goes."""


@dataclass(frozen=True, slots=True)
class UnitFile:
    """One file of a unit.

    kind: SEGMENTS or DUMP_LOG.
    path: local path or URI.
    size: bytes when it was planned; what was appended later is not read (-1: not known, all is).
    replica: name of the copy of the log it belongs to (a directory, a broker); files of one replica
        do not overlap, those of two may.
    """

    kind: str
    path: str
    size: int
    replica: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One stretch of one partition of the offsets topic.

    start_offset: land nothing below it, or NO_BOUND.
    end_offset: exclusive, or NO_BOUND; a batch whose base offset is at or above it belongs to
        another unit.
    source, input: as the column of the same name. A unit of KAFKA has both offsets and no files.
    holes: [first, end) of each stretch that earlier nights missed, in order: this unit reads
        nothing else, and what it finds came late. Empty: it reads what is new.
    log_incarnation: how often the topic had been created again before, where this unit's log took
        another's place in this very run; else 0.
    other_log: what showed that (`other_logs`), in the first unit of such a log; else "".
    """

    offsets_partition: int
    start_offset: int
    end_offset: int
    files: tuple[UnitFile, ...]
    source: str
    input: str
    holes: tuple[tuple[int, int], ...] = ()
    log_incarnation: int = 0
    other_log: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Unit:
        """Inverse of `to_json`. Raises KeyError, TypeError or ValueError on any other text: only
        our own plan writes it.
        """
        fields: dict[str, Any] = json.loads(text)
        files = tuple(UnitFile(**file) for file in fields.pop("files"))
        holes = tuple((first, end) for first, end in fields.pop("holes", ()))
        return cls(files=files, holes=holes, **fields)
