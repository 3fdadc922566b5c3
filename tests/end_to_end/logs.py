"""Log directories that grow: copies of a recording's segments, cut where a test wants it."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

RECORDINGS = Path(__file__).parent.parent / "recordings"
CONTROL = 0x20
TRANSACTIONAL = 0x10


class BatchAt(NamedTuple):
    """One batch of a segment: where it stands, and what its header says."""

    position: int
    end: int
    attributes: int
    max_ts_ms: int


def batches(log: bytes) -> Iterator[BatchAt]:
    position = 0
    while position + 61 <= len(log):
        length, attributes, max_ts_ms = struct.unpack_from(">8xi4x1x4xh4x8xq", log, position)
        yield BatchAt(position, position + 12 + length, attributes, max_ts_ms)
        position += 12 + length


def copy_log(recording: str, target: Path, cut: Callable[[bytes], int] | None = None) -> Path:
    """The recording's segments below `target`, each as long as `cut` says, in bytes; over what is
    there already, as a log grows.
    """
    source = RECORDINGS / recording / "segments"
    for segment in sorted(source.rglob("*.log")):
        copied = target / segment.relative_to(source)
        copied.parent.mkdir(parents=True, exist_ok=True)
        content = segment.read_bytes()
        copied.write_bytes(content if cut is None else content[: cut(content)])
    return target


def split_log(recording: str, target: Path) -> list[tuple[Path, Path]]:
    """The recording's segments below `target`, each in two, as a broker that rolls sooner leaves
    them; gives the halves.
    """
    halves = []
    for whole in sorted(copy_log(recording, target).rglob("*.log")):
        content = whole.read_bytes()
        found = list(batches(content))
        if len(found) < 2:
            continue
        at = found[len(found) // 2].position
        newer = whole.with_name(f"{struct.unpack_from('>q', content, at)[0]:020d}.log")
        newer.write_bytes(content[at:])
        whole.write_bytes(content[:at])
        halves.append((whole, newer))
    return halves


def half(log: bytes) -> int:
    """A place inside the batch in the middle: the broker was writing it."""
    found = list(batches(log))
    middle = found[len(found) // 2]
    return middle.position + (middle.end - middle.position) // 2


def before_first_marker(log: bytes) -> int:
    """Where the first transaction's marker begins, so that its commits are there and its end is
    not; the middle of a log without any.
    """
    return next((batch.position for batch in batches(log) if batch.attributes & CONTROL), half(log))


def forget(*paths: Path) -> None:
    for path in paths:
        shutil.rmtree(path)
