"""What a recording of Kafka Streams says truly happened: the decisions of leaders, what threads
were given, the broker's debug log, and what the script did. Reads no coordinator record.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.support.recordings import recordings
from tests.truth.streams_logs import (
    BrokerLog,
    ClientLog,
    Decision,
    Generation,
    Given,
    ProcessSaid,
    Tasks,
    read_client_log,
)
from tests.truth.truth import KNOWN, Truth

OF_STREAMS = [name for name in KNOWN if name.startswith("streams-")]

DECIDES_WITHIN_MS = 5_000
"""Between a leader's last word of a decision and the broker's line that it came."""
JUST_GIVEN_MS = 20
"""A thread's clock may be so much ahead of the broker's."""


@dataclass(frozen=True, slots=True)
class Led:
    """A generation of a classic group as its leader decided it.

    active: who runs each task. copies: (task, member) of each replica.
    owed: process to which a task is owed. held_open: (task, member) of what stands, as a replica,
        for a task that is owed, where there was no replica before: no such thing is kept up.
    wanted: process where the highly available assignor wants each task with state.
    """

    group: str
    number: int
    reason: str
    joined_at: int
    decided_at: int
    leader: str
    said: Decision
    active: dict[str, str]
    copies: frozenset[tuple[str, str]]
    owed: dict[str, str]
    held_open: frozenset[tuple[str, str]]
    wanted: dict[str, str]

    @property
    def members(self) -> set[str]:
        return set(self.said.active)

    def process(self, member: str) -> str:
        return self.said.process_of[member]

    def runner(self, task: str) -> str | None:
        """The process that runs a task."""
        return self.process(self.active[task]) if task in self.active else None

    def runs(self, member: str) -> Tasks:
        return frozenset(task for task, owner in self.active.items() if owner == member)

    def keeps(self, member: str) -> dict[str, str]:
        """The replicas of a member, task -> role: a replica where the task is wanted, and does not
        run, is a warm-up.
        """
        process = self.process(member)
        return {
            task: "WARMUP"
            if self.wanted.get(task) == process and self.runner(task) != process
            else "STANDBY"
            for task, holder in self.copies
            if holder == member
        }

    def has_copy(self, task: str, process: str) -> bool:
        return any(task == each and self.process(holder) == process for each, holder in self.copies)

    def told(self, process: str) -> ProcessSaid | None:
        return self.said.told.get(process)

    @property
    def misplaced(self) -> int:
        """Tasks that neither run where they are wanted nor are owed to there."""
        return sum(
            process not in (self.runner(task), self.owed.get(task))
            for task, process in self.wanted.items()
        )


class StreamsTruth(Truth):
    """One recording's truth of its Kafka Streams applications. A client is one process."""

    def __init__(self, recording: Path) -> None:
        super().__init__(recording)
        begun = [event for event in self.timeline if event["action"] == "process"]
        self.group_of: dict[str, str] = {event["member"]: event["group"] for event in begun}
        self.process: dict[str, str] = {event["member"]: event["process"] for event in begun}
        self.groups = sorted(set(self.group_of.values()))
        self.settings, self.starts = self._started()
        self.logs: dict[str, ClientLog] = {
            client: read_client_log(recording / "truth" / f"app-{client}.log.gz")
            for client in self.group_of
        }
        self.broker = BrokerLog()
        for path in sorted(recording.glob("truth/*coordinator-debug.log.gz")):
            self.broker.read(path)
        self.led = {group: self._decided(group) for group in self.groups}

    def _started(self) -> tuple[dict[str, dict[str, str]], dict[str, list[tuple[int, bool]]]]:
        """client -> its settings; client -> (when it was started, by the streams protocol)."""
        settings: dict[str, dict[str, str]] = {}
        starts: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for event in self.timeline:
            if event["action"] == "start" and event.get("member") in self.group_of:
                told = dict(arg.split("=", 1) for arg in event["args"] if "=" in arg)
                settings[event["member"]] = told
                starts[event["member"]].append(
                    (event["at"], told.get("group.protocol") == "streams")
                )
        return settings, starts

    def _decided(self, group: str) -> list[Led]:
        """The generations that a leader decided, in order."""
        decisions = [
            decision
            for client, log in self.logs.items()
            if self.group_of[client] == group
            for decision in log.decisions
        ]
        found: list[Led] = []
        for generation in self.broker.generations[group]:
            at = generation.decided_at
            near = [
                decision
                for decision in decisions
                if at is not None
                and decision.number == generation.number
                and abs(decision.ended_at - at) <= DECIDES_WITHIN_MS
            ]
            if near:
                found.append(_led(generation, near[0], found[-1] if found else None))
        return found

    # ------------------------------------------------------------ what is asked of it

    @cached_property
    def process_of(self) -> dict[str, str]:
        """Of each member."""
        found = dict(self.broker.process_of)
        for leds in self.led.values():
            for led in leds:
                found |= led.said.process_of
        for log in self.logs.values():
            for thread, joins in log.joins.items():
                found |= dict.fromkeys(
                    (joined.member for joined in joins), self.process[_client_of(thread)]
                )
        return found

    def client(self, member_id: str) -> str:
        """The client id of a member's process."""
        return _client_of(self.thread_of(member_id))

    def thread_of(self, member_id: str) -> str:
        """The client id of a member, which is a thread."""
        return self.clients.get(member_id) or self.broker.client_of.get(member_id, member_id)

    def setting(self, group: str, name: str, default: str) -> str:
        """What the clients of a group were told; the same to all."""
        told = {
            settings[name]
            for client, settings in self.settings.items()
            if self.group_of[client] == group and name in settings
        }
        return max(told, default=default)

    def given_by_leaders(self) -> Iterator[tuple[str, str, Given, Led]]:
        """(group, member, what its thread was given, the generation) of classic groups: a thread
        handles one generation before the next is decided. Those that were thrown out meanwhile
        are left out.
        """
        for client, log in self.logs.items():
            group = self.group_of[client]
            for given in log.given:
                joined = [
                    each for each in log.joins[f"{given.thread}-consumer"] if each.at <= given.at
                ]
                led = [
                    each for each in self.led[group] if each.decided_at <= given.at + JUST_GIVEN_MS
                ]
                is_streams = max(start for start in self.starts[client] if start[0] <= given.at)[1]
                if joined and led and not is_streams and led[-1].number == joined[-1].number:
                    yield group, joined[-1].member, given, led[-1]

    def went(self, group: str) -> list[int]:
        """When a member of a streams group left or was fenced."""
        return sorted(
            state.at
            for (each, _), states in self.broker.states.items()
            for state in states
            if each == group and state.is_gone
        )

    def lives_end(self, group: str) -> list[int]:
        """When a group was deleted, or made another kind: what it counts begins anew."""
        return [
            event["at"]
            for event in self.timeline
            if event["action"] in ("group_deleted", "converts") and event["scenario"] == group
        ]


