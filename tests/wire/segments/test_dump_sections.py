"""Where dumped files stand in a text of kafka-dump-log: found without parsing, named by their paths,
and put together to logs.
"""

from __future__ import annotations

import io

from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.dump_sections import Section, partition_of, runs, scan_sections
from tests.wire.dump_text import batch, epoch, head


def segment(partition: int, offset: int) -> str:
    return head(f"/b1/__consumer_offsets-{partition}/{offset:020}.log")


def stream(text: str) -> ByteStream:
    return ByteStream("dump", -1, lambda _path: io.BytesIO(text.encode()))


def test_partitions_are_named_by_paths() -> None:
    names = {
        b"Dumping /data/__consumer_offsets-17/00000000000000000000.log": 17,
        b"Dumping __consumer_offsets-0/00000000000000000000.log\r": 0,
        b"Dumping C:\\logs\\__consumer_offsets-7\\00000000000000000000.log": 7,
        b"Dumping /x/__consumer_offsets-7.6e5f-stray/00000000000000000000.log": 7,
        b"Dumping 00000000000000000000.log": None,
        b"Dumping /data/orders-7/00000000000000000000.log": -1,
        b"nonsense": None,
    }
    assert {line: partition_of(line) for line in names} == names


def test_sections_are_found_without_parsing() -> None:
    text = (
        "noise\n"
        + segment(3, 0)
        + batch(5, [epoch("a"), epoch("b")])
        + batch(7, [epoch("c")])
        + segment(4, 0)
    )
    sections = scan_sections(stream(text))
    ends = [
        6,
        6 + len(segment(3, 0) + batch(5, [epoch("a"), epoch("b")]) + batch(7, [epoch("c")])) - 1,
        len(text),
    ]
    assert [(one.partition, one.first_offset, one.last_offset) for one in sections] == [
        (None, -1, -1),
        (3, 5, 7),
        (4, -1, -1),
    ]
    assert sections[1].position == ends[0]
    assert sections[2].end == ends[2]
    assert runs(sections, 3) == [[sections[0], sections[1]]]
    assert runs(sections, 4) == [[sections[2]]]


def test_a_text_without_sections_is_the_callers() -> None:
    assert runs([Section(None, 0, 10, 0, 5)], 9) == [[Section(None, 0, 10, 0, 5)]]


def test_sections_that_overlap_are_logs_of_their_own() -> None:
    sections = [
        Section(1, 0, 10, 0, 5),
        Section(1, 10, 20, 6, 9),
        Section(1, 20, 30, 4, 12),
        Section(1, 30, 40, 13, 14),
        Section(2, 40, 50, 0, 9),
    ]
    assert [[one.position for one in run] for run in runs(sections, 1)] == [[0, 10, 30], [20]]
