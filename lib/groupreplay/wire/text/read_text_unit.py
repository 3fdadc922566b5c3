"""One unit of a text log: a stretch of a file to columns of `raw_lines`, whatever the file
holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, Protocol

from groupreplay.records.log_events import SERVER_LOG, Damaged, LogEvent, Unmatched
from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.text.broker_clock import BrokerClock
from groupreplay.wire.text.contact_runs import ContactReducer, ContactRun
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN, LineLayout
from groupreplay.wire.text.request_log import LineScanner, RequestLogParser
from groupreplay.wire.text.server_log import ServerLogParser
from groupreplay.wire.text.server_templates import HOUSEKEEPING
from groupreplay.wire.text.text_lines import LINE_BYTES_MAX, Lines, TooLong, WholeLines
from groupreplay.wire.text.text_rows import LineCounts, TextRows
from groupreplay.wire.text.text_units import TextUnit

SERVER_LINE_BYTES_MAX: Final = 1 << 20
"""A longer line of a server log is no coordinator's, and not looked into."""

CONTINUATION_MAX: Final = 10_000
"""Lines before the first whole event of a stretch that goes on where the last night stopped: the
rest of an exception, but none is longer.
"""

OpenFile = Callable[[str], BinaryIO]


class _Reader(Protocol):
    counts: LineCounts

    def feed(self, lines: Lines) -> None:
        """Takes the next whole lines."""

    def finish(self) -> None:
        """The stretch has ended."""


def read_text_unit(unit: TextUnit, open_file: OpenFile) -> Iterator[dict[str, list[Any]]]:
    """The rows of one unit, as column lists (`text_rows.COLUMNS`) of bounded size, the `file` row
    last.

    open_file: opens a path of the unit for reading bytes. Never raises for what the file holds or
        lacks: that is `damage` rows, and counted.
    """
    rows = TextRows(unit)
    if unit.failure:
        rows.add_failure(unit.start_position, unit.failure)
        rows.add_file(LineCounts(), None, unit.failure)
        yield rows.take()
        return
    reader: _Reader = (
        _ServerLines(unit, rows) if unit.kind == SERVER_LOG else _RequestLines(unit, rows)
    )
    stream = ByteStream(unit.path, unit.size, open_file)
    try:
        lines = WholeLines(stream, unit.start_position, unit.end_position)
        for each in lines:
            if isinstance(each, TooLong):
                _add_too_long(reader.counts, rows, each.position, each.start, each.size)
            else:
                reader.feed(each)
            if rows.rows:
                yield rows.take()
    finally:
        stream.close()
    reader.finish()
    if stream.failure:
        rows.add_failure(
            unit.start_position if lines.next_position is None else lines.next_position,
            stream.failure,
        )
    rows.add_file(reader.counts, lines.next_position, stream.failure)
    yield rows.take()


def _add_too_long(
    counts: LineCounts, rows: TextRows, position: int, start: bytes, size: int
) -> None:
    counts.lines += 1
    counts.too_long += 1
    rows.end_damage()
    rows.add_damage(
        position,
        f"a line of more than {SERVER_LINE_BYTES_MAX if size <= LINE_BYTES_MAX else LINE_BYTES_MAX}"
        " bytes",
        start,
        size,
    )
    rows.end_damage()


