"""The layout that a broker's log is written in: a log4j 1 or log4j 2 PatternLayout, compiled to
split a line into its parts.

Times stay as they are written; `broker_clock` makes them UTC. Source: Kafka's
config/log4j.properties (up to 3.9) and config/log4j2.yaml (from 4.0), log4j 2's manual of
PatternLayout.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

DEFAULT_PATTERN = "[%d] %p %m (%c)%n"
"""Kafka's own, in every release."""

_EPOCH = datetime(1970, 1, 1)
_CONVERSION = re.compile(r"%(?:(%)|(-?)(\d*)(?:\.-?\d+)?([A-Za-z]+)((?:\{[^{}]*\})*))")
_NAMES = {
    "d": "date", "date": "date",
    "p": "level", "level": "level",
    "m": "message", "msg": "message", "message": "message",
    "c": "logger", "logger": "logger",
    "n": "end",
    "ex": "exception", "exception": "exception", "throwable": "exception", "rEx": "exception", "xEx": "exception",
    "t": "other", "thread": "other", "tn": "other", "threadName": "other", "tid": "other", "T": "other", "threadId": "other", "tp": "other",
    "X": "other", "mdc": "other", "MDC": "other", "x": "other", "NDC": "other", "r": "other", "relative": "other", "sn": "other",
    "C": "other", "class": "other", "F": "other", "file": "other", "L": "other", "line": "other", "M": "other", "method": "other",
    "l": "other", "location": "other", "pid": "other", "processId": "other", "marker": "other",
}  # fmt: skip
_REGEXES = {"level": "[A-Za-z]+", "message": ".*", "logger": r"[^\s()\[\]{}|,;]+", "other": ".*?"}
_NAMED_DATES = {
    "": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
    "DEFAULT_MICROS": "yyyy-MM-dd HH:mm:ss,SSSSSS",
    "DEFAULT_NANOS": "yyyy-MM-dd HH:mm:ss,SSSSSSSSS",
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "ISO8601_BASIC_PERIOD": "yyyyMMdd'T'HHmmss.SSS",
    "ISO8601_PERIOD": "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "ISO8601_PERIOD_MICROS": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "DATE_PERIOD": "dd MMM yyyy HH:mm:ss.SSS",
}
_ISO8601 = "yyyy-MM-dd{T}HH:mm:ss,SSS"
"""log4j 1 writes a space before the hours, log4j 2 a T."""
_NO_DAY = ("ABSOLUTE", "ABSOLUTE_MICROS", "ABSOLUTE_NANOS", "ABSOLUTE_PERIOD")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_DATE_TOKEN = re.compile(r"'((?:[^']|'')*)'|\{T\}|([A-Za-z])\2*|[^A-Za-z']")
_OFFSET = "(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_DATE_PARTS = {
    "yyyy": "(?P<year>[0-9]{4})", "uuuu": "(?P<year>[0-9]{4})", "yy": "(?P<year>[0-9]{2})", "uu": "(?P<year>[0-9]{2})",
    "MMM": "(?P<month>[A-Z][a-z]{2})", "MM": "(?P<month>[0-9]{2})", "M": "(?P<month>[0-9]{1,2})",
    "dd": "(?P<day>[0-9]{2})", "d": "(?P<day>[0-9]{1,2})",
    "HH": "(?P<hour>[0-9]{2})", "H": "(?P<hour>[0-9]{1,2})", "hh": "(?P<hour>[0-9]{2})", "h": "(?P<hour>[0-9]{1,2})",
    "mm": "(?P<minute>[0-9]{2})", "m": "(?P<minute>[0-9]{1,2})", "ss": "(?P<second>[0-9]{2})", "s": "(?P<second>[0-9]{1,2})",
    "a": "(?P<half>AM|PM|am|pm)", "E": "[A-Za-z]{3}", "EEE": "[A-Za-z]{3}", "EEEE": "[A-Za-z]+",
    "X": _OFFSET, "XX": _OFFSET, "XXX": _OFFSET, "Z": _OFFSET, "x": _OFFSET, "xx": _OFFSET, "xxx": _OFFSET,
}  # fmt: skip


class LogLine(NamedTuple):
    """A line that begins an event.

    local_s: its clock's reading as if it were UTC, s since the epoch.
    millis: milliseconds of that second.
    offset_s: seconds east of UTC, None where the line itself does not say it.
    whole: False if the line ends before the layout does, so that the message goes on in the next
        line.
    """

    local_s: int
    millis: int
    offset_s: int | None
    level: str
    logger: str
    message: str
    whole: bool


