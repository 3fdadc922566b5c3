"""What was landed of brokers' logs, up to a night and in it: part of a run's plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, Final

from groupreplay.sources.text_logs import TextLanded
from groupreplay.wire.byte_stream import UNREADABLE

FORGOTTEN_AFTER: Final = timedelta(days=30)
"""A log that was not there for so long does not come back, and what was read of it need not be
known.
"""


@dataclass(frozen=True, slots=True)
class LinesLanding:
    """watermarks: by identity of a log, of all nights.
    sources: kinds ever landed.
    rows: of kind `line` that this night landed, kinds: of all its rows.
    raw_version: of `raw_lines` with all of it, -1 where this night has landed nothing.
    """

    watermarks: Mapping[str, TextLanded] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    rows: int = 0
    kinds: tuple[str, ...] = ()
    raw_version: int = -1

    @property
    def newest_ms(self) -> int:
        """Time of the newest line of all logs, -1 none."""
        return max((mark.last_ms for mark in self.watermarks.values()), default=-1)

    def next_night(self) -> LinesLanding:
        """Where the night after this one begins."""
        return replace(self, rows=0, kinds=(), raw_version=-1)

    def seen(self, identities: Iterable[str], logical_date: date) -> LinesLanding:
        """After these logs were there on a night, whether there was news in them or not. What was
        not there for long is forgotten.
        """
        there, night = set(identities), logical_date.isoformat()
        oldest = (logical_date - FORGOTTEN_AFTER).isoformat()
        marks = {
            identity: replace(mark, last_seen=max(mark.last_seen, night))
            if identity in there
            else mark
            for identity, mark in self.watermarks.items()
            if identity in there or mark.last_seen >= oldest
        }
        return replace(self, watermarks=marks)

    def landed(self, stretches: Iterable[Mapping[str, Any]], logical_date: date) -> LinesLanding:
        """After stretches of files were read. stretches: `counts` of their rows of kind `file`."""
        marks, read = dict(self.watermarks), set[str]()
        for told in stretches:
            identity, next_position = told["identity"], told["next_position"]
            if not identity:
                continue
            before = marks.get(identity, TextLanded(0, 0, -1, ""))
            again = (told["failure"] or "").startswith(UNREADABLE) or (
                identity in read and before.size < 0
            )
            read.add(identity)
            marks[identity] = TextLanded(
                next_position=max(before.next_position, next_position or 0),
                size=-1 if again else told["size"],
                last_ms=max(before.last_ms, told["last_ms"]),
                last_seen=max(before.last_seen, logical_date.isoformat()),
            )
        return replace(self, watermarks=marks)

    def to_json(self) -> str:
        marks = {
            identity: [mark.next_position, mark.size, mark.last_ms, mark.last_seen]
            for identity, mark in self.watermarks.items()
        }
        plain = {name: getattr(self, name) for name in ("sources", "rows", "kinds", "raw_version")}
        return json.dumps({"watermarks": marks, **plain}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> LinesLanding:
        """Inverse of `to_json`."""
        content = json.loads(text)
        return cls(
            watermarks={
                identity: TextLanded(*mark) for identity, mark in content["watermarks"].items()
            },
            sources=tuple(content["sources"]),
            rows=content["rows"],
            kinds=tuple(content["kinds"]),
            raw_version=content["raw_version"],
        )
