"""What requests about a group were answered, as a recording's `truth/answers.jsonl.gz` tells it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import NamedTuple


class Answer(NamedTuple):
    """One answered request.

    received_at, at: when it came and when it was answered, by the clock of the broker. error: 14,
    15 or 16, that no coordinator is there; 0 of every other answer. kind, asked_by: as of
    operations.
    """

    at: int
    broker: int
    received_at: int
    error: int
    kind: str
    asked_by: str | None


class Answers:
    """Of all groups of a recording; read when they are first asked for."""

    def __init__(self, recording: Path) -> None:
        self._file = recording / "truth" / "answers.jsonl.gz"

    @cached_property
    def of_groups(self) -> dict[str, list[Answer]]:
        """group -> its answers, in the order of the brokers' clocks, as their logs tell them."""
        found: dict[str, list[Answer]] = defaultdict(list)
        with gzip.open(self._file, "rt", encoding="utf-8") as text:
            for line in map(json.loads, text):
                place = line["bt"], line["br"], line["rt"]
                told = line.get("err", 0), line["op"], line.get("m")
                found[line["g"]].append(Answer(*place, *told))
        for answers in found.values():
            answers.sort(key=lambda each: (each.at, each.broker))
        return found
