"""Which files are text of `kafka-dump-log --offsets-decoder`, and of which partitions.

The name says it (`__consumer_offsets-P...`). A file of another name is looked through for the lines
`Dumping <file>` that the tool prints before each segment: it may hold several partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Final

from groupreplay.sources.found_files import FoundFile
from groupreplay.sources.log_files import LogFile
from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.dump_sections import scan_sections
from groupreplay.wire.segments.units import DUMP_LOG
from groupreplay.workers.files import open_file

_NAME = re.compile(r"__consumer_offsets-(\d{1,9})(?!\d)")

EXPECTED = "__consumer_offsets-P in the file's name, or lines `Dumping <segment>` in it"

THREADS: Final = 8


def dumps(files: Iterable[FoundFile]) -> list[list[LogFile]]:
    """For each file what it holds, one a partition; [] if it is no dump or cannot be read."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(_dump, files))


def _dump(file: FoundFile) -> list[LogFile]:
    """Each file is a replica of its own: dumps of one partition may overlap."""
    match = _NAME.search(file.path.partition("?")[0].rpartition("/")[2])
    partitions = {int(match[1])} if match else _partitions_named(file)
    return [
        LogFile(DUMP_LOG, file.path, file.size, file.path, partition, -1)
        for partition in sorted(partitions)
    ]


def _partitions_named(file: FoundFile) -> set[int]:
    with closing(ByteStream(file.path, file.size, open_file)) as stream:
        return {
            section.partition
            for section in scan_sections(stream)
            if section.partition is not None and section.partition >= 0
        }
