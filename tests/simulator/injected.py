"""What was done to the groups of a recording or to its cluster, and what clients saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

FREEZE: Final = "freeze"
"""A process stands still, for so many ms as `detail` ends with."""


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


def standstills(events: Iterable[Injected]) -> list[Injected]:
    """Events in order. A process that is frozen once more while it stands still goes on when the last
    of these is over (`Member.freeze`): they are one, which begins with the first.
    """
    found: list[Injected] = []
    frozen: dict[tuple[str | None, str | None], int] = {}
    for event in events:
        who = event.group_id, event.member_id
        place = frozen.get(who)
        if event.what == FREEZE and place is not None and event.at < _thaws_at(found[place]):
            found[place] = _until(found[place], max(map(_thaws_at, (found[place], event))))
            continue
        if event.what == FREEZE:
            frozen[who] = len(found)
        found.append(event)
    return found


def _thaws_at(freeze: Injected) -> int:
    return freeze.at + int(freeze.detail.split()[-1])


def _until(freeze: Injected, thaws_at: int) -> Injected:
    words = freeze.detail.split()[:-1]
    return replace(freeze, detail=" ".join([*words, str(thaws_at - freeze.at)]))
