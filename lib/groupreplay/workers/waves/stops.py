"""What generations of an eager group stopped, by wave: a request log may say since when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groupreplay.workers.waves.gone_members import Chain, GoneMembers


@dataclass(slots=True, kw_only=True)
class Stops(GoneMembers):
    """Continues the row of a wave, which `joins.lines.rejoin_times` reads.

    stop_*: parallel lists, one element an event whose generation stopped partitions: when its K2
        was written, the generation, and how many these are.
    stop_member_ids, stop_partitions, stop_read_ms: of members that had them, as far as that was
        seen: the ids, how many each had, and for how long it may have read them, from the K2
        before; None where that is not known.
    """

    stop_times_at: list[int]
    stop_generations: list[int | None]
    stop_counts: list[int]
    stop_member_ids: list[list[str]]
    stop_partitions: list[list[int]]
    stop_read_ms: list[list[int | None]]


def members_stopped(chain: Chain) -> dict[int, list[tuple[str, int, int | None]]]:
    """Place of an event -> an element for each member: its id, partitions, and time to read."""
    found: dict[int, list[tuple[str, int, int | None]]] = {}
    names = ("stop_events", "stop_member_ids", "stop_partitions", "stop_read_ms")
    lists = [chain[name] for name in names]
    for place, member_id, partitions, read_ms in zip(*lists, strict=True):
        found.setdefault(place, []).append((member_id, partitions, read_ms))
    return found


def stops(chain: Chain, places: Sequence[int]) -> dict[str, Any]:
    """The fields of Stops.

    chain: with its `stops`, by `members_stopped`.
    places: places in the chain of the events of the wave that stopped partitions.
    """
    by_member = [chain["stops"].get(place, ()) for place in places]
    return {
        "stop_times_at": [chain["times_at"][place] for place in places],
        "stop_generations": [chain["group_epochs"][place] for place in places],
        "stop_counts": [chain["stop_counts"][place] for place in places],
        "stop_member_ids": [[member_id for member_id, _, _ in each] for each in by_member],
        "stop_partitions": [[partitions for _, partitions, _ in each] for each in by_member],
        "stop_read_ms": [[read_ms for _, _, read_ms in each] for each in by_member],
    }
