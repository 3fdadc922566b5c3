"""Rows of `raw_lines` under way, and what one file comes to: gathered as tuples, handed on as
column lists.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Final

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text.text_units import TextUnit

LINE, FILE, DAMAGE = "line", "file", "damage"

EVENT_FIELDS: Final = tuple(each.name for each in fields(LogEvent))
COLUMNS: Final = (
    *("kind", "source", "input", "broker", "position"),
    *EVENT_FIELDS,
    *("last_ms", "requests", "longest_gap_ms", "last_position", "line", "counts"),
)
"""All columns of `raw_lines` but cluster and logical_date."""

LINE_CAP: Final = 8 << 10
"""Bytes kept of the text of a line; the rest is still in the source."""
DAMAGE_CAP: Final = 1 << 10

LOGGERS_TOLD: Final = 50
OTHER_LOGGERS: Final = "(others)"
_LOGGERS_HELD: Final = 5_000
_LOGGER_CHARS: Final = 200

_event_values = attrgetter(*EVENT_FIELDS)
_NO_EVENT: Final = tuple([None] * len(EVENT_FIELDS))
_DETAIL: Final = EVENT_FIELDS.index("detail")

Row = tuple[Any, ...]
"""COLUMNS without source, input and broker, which are the unit's own."""


@dataclass(slots=True)
class LineCounts:
    """What became of the lines of one stretch: lines = matched + unmatched + continuation + passed
    + damaged + too_long.

    matched: lines that say something that is known.
    unmatched: whole lines that no template knows.
    continuation: lines that continue the line before them.
    passed: lines of a request log that are of other APIs.
    reduced: requests that stand in another row.
    first_ms, last_ms: oldest and newest time of the matched lines, -1 for none.
    loggers: unmatched lines by logger.
    """

    lines: int = 0
    matched: int = 0
    unmatched: int = 0
    continuation: int = 0
    passed: int = 0
    damaged: int = 0
    too_long: int = 0
    reduced: int = 0
    first_ms: int = -1
    last_ms: int = -1
    loggers: Counter[str] = field(default_factory=Counter)

    def saw(self, at_ms: int) -> None:
        """Notes the time of a line that was matched."""
        if at_ms > self.last_ms:
            self.last_ms = at_ms
        if at_ms < self.first_ms or self.first_ms < 0:
            self.first_ms = at_ms

    def add_unmatched(self, logger: str) -> None:
        self.unmatched += 1
        self.loggers[logger[:_LOGGER_CHARS]] += 1
        if len(self.loggers) > _LOGGERS_HELD:
            self.loggers = Counter(self.told_loggers())

    def told_loggers(self) -> dict[str, int]:
        """Unmatched lines by logger, most first; all but the first LOGGERS_TOLD together."""
        told = Counter(self.loggers)
        others = told.pop(OTHER_LOGGERS, 0)
        most = dict(sorted(told.items(), key=lambda each: (-each[1], each[0]))[:LOGGERS_TOLD])
        others += told.total() - sum(most.values())
        return most | ({OTHER_LOGGERS: others} if others else {})


@dataclass(slots=True)
class _Damage:
    position: int
    reason: str
    line: bytes
    lines: int
    size: int
    last_position: int


class TextRows:
    """Rows of one unit."""

    def __init__(self, unit: TextUnit) -> None:
        self._unit = unit
        self._damage: _Damage | None = None
        self.rows: list[Row] = []

    def take(self) -> dict[str, list[Any]]:
        """The rows gathered so far, as columns."""
        rows, self.rows = self.rows, []
        columns: list[list[Any]] = (
            [list(column) for column in zip(*rows, strict=True)]
            if rows
            else [[] for _ in range(len(COLUMNS) - 3)]
        )
        columns[1:1] = [
            [value] * len(rows) for value in (self._unit.kind, self._unit.path, self._unit.broker)
        ]
        return dict(zip(COLUMNS, columns, strict=True))

    def add_event(self, event: LogEvent, position: int, line: bytes) -> None:
        """A line that says one thing, or one of the things it says."""
        at_ms = event.at_ms
        self.rows.append(
            (
                LINE,
                position,
                *_event_values(event),
                at_ms,
                1,
                0,
                position,
                _text(line, LINE_CAP),
                None,
            )
        )

    def add_run(
        self,
        event: LogEvent,
        position: int,
        last_ms: int,
        requests: int,
        longest_gap_ms: int,
        last_position: int,
    ) -> None:
        """Requests of one member that say the same, as one row: that of the first, without its
        text.
        """
        self.rows.append(
            (
                LINE,
                position,
                *_event_values(event),
                last_ms,
                requests,
                longest_gap_ms,
                last_position,
                None,
                None,
            )
        )

    def add_damage(self, position: int, reason: str, line: bytes, size: int) -> None:
        """A damaged line; those that follow one another become one row."""
        if self._damage is None:
            self._damage = _Damage(position, reason, line[:DAMAGE_CAP], 0, 0, position)
        self._damage.lines += 1
        self._damage.size += size
        self._damage.last_position = position

    def end_damage(self) -> None:
        """What was damaged so far stands for itself."""
        damage, self._damage = self._damage, None
        if damage is not None:
            values: list[Any] = list(_NO_EVENT)
            values[_DETAIL] = damage.reason
            counts = json.dumps({"lines": damage.lines, "bytes": damage.size})
            text = _text(damage.line, DAMAGE_CAP)
            self.rows.append(
                (
                    DAMAGE,
                    damage.position,
                    *values,
                    None,
                    damage.lines,
                    None,
                    damage.last_position,
                    text,
                    counts,
                )
            )

    def add_failure(self, position: int, reason: str) -> None:
        """A file that ends too early, or cannot be read."""
        self.end_damage()
        self.add_damage(position, reason, b"", 0)
        self.end_damage()

    def add_file(self, counts: LineCounts, next_position: int | None, failure: str | None) -> None:
        """What the stretch came to."""
        unit = self._unit
        told = {
            each.name: getattr(counts, each.name)
            for each in fields(LineCounts)
            if each.name != "loggers"
        }
        about = {
            "identity": unit.identity,
            "size": unit.size,
            "from_position": unit.start_position,
            "next_position": next_position,
        }
        detail = json.dumps(
            {**about, **told, "loggers": counts.told_loggers(), "failure": failure},
            separators=(",", ":"),
        )
        self.rows.append(
            (FILE, unit.start_position, *_NO_EVENT, None, None, None, None, None, detail)
        )


def _text(line: bytes, cap: int) -> str:
    return line[:cap].decode("utf-8", "backslashreplace")
