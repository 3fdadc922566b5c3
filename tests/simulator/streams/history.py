"""Streams groups (KIP-1071) as the coordinator's own memory had them after each operation."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Between, OneOf
from tests.simulator.truth import STREAMS, Truth, recorded_lines
from tests.simulator.truth_log import Commit, CommitKey

ACTIVE, STANDBY, WARMUP = "ACTIVE", "STANDBY", "WARMUP"
_LETTERS: Final = {ACTIVE: "a", STANDBY: "s", WARMUP: "w"}
AWAY: Final = -2
"""The epoch of a static member that left for a while."""
STABLE, UNRELEASED, UNREVOKED = "STABLE", "UNRELEASED_TASKS", "UNREVOKED_TASKS"


class Task(NamedTuple):
    """A subtopology and a partition."""

    subtopology: str
    partition: int


Roles = Mapping[str, frozenset[Task]]
"""Role -> tasks."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A member of a streams group after an operation. endpoint: host:port. instance_id: of brokers
    from 4.4 on."""

    epoch: int
    state: str
    instance_id: str | None
    client_id: str
    host: str
    process_id: str
    endpoint: str | None
    tags: Mapping[str, str]
    rack_id: str | None
    topology_epoch: int
    rebalance_timeout_ms: int
    assigned: Roles
    pending: Roles
    target: Roles

    @property
    def is_away(self) -> bool:
        """Whether it left for a while; its tasks stay its own until its session ends."""
        return self.epoch == AWAY

    @property
    def held(self) -> dict[Task, str]:
        """Task -> role, of what it has or is to give up. A task in two roles is active (4.4)."""
        found: dict[Task, str] = {}
        for role in (WARMUP, STANDBY, ACTIVE):
            found |= dict.fromkeys(self.assigned[role] | self.pending[role], role)
        return found

    @property
    def metadata(self) -> tuple[Any, ...]:
        """What it says of itself, and every change of begins an epoch."""
        tags = tuple(sorted(self.tags.items()))
        said = self.client_id, self.host, self.process_id, self.endpoint, tags, self.rack_id
        return *said, self.topology_epoch, self.rebalance_timeout_ms


@dataclass(frozen=True, slots=True)
class Subtopology:
    """inputs, changelogs: names of topics."""

    inputs: tuple[str, ...]
    changelogs: tuple[str, ...]


@dataclass(slots=True)
class Step:
    """What one action of the coordinator wrote of a group, and the group as it was then. protocol:
    None where the group is gone. configs: of the last assignment."""

    at: int
    true_at: int
    offsets_partition: int
    first_offset: int
    last_offset: int
    kind: str
    asked_by: str | None
    reason: str
    records: tuple[str, ...]
    protocol: str | None
    epoch: int
    target_epoch: int | None
    validated_epoch: int
    topology_epoch: int
    metadata_hash: int
    configs: Mapping[str, str]
    subtopologies: Mapping[str, Subtopology]
    members: Mapping[str, Thread]

    @property
    def offsets(self) -> Between:
        """Where a row that it begins or ends may lie."""
        return Between(self.first_offset, self.last_offset)

    def heir_of(self, gone: Thread) -> str | None:
        """The member that has the instance of one that is gone."""
        for member_id, member in self.members.items():
            if gone.instance_id is not None and member.instance_id == gone.instance_id:
                return member_id
        return None

    @property
    def targets(self) -> dict[Task, str]:
        """Task -> the member that is to run it."""
        return {
            task: member_id
            for member_id, member in self.members.items()
            for task in member.target[ACTIVE]
        }

    @property
    def owners(self) -> dict[Task, str]:
        """Task -> the member that runs it, or is to give it up."""
        return {
            task: member_id
            for member_id, member in self.members.items()
            for task, role in member.held.items()
            if role == ACTIVE
        }

    def __str__(self) -> str:
        told = " | ".join(self.records)
        where = f"p{self.offsets_partition}:{self.first_offset}-{self.last_offset}"
        epochs = f"epoch={self.epoch} target={self.target_epoch} validated={self.validated_epoch}"
        return f"{self.at} {where} {self.kind} {self.asked_by} {self.reason} {epochs} {told}"


@dataclass(slots=True)
class StreamsLife:
    """One life of a streams group. steps: in order, all of the streams protocol. end: what removed
    it, or made it a classic group; before: the classic group that it was, None of any other."""

    group_id: str
    steps: list[Step]
    before: Step | None = None
    end: Step | None = None
    since: int = 0
    """First offset that no earlier life has."""

    @property
    def is_removed(self) -> bool:
        return self.end is not None and self.end.protocol is None

    def pairs(self) -> Iterator[tuple[Step | None, Step]]:
        before: Step | None = None
        for step in self.steps:
            yield before, step
            before = step


@dataclass
class StreamsHistory:
    """All lives of streams groups in a recording."""

    truth: Truth
    steps: dict[str, list[Step]] = field(default_factory=lambda: defaultdict(list))
    lives: list[StreamsLife] = field(default_factory=list)

    def place(self, life: StreamsLife) -> dict[str, Any]:
        """The columns that every row of a life has."""
        return {
            "incarnation": self.incarnation(life),
            "offsets_partition": life.steps[0].offsets_partition,
            "start_observed": True,
            "log_incarnation": None,
        }

    def incarnation(self, life: StreamsLife) -> Any:
        """A life is named by its first record; commits of a group that only commits begin it."""
        first = life.steps[0]
        offsets = self.truth.commit_offsets.get(life.group_id, [])
        place = bisect_right(offsets, life.since - 1)
        if life.before is None and place < len(offsets) and offsets[place] < first.first_offset:
            return OneOf((offsets[place], *range(first.first_offset, first.last_offset + 1)))
        return first.offsets

    def of_row(self, row: Mapping[str, Any]) -> StreamsLife | None:
        """The life of streams that a row is of; None of one that is of a classic group's."""
        for life in self.lives:
            ends = life.end.first_offset if life.end is not None else None
            is_after = life.since <= row["incarnation"]
            is_before = ends is None or row["incarnation"] < ends
            if life.group_id == row["group_id"] and is_after and is_before:
                return life
        return None

    def opened_by(self, row: Mapping[str, Any]) -> int:
        """First offset of the step that a row begins in, else its own offset, negative."""
        steps = self.steps[row["group_id"]]
        for step in steps:
            if step.first_offset <= row["from_offset"] <= step.last_offset:
                return step.first_offset
        return -1 - int(row["from_offset"])

    def near(self, group_id: str, offset: int) -> Sequence[Step]:
        """The steps around an offset."""
        steps = self.steps[group_id]
        place = bisect_right([each.first_offset for each in steps], offset) - 1
        return steps[max(0, place - 2) : place + 2]

    def commit_key(self, life: StreamsLife, topic: str, task: Task) -> CommitKey:
        return CommitKey(life.group_id, topic, task.partition)

    def commits(
        self, life: StreamsLife, task: Task, subtopologies: Mapping[str, Subtopology]
    ) -> dict[str, list[Commit]]:
        """Input topic -> commits of a task, of this life."""
        inputs = subtopologies[task.subtopology].inputs if task.subtopology in subtopologies else ()
        return {
            topic: [
                commit
                for commit in self.truth.commits.get(self.commit_key(life, topic, task), ())
                if commit.offset >= life.since
            ]
            for topic in inputs
        }


