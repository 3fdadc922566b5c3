"""Which files are segments of the offsets topic: `__consumer_offsets-P/<base offset in 20
digits>.log`, plain or .gz.

Everything else of a log directory is passed over: indexes, snapshots, checkpoints, other topics,
and what a broker renamed to be rid of it (`.deleted`, `.cleaned`, `.swap`, folders `-delete`,
`-future`, `-stray`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from groupreplay.sources.found_files import FoundFile
from groupreplay.sources.log_files import LogFile
from groupreplay.wire.segments.units import SEGMENTS

_SEGMENT = re.compile(
    r"(?P<replica>(?:.*/)?)__consumer_offsets-(?P<partition>\d{1,9})/"
    r"(?P<base_offset>\d{20})\.log(?:\.gz)?"
)

EXPECTED = "__consumer_offsets-P/<20 digits>.log"


def segment(file: FoundFile) -> LogFile | None:
    """The file as a segment, None if it is none. Its replica is the directory that the partition's
    folder is in: a broker's log directory.
    """
    match = _SEGMENT.fullmatch(file.path.partition("?")[0])
    if match is None:
        return None
    return LogFile(
        kind=SEGMENTS,
        path=file.path,
        size=file.size,
        replica=posixpath.normpath(match["replica"] or "."),
        offsets_partition=int(match["partition"]),
        base_offset=int(match["base_offset"]),
    )


def segments(files: Iterable[FoundFile]) -> list[list[LogFile]]:
    """For each file the segment that it is, [] if it is none."""
    return [[found] if (found := segment(file)) else [] for file in files]
