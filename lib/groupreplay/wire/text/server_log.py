"""Lines of a broker's log to `LogEvent`s: those of the group coordinators, everything else is
passed by and counted by logger.
"""

from __future__ import annotations

import re
from typing import Any

from groupreplay.records.log_events import Damaged, LogEvent, Unmatched
from groupreplay.wire.text.broker_clock import BrokerClock
from groupreplay.wire.text.line_layout import LineLayout
from groupreplay.wire.text.line_template import NUMBERS, Fields, Template, match
from groupreplay.wire.text.rebalance_reasons import member_ids_of, split_reason
from groupreplay.wire.text.server_templates import (
    BY_CLASS,
    GROUPS_DELETED,
    HOUSEKEEPING,
    IGNORED,
    IGNORED_AT_DEBUG,
    JOIN_PHASE_STARTED,
)
from groupreplay.wire.text.startup_lines import BEGIN, group_version_of, setting_of, version_of

LOGGERS_MAX = 4096
"""So many names of loggers are remembered: a real log has a few hundred."""
MESSAGE_MAX = 1 << 17
"""A longer message, in characters, is of no template: three ids of the 32 KB that the protocol
allows fit in. Trying costs its square.
"""
_PREFIX = re.compile(
    r"\[GroupCoordinator id=[0-9]+(?: topic=__consumer_offsets partition=(?P<shard>[0-9]{1,9}))?\] "
    r"|\[GroupCoordinator [0-9]+\]: |\[GroupMetadataManager brokerId=[0-9]+\]:? "
)
_OTHER_COORDINATOR = ("[ShareCoordinator ", "[share-coordinator-", "[TransactionCoordinator ")
_NO_TEMPLATES: tuple[Template, ...] = ()


class ServerLogParser:
    """Reads one file of one broker's log, line after line: the clock, what is a continuation, and
    what a setting is of, depend on the lines before.

    A line is read by its own text. A group id may hold the end of a line and a whole forged line
    after it: that is read as a line, except right after the line that it cuts. Any other id that
    imitates a line gives the event of its own group, or `Unmatched`.
    """

    def __init__(self, layout: LineLayout, clock: BrokerClock) -> None:
        self._layout = layout
        self._clock = clock if layout.timezone is None else BrokerClock(layout.timezone)
        self._has_logger = layout.has_logger
        self._begun = False
        self._open = False
        self._classes: dict[str, str | None] = {}
        self._settings_at: int | None = None

    def parse(self, line: bytes) -> LogEvent | Unmatched | Damaged | None:
        """What a line says; None where it continues the event before it.

        Such are an exception, and a message of several lines.

        line: without or with its line end.
        """
        text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace").removeprefix("\ufeff")
        entry = self._layout.split(text)
        if self._open:
            self._open = not self._layout.ends(text)
            return None
        if entry is None:
            if self._settings_at is not None:
                return setting_of(text, self._settings_at)
            return (
                None
                if self._begun
                else Damaged("No line of this layout has been seen yet, and this is none.")
            )
        self._begun = True
        at_ms = self._clock.to_ms(entry.local_s, entry.millis, entry.offset_s)
        self._settings_at = at_ms if entry.message.startswith(BEGIN) else None
        if not entry.whole:
            self._open = entry.message.startswith("[Group")
            return Unmatched(entry.logger)
        for setting in (version_of, group_version_of):
            if (found := setting(entry.message, entry.logger, at_ms)) is not None:
                return found
        name = self._class_of(entry.logger)
        return (
            Unmatched(entry.logger)
            if name is None
            else self._event(name, entry.logger, entry.level, entry.message, at_ms)
        )

    def _class_of(self, logger: str) -> str | None:
        """The coordinator's class that logs; "": the layout does not say; None: no
        coordinator's.
        """
        try:
            return self._classes[logger]
        except KeyError:
            simple = logger.rpartition(".")[2]
            known = simple in BY_CLASS or simple in IGNORED or not self._has_logger
            if len(self._classes) >= LOGGERS_MAX:
                self._classes.clear()
            name = self._classes[logger] = simple if known else None
            return name

    def _event(
        self, name: str, logger: str, level: str, message: str, at_ms: int
    ) -> LogEvent | Unmatched:
        prefix = _PREFIX.match(message)
        if len(message) > MESSAGE_MAX or (not name and prefix is None):
            return Unmatched(logger)
        found = match(
            BY_CLASS.get(name, _ALL if not name else _NO_TEMPLATES),
            message[prefix.end() :] if prefix else message,
        )
        if found is None:
            ignored = (
                name in IGNORED
                or message.startswith(_OTHER_COORDINATOR)
                or (level in ("DEBUG", "TRACE") and name in IGNORED_AT_DEBUG)
            )
            return LogEvent(event=HOUSEKEEPING, at_ms=at_ms) if ignored else Unmatched(logger)
        one, fields = found
        event = _event_of(one, fields, at_ms)
        if prefix is not None and event.offsets_partition is None and prefix["shard"] is not None:
            event.offsets_partition = int(prefix["shard"])
        return event


_ALL = tuple(dict.fromkeys(one for templates in BY_CLASS.values() for one in templates))


def _event_of(one: Template, fields: Fields, at_ms: int) -> LogEvent:
    event = LogEvent(event=one.event, at_ms=at_ms, **dict(one.fixed))  # type: ignore[arg-type]
    for name, text in fields.items():
        value: Any = int(text) if name in NUMBERS else text
        if name == "member_ids":
            value = member_ids_of(text)
        setattr(event, name, value)
    if event.client_reason in ("", "not provided"):
        event.client_reason = None
    if event.instance_id in ("null", "None"):
        event.instance_id = None
    if one.event == GROUPS_DELETED and event.detail is not None and ", " not in event.detail:
        event.group_id = event.detail
    if one.event == JOIN_PHASE_STARTED and event.detail is not None:
        split_reason(event, event.detail)
    return event
