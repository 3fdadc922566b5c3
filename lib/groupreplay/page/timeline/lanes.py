"""Lanes of the timeline: clients, or processes of Kafka Streams, not member ids. Lives of members
that follow one another share a lane; of a client that is there twice at once each has its own.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from groupreplay.page.drawing.markup import plain_name
from groupreplay.page.model.life import GroupLife, Member
from groupreplay.page.model.life_of_tasks import Process

MOST_LANES: Final = 40


@dataclass(slots=True)
class Lane:
    """name, more: its label, in two lines.
    members: members in order of time; those of a process may be there at once.
    twice: a lane above it is the same client.
    """

    key: Hashable
    name: str | None
    more: str
    members: list[Member] = field(default_factory=list)
    twice: bool = False
    process: Process | None = None


@dataclass(frozen=True, slots=True)
class Lanes:
    """shown: lanes from top to bottom.
    row: member id -> place of its lane in shown.
    member: member id -> the member.
    process_row: process id -> place of its lane in shown.
    left_out: lanes for which there is no room.
    """

    shown: tuple[Lane, ...]
    row: Mapping[str, int]
    member: Mapping[str, Member]
    process_row: Mapping[str, int]
    left_out: int

    def client(self, member_id: str | None) -> str:
        """How people call a member: its client id."""
        found = None if member_id is None else self.member.get(member_id)
        if found is not None:
            return plain_name(found.client_id or found.member_id)
        return plain_name(None if member_id is None else member_id[:16])

    def process(self, process_id: str | None) -> str:
        if process_id is None:
            return plain_name(None)
        row = self.process_row.get(process_id)
        return process_id[-8:] if row is None else plain_name(self.shown[row].name)


def lanes_of(life: GroupLife, most: int = MOST_LANES) -> Lanes:
    """Lanes of members that were there in the time that is shown, those to which something happened
    first where there are too many.
    """
    start = life.from_at_ms or 0
    there = [each for each in life.members if each.ended_at_ms is None or each.ended_at_ms >= start]
    lanes = _by_process(life, there) if life.processes else _by_client(there)
    left_out = max(0, len(lanes) - most)
    if left_out:
        touched = _touched(life)
        lanes.sort(key=lambda lane: -sum(each.member_id in touched for each in lane.members))
        lanes = lanes[:most]
    lanes.sort(key=lambda lane: (natural(lane.name), natural(lane.more), _first_ms(lane)))
    for above, lane in pairwise(lanes):
        lane.twice = above.key == lane.key
    return Lanes(
        shown=tuple(lanes),
        row={each.member_id: row for row, lane in enumerate(lanes) for each in lane.members},
        member={each.member_id: each for each in life.members},
        process_row={
            lane.process.process_id: row for row, lane in enumerate(lanes) if lane.process
        },
        left_out=left_out,
    )


def _by_client(members: list[Member]) -> list[Lane]:
    lanes: list[Lane] = []
    open_lanes: dict[Hashable, list[Lane]] = {}
    for each in members:
        key = each.instance_id or (each.client_id, each.client_host)
        home = next((lane for lane in open_lanes.get(key, []) if _has_ended(lane, each)), None)
        if home is None:
            home = Lane(key, each.instance_id or each.client_id, each.client_host or "")
            open_lanes.setdefault(key, []).append(home)
            lanes.append(home)
        home.members.append(each)
    return lanes


def _has_ended(lane: Lane, before: Member) -> bool:
    last = lane.members[-1]
    if last.life != before.life and last.end_reason != "OPEN":
        return True
    return last.ended_at_ms is not None and last.ended_at_ms <= before.joined_at_ms


def _by_process(life: GroupLife, members: list[Member]) -> list[Lane]:
    """A lane for each process, with the threads that are its members; what is of no known process
    by client.
    """
    lanes: dict[str, Lane] = {}
    others: list[Member] = []
    newest = {each.process_id: each for each in life.processes}
    for each in members:
        process = newest.get(each.process_id or "")
        if process is None:
            others.append(each)
            continue
        lane = lanes.get(process.process_id)
        if lane is None:
            name = _application_name(each)
            more = f"{process.process_id[-8:]} {' '.join(process.hosts)}".strip()
            lane = lanes[process.process_id] = Lane(process.process_id, name, more, process=process)
        lane.members.append(each)
    return [*lanes.values(), *_by_client(others)]


_THREAD: Final = re.compile(r"(-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?-StreamThread-\d+.*\Z")


def _application_name(member: Member) -> str | None:
    """The client id without what Kafka Streams adds for process and thread."""
    name = member.instance_id or member.client_id
    return None if name is None else _THREAD.sub("", name) or name


def _touched(life: GroupLife) -> set[str]:
    """Members to which something happened."""
    return {
        *[each.member_id for each in life.stuck if each.member_id is not None],
        *[each.member_id for each in life.spans if each.state != "STABLE"],
        *[each.member_id for each in life.members if each.ended_at_ms is not None],
        *[each.member_id for each in life.hand_overs],
    }


def _first_ms(lane: Lane) -> int:
    return min((each.joined_at_ms for each in lane.members), default=0)


def natural(text: str | None) -> list[tuple[int, int, str]]:
    """Sorts member-2 before member-10."""
    parts = re.findall(r"[0-9]{1,9}|[^0-9]+", text or "")
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
