"""Files by path or URI: a path is a file, a directory (walked) or a glob; local, or on any file
system that pyarrow knows (hdfs, s3, gs, abfs, ..).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import quote, urlsplit

from pyarrow import fs

from groupreplay.config.sources import Source
from groupreplay.errors import SourceUnreadable
from groupreplay.workers.files import identity, is_local, local_path, reason, remote

_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """path: an absolute local path or a URI, for `open_file`.
    size: bytes as stored, now.
    """

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """files: in order of their paths, each once.
    unreadable: directories that could not be walked, and why.
    """

    files: tuple[FoundFile, ...]
    unreadable: tuple[tuple[str, str], ...] = ()


def find_files(source: Source) -> Listing:
    """Every file at a source's path. Raises SourceUnreadable if there is nothing there, or no way
    to it.
    """
    try:
        listing = (
            _find_local(local_path(source.path))
            if is_local(source.path)
            else _find_remote(source.path)
        )
    except (OSError, ValueError, NotImplementedError) as error:
        raise SourceUnreadable(str(source), reason(error)) from error
    if not listing.files:
        why = "; ".join(f"{path}: {problem}" for path, problem in listing.unreadable)
        raise SourceUnreadable(
            str(source),
            why
            or (
                "no such file or directory" if not _GLOB.search(source.path) else "no file matches"
            ),
        )
    return listing


# ---------------------------------------------------------------- local


def _find_local(path: str) -> Listing:
    unreadable: list[tuple[str, str]] = []
    roots = (
        [path] if os.path.exists(path) else sorted(_expand_local("/", path.strip("/").split("/")))
    )
    found: dict[str, FoundFile] = {}
    for root in roots:
        for file in _walk_local(root, unreadable, set()):
            found.setdefault(identity(file.path), file)
    return Listing(tuple(sorted(found.values(), key=lambda file: file.path)), tuple(unreadable))


def _expand_local(base: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield base
        return
    head, *rest = parts
    if not _GLOB.search(head):
        inside = os.path.join(base, head)
        if os.path.exists(inside):
            yield from _expand_local(inside, rest)
        return
    if head == "**":
        yield from _expand_local(base, rest)
    try:
        names = sorted(os.listdir(base)) if os.path.isdir(base) else []
    except PermissionError:
        return
    for name in names:
        inside = os.path.join(base, name)
        if head == "**" and os.path.isdir(inside) and not os.path.islink(inside):
            yield from _expand_local(inside, parts)
        elif fnmatchcase(name, head) and head != "**":
            yield from _expand_local(inside, rest)


def _walk_local(
    path: str, unreadable: list[tuple[str, str]], above: set[str]
) -> Iterator[FoundFile]:
    """Links are followed, but not in circles. What is no file (a socket, a pipe) is left alone."""
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            yield FoundFile(path, status.st_size)
        elif stat.S_ISDIR(status.st_mode) and (real := os.path.realpath(path)) not in above:
            for name in sorted(os.listdir(path)):
                yield from _walk_local(os.path.join(path, name), unreadable, above | {real})
    except FileNotFoundError:
        return  # Brokers delete files while they are listed.
    except OSError as error:
        unreadable.append((path, (error.strerror or str(error)).lower()))


# ---------------------------------------------------------------- remote


def _find_remote(uri: str) -> Listing:
    parts = urlsplit(uri)
    segments = parts.path.strip("/").split("/")
    fixed = next(
        (index for index, segment in enumerate(segments) if _GLOB.search(segment)), len(segments)
    )
    base_path = "/".join(["", *segments[:fixed]])
    options = f"?{parts.query}" if parts.query else ""
    base_uri = f"{parts.scheme}://{parts.netloc}{base_path}"
    system, base = remote(base_uri + options)
    found: dict[str, FoundFile] = {}
    for root in _expand_remote(system, base, segments[fixed:]):
        for info in _walk_remote(system, root):
            suffix = quote(info.path[len(base) :], safe="/!$&'()*+,;=:@~")
            file = FoundFile(base_uri + suffix + options, info.size or 0)
            found[file.path] = file
    return Listing(tuple(found[path] for path in sorted(found)))


def _expand_remote(system: fs.FileSystem, base: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield base
        return
    head, *rest = parts
    if head == "**":
        yield from _expand_remote(system, base, rest)
    elif not _GLOB.search(head):
        yield from _expand_remote(system, f"{base.rstrip('/')}/{head}", rest)
        return
    for info in system.get_file_info(fs.FileSelector(base, allow_not_found=True)):
        if head == "**" and info.type == fs.FileType.Directory:
            yield from _expand_remote(system, info.path, parts)
        elif head != "**" and fnmatchcase(info.base_name, head):
            yield from _expand_remote(system, info.path, rest)


def _walk_remote(system: fs.FileSystem, path: str) -> Iterator[fs.FileInfo]:
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        yield info
    elif info.type == fs.FileType.Directory:
        for below in system.get_file_info(fs.FileSelector(path, recursive=True)):
            if below.type == fs.FileType.File:
                yield below
