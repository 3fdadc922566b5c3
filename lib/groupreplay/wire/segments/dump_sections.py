"""Where each dumped file stands in the text of `kafka-dump-log`: two words are searched for, and
nothing is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from groupreplay.wire.byte_stream import ByteStream

LINE_BYTES_MAX = 64 << 20
"""A longer line is damage: the largest record is bounded by the segment's 100 MB, and real ones are
under 1 MB.
"""

_DUMPING = re.compile(rb"Dumping (.*?)\r?$")
_PARTITION = re.compile(rb"__consumer_offsets-(\d{1,9})(?=\D|$)")
_OTHER_PARTITION = re.compile(rb"([^/\\]+)-\d{1,9}[/\\]\d{20}\.\w+$")
BATCH = re.compile(
    rb"baseOffset: (\d{1,18}) lastOffset: (\d{1,18}) count: (\d{1,10}|null) baseSequence: -?\d+"
    rb" lastSequence: -?\d+ producerId: (-?\d{1,18})"
    rb" producerEpoch: -?\d+ partitionLeaderEpoch: (-?\d{1,10}) isTransactional: (true|false)"
    rb" isControl: (true|false)"
    rb"(?: deleteHorizonMs: [\w.\[\]-]+)? position: \d+ (\w+): (-?\d{1,18}) size: \d+ magic: (\d+)"
    rb" compresscodec: \w+ crc: (\d{1,10})"
    rb" isvalid: (true|false)"
)


class Section(NamedTuple):
    """One dumped file in a text.

    partition: partition of the offsets topic, None where the text does not name it, -1 for a file
        of another topic.
    position, end: where it begins and ends in the unpacked text, bytes.
    first_offset, last_offset: first offset of its first batch and last of its last, -1 if it has
        none.
    """

    partition: int | None
    position: int
    end: int
    first_offset: int
    last_offset: int


def scan_sections(stream: ByteStream) -> list[Section]:
    """What a text holds, found without parsing its records: at the speed of searching for two
    words.
    """
    sections: list[Section] = []
    current = Section(None, 0, 0, -1, -1)
    for position, block in _blocks(stream):
        start = 0
        while start >= 0:
            mark = (
                0
                if block.startswith(b"Dumping ", start) and start == 0
                else block.find(b"\nDumping ", start)
            )
            stop = len(block) if mark < 0 else mark
            current = _with_offsets(current, block, start, stop)._replace(end=position + stop)
            if mark < 0:
                break
            if current.end > current.position:
                sections.append(current)
            begin = mark + (block[mark : mark + 1] == b"\n")
            line_end = block.find(b"\n", begin)
            line = block[begin : line_end if line_end >= 0 else len(block)]
            current = Section(partition_of(line), position + begin, position + begin, -1, -1)
            start = begin + len(line)
    sections.append(current)
    return sections


def _with_offsets(section: Section, block: bytes, start: int, stop: int) -> Section:
    first = (
        BATCH.match(block, found)
        if (found := _find_line(block, b"baseOffset: ", start, stop)) >= 0
        else None
    )
    last_at = block.rfind(b"\nbaseOffset: ", start, stop)
    last = BATCH.match(block, last_at + 1) if last_at >= 0 else first
    return section._replace(
        first_offset=int(first[1]) if first and section.first_offset < 0 else section.first_offset,
        last_offset=max(section.last_offset, int(last[2]) if last else -1),
    )


def _find_line(block: bytes, word: bytes, start: int, stop: int) -> int:
    if block.startswith(word, start):
        return start
    found = block.find(b"\n" + word, start, stop)
    return found + 1 if found >= 0 else -1


def _blocks(stream: ByteStream) -> Iterator[tuple[int, bytes]]:
    """Whole lines, some megabytes at a time, with their position. A line above the bound is cut (no
    section mark is so long).
    """
    position, rest = 0, b""
    while chunk := stream.read():
        block = rest + chunk
        cut = block.rfind(b"\n") + 1
        if not cut:
            if len(block) < LINE_BYTES_MAX:
                rest = block
                continue
            cut = len(block)
        yield position, block[:cut]
        position += cut
        rest = block[cut:]
    yield position, rest


def partition_of(line: bytes) -> int | None:
    """The partition that a `Dumping` line names: None if it names none, -1 if the file is another
    topic's.
    """
    dumped = _DUMPING.match(line)
    if dumped is None:
        return None
    if found := _PARTITION.findall(dumped[1]):
        return int(found[-1])
    return -1 if _OTHER_PARTITION.search(dumped[1]) else None


def runs(sections: list[Section], partition: int) -> list[list[Section]]:
    """The sections of one partition, as stretches of text whose offsets only rise: rolled segments
    follow on, replicas start again.

    A section that names no partition counts as the caller's, as does a text without any `Dumping`
    line; what stands before the first such line counts as the section after it.
    """
    found: list[list[Section]] = []
    for section, after in zip(sections, [*sections[1:], None], strict=True):
        of = (
            after.partition
            if section.position == 0 and section.partition is None and after is not None
            else section.partition
        )
        if of not in (partition, None) or section.end <= section.position:
            continue
        for run in found:
            if (
                max(one.last_offset for one in run) < section.first_offset
                or section.first_offset < 0
            ):
                run.append(section)
                break
        else:
            found.append([section])
    return found
