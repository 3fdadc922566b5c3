"""What rows of waves say alike: of which life they are, and who went or was taken over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Chain = Mapping[str, Any]
"""Fields of a `Churn`."""


@dataclass(slots=True, kw_only=True)
class GoneMembers:
    """Begins each row of a wave.

    gone_*: parallel lists, one element a member that went (kind G) or was taken over (R);
        `joins.lines.departure_ends` reads them.
    gone_rejoins: it joined again under its id, within the chain.
    gone_kept_ms, gone_kept: for how long it had had its partitions that got another holder, and how
        many it had for so long, as far as that was seen.
    """

    group_id: str
    incarnation: int
    offsets_partition: int
    log_incarnation: int | None
    gone_kinds: list[str]
    gone_member_ids: list[str]
    gone_times_at: list[int]
    gone_protocols: list[str]
    gone_modes: list[str]
    gone_silences_ms: list[int | None]
    gone_sessions_ms: list[int | None]
    gone_rebalances_ms: list[int | None]
    gone_ends: list[str | None]
    gone_rejoins: list[bool]
    gone_removed: list[int]
    gone_kept_ms: list[list[int]]
    gone_kept: list[list[int]]


_PLACE: Final = ("group_id", "incarnation", "offsets_partition", "log_incarnation")
_GONE: Final = {
    "kinds": "event_kinds",
    "member_ids": "member_ids",
    "times_at": "times_at",
    "protocols": "member_protocols",
    "modes": "group_modes",
    "silences_ms": "silences_ms",
    "sessions_ms": "own_sessions_ms",
    "rebalances_ms": "own_rebalances_ms",
    "ends": "record_ends",
    "removed": "removed_counts",
}
"""Field of GoneMembers, behind `gone_` -> field of a `Churn`."""


def gone_members(chain: Chain, gone: Iterable[int]) -> dict[str, Any]:
    """The fields of GoneMembers.

    chain: with its `last_joins` and `kept`.
    gone: places in the chain of the events by which members went or were taken over.
    """
    places, last_joins, kept = [*gone], chain["last_joins"], chain["kept"]
    return {
        **{name: chain[name] for name in _PLACE},
        **{f"gone_{name}": [chain[of][i] for i in places] for name, of in _GONE.items()},
        "gone_kept_ms": [[ms for ms, _ in kept.get(i, ())] for i in places],
        "gone_kept": [[count for _, count in kept.get(i, ())] for i in places],
        "gone_rejoins": [last_joins.get(chain["member_ids"][i], -1) > i for i in places],
    }


def kept_times(chain: Chain) -> dict[int, list[tuple[int, int]]]:
    """Place of an event -> for how long its member had had how many partitions."""
    found: dict[int, list[tuple[int, int]]] = {}
    lists = (chain["kept_events"], chain["kept_ms"], chain["kept_counts"])
    for place, kept_ms, count in zip(*lists, strict=True):
        found.setdefault(place, []).append((kept_ms, count))
    return found


def last_joins(chain: Chain) -> dict[str, int]:
    """Member id -> place of the last event of the chain by which it joined."""
    events = zip(chain["event_kinds"], chain["member_ids"], strict=True)
    return {member: place for place, (kind, member) in enumerate(events) if kind == "J"}
