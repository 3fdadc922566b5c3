"""What requests about groups were answered, as a recording's `truth/answers.jsonl.gz` tells it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """One answered request.

    received_at, at: when it came and when it was answered, by the clock of the broker. error: 14,
    15 or 16, that no coordinator is there; 0 of every other answer. kind, asked_by: as of
    operations. code: any error, 0 for none; of several partitions the first. api: Kafka's name of
    the request. position, took_ms: where its line begins in the broker's request log, and how long
    it says that the request took. member_id, instance_id, epoch: that the request gave (epoch: or
    generation); answered_member_id, answered_epoch: of the answer. client_id, client_host: who sent
    it. message: text of the error; error_name: Kafka's name of it. None where there is none.
    """

    at: int
    broker: int
    received_at: int
    error: int
    kind: str
    asked_by: str | None
    code: int = 0
    api: str = ""
    position: int = -1
    took_ms: float = 0.0
    client_id: str | None = None
    client_host: str | None = None
    member_id: str | None = None
    answered_member_id: str | None = None
    instance_id: str | None = None
    epoch: int | None = None
    answered_epoch: int | None = None
    session_timeout_ms: int | None = None
    message: str | None = None
    error_name: str | None = None

    @property
    def members(self) -> frozenset[str]:
        """Ids of who asked: the one it gave, and the one it was answered."""
        return frozenset({self.member_id, self.answered_member_id} - {None})  # type: ignore[arg-type]

    @property
    def logged_received_at(self) -> int:
        """When it came, as its line says."""
        return self.at - round(self.took_ms)


_NAMED = ("cl", "ho", "gm", "am", "gi", "ge", "ae", "st", "say", "error")


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
                found[line["g"]].append(_answer(line))
        for answers in found.values():
            answers.sort(key=lambda each: (each.at, each.broker, each.position))
        return found


def _answer(line: dict[str, Any]) -> Answer:
    place = line["bt"], line["br"], line["rt"]
    told = line.get("err", 0), line["op"], line.get("m")
    logged = line.get("code", 0), line["api"], line["at"], line["ms"]
    return Answer(*place, *told, *logged, *map(line.get, _NAMED))
