"""Files by path or URI, opened as streams: local, or on any file system that pyarrow knows.

Whether a file is gzip is for its reader to see (`wire.byte_stream`).
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import BinaryIO, Final, cast
from urllib.parse import unquote, urlsplit

from pyarrow import fs

from groupreplay.wire.byte_stream import ByteStream

_URI = re.compile(r"[a-z][a-z0-9+.-]*:/", re.IGNORECASE)
_SCHEMES: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""What Hadoop calls a file system, and what pyarrow does."""


def open_file(path: str) -> BinaryIO:
    """A stream of a file's bytes as stored. Every fault of reading is an OSError."""
    if is_local(path):
        return open(local_path(path), "rb", buffering=0)
    system, inside = remote(path)
    return cast(BinaryIO, system.open_input_file(inside))


def read_start(path: str, most: int) -> bytes:
    """The first bytes of a file, at most so many, inflated if it is gzip. Raises OSError for what
    cannot be read.
    """
    stream = ByteStream(path, -1, open_file)
    try:
        pieces, left = [], most
        while left and (piece := stream.read(left)):
            pieces.append(piece)
            left -= len(piece)
        if left and stream.failure:
            raise OSError(stream.failure)
        return b"".join(pieces)
    finally:
        stream.close()


def is_readable(path: str) -> str | None:
    """None, or why a file cannot be opened and read."""
    try:
        with open_file(path) as stream:
            stream.read(1)
    except OSError as error:
        return reason(error)
    return None


def identity(path: str) -> str:
    """What is the same for one file under two paths, as far as a path shows it."""
    return os.path.realpath(local_path(path)) if is_local(path) else path


def is_local(path: str) -> bool:
    return not _URI.match(path) or path.lower().startswith("file:")


def local_path(path: str) -> str:
    if path.lower().startswith("file:"):
        path = unquote(urlsplit(path).path)
    return os.path.abspath(path)


def reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    return " ".join(str(error).split()) or type(error).__name__


@lru_cache(maxsize=16)
def _file_system(root: str) -> fs.FileSystem:
    return fs.FileSystem.from_uri(root)[0]


def remote(uri: str) -> tuple[fs.FileSystem, str]:
    """The file system of a URI and the path inside it. Options of the URI (?region=..) belong to
    the file system.
    """
    parts = urlsplit(uri)
    scheme = _SCHEMES.get(parts.scheme.lower(), parts.scheme.lower())
    options = f"?{parts.query}" if parts.query else ""
    system = _file_system(f"{scheme}://{parts.netloc}/{options}")
    return system, fs.FileSystem.from_uri(f"{scheme}://{parts.netloc}{parts.path}{options}")[1]
