"""Files as they fail: gone, shrunk, unreadable half way, packed and broken."""

from __future__ import annotations

import gzip
import io
from typing import BinaryIO

from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.wire.byte_stream import ByteStream


def read_all(content: bytes, size: int = -1, piece: int = 1000) -> tuple[bytes, str | None]:
    stream = ByteStream("a", size, lambda _path: io.BytesIO(content))
    parts = []
    while part := stream.read(piece):
        assert len(part) <= piece
        parts.append(part)
    stream.close()
    return b"".join(parts), stream.failure


def test_what_was_planned_is_read() -> None:
    assert read_all(b"abc" * 1000) == (b"abc" * 1000, None)
    assert read_all(b"abcdef", 4) == (b"abcd", None)
    assert read_all(b"", 0) == (b"", None)
    assert read_all(b"x") == (b"x", None)
    assert read_all(b"abc", 10) == (b"abc", "shorter by 7 bytes than when it was planned (10)")


class Failing(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > 10:
            raise OSError(5, "Input/output error")
        return super().read(size)


def test_what_cannot_be_opened_or_read_on_is_told() -> None:
    def refuse(path: str) -> BinaryIO:
        raise PermissionError(13, "Permission denied", path)

    stream = ByteStream("a", 10, refuse)
    assert stream.read() == b""
    assert stream.failure == "cannot be opened: PermissionError: [Errno 13] Permission denied: 'a'"
    stream = ByteStream("a", -1, lambda _path: Failing(bytes(100)))
    assert stream.read(5) + stream.read(20) + stream.read(20) == bytes(22)
    assert stream.failure == "cannot be read on: OSError: [Errno 5] Input/output error"


@settings(max_examples=60)
@given(
    parts=st.lists(st.binary(max_size=3000), max_size=4),
    piece=st.integers(1, 5000),
    cut=st.integers(0, 40),
)
def test_gzip_is_unpacked_member_by_member_and_cut_gzip_keeps_its_good_part(
    parts: list[bytes], piece: int, cut: int
) -> None:
    content = b"".join(gzip.compress(part) for part in parts)
    assert read_all(content, piece=piece) == (b"".join(parts), None)
    if 0 < cut < len(content) - 2:
        found, failure = read_all(content[:-cut], piece=piece)
        assert b"".join(parts).startswith(found)
        whole = {
            b"".join(gzip.compress(part) for part in parts[:number])
            for number in range(len(parts) + 1)
        }
        assert failure == (None if content[:-cut] in whole else "gzip ends early")


def test_broken_gzip_is_told() -> None:
    content = bytearray(gzip.compress(bytes(range(256)) * 100))
    content[-6] ^= 1
    assert (read_all(bytes(content))[1] or "").startswith("gzip is broken")
    assert read_all(gzip.compress(b"abc") + b"tail") == (b"abc", "bytes after the end of gzip")
    assert read_all(gzip.compress(b"abc") + bytes(100)) == (b"abc", None)


def test_bytes_are_skipped() -> None:
    stream = ByteStream("a", -1, lambda _path: io.BytesIO(b"0123456789"))
    stream.skip(4)
    assert stream.read() == b"456789"
    stream.skip(5)
    assert stream.read() == b""


@given(st.binary(max_size=60), st.integers(0, 70), st.integers(-1, 70), st.booleans())
def test_reading_from_a_place_gives_the_rest(
    content: bytes, position: int, size: int, packed: bool
) -> None:
    if content.startswith(b"\x1f\x8b"):
        return
    stored = gzip.compress(content) if packed else content
    planned = -1 if packed else size
    stream = ByteStream("a", planned, lambda _path: io.BytesIO(stored))
    stream.start_at(position)
    found = b"".join(iter(lambda: stream.read(7), b""))
    assert found == (content[position:] if planned < 0 else content[:planned][position:])
    assert stream.is_packed == packed
