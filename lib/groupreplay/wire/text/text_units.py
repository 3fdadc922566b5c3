"""What one task reads of text logs: a file, or a range of its bytes. Made by the plan, sent to the
tasks as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

END_OF_FILE = -1
"""As an end: as far as the file goes."""


@dataclass(frozen=True, slots=True)
class TextUnit:
    """One stretch of one file.

    kind: SERVER_LOG or REQUEST_LOG.
    path: local path or URI.
    size: bytes as stored when it was planned; what was appended later is not read.
    broker, timezone, layout, message_field, time_field: as its source has them.
    identity: what the log is known by (`sources.text_logs`), "" for a file with a failure.
    start_position, end_position: bounds in the unpacked text, bytes, the end exclusive or
        END_OF_FILE; a line belongs to the stretch in which it begins.
    last_ms: time of the newest line of this file that was landed before, -1 for none.
    failure: why it could not be read when it was planned, "" if it could.
    """

    kind: str
    path: str
    size: int
    broker: int
    timezone: str
    layout: str
    message_field: str | None
    time_field: str | None
    identity: str
    start_position: int = 0
    end_position: int = END_OF_FILE
    last_ms: int = -1
    failure: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> TextUnit:
        """Inverse of `to_json`. Raises TypeError or ValueError on any other text: only our own plan
        writes it.
        """
        return cls(**json.loads(text))
