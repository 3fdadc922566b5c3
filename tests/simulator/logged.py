"""What coordinators' loggers were called with, as a recording's `truth/logged.jsonl.gz` tells it: the
text before its values were put in, and these values."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple


class Logged(NamedTuple):
    """One call of a logger of Kafka's.

    at: true time; broker_at: by the broker's clock. position: where its line begins in the
    broker's log. says, values: the text with {} for each value. kind, asked_by, reason: what was
    asked of the coordinator, by whom, and why (of a timer or task its name); "" where nobody
    asked. client_reason: of a join or a leave, as the client gave it.
    """

    at: int
    broker: int
    broker_at: int
    position: int
    says: str
    values: Sequence[str]
    kind: str
    asked_by: str
    reason: str
    client_reason: str | None


class Calls:
    """Of all brokers of a recording; read when they are first asked for."""

    def __init__(self, recording: Path) -> None:
        self._file = recording / "truth" / "logged.jsonl.gz"

    @cached_property
    def all(self) -> list[Logged]:
        """In the order in which they were made."""
        if not self._file.exists():
            return []
        with gzip.open(self._file, "rt", encoding="utf-8") as text:
            return [_call(line) for line in map(json.loads, text)]


def _call(line: dict[str, Any]) -> Logged:
    place = line["t"], line["br"], line["bt"], line["at"]
    asked = line.get("op", ""), line.get("m", ""), line.get("why", "")
    return Logged(*place, line["say"], line["with"], *asked, line.get("reason"))
