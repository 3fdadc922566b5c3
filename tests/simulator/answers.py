"""What requests about groups were answered, as a recording's `truth/answers.jsonl.gz` tells it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple


class Answer(NamedTuple):
    """One answered request.

    received_at, at: when it came and when it was answered, by the clock of the broker; true_at: when
    it was answered. code: any error, 0 for none; of several partitions the first. kind, asked_by: as
    of operations. api:
    Kafka's name of the request. position, took_ms: where its line begins in the broker's request
    log, and how long it says that the request took. client_id, connection (address and port): who
    sent it. member_id, instance_id, epoch (or generation), session_timeout_ms: that the request
    gave; answered_member_id, answered_epoch: of the answer. message: text of the error; error_name:
    Kafka's name of it. reason: why, in the client's words. principal, software_name,
    software_version: as who the client authenticated, and by what library. None where there is
    none.
    """

    at: int
    broker: int
    received_at: int
    code: int
    kind: str
    asked_by: str | None
    api: str = ""
    position: int = -1
    took_ms: float = 0.0
    client_id: str | None = None
    connection: str | None = None
    member_id: str | None = None
    answered_member_id: str | None = None
    instance_id: str | None = None
    epoch: int | None = None
    answered_epoch: int | None = None
    session_timeout_ms: int | None = None
    message: str | None = None
    reason: str | None = None
    principal: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    error_name: str | None = None
    true_at: int = -1

    @property
    def error(self) -> int:
        """14, 15 or 16, that no coordinator is there; 0 of every other answer."""
        return self.code if self.code in NOBODY_THERE else 0

    @property
    def came_true_at(self) -> int:
        """When it came, by true time."""
        return self.true_at - (self.at - self.received_at)

    @property
    def client_host(self) -> str:
        """As Kafka writes an address."""
        return "/" + (self.connection or "").split(":")[0]

    @property
    def protocol(self) -> str | None:
        """That members speak who ask this; None of what any client may ask."""
        return _PROTOCOLS.get(self.api)

    @property
    def about(self) -> str | None:
        """Id of the member that it is about, which a join may have got by it."""
        return self.asked_by or self.answered_member_id

    @property
    def generation(self) -> int:
        """That a heartbeat or a sync of the classic protocol gave, -1 of any other request."""
        is_of_one = self.api in ("HEARTBEAT", "SYNC_GROUP")
        return self.epoch if is_of_one and self.epoch is not None else -1

    @property
    def joined(self) -> int:
        """Generation that a join was answered with; -1 of a refused one, and of other requests."""
        is_join = self.api == "JOIN_GROUP"
        return self.answered_epoch if is_join and self.answered_epoch is not None else -1

    @property
    def members(self) -> frozenset[str]:
        """Ids of who asked: the one it gave, and the one it was answered."""
        return frozenset({self.member_id, self.answered_member_id} - {None})  # type: ignore[arg-type]

    @property
    def logged_received_at(self) -> int:
        """When it came, as its line says."""
        return self.at - round(self.took_ms)


NOBODY_THERE: Final = frozenset({14, 15, 16})
"""Errors that say that no coordinator is there, or not yet."""

_PROTOCOLS: Final = {
    **dict.fromkeys(("JOIN_GROUP", "SYNC_GROUP", "HEARTBEAT", "LEAVE_GROUP"), "classic"),
    "CONSUMER_GROUP_HEARTBEAT": "consumer",
    "SHARE_GROUP_HEARTBEAT": "share",
    "STREAMS_GROUP_HEARTBEAT": "streams",
}

_NAMED: Final = {
    "client_id": "cl",
    "connection": "co",
    "member_id": "gm",
    "answered_member_id": "am",
    "instance_id": "gi",
    "epoch": "ge",
    "answered_epoch": "ae",
    "session_timeout_ms": "st",
    "message": "say",
    "reason": "why",
    "principal": "pn",
    "software_name": "sn",
    "software_version": "sv",
    "error_name": "error",
    "true_at": "t",
}


class Answers:
    """Of all groups of a recording; read when they are first asked for."""

    def __init__(self, recording: Path) -> None:
        self._file = recording / "truth" / "answers.jsonl.gz"

    @cached_property
    def of_groups(self) -> dict[str, list[Answer]]:
        """group -> its answers, in the order of the brokers' clocks, as their logs tell them."""
        return {
            group_id: sorted(answers, key=lambda each: (each.at, each.broker, each.position))
            for group_id, answers in self.in_order.items()
        }

    @cached_property
    def in_order(self) -> dict[str, list[Answer]]:
        """group -> its answers, in the order in which they were given."""
        found: dict[str, list[Answer]] = defaultdict(list)
        with gzip.open(self._file, "rt", encoding="utf-8") as text:
            for line in map(json.loads, text):
                found[line["g"]].append(_answer(line))
        return found


def _answer(line: dict[str, Any]) -> Answer:
    place = line["bt"], line["br"], line["rt"]
    told = line.get("code", 0), line["op"], line.get("m")
    named: dict[str, Any] = {field: line.get(name) for field, name in _NAMED.items()}
    return Answer(*place, *told, line["api"], line["at"], line["ms"], **named)
