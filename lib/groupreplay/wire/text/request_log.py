"""Lines of Kafka's request log to events: `[time] DEBUG Completed request:{json}
(kafka.request.logger)`, in any layout or shipped in other JSON.

The logger writes every API, mostly fetches and produces: `LineScanner` passes over those at the
speed of a search through bytes, `RequestLogParser` reads what is left and trusts the JSON alone. A
line is written when the response was sent; a request that was never answered has none. Source:
server/src/main/java/org/apache/kafka/network/Request.java, updateRequestMetrics
(core/../RequestChannel.scala before 4.4).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from groupreplay.records.log_events import Damaged, LogEvent
from groupreplay.wire.records.primitives import Malformed
from groupreplay.wire.text.request_fields import GROUP_APIS, read_events

__all__ = ["GROUP_APIS", "LONGEST_LINE", "LineScanner", "RequestLogParser"]

LONGEST_LINE = 16 << 20
"""Bytes. A request is at most 100 MB and its text a few times that, but what group APIs say is far
below this.
"""

_MARK = "Completed request:"

_KEYS = "|".join(map(str, GROUP_APIS))
_CANDIDATE = re.compile(rf'requestApiKey\\*": ?(?:{_KEYS})[,}}]'.encode())
"""The key's end of a line that may be of a group API, its quotes escaped where it lies inside a
text of other JSON.
"""

_SHIPPED = re.compile(rf"\[([^\[\]]*)\] (?:DEBUG|INFO) {_MARK}(?=\{{)")
"""Kafka's own layout, `[%d] %p %m (%c)%n`."""

_LEVEL = re.compile(r"\b(?:DEBUG|INFO)\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?")
_LOGGER = r"(?:(?:k\w*\.)?r\w*\.)?logger|k\.r\.l"
_THREAD = r"(?:data-plane-|control-plane-)?kafka-(?:network-thread|request-handler)-[^\s\]]+"
_OWN_WORDS = re.compile(rf"(?<![\w.])(?:{_LOGGER}|{_THREAD})(?![\w.])|\[[^\[\]\s]*\]")
"""What a layout puts between the level and the message: the logger, whole or shortened, the thread,
and single words in brackets.
"""

_ENDS_IN_LOGGER = re.compile(r"\(([\w.$-]+)\)\s*$")
_IS_LOGGER = re.compile(_LOGGER)

_Times = Callable[[], int | None]


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)


class RequestLogParser:
    """One line to its events. Total: whatever the bytes, it gives events, None or what is wrong.

    to_ms: the time as the layout writes it to ms since the epoch, None if it is no time.
    message_field, time_field: where other JSON has the line and the time of shipping, dots between
        the names of nested objects. A time there is what `to_ms` reads, ISO 8601 with a zone, or a
        number since the epoch (s, ms, us or ns by its size); it counts only if the line itself has
        none.
    """

    def __init__(
        self,
        to_ms: Callable[[str], int | None],
        message_field: str | None = None,
        time_field: str | None = None,
    ) -> None:
        self._to_ms = to_ms
        self._message_field = message_field
        self._time_field = time_field

    def parse(self, line: bytes) -> list[LogEvent] | Damaged | None:
        """None: a line of another API, or of another logger."""
        written = str(line, "utf-8", "surrogateescape").lstrip("\ufeff")
        try:
            if written.lstrip().startswith("{"):
                return self._read_json(written)
            return self._read_line(written, None)
        except Malformed as error:
            return Damaged(str(error))

    def read_message(self, message: str, at_ms: int) -> list[LogEvent] | Damaged | None:
        """As `parse`, for a message that was cut out of its layout already."""
        try:
            start = len(_MARK) if message.startswith(_MARK) else 0
            if not start and not message.startswith("{"):
                return None
            return read_events(_request(_decode(message, start)[0]), at_ms)
        except Malformed as error:
            return Damaged(str(error))

    def _read_line(self, line: str, envelope: dict[str, Any] | None) -> list[LogEvent] | None:
        shipped = _SHIPPED.match(line)
        start = shipped.end() if shipped else line.find(_MARK) + len(_MARK)
        if start < len(_MARK):
            return None
        document, end = _decode(line, start)
        logger = _ENDS_IN_LOGGER.search(line, end)
        if logger and not _IS_LOGGER.fullmatch(logger[1]):
            return None
        return self._read_document(
            _request(document), lambda: self._time_before(line, start, shipped), envelope
        )

    def _time_before(self, line: str, start: int, shipped: re.Match[str] | None) -> int | None:
        """ms. Raises Malformed if what stands there is no layout's: a group id that another logger
        printed can hold all of a line.
        """
        candidates = [shipped[1]] if shipped else _times_before(line[: start - len(_MARK)])
        return next(
            (at_ms for text in candidates if (at_ms := self._to_ms(text)) is not None), None
        )

    def _read_json(self, line: str) -> list[LogEvent] | None:
        envelope, _ = _decode(line, len(line) - len(line.lstrip()))
        message = None if self._message_field is None else _at(envelope, self._message_field)
        if isinstance(message, str) and not message.lstrip().startswith("{"):
            return self._read_line(message, envelope)
        if isinstance(message, str):
            message = _decode(message, len(message) - len(message.lstrip()))[0]
        document = envelope if message is None else message
        if isinstance(document, dict) and "requestHeader" in document:
            return self._read_document(document, lambda: None, envelope)
        if not _CANDIDATE.search(line.encode("utf-8", "surrogateescape")):
            return None
        if self._message_field is None:
            raise Malformed("other JSON around the line, and no field of the message is configured")
        raise Malformed(f"no request at the configured field {self._message_field}")

    def _read_document(
        self, document: dict[str, Any], time: _Times, envelope: dict[str, Any] | None
    ) -> list[LogEvent] | None:
        events = read_events(document, 0)
        if not events:
            return events
        at_ms = time()
        if at_ms is None and envelope is not None and self._time_field is not None:
            at_ms = _epoch_ms(_at(envelope, self._time_field), self._to_ms)
        if at_ms is None:
            raise Malformed("no time that can be read stands before the request")
        for event in events:
            event.at_ms = at_ms
            event.started_ms = at_ms - (event.duration_ms or 0)
        return events