class DateFormat:
    """One `%d{..}`: what it looks like, and how it is read."""

    def __init__(self, regex: str, *, unit: int = 0) -> None:
        """unit: 0 for a calendar date, else how many of the number make a second."""
        self.regex = re.sub(r"\(\?P<\w+>", "(?:", regex)
        self._parts = re.compile(regex)
        self._unit = unit
        self._fraction_last = regex.endswith("(?P<fraction>[0-9]{3})")
        self._second = ""
        self._read: tuple[int, int, int | None] = (0, 0, None)

    @classmethod
    def of(cls, name: str) -> DateFormat:
        """Raises ValueError with one sentence for a format without day or second, or with letters
        that are not known.
        """
        if name in ("UNIX", "UNIX_MILLIS"):
            unit = 1 if name == "UNIX" else 1000
            return cls("[0-9]{9,11}" if unit == 1 else "[0-9]{12,14}", unit=unit)
        if name in _NO_DAY:
            raise ValueError(
                f"The date format {name} has no day: no line of such a log can be placed in time."
            )
        text = _ISO8601 if name == "ISO8601" else _NAMED_DATES.get(name, name)
        regex = "".join(_date_regex(token, name) for token in _date_tokens(text, name))
        missing = [
            part
            for part in ("year", "month", "day", "hour", "minute", "second")
            if f"(?P<{part}>" not in regex
        ]
        if missing:
            raise ValueError(
                f"The date format {name} has no {missing[0]}: no line of such a log can be placed"
                " in time."
            )
        if "hh" in text.replace("'", "") and "a" not in text:
            raise ValueError(
                f"The date format {name} counts 12 hours and does not say which half of the day"
                " (a)."
            )
        try:
            return cls(regex)
        except re.error:
            raise ValueError(
                f"The date format {name} says the same part of a date twice."
            ) from None

    def read(self, text: str) -> tuple[int, int, int | None] | None:
        """(local_s, millis, offset_s) of a text that the regex matched; None: no such date."""
        if self._fraction_last and text[:-3] == self._second:
            return self._read[0], int(text[-3:]), None
        if self._unit:
            return int(text) // self._unit, int(text) % self._unit, 0
        found = self._parts.fullmatch(text)
        if found is None:
            return None
        parts = found.groupdict()
        try:
            local = datetime(
                _year(parts["year"]),
                _month(parts["month"]),
                int(parts["day"]),
                _hour(parts),
                int(parts["minute"]),
                int(parts["second"]),
            )
        except ValueError:
            return None
        millis = int((parts.get("fraction") or "0").ljust(3, "0")[:3])
        read = int((local - _EPOCH).total_seconds()), millis, _offset_s(parts.get("zone"))
        if self._fraction_last:
            self._second, self._read = text[:-3], read
        return read


class LineLayout:
    """A compiled pattern.

    timezone: the zone that the pattern itself writes its dates in (`%d{..}{UTC}`), None: the
        broker's.
    """

    def __init__(
        self, pattern: str, regex: str, head: str, date: DateFormat, timezone: str | None
    ) -> None:
        """regex: matches a whole line.
        head: matches a line up to the end of its message; `regex` begins with it.
        """
        self.pattern = pattern
        self.timezone = timezone
        self._date = date
        self._date_only = re.compile(date.regex).fullmatch
        self._whole = re.compile(regex).fullmatch
        self._head = re.compile(head).match
        self._end = re.compile(".*" + regex.removeprefix(head)).fullmatch
        self._has_level, self.has_logger = "(?P<level>" in regex, "(?P<logger>" in regex

    @classmethod
    def of(cls, pattern: str) -> LineLayout:
        """Raises ValueError with one sentence for a pattern whose lines cannot be told apart,
        placed in time or read.
        """
        compiler = _Compiler(pattern)
        return cls(pattern, *compiler.compile())

    def read_date(self, text: str) -> tuple[int, int, int | None] | None:
        """(local_s, millis, offset_s) of a date as the layout writes it; None: it is none."""
        return self._date.read(text) if self._date_only(text) else None

    def split(self, line: str) -> LogLine | None:
        """The parts of a line without its line end; None: no event begins here (an exception's
        lines, a message's further lines, anything else).

        The message takes all it can, so that the last thing that looks like a logger at the end is
        the logger.
        """
        found = self._whole(line)
        whole = found is not None
        if found is None:
            found = self._head(line)
            if found is None:
                return None
        read = self._date.read(found["date"])
        if read is None:
            return None
        level = (
            found["level"] if self._has_level and (whole or "level" in found.re.groupindex) else ""
        )
        logger = (
            found["logger"]
            if self.has_logger and (whole or "logger" in found.re.groupindex)
            else ""
        )
        return LogLine(*read, level, logger, found["message"], whole)

    def ends(self, line: str) -> bool:
        """Whether an event's last line can be so: it has what the layout writes after the
        message.
        """
        return self._end(line) is not None


