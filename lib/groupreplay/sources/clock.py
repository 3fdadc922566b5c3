"""The newest time of a log, from the ends of its files: what a night is named by when nobody named
it.

Only the name depends on this. As-of itself is taken from the records that were landed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Final

from groupreplay.limits import DAY_MS
from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.segments.batches import Batch
from groupreplay.wire.segments.record_batch import SegmentReader
from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file

TAILS_BYTES: Final = (256 << 10, 8 << 20)
"""How much of a file's end is looked at, and how much if that held no whole batch. A broker's
default limit of a batch is 1 MB.
"""

THREADS: Final = 16

_CREATE_TIME: Final = re.compile(
    rb"^baseOffset: .* (?:Create|LogAppend)Time: (\d{1,18}) ", re.MULTILINE
)


def newest_ms(units: Iterable[Unit]) -> int:
    """Newest batch time in the last unit of each partition, ms since the epoch; -1 if there is
    none. Damage is passed over.
    """
    last = {unit.offsets_partition: unit for unit in units}
    files = [file for unit in last.values() for file in unit.files]
    with ThreadPoolExecutor(THREADS) as threads:
        return max(threads.map(_newest_of_file, files), default=-1)


def _newest_of_file(file: UnitFile) -> int:
    for most in TAILS_BYTES:
        tail = _tail(file, most)
        times = (
            _segment_times(file, tail)
            if file.kind == SEGMENTS
            else [int(time) for time in _CREATE_TIME.findall(tail)]
        )
        if times:
            return _newest(times)
    return -1


def _newest(times: list[int]) -> int:
    """The greatest, but for one that is a day off from both of its neighbours: a broken clock's."""
    neighbours = zip([None, *times], times, [*times[1:], None], strict=False)
    return max(
        (
            time
            for before, time, after in neighbours
            if not (_is_day_off(time, before) and _is_day_off(time, after))
        ),
        default=max(times),
    )


def _is_day_off(time: int, other: int | None) -> bool:
    return other is not None and abs(time - other) > DAY_MS


def _segment_times(file: UnitFile, tail: bytes) -> list[int]:
    """Times of the batches in the tail; what stands before the first whole one reads as damage."""
    base_offset = int(file.path.partition("?")[0].rpartition("/")[2][:20])
    reader = SegmentReader(
        ByteStream(file.path, -1, lambda _: BytesIO(tail)), file.path, Codecs(), 0, -1, base_offset
    )
    return [item.max_ts_ms for item in reader if isinstance(item, Batch)]


def _tail(file: UnitFile, most: int) -> bytes:
    """The last bytes of a file as far as it was planned; a .gz has to be inflated to its end for
    them.
    """
    try:
        if not file.path.partition("?")[0].endswith(".gz"):
            with open_file(file.path) as stream:
                stream.seek(max(0, file.size - most))
                return stream.read(most)
    except OSError:
        return b""
    stream_of_pieces = ByteStream(file.path, file.size, open_file)
    pieces: deque[bytes] = deque(maxlen=2)
    while piece := stream_of_pieces.read(most):
        pieces.append(piece)
    stream_of_pieces.close()
    return b"".join(pieces)[-most:]