class _ServerLines:
    """Every line of a server log, one after another: what does not begin an event belongs to the
    one before.
    """

    def __init__(self, unit: TextUnit, rows: TextRows) -> None:
        self.counts = LineCounts()
        self._rows = rows
        layout = LineLayout.of(unit.layout)
        self._parser = ServerLogParser(layout, _clock(unit, layout))
        self._left = CONTINUATION_MAX if unit.start_position > 0 else 0

    def feed(self, lines: Lines) -> None:
        counts, rows, parse = self.counts, self._rows, self._parser.parse
        position = lines.position
        for line in lines.data[:-1].split(b"\n"):
            begins, size = position, len(line) + 1
            position += size
            if size > SERVER_LINE_BYTES_MAX:
                _add_too_long(counts, rows, begins, line[:SERVER_LINE_BYTES_MAX], size)
                continue
            counts.lines += 1
            told = parse(line.removesuffix(b"\r"))
            if told is None:
                counts.continuation += 1
            elif type(told) is Unmatched:
                counts.add_unmatched(told.logger)
                self._began()
            elif isinstance(told, LogEvent):
                counts.matched += 1
                counts.saw(told.at_ms)
                self._began()
                if told.event != HOUSEKEEPING:
                    rows.add_event(told, begins, line)
            elif isinstance(told, Damaged):
                self._add_damaged(begins, told.reason, line)

    def finish(self) -> None:
        self._rows.end_damage()

    def _began(self) -> None:
        self._left = 0
        self._rows.end_damage()

    def _add_damaged(self, position: int, reason: str, line: bytes) -> None:
        if self._left > 0:
            self._left -= 1
            self.counts.continuation += 1
            return
        self.counts.damaged += 1
        self._rows.add_damage(position, reason, line, len(line) + 1)


class _RequestParser:
    """Lines of a request log in the layout that was configured: what `RequestLogParser` knows of
    times, told by layout and clock.
    """

    def __init__(self, unit: TextUnit) -> None:
        self._layout = LineLayout.of(unit.layout)
        self._clock = _clock(unit, self._layout)
        self._parser = RequestLogParser(self._to_ms, unit.message_field, unit.time_field)
        self.parse = (
            self._parser.parse
            if unit.layout == DEFAULT_PATTERN or unit.message_field
            else self._parse
        )

    def _parse(self, line: bytes) -> list[LogEvent] | Damaged | None:
        split = self._layout.split(str(line, "utf-8", "surrogateescape"))
        if split is None or not split.whole:
            return self._parser.parse(line)
        if split.logger and not split.logger.endswith("logger"):
            return None
        return self._parser.read_message(
            split.message, self._clock.to_ms(split.local_s, split.millis, split.offset_s)
        )

    def _to_ms(self, text: str) -> int | None:
        read = self._layout.read_date(text)
        return None if read is None else self._clock.to_ms(*read)


def _clock(unit: TextUnit, layout: LineLayout) -> BrokerClock:
    clock = BrokerClock(layout.timezone or unit.timezone)
    clock.resume(unit.last_ms)
    return clock


class _RequestLines:
    """Lines of the group APIs, found by a search through bytes; heartbeats that say the same become
    one row.
    """

    def __init__(self, unit: TextUnit, rows: TextRows) -> None:
        self.counts = LineCounts()
        self._rows = rows
        self._parse = _RequestParser(unit).parse
        self._reducer = ContactReducer()

    def feed(self, lines: Lines) -> None:
        counts, rows = self.counts, self._rows
        scanner = LineScanner(lines.position, LINE_BYTES_MAX)
        passed = 0
        for position, line in scanner.group_lines([lines.data]):
            told = self._parse(line)
            if told is None:
                continue
            passed -= 1
            if isinstance(told, Damaged):
                counts.damaged += 1
                rows.add_damage(position, told.reason, line, len(line) + 1)
                continue
            rows.end_damage()
            counts.matched += 1
            for event in told:
                counts.saw(event.at_ms)
                for run in self._reducer.take(event, position):
                    if run.event is event:
                        rows.add_event(event, position, line)
                    else:
                        self._add(run)
        counts.lines += scanner.lines_read
        counts.too_long += scanner.too_long
        counts.passed += scanner.lines_read - scanner.too_long + passed

    def finish(self) -> None:
        for run in self._reducer.close():
            self._add(run)
        self._rows.end_damage()

    def _add(self, run: ContactRun) -> None:
        self.counts.reduced += run.requests - 1
        self._rows.add_run(
            run.event,
            run.position,
            run.last_ms,
            run.requests,
            run.longest_gap_ms,
            run.last_position,
        )
