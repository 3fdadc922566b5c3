"""An application of Kafka Streams with one thread a process, as its group's K2 shows it: what the
threads have, report and are given, generation by generation, by Kafka's own assignor.

What threads do between generations is played here, as TaskManager does it: a task that is taken
away leaves its state on disk (a dormant sum, the whole changelog), a replica that becomes active is
restored by the next join, all other sums stand still until the play moves them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.streams_harness.assignor import Assignor, Decision, Given, Settings, Thread

RUNNING = -2
REPLICAS = ("placeholder", "warmup", "standby")
"""Of a task that is owed to the process; of one that is wanted there; and any other."""
START_MS = 1_700_000_000_000
JOIN_MS = 3_000
"""From what began a join phase to its end: the heartbeats of the others."""
FOLLOW_UP_MS = 120
DECIDES_MS = 8
"""From the end of the join phase to the leader's decision, and from there to the record."""


@dataclass
class Process:
    """number: of its pinned process id. held: replicas. dormant: state on disk that nobody runs."""

    number: int
    member: int
    active: set[str] = field(default_factory=set)
    owned: set[str] = field(default_factory=set)
    held: dict[str, int] = field(default_factory=dict)
    dormant: dict[str, int] = field(default_factory=dict)
    generation: int = -1
    unique_field: int = 1

    @property
    def process_id(self) -> str:
        return f"00000000-0000-0000-0000-{self.number:012d}"

    @property
    def client_id(self) -> str:
        return f"app-s{self.number}-StreamThread-1-consumer"

    @property
    def member_id(self) -> str:
        return f"{self.client_id}-00000000-0000-0000-0000-{self.member:012d}"


