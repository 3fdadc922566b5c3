"""A stretch of a text file as runs of whole lines: memory is a chunk and the longest line allowed,
whatever the file holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groupreplay.wire.byte_stream import CHUNK_BYTES, ByteStream
from groupreplay.wire.text.text_units import END_OF_FILE

LINE_BYTES_MAX = 16 << 20
"""A longer line is passed over and told, never held. The longest that Kafka writes, a join of a
huge group, has some MiB.
"""

TOLD_BYTES = 1024
"""What is kept of a line that is passed over."""


@dataclass(frozen=True, slots=True)
class Lines:
    """position: position of the first byte in the unpacked text.
    data: one or more whole lines, each with its newline.
    """

    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line of more than LINE_BYTES_MAX.

    start: its first bytes.
    size: bytes, newline and all.
    """

    position: int
    start: bytes
    size: int


class WholeLines:
    """The lines of a stream that begin in [start, end), the last of them read to its own end. A
    last line without a newline is left for next time.

    next_position: where the next reading goes on, known when all was iterated; None where no line
    began in the stretch.
    """

    def __init__(self, stream: ByteStream, start: int, end: int) -> None:
        self.next_position: int | None = None
        self._stream, self._end = stream, end
        self._position = start
        self._ahead = b""

    def __iter__(self) -> Iterator[Lines | TooLong]:
        if self._position > 0:
            self._stream.start_at(self._position - 1)
            self._position -= 1
            if not self._skip_line():
                return  # No line began here, or none that has ended: the stretch before knows.
        held = b""
        while self._end == END_OF_FILE or self._position < self._end:
            chunk = self._read()
            if not chunk:
                break
            held += chunk
            if held.find(b"\n", 0, LINE_BYTES_MAX) < 0 and len(held) >= LINE_BYTES_MAX:
                self._ahead, held = held, b""
                if (line := self._pass_over()) is None:
                    break
                yield line
                continue
            cut = self._cut(held)
            if cut:
                lines, held = held[:cut], held[cut:]
                position, self._position = self._position, self._position + cut
                yield Lines(position, lines)
        self.next_position = self._position

    def _read(self) -> bytes:
        ahead, self._ahead = self._ahead, b""
        return ahead or self._stream.read(CHUNK_BYTES)

    def _skip_line(self) -> bool:
        """Goes behind the next newline; False: there is none."""
        while chunk := self._read():
            newline = chunk.find(b"\n")
            if newline >= 0:
                self._position += newline + 1
                self._ahead = chunk[newline + 1 :]
                return True
            self._position += len(chunk)
        return False

    def _pass_over(self) -> TooLong | None:
        """None: the line has no end yet, and the position is where it begins."""
        start, first = self._position, self._ahead[:TOLD_BYTES]
        if self._skip_line():
            return TooLong(start, first, self._position - start)
        self._position = start
        return None

    def _cut(self, held: bytes) -> int:
        """How many bytes of what is held are whole lines that begin before the end of the
        stretch.
        """
        if self._end != END_OF_FILE and self._position + len(held) > self._end:
            newline = held.find(b"\n", self._end - 1 - self._position)
            if newline >= 0:
                return newline + 1
        return held.rfind(b"\n") + 1
