"""The search for lines of group APIs, which passes over everything else in a request log."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from groupreplay.wire.text.request_log import LineScanner
from tests.wire.text.request_lines import DOCUMENT, LINES, document, line


def scan(chunks: list[bytes], longest: int = 1 << 24) -> tuple[list[tuple[int, bytes]], int, int]:
    scanner = LineScanner(longest=longest)
    found = list(scanner.group_lines(chunks))
    return found, scanner.lines_read, scanner.too_long


def test_only_lines_of_group_apis_are_found_and_all_are_counted() -> None:
    other = line(document(1))
    text = b"\n".join([other, LINES[0], b"", other, LINES[1] + b"\r", b"nothing", LINES[2]])
    found, lines_read, too_long = scan([text])
    assert [written for _, written in found] == LINES[:3]
    assert all(text[position:].startswith(written) for position, written in found)
    assert (lines_read, too_long) == (7, 0)
    assert scan([text + b"\n"]) == (found, 7, 0)


PIECES = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"x",
        b"yy" * 30,
        b'"requestApiKey":68,',
        b'\\"requestApiKey\\":12}',
        b'"requestApiKey":1,',
        b'"requestApiKey":6',
    ]
)


@given(
    st.lists(PIECES, max_size=30).map(b"".join),
    st.lists(st.integers(0, 400), max_size=8),
    st.sampled_from([1 << 24, 25, 70]),
)
def test_chunks_do_not_matter(text: bytes, cuts: list[int], longest: int) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    expected, too_long, position = [], 0, 0
    lines = text.split(b"\n")
    for one in lines:
        if len(one) > longest:
            too_long += 1
        elif any(needle in one for needle in (b'requestApiKey":68,', b'requestApiKey\\":12}')):
            expected.append((position, one.removesuffix(b"\r")))
        position += len(one) + 1
    result = scan([text[start:end] for start, end in pairwise(edges)], longest)
    assert result == (expected, len(lines) - (not lines[-1]), too_long)


def test_a_line_of_50_mb_is_passed_over_and_never_held() -> None:
    begin, chunk = line(DOCUMENT)[:-1], b"x" * (1 << 20)
    scanner = LineScanner(position=100)
    held = 0

    def chunks() -> Any:
        nonlocal held
        yield begin
        for _ in range(50):
            yield chunk
            held = max(held, sum(map(len, scanner._pieces)))
        yield b"\n" + LINES[0] + b"\n"

    assert list(scanner.group_lines(chunks())) == [
        (100 + len(begin) + 50 * len(chunk) + 1, LINES[0])
    ]
    assert (scanner.lines_read, scanner.too_long) == (2, 1)
    assert held <= 16 << 20


def test_the_search_starts_where_a_split_does() -> None:
    assert list(LineScanner(position=7).group_lines([b"a\n" + LINES[0]])) == [(9, LINES[0])]