class World:
    """entries, decided: of the scenario file that comes of it. settings, ends: of the application."""

    def __init__(self, assignor: Assignor, settings: Settings) -> None:
        self.settings = settings
        self.ends = {
            f"{number}_{partition}": 0
            for number, (partitions, stores) in enumerate(settings.subtopologies.values())
            for partition in range(partitions if stores else 0)
        }
        self.entries: list[Any] = []
        self.decided: list[dict[str, Any]] = []
        self._assignor = assignor
        self._processes: dict[str, Process] = {}
        self._gone: dict[str, Process] = {}
        self._members = 0
        self._generation = 0
        self._now = START_MS
        assignor.configure(settings)

    # ------------------------------------------------------------ what happens

    def write(self, records: int, *tasks: str) -> None:
        """So many records more in the changelogs of these tasks, of all if none is named."""
        for task in tasks or tuple(self.ends):
            self.ends[task] += records

    def load(self, name: str, **sums: int) -> None:
        """Replicas of a process got so far; T4=400."""
        for task, offset_sum in sums.items():
            assert task_of(task) in self._processes[name].held, (name, task)
            self._processes[name].held[task_of(task)] = offset_sum

    def flush(self, name: str, **records: int) -> None:
        """What a process that was asked to give up a task wrote before it did: its state has it."""
        for task, count in records.items():
            self.ends[task_of(task)] += count
            self._processes[name].dormant[task_of(task)] += count

    def load_all(self) -> None:
        for process in self._processes.values():
            process.held = {task: self.ends[task] for task in process.held}

    def generation(self, cause: str, join: str = "", leave: str = "") -> dict[str, Any]:
        """One more: names of processes with spaces between them. What was decided."""
        for name in leave.split():
            gone = self._gone[name] = self._processes.pop(name)
            running = gone.active & self.ends.keys()
            gone.dormant |= gone.held | {task: self.ends[task] for task in running}
        for name in join.split():
            self._processes[name] = self._started(name)
        self._now += FOLLOW_UP_MS if cause == "FOLLOWUP" else JOIN_MS
        if cause == "PROBING":
            self._now = max(self._now, self._next_probe() + JOIN_MS)
        self._generation += 1
        threads = {name: self._thread(process) for name, process in self._processes.items()}
        leader = next(iter(self._processes.values()))
        decision = self._assignor.assign(
            leader.member_id, self._now, self.ends, list(threads.values())
        )
        wanted = self._wanted(leader)
        self._note_k2(leader, threads, decision)
        self._note_decision(cause, decision, wanted)
        self._give(decision)
        return self.decided[-1]

    def until_stable(self, most: int = 12) -> None:
        """Follow-ups and probes, with every replica loaded, until nothing is scheduled."""
        for _ in range(most):
            last = self.decided[-1]
            if "FOLLOWUP" in last["next"].values():
                self.generation("FOLLOWUP")
            elif last["next"]:
                self.load_all()
                self.generation("PROBING")
            else:
                return
        raise AssertionError("not stable")

    # ------------------------------------------------------------ before

    def _started(self, name: str) -> Process:
        """A thread that is new; with the state on disk that its process left."""
        self._members += 1
        process = Process(int(name.removeprefix("S")), self._members)
        if before := self._gone.pop(name, None):
            process.dormant = before.dormant
        return process

    def _thread(self, process: Process) -> Thread:
        process.unique_field += 1
        running = {task: RUNNING for task in process.active if task in self.ends}
        return Thread(
            process.member_id,
            process.process_id,
            tuple(sorted(process.owned)),
            process.generation,
            process.unique_field,
            process.dormant | process.held | running,
        )

    def _wanted(self, leader: Process) -> dict[str, list[str]]:
        """Where each stateful task is once all have caught up: what the assignor decides where
        nobody has anything.
        """
        fresh = [Thread(one.member_id, one.process_id) for one in self._processes.values()]
        nothing = dict.fromkeys(self.ends, 0)
        decided = self._assignor.assign(leader.member_id, self._now, nothing, fresh).decided
        return {
            name: [task for task in decided[one.process_id][0] if task in self.ends]
            for name, one in self._processes.items()
        }

    def _next_probe(self) -> int:
        return max(each for each in self.decided[-1]["next"].values() if isinstance(each, int))

    # ------------------------------------------------------------ after

    def _note_k2(self, leader: Process, threads: dict[str, Thread], decision: Decision) -> None:
        members = {}
        for name, thread in threads.items():
            given, process = decision.given[thread.member_id], self._processes[name]
            members[thread.member_id] = {
                "client": process.client_id,
                "topics": [*self.settings.subtopologies],
                "owned": _by_topic(thread.owned),
                "joined_in": thread.generation,
                "said": given.said,
                "assigned": _by_topic(given.partitions),
                "given": given.data,
            }
        self.entries += [
            {"at": self._now + DECIDES_MS},
            {
                "k2": self._generation,
                "protocol": "stream",
                "leader": leader.member_id,
                "stamp": self._now - DECIDES_MS,
                "members": members,
            },
        ]

    def _note_decision(self, cause: str, decision: Decision, wanted: dict[str, list[str]]) -> None:
        noted: dict[str, Any] = {"generation": self._generation, "cause": cause}
        noted |= {word: {} for word in ("active", "owed", *REPLICAS, "revoked", "next")}
        for name, process in self._processes.items():
            given = decision.given[process.member_id]
            owed = set(decision.decided[process.process_id][0]) - set(given.active)
            replicas = set(given.standby) - owed
            noted["active"][name] = [*given.active]
            self._put(noted["owed"], name, owed)
            self._put(noted["placeholder"], name, set(given.standby) & owed)
            self._put(noted["warmup"], name, replicas & set(wanted[name]))
            self._put(noted["standby"], name, replicas - set(wanted[name]))
            self._put(noted["revoked"], name, process.active - set(given.active))
            if given.next_ms is not None:
                noted["next"][name] = given.next_ms or "FOLLOWUP"
        self.decided.append(noted | {"probing": decision.probes, "wanted": wanted})

    @staticmethod
    def _put(noted: dict[str, list[str]], name: str, tasks: Iterable[str]) -> None:
        if found := sorted(tasks):
            noted[name] = found

    def _give(self, decision: Decision) -> None:
        for process in self._processes.values():
            given: Given = decision.given[process.member_id]
            active, standby = set(given.active), set(given.standby)
            state = process.dormant | process.held
            state |= {task: self.ends[task] for task in process.active & self.ends.keys()}
            process.active, process.owned = active, set(given.partitions)
            process.held = {task: state.pop(task, 0) for task in sorted(standby)}
            process.dormant = {task: each for task, each in state.items() if task not in active}
            process.generation = self._generation


def task_of(name: str) -> str:
    """T4 -> 0_3: tasks as the drafts of the design name them."""
    return f"0_{int(name.removeprefix('T')) - 1}"


def _by_topic(partitions: Iterable[str]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for each in partitions:
        topic, _, number = each.rpartition("-")
        by_topic.setdefault(topic, []).append(int(number))
    return by_topic