class _Compiler:
    """A pattern to two regexes: of a whole line, and of a line that is cut within its message."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.seen: set[str] = set()
        self.date: DateFormat | None = None
        self.timezone: str | None = None

    def compile(self) -> tuple[str, str, DateFormat, str | None]:
        regex, head, at = "", "", 0
        for found in _CONVERSION.finditer(self.pattern):
            regex += self._literal(self.pattern[at : found.start()])
            regex += self._conversion(found)
            at = found.end()
            if "message" in self.seen and not head:
                head = regex
        regex += self._literal(self.pattern[at:])
        if self.date is None:
            raise ValueError(
                f"The layout {self.pattern} has no date (%d): no line of such a log can be placed"
                " in time."
            )
        if "message" not in self.seen:
            raise ValueError(f"The layout {self.pattern} has no message (%m).")
        if "(?P<date>" not in head:
            raise ValueError(
                f"The layout {self.pattern} writes the message before the date: where an event"
                " begins cannot be told."
            )
        return regex, head, self.date, self.timezone

    def _literal(self, text: str) -> str:
        if "%" in text:
            raise ValueError(f"The layout {self.pattern} has a % that begins no conversion.")
        if "end" in self.seen and text.strip():
            raise ValueError(
                f"The layout {self.pattern} writes an event on several lines, only one line each"
                " can be read."
            )
        return re.escape(text) if "end" not in self.seen else ""

    def _conversion(self, found: re.Match[str]) -> str:
        percent, left, width, letters, options = found.groups()
        if percent:
            return "%"
        name, rest = _conversion_name(letters)
        part = _NAMES.get(name, "")
        if not part or (rest and options):
            raise ValueError(
                f"The layout {self.pattern} has the conversion %{letters}, which cannot be read"
                " back."
            )
        if part in ("end", "exception"):
            self.seen.add(part)
            return ""
        if "end" in self.seen:
            raise ValueError(
                f"The layout {self.pattern} writes an event on several lines, only one line each"
                " can be read."
            )
        regex = _REGEXES.get(part, "")
        if part == "date":
            regex = self._date_conversion(options)
        if part != "other":
            if part in self.seen:
                raise ValueError(f"The layout {self.pattern} has {name} twice.")
            self.seen.add(part)
            regex = f"(?P<{part}>{regex})"
        if width:
            regex = f"{regex} *" if left else f" *{regex}"
        return regex + re.escape(rest)

    def _date_conversion(self, options: str) -> str:
        given = options[1:-1].split("}{") if options else [""]
        if self.date is None:
            self.date = DateFormat.of(given[0])
        if len(given) > 1:
            self.timezone = given[1]
        return self.date.regex


def _conversion_name(letters: str) -> tuple[str, str]:
    """The longest known name that the letters begin with, and the letters after it, which are text:
    log4j reads `%mx` as `%m` and an x.
    """
    for length in range(len(letters), 0, -1):
        if letters[:length] in _NAMES:
            return letters[:length], letters[length:]
    return letters, ""


def _date_tokens(text: str, name: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text):
        found = _DATE_TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"The date format {name} has a quote that does not end.")
        tokens.append(found[0])
        at = found.end()
    return tokens


def _date_regex(token: str, name: str) -> str:
    if token == "{T}":
        return "[T ]"
    if token.startswith("'"):
        return re.escape(token[1:-1].replace("''", "'") or "'")
    if token[0] in "Sn":
        return f"(?P<fraction>[0-9]{{{9 if token[0] == 'n' else len(token)}}})"
    if not token[0].isalpha():
        return re.escape(token)
    if token not in _DATE_PARTS:
        raise ValueError(f"The date format {name} has {token}, which cannot be read back.")
    return _DATE_PARTS[token]


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def _month(text: str) -> int:
    return _MONTHS.get(text, 0) if text[0].isalpha() else int(text)


def _hour(parts: dict[str, str]) -> int:
    half = parts.get("half")
    hour = int(parts["hour"])
    return hour if half is None else hour % 12 + (12 if half in ("PM", "pm") else 0)


def _offset_s(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60
    return -seconds if zone[0] == "-" else seconds
