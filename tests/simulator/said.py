"""What a member of the classic protocol said when it joined, as Kafka's own client reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Said:
    """session_timeout_ms: its own. assignors: all that it offers, in order, in a consumer group;
    None in a classic one.

    The rest is of its subscription, in a consumer group of its first assignor's that parses; None
    where none does. version: of the layout. user_data: its length, bytes. owned: topic and
    partition, of what it lists as its own; generation: that it has these from, -1 of none, None
    where the version has no such field. assignment_user_data: of a classic group, bytes.
    """

    session_timeout_ms: int
    assignors: tuple[str, ...] | None = None
    version: int | None = None
    topics: frozenset[str] | None = None
    user_data: int | None = None
    owned: frozenset[tuple[str, int]] = frozenset()
    generation: int | None = None
    rack_id: str | None = None
    assignment_user_data: int | None = None


def said_of(told: dict[str, Any] | None) -> Said | None:
    """Of a line's `said`; None without one."""
    if told is None:
        return None
    return Said(
        session_timeout_ms=told["ss"],
        assignors=tuple(told["cp"]) if "cp" in told else None,
        version=told.get("v"),
        topics=frozenset(told["sub"]) if "sub" in told else None,
        user_data=told.get("ud"),
        owned=frozenset(
            (topic, number) for topic, numbers in told.get("own", {}).items() for number in numbers
        ),
        generation=told.get("gen"),
        rack_id=told.get("rk"),
        assignment_user_data=told.get("aud"),
    )
