"""A file as chunks of bytes: no further than it was planned, unpacked if it is gzip, and never an
exception for what a file can do to us.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import BinaryIO

CHUNK_BYTES = 4 << 20
"""Large enough that refilling costs nothing, small enough for dozens of open files."""

GZIP_MAGIC = b"\x1f\x8b"
UNREADABLE = "cannot be"
"""How a `failure` begins that is the storage's, and may be none the next time; any other is the
file's own.
"""
READ_ERRORS = (OSError, EOFError, ValueError, zlib.error)


class ByteStream:
    """Reads one file. `failure` says, once `read` gave b"", why the end came too early, or is
    None.
    """

    def __init__(self, path: str, size: int, open_file: Callable[[str], BinaryIO]) -> None:
        """size: bytes planned, later ones are left alone; -1: all."""
        self.failure: str | None = None
        self._left = size
        self._planned = size
        self._raw: BinaryIO | None = None
        self._gunzip: _Gunzip | None = None
        self._first = b""
        try:
            self._raw = open_file(path)
        except READ_ERRORS as error:
            self.failure = f"{UNREADABLE} opened: {_text(error)}"
            return
        while len(self._first) < 2 and (piece := self._read_raw(2 - len(self._first))):
            self._first += piece
        if self._first == GZIP_MAGIC:
            self._gunzip = _Gunzip()

    @property
    def is_packed(self) -> bool:
        return self._gunzip is not None

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """At most `size` bytes, more than none unless the end has come."""
        if self._gunzip is None:
            return self._read_plain(size)
        while True:
            if out := self._gunzip.take(size):
                return out
            if self.failure is not None:
                return b""
            chunk = self._read_plain(CHUNK_BYTES)
            self.failure = self.failure or self._gunzip.feed(chunk)
            if not chunk:
                return self._gunzip.take(size)

    def skip(self, count: int) -> None:
        """Passes over bytes, as fast as reading them goes."""
        while count > 0:
            chunk = self.read(min(count, CHUNK_BYTES))
            if not chunk:
                return
            count -= len(chunk)

    def start_at(self, position: int) -> None:
        """Before the first read: goes to a place in the unpacked bytes; at once in a file that is
        not packed.
        """
        if self._gunzip is not None or self._raw is None:
            self.skip(position)
            return
        position = position if self._planned < 0 else min(position, self._planned)
        try:
            self._raw.seek(position)
        except READ_ERRORS as error:
            self.failure = f"{UNREADABLE} read on: {_text(error)}"
            self.close()
            return
        self._first = b""
        self._left = self._planned if self._planned < 0 else self._planned - position

    def close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            try:
                raw.close()
            except READ_ERRORS:
                return

    def _read_plain(self, size: int) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        return self._read_raw(size)

    def _read_raw(self, size: int) -> bytes:
        if self._raw is None or self._left == 0:
            return b""
        try:
            chunk = self._raw.read(size if self._left < 0 else min(size, self._left))
        except READ_ERRORS as error:
            self.failure = f"{UNREADABLE} read on: {_text(error)}"
            self.close()
            return b""
        if self._left > 0:
            self._left -= len(chunk)
            if not chunk:
                self.failure = (
                    f"shorter by {self._left} bytes than when it was planned ({self._planned})"
                )
                self.close()
        return bytes(chunk)


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


class _Gunzip:
    """Unpacks members of a gzip file one after another, a bounded piece at a time."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._input = b""
        self._failure: str | None = None

    def feed(self, chunk: bytes) -> str | None:
        """Adds packed bytes, b"" at their end; gives what is wrong, if anything is."""
        self._input += chunk
        if not chunk and self._failure is None and not self._input and not self._member.eof:
            self._failure = "gzip ends early"
        return self._failure

    def take(self, size: int) -> bytes:
        """At most `size` unpacked bytes; b"": needs more input."""
        while self._input and self._failure is None:
            if self._member.eof:
                if not self._input.startswith(GZIP_MAGIC[: len(self._input)]):
                    self._failure = (
                        "bytes after the end of gzip" if self._input.strip(b"\0") else None
                    )
                    self._input = b""
                    return b""
                self._member = zlib.decompressobj(wbits=31)
            try:
                out = self._member.decompress(self._input, size)
            except zlib.error as error:
                self._failure = f"gzip is broken: {error}"
                return b""
            self._input = self._member.unconsumed_tail or self._member.unused_data
            if out:
                return out
        return b""