def read_streams(recording: Path, truth: Truth) -> StreamsHistory:
    """The streams groups of a recording, in all their lives."""
    history = StreamsHistory(truth)
    known: dict[str, dict[str, Thread]] = {}
    lines = [line for line in recorded_lines(recording) if "s" in line]
    streams = {
        group for line in lines for group, said in line["s"].items() if said["type"] == STREAMS
    }
    for line in sorted(lines, key=lambda line: (line["p"], line["b"])):
        for group_id, said in line["s"].items():
            if group_id in streams and "nok2" not in said:
                history.steps[group_id].append(_step(line, said, known.setdefault(group_id, {})))
    for group_id, steps in history.steps.items():
        history.lives += _lives(group_id, steps)
    return history


def _lives(group_id: str, steps: Sequence[Step]) -> Iterator[StreamsLife]:
    life: StreamsLife | None = None
    before: Step | None = None
    for step in steps:
        if step.protocol == STREAMS:
            if life is None:
                classic = before if before is not None and before.protocol is not None else None
                # Commits are a classic group's until it is converted; of no group, the next one's.
                since = before.last_offset + 1 if before is not None else 0
                since = since if classic is None else step.first_offset
                life = StreamsLife(group_id, [], classic, None, since)
            life.steps.append(step)
        elif life is not None:
            life.end = step
            yield life
            life = None
        before = step
    if life is not None:
        yield life


def _step(line: dict[str, Any], said: dict[str, Any], known: dict[str, Thread]) -> Step:
    """known: the group's members after the line before, which becomes that after this one."""
    if said["type"] == STREAMS:
        for gone in said.get("gone", ()):
            known.pop(gone, None)
        known |= {name: _thread(told) for name, told in said.get("ms", {}).items()}
    else:
        known.clear()
    return Step(
        at=line["t"],
        true_at=line["tt"],
        offsets_partition=line["p"],
        first_offset=line["b"],
        last_offset=line["e"],
        kind=line["op"],
        asked_by=line["m"],
        reason=line.get("why") or "",
        records=tuple(line["recs"]),
        protocol=said["type"],
        epoch=said.get("ge", 0),
        target_epoch=said.get("te"),
        validated_epoch=said.get("vt", -1),
        topology_epoch=said.get("tope", -1),
        metadata_hash=said.get("mh", 0),
        configs=said.get("ac", {}),
        subtopologies={
            name: Subtopology(tuple(told["in"]), tuple(told["log"]))
            for name, told in said.get("topo", {}).items()
        },
        members=dict(known),
    )


def _thread(told: dict[str, Any]) -> Thread:
    def roles(letter: str) -> Roles:
        return {
            role: frozenset(
                Task(name, number)
                for name, numbers in told[letter + of_role].items()
                for number in numbers
            )
            for role, of_role in _LETTERS.items()
        }

    return Thread(
        epoch=told["e"],
        state=told["st"],
        instance_id=told.get("i"),
        client_id=told["cl"],
        host=told["ho"],
        process_id=told["pid"],
        endpoint=told.get("ep"),
        tags=told["tags"],
        rack_id=told.get("rk"),
        topology_epoch=told["tope"],
        rebalance_timeout_ms=told["rt"],
        assigned=roles("a"),
        pending=roles("p"),
        target=roles("t"),
    )
