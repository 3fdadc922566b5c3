"""What was done to the groups of a recording or to its cluster, and what clients saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Injected:
    """One thing that was done to the groups or the cluster, or what a client saw. what: start,
    crash, freeze, close, subscribe, delete, elect, refused, ..

    The rest is None, or -1, where it is about none. broker: that led the partition, or did it
    itself; broker_at: by its clock. armed_at: of a session that ran out, since when the
    coordinator had waited. took_ms: of a load. states: of a resignation, classic group -> its
    state in the memory of who led.
    """

    at: int
    what: str
    detail: str
    group_id: str | None = None
    member_id: str | None = None
    offsets_partition: int = -1
    broker: int = -1
    broker_at: int = -1
    armed_at: int = -1
    took_ms: int = -1
    states: Mapping[str, str] = field(default_factory=dict)


def injected_of(line: dict[str, Any]) -> Injected:
    """Of a line of the timeline."""
    who, states = (line.get("g"), line.get("m")), line.get("st", {})
    where = (line.get(name, -1) for name in ("p", "br", "bt", "armed", "ms"))
    partition, broker, broker_at, armed_at, took_ms = where
    place = partition, broker, broker_at, armed_at, took_ms
    return Injected(line["t"], line["what"], line["detail"], *who, *place, states)
