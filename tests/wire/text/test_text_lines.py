"""Stretches of a text as whole lines: each line once, however the text is cut and read."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest

from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.text import text_lines
from groupreplay.wire.text.text_lines import Lines, TooLong, WholeLines
from groupreplay.wire.text.text_units import END_OF_FILE

TEXT = b"one\n\ntwo two\nthree\r\nfour"


@pytest.fixture(params=[1, 3, 1 << 20], ids=["bytes", "small chunks", "one chunk"], autouse=True)
def _chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "CHUNK_BYTES", request.param)


def whole_lines(text: bytes, start: int = 0, end: int = END_OF_FILE) -> WholeLines:
    return WholeLines(ByteStream("a", -1, lambda _path: io.BytesIO(text)), start, end)


def lines_of(found: WholeLines) -> list[tuple[int, bytes]]:
    """(position, line) of each."""
    lines: list[tuple[int, bytes]] = []
    for each in found:
        assert isinstance(each, Lines)
        position = each.position
        for line in each.data.splitlines(keepends=True):
            lines.append((position, line))
            position += len(line)
    return lines


def test_lines_are_given_with_their_places_and_the_last_without_an_end_is_not() -> None:
    found = whole_lines(TEXT)
    assert lines_of(found) == [(0, b"one\n"), (4, b"\n"), (5, b"two two\n"), (13, b"three\r\n")]
    assert found.next_position == TEXT.index(b"four")


def test_wherever_a_text_is_cut_each_line_is_in_the_stretch_in_which_it_begins() -> None:
    every = lines_of(whole_lines(TEXT))
    for cut in range(1, len(TEXT)):
        parts = [lines_of(whole_lines(TEXT, *part)) for part in ((0, cut), (cut, END_OF_FILE))]
        assert parts[0] + parts[1] == every, cut
        assert all(position < cut for position, _ in parts[0])


def test_many_stretches_are_the_whole_too() -> None:
    for size in (1, 2, 5):
        cuts = [*range(0, len(TEXT), size), END_OF_FILE]
        parts = [lines_of(whole_lines(TEXT, *part)) for part in pairwise(cuts)]
        assert [line for part in parts for line in part] == lines_of(whole_lines(TEXT))


def test_a_stretch_in_which_no_line_begins_knows_no_place_to_go_on() -> None:
    inside = whole_lines(TEXT, TEXT.index(b"four") + 1)
    assert list(inside) == []
    assert inside.next_position is None


def test_reading_goes_on_where_it_stopped_when_the_file_has_grown() -> None:
    first = whole_lines(TEXT)
    lines = lines_of(first)
    assert first.next_position is not None
    grown = TEXT + b" more\nfive\n"
    assert lines + lines_of(whole_lines(grown, first.next_position)) == lines_of(whole_lines(grown))


def test_a_line_above_the_limit_is_told_and_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk is shorter than the limit."""
    monkeypatch.setattr(text_lines, "CHUNK_BYTES", 3)
    monkeypatch.setattr(text_lines, "LINE_BYTES_MAX", 8)
    monkeypatch.setattr(text_lines, "TOLD_BYTES", 8)
    text = b"ab\n" + b"x" * 30 + b"\ncd\n"
    found = whole_lines(text)
    each = list(found)
    (long,) = [one for one in each if isinstance(one, TooLong)]
    assert (long.position, long.start[:8], long.size) == (3, b"x" * 8, 31)
    assert b"".join(one.data for one in each if isinstance(one, Lines)) == b"ab\ncd\n"
    assert found.next_position == len(text)


def test_a_line_above_the_limit_that_has_no_end_yet_is_left_for_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_lines, "CHUNK_BYTES", 3)
    monkeypatch.setattr(text_lines, "LINE_BYTES_MAX", 8)
    found = whole_lines(b"ab\n" + b"x" * 30)
    assert [type(one) for one in found] == [Lines]
    assert found.next_position == 3