@cache
def streams_truth_of(recording: str) -> StreamsTruth:
    return StreamsTruth(recordings()[recording])


def balanced(threads: dict[str, int], tasks: Tasks) -> dict[str, str]:
    """The process where the highly available assignor wants each task: dealt in order, then moved
    while that evens out tasks a thread. By HighAvailabilityTaskAssignor, from processes, their
    threads and tasks alone.
    """

    def order(process: str) -> tuple[int, ...]:
        value = uuid.UUID(process).bytes  # each half as a signed number, as Java compares them
        return tuple(int.from_bytes(half, signed=True) for half in (value[:8], value[8:]))

    def number(task: str) -> tuple[int, ...]:
        return tuple(map(int, task.split("_")))

    def is_better(source: str, target: str) -> bool:
        before = len(has[source]) / threads[source] - len(has[target]) / threads[target]
        after = (len(has[source]) - 1) / threads[source] - (len(has[target]) + 1) / threads[target]
        return 0 <= after < before

    processes = sorted(threads, key=order)
    has: dict[str, set[str]] = {process: set() for process in processes}
    for place, task in enumerate(sorted(tasks, key=number)):
        has[processes[place % len(processes)]].add(task)
    moved = True
    while moved:
        moved = False
        for source in processes:
            for target in processes:
                for task in sorted(has[source], key=number):
                    if source == target or not is_better(source, target):
                        break
                    has[source].remove(task)
                    has[target].add(task)
                    moved = True
    return {task: process for process, held in has.items() for task in held}


def _client_of(thread: str) -> str:
    return thread.split("-StreamThread")[0]


def _led(generation: Generation, said: Decision, before: Led | None) -> Led:
    process_of = said.process_of
    withheld = {(task, member) for task, member in said.owed}
    owed = {task: process_of[member] for task, member in said.owed}
    assert generation.decided_at is not None
    held_open = frozenset(
        (task, member)
        for task, member in said.kept
        if before is None or not before.has_copy(task, process_of[member])
    )
    copies = {(task, member) for member, tasks in said.standby.items() for task in tasks}
    return Led(
        generation.group,
        generation.number,
        generation.reason,
        generation.joined_at,
        generation.decided_at,
        generation.leader,
        said,
        active={
            task: member
            for member, tasks in said.active.items()
            for task in tasks
            if (task, member) not in withheld
        },
        copies=frozenset((copies | said.kept) - held_open),
        owed=owed,
        held_open=held_open,
        wanted=balanced({p: told.threads for p, told in said.told.items()}, said.stateful)
        if said.told
        else {},
    )
