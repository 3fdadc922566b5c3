"""Who was in a group of Kafka Streams, at any time: threads and the processes that they are of. By
the words of leaders, by the threads that joined, and by the broker's debug log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from tests.truth.streams_truth import StreamsTruth

Members = dict[str, str]
"""Member -> its process."""


@dataclass(slots=True)
class ProcessLife:
    """A process in a group, from its first member to its last. left_at: None while it is there.

    restarts: how often, until its end, all its members were others than before. A thread that was
        fenced, and is back under its id, ran on.
    """

    process: str
    joined_at: int
    left_at: int | None = None
    threads: int = 0
    members: set[str] = field(default_factory=set)
    restarts: int = 0


def memberships(truth: StreamsTruth, group: str) -> list[tuple[int, Members]]:
    """(when, who was in the group from then on), in order."""
    changes: list[tuple[int, Members | None, Members]] = []
    for led in truth.led[group]:
        changes.append((led.decided_at, dict(led.said.process_of), {}))
    for at in truth.broker.empties[group]:
        changes.append((at, {}, {}))
    for (each, member), states in truth.broker.states.items():
        if each == group:
            process, is_there = truth.process_of[member], False
            for state in states:
                if is_there == state.is_gone:
                    is_there = not state.is_gone
                    changes.append((state.at, None, {member: process if is_there else ""}))
    changes += [(at, None, came) for at, came in _static_returns(truth, group)]
    found: list[tuple[int, Members]] = []
    for at, all_of_them, some in sorted(changes, key=lambda change: change[0]):
        now = dict(found[-1][1] if found else {}) if all_of_them is None else all_of_them
        now |= some
        found.append((at, {member: process for member, process in now.items() if process}))
    return found


def _static_returns(truth: StreamsTruth, group: str) -> list[tuple[int, Members]]:
    """A static member that is back goes on in the generation of its former self, which goes."""
    found = []
    for client, log in truth.logs.items():
        if truth.group_of[client] != group:
            continue
        for joins in log.joins.values():
            for before, now in pairwise(joins):
                led = [each for each in truth.led[group] if each.decided_at <= now.at]
                is_another = before.member != now.member
                if led and is_another and led[-1].number == now.number:
                    came = {before.member: "", now.member: truth.process[client]}
                    found.append((now.at, came))
    return found


def process_lives(truth: StreamsTruth, group: str) -> list[ProcessLife]:
    """In the order in which they began. What a life of the group counts begins anew with it."""
    found: list[ProcessLife] = []
    there: dict[str, ProcessLife] = {}
    present: dict[str, set[str]] = {}
    gone: dict[str, ProcessLife] = {}
    ends = truth.lives_end(group)
    last_at = 0
    for at, members in memberships(truth, group):
        if any(last_at < end <= at for end in ends):
            gone.clear()
        last_at = at
        now: dict[str, set[str]] = {}
        for member, process in members.items():
            now.setdefault(process, set()).add(member)
        for process in there.keys() - now.keys():
            there[process].left_at = at
            gone[process] = there.pop(process)
        for process, threads in sorted(now.items()):
            life = there.get(process)
            if life is None:
                life = there[process] = ProcessLife(process, at)
                if (earlier := gone.pop(process, None)) is not None:
                    life.restarts = earlier.restarts + (not threads & earlier.members)
                found.append(life)
            elif not threads & present[process]:
                life.restarts += 1
            life.threads = max(life.threads, len(threads))
            life.members |= threads
        present = now
    return found


def returns(truth: StreamsTruth, group: str) -> dict[str, list[int]]:
    """Thread -> when, after it had been removed, it was back, under its member id or another."""
    ids: dict[str, str] = {}
    found: dict[str, list[int]] = {}
    before: Members = {}
    for at, members in memberships(truth, group):
        for member in sorted(members.keys() - before.keys()):
            thread = truth.thread_of(member)
            known = ids.get(thread)
            if known is not None and (known == member or known not in members):
                found.setdefault(thread, []).append(at)
            ids[thread] = member
        before = members
    return found