def _request(document: dict[str, Any]) -> dict[str, Any]:
    if "requestHeader" not in document:
        raise Malformed("the JSON is no request")
    return document


def _decode(text: str, start: int) -> tuple[dict[str, Any], int]:
    """The JSON object at `start`, and where it ends; what follows does not matter."""
    try:
        document, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        raise Malformed("the JSON is broken, cut or none") from None
    if not isinstance(document, dict):
        raise Malformed("the JSON is no object")
    return document, end


def _at(document: dict[str, Any], path: str) -> Any:
    """The value at a dotted path; a name that holds the dots itself goes first. None: nothing
    there.
    """
    if path in document:
        return document[path]
    value: Any = document
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _times_before(prefix: str) -> list[str]:
    """What may be the time, likeliest first. A shipper's own time stands before the broker's, so
    the last one counts.

    Raises Malformed if words stand there that no layout writes.
    """
    level = _LEVEL.search(prefix)
    before, after = (prefix[: level.start()], prefix[level.end() :]) if level else ("", prefix)
    if re.search(r"\w", _OWN_WORDS.sub("", _TIME.sub("", after))):
        raise Malformed("words of no layout that is known stand before the request")
    bracket = before.rstrip().removesuffix("]").rpartition("[")
    return [
        *([bracket[2]] if bracket[1] and before.rstrip().endswith("]") else []),
        *([before.strip(" \t|-")] if before.strip() else []),
        *reversed(_TIME.findall(prefix)),
        *([prefix.strip()] if prefix.strip() else []),
    ]


def _epoch_ms(value: Any, to_ms: Callable[[str], int | None]) -> int | None:
    if isinstance(value, str):
        at_ms = to_ms(value)
        if at_ms is not None:
            return at_ms
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            value = int(value) if re.fullmatch(r"[0-9]{1,19}", value) else None
        else:
            return (
                None
                if moment.tzinfo is None
                else (moment - datetime(1970, 1, 1, tzinfo=UTC)) // _MILLISECOND
            )
    if type(value) not in (int, float) or not 0 < value < 1 << 63:
        return None
    for limit, numerator, denominator in ((10**11, 1000, 1), (10**14, 1, 1), (10**17, 1, 1000)):
        if value < limit:
            return int(value * numerator // denominator)
    return int(value // 10**6)


_MILLISECOND = datetime(1970, 1, 1, 0, 0, 0, 1000) - datetime(1970, 1, 1)


class LineScanner:
    """Finds lines that may be of a group API in chunks of text as they come, and counts all.
    Memory: a chunk and the longest line.

    position: position of the first byte in the unpacked text.
    longest: bytes of the longest line that is looked at.
    lines_read: lines so far, those that are too long included.
    too_long: lines of more than `longest` bytes, which are passed over.
    """

    def __init__(self, position: int = 0, longest: int = LONGEST_LINE) -> None:
        self.lines_read = 0
        self.too_long = 0
        self._position = position
        self._longest = longest
        self._pieces: list[bytes] = []
        self._held = 0
        self._skipping = False

    def group_lines(self, chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """(position, the line without its end) in order. A last line needs no end."""
        for chunk in chunks:
            for start in range(0, len(chunk), self._longest):
                yield from self._take(chunk[start : start + self._longest])
        if self._skipping or self._held:
            self.lines_read += 1
            yield from self._finish(b"")

    def _take(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        first = chunk.find(b"\n")
        if first < 0:
            self._hold(chunk)
            return
        last = chunk.rfind(b"\n")
        self.lines_read += chunk.count(b"\n")
        yield from self._finish(chunk[:first])
        self._position += 1
        yield from self._search(chunk, first + 1, last)
        self._position += last - first
        self._hold(chunk[last + 1 :])

    def _search(self, chunk: bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Whole lines of one chunk, which holds none that is too long; self._position is that of
        `start`.
        """
        base = self._position - start
        while found := _CANDIDATE.search(chunk, start, end + 1):
            begin = chunk.rfind(b"\n", start, found.start()) + 1 or start
            stop = chunk.find(b"\n", found.end())
            start = stop + 1
            yield base + begin, chunk[begin:stop].removesuffix(b"\r")

    def _hold(self, piece: bytes) -> None:
        """Keeps the beginning of a line for the next chunk, or only its length once it is too
        long.
        """
        self._held += len(piece)
        if self._held > self._longest:
            self._skipping = True
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _finish(self, piece: bytes) -> Iterator[tuple[int, bytes]]:
        """Ends the line that was held."""
        self._hold(piece)
        begin, line = self._position, b"".join(self._pieces)
        self._position += self._held
        self.too_long += self._skipping
        self._pieces.clear()
        self._held, self._skipping = 0, False
        if line and _CANDIDATE.search(line):
            yield begin, line.removesuffix(b"\r")
