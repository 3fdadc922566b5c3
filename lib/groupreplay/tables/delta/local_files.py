"""Text files of a local folder, each whole or not there, without Hadoop.

Hadoop's local file system starts a process for each mode that it sets and each link that it looks
for (`RawLocalFileSystem.setPermission`, `FileUtil.readLink`): ten for one new file of a Delta log,
of some two milliseconds of CPU time each.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def replace_text(path: str, text: str) -> None:
    """Writes a file, in place of the one that is there: readers see the one or the other."""
    with _written_beside(path, text) as written:
        os.replace(written, path)


def make_text(path: str, text: str) -> None:
    """Writes a file that must not be there yet. Raises FileExistsError where one is, and OSError
    where the folder's file system knows no links.
    """
    with _written_beside(path, text) as written:
        # Of two processes that make the same file one wins: a link never replaces.
        os.link(written, path)


@contextmanager
def _written_beside(path: str, text: str) -> Iterator[str]:
    """The text in a file of another name in the same folder, which does not stay there."""
    folder, name = os.path.split(path)
    written = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        with open(written, "w", encoding="utf-8") as file:
            file.write(text)
        # Hadoop reads a file against the checksum beside it, which would be that of another text.
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, f".{name}.crc"))
        yield written
    finally:
        with suppress(FileNotFoundError):
            os.unlink(written)
