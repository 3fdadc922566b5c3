"""What is kept of a classic group of Kafka Streams from one K2 to the next: data alone.

A process is one KafkaStreams instance, named by its process id; a member is the consumer of one of
its threads. A task is a subtopology and a partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from groupreplay.replay.facts import Chain, Stall
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    TaskHandOver,
)
from groupreplay.state_codec import DERIVED

Task = tuple[str, int]
TopicPartition = tuple[str, int]

UNKNOWN_ASSIGNOR = "UNKNOWN"


def task_text(task: Task) -> str:
    """As Kafka's TaskId prints it."""
    return f"{task[0]}_{task[1]}"


@dataclass(slots=True)
class MemberTasks:
    """A member as one K2 has it: what it had and reported when it joined, and what it got.

    owned: active tasks when it joined, by its owned partitions.
    given, replicas: active tasks and copies that the leader gave it.
    sums: changelog offsets of a task, added up, as the member reported them; -2 for an active task
        that runs (Task.LATEST_OFFSET).
    next_ms: when it is to rejoin, by its own clock: 0 at once, None not at all.
    unique_field: joins that its thread has sent, modulo 256; None below version 8.
    version: metadata version of its subscription.
    latest_version: highest metadata version that its subscription says it supports, NO_VERSION in
        versions 1 and 2.
    used_version: metadata version of its assignment, 0 where it has none.
    usable_version: highest metadata version that all members support by its assignment, 0 where it
        has none.
    error_code: AssignorError code in its subscription, 0 if none.
    assigned_error: AssignorError code in its assignment, 0 if none.
    """

    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    process_id: str
    topics: tuple[str, ...]
    owned: frozenset[Task] = frozenset()
    given: frozenset[Task] = frozenset()
    replicas: frozenset[Task] = frozenset()
    sums: dict[Task, int] = field(default_factory=dict)
    next_ms: int | None = None
    unique_field: int | None = None
    version: int = 0
    latest_version: int = 0
    used_version: int = 0
    usable_version: int = 0
    error_code: int = 0
    assigned_error: int = 0
    endpoint: str | None = None
    tags: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class GenerationIndex:
    """What is asked for of the members of a generation again and again.

    sums: task -> process -> what its threads reported of it.
    """

    threads: dict[str, list[MemberTasks]] = field(default_factory=dict)
    active: dict[Task, MemberTasks] = field(default_factory=dict)
    copies: set[tuple[Task, str]] = field(default_factory=set)
    sums: dict[Task, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, members: Iterable[MemberTasks]) -> GenerationIndex:
        found = cls()
        for member in members:
            process = member.process_id
            found.threads.setdefault(process, []).append(member)
            found.active.update(dict.fromkeys(member.given, member))
            found.copies.update([(task, process) for task in member.replicas])
            for task, reached in member.sums.items():
                sums = found.sums.setdefault(task, {})
                sums[process] = max(reached, sums.get(process, reached))
        return found


@dataclass(slots=True)
class Generation:
    """One K2 with members.

    join_ended_at: when its join phase ended, -1 where the record does not say.
    owed: tasks that another member still had when it joined -> the process that gets them next;
        None where several may.
    missing: tasks that nobody has and nobody is owed, though their topics are subscribed to.
    index: index of its members, made when it is first asked for.
    """

    epoch: int
    at: int
    offset: int
    join_ended_at: int
    leader: str | None
    members: dict[str, MemberTasks]
    owed: dict[Task, str | None] = field(default_factory=dict)
    missing: frozenset[Task] = frozenset()
    index: GenerationIndex | None = field(default=None, metadata=DERIVED, compare=False)

    @property
    def threads(self) -> dict[str, list[MemberTasks]]:
        """Process -> its members."""
        return self._indexed().threads

    @property
    def active(self) -> dict[Task, MemberTasks]:
        """Active task -> the member that has it."""
        return self._indexed().active

    @property
    def copies(self) -> set[tuple[Task, str]]:
        """(task, process) of every replica."""
        return self._indexed().copies

    def _indexed(self) -> GenerationIndex:
        if self.index is None:
            self.index = GenerationIndex.of(self.members.values())
        return self.index

    @property
    def error(self) -> int:
        """The leader's error code, 0 for none."""
        return max((m.assigned_error for m in self.members.values()), default=0)

    @property
    def next_at(self) -> int | None:
        """The probing time that somebody has, of that client's clock."""
        return min((m.next_ms for m in self.members.values() if m.next_ms), default=None)

    @property
    def revoked(self) -> int:
        """How many tasks members had when they joined and did not get back."""
        return sum(len(m.owned - m.given) for m in self.members.values())

    @property
    def leader_process_id(self) -> str | None:
        leader = self.members.get(self.leader) if self.leader is not None else None
        return leader.process_id if leader is not None else None

    def due(self) -> list[MemberTasks]:
        """Members that rejoin at once, to get what they are owed."""
        return [m for m in self.members.values() if m.next_ms == 0]

    def sum_of(self, task: Task, process_id: str) -> int | None:
        """What a process reported of a task, its threads together; None for nothing."""
        return self._indexed().sums.get(task, {}).get(process_id)

    def sums_of(self, task: Task) -> dict[str, int]:
        """Process -> what it reported of a task."""
        return self._indexed().sums.get(task, {})


@dataclass(slots=True)
class TaskSpan:
    """A member that holds a task in a role.

    row: its fact as it stands.
    is_owed: the task was owed to it in the last generation.
    learning: stall of a warm-up whose task is not owed to it yet; None for any other span.
    sum_before: offset sum that it had reported before `row.last_sum`, None for none.
    generations_before, probes_before: generations and probing generations of the life before the
        one in which the span began.
    """

    row: HeldTask
    generations_before: int = 0
    probes_before: int = 0
    is_owed: bool = False
    learning: Stall | None = None
    sum_before: int | None = None


@dataclass(slots=True)
class CopyRun:
    """Generations in a row in which a process held a replica of a task.

    last_not_owed_at: time of the last generation before the task became owed to the process; None
        until it does, and where it was owed from the first one on.
    probes_before: probing generations of the life up to its first generation, that included.
    """

    since_at: int
    last_not_owed_at: int | None = None
    probes_before: int = 0


@dataclass(slots=True)
class TaskMove:
    """A task that left a process as active, and was not seen to resume yet.

    row: its hand-over; None where it stayed in its process.
    owed_to: the process that was to get it, None where that is not known.
    runs: processes that held a replica until then.
    probes: probing generations of the life up to the generation that took it, that included.
    sums: process -> offset sum that it reported of the task in the K2 that took it.
    granted_offset: offset of the record that gave it to a member, -1 before.
    last_commits: when its input partitions were last committed before the grant, ms.
    spans: ended rows of the members that had it as active, which wait for the next owner.
    """

    row: TaskHandOver | None
    owed_to: str | None = None
    runs: dict[str, CopyRun] = field(default_factory=dict)
    probes: int = 0
    sums: dict[str, int] = field(default_factory=dict)
    granted_offset: int = -1
    last_commits: list[int] = field(default_factory=list)
    spans: list[HeldTask] = field(default_factory=list)


@dataclass(slots=True)
class ProcessLife:
    """A process that has members.

    members: member id -> (client host, endpoint).
    duplicate: since when members of two hosts, or endpoints, have its id.
    removed_away: static members that were removed while they were away, the newest last: they may
        come back under their ids.
    """

    row: StreamsProcess
    members: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    duplicate: Stall | None = None
    removed_away: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Bounces:
    """Tasks that were returned to their owners in the same generation for the first time, and the
    generations in which any of them was.
    """

    chain: Chain
    bounced: list[Task]


@dataclass(slots=True)
class TaskRoles:
    """The tasks of a member of a streams group, by role: by its last K22, or its target by its
    K21.
    """

    active: frozenset[Task] = frozenset()
    standby: frozenset[Task] = frozenset()
    warmup: frozenset[Task] = frozenset()


@dataclass(slots=True)
class SubtopologyTopics:
    """sources: topics and repartition topics that its tasks read.
    changelogs: changelog topics of its stores.
    """

    sources: list[str]
    changelogs: list[str]


@dataclass(slots=True)
class GroupTasks:
    """Tasks of one life of a streams group (KIP-1071).

    is_known: a K17 was seen.
    topology_epoch: topology epoch of its last K23, -1 before one.
    validated_epoch: topology epoch that its last K17 is validated for, -1 for none.
    is_validating: its broker writes validated_epoch (4.2+).
    configs: lastAssignmentConfigs of its last K17.
    subtopologies: subtopology id -> its topics, by the last K23.
    held: member -> what it holds.
    targets: member -> what it is to hold.
    at_rest: member -> replicas that it holds, or gave up for its process to run the task.
    topology_epochs: member -> topology epoch that it says it has.
    row: row of the epoch under way, None before one.
    descriptions: two topology epochs of its last K17: the one whose description is stored, and the
        one whose description could not be (4.4); -1 for none.
    unbumped: (time, offset, members) of a removal whose K17 has not come.
    target_epoch_offset: offset of its last K20, -1 where none was seen.
    topology_offset: offset of its last K23, -1 where none was seen.
    """

    is_known: bool = False
    topology_epoch: int = -1
    validated_epoch: int = -1
    is_validating: bool = False
    metadata_hash: int = 0
    configs: dict[str, str] = field(default_factory=dict)
    subtopologies: dict[str, SubtopologyTopics] = field(default_factory=dict)
    held: dict[str, TaskRoles] = field(default_factory=dict)
    targets: dict[str, TaskRoles] = field(default_factory=dict)
    at_rest: dict[str, frozenset[Task]] = field(default_factory=dict)
    topology_epochs: dict[str, int] = field(default_factory=dict)
    row: StreamsRebalance | None = None
    descriptions: list[int] = field(default_factory=list)
    unbumped: tuple[int, int, int] | None = None
    target_epoch_offset: int = -1
    topology_offset: int = -1


@dataclass(slots=True)
class StreamsState:
    """What is kept of one life of Kafka Streams.

    inputs: task -> its input partitions, as any K2 showed them.
    stateful: subtopology -> why it is known to have state: SUM_SEEN or REPLICA_SEEN.
    standby_replicas: smallest number of replicas of a stateful task in the last stable generation
        of several processes; None before one.
    assignor: HIGH_AVAILABILITY, FALLBACK, OTHER or UNKNOWN, by all generations so far.
    stable_copies: replicas of the last stable generation.
    last: the generation that counts now, None where the group is empty or was not read whole.
    is_whole: the last K2 was read whole.
    row: row of the last generation that was read, None before one and while the group is empty.
    spans: member id -> what it holds, by task.
    runs: task -> the processes that hold a replica of it, and for how many generations.
    moves: task -> its hand-over that is not final.
    generations, probes: how many there were, and how many of them were probes.
    commit_times: the last few different times of commits, ms, ascending.
    stalls: reason, or reason and member -> what is stuck.
    bounces, loop: repetitions that are still near enough to be added to.
    group: what a streams group alone has; None for a classic group.
    """

    inputs: dict[Task, frozenset[TopicPartition]] = field(default_factory=dict)
    stateful: dict[str, str] = field(default_factory=dict)
    standby_replicas: int | None = None
    assignor: str = UNKNOWN_ASSIGNOR
    stable_copies: set[tuple[Task, str]] | None = None
    last: Generation | None = None
    is_whole: bool = True
    row: StreamsRebalance | None = None
    spans: dict[str, dict[Task, TaskSpan]] = field(default_factory=dict)
    runs: dict[Task, dict[str, CopyRun]] = field(default_factory=dict)
    moves: dict[Task, TaskMove] = field(default_factory=dict)
    generations: int = 0
    probes: int = 0
    commit_times: list[int] = field(default_factory=list)
    stalls: dict[str, Stall] = field(default_factory=dict)
    bounces: list[Bounces] = field(default_factory=list)
    loop: Chain | None = None
    group: GroupTasks | None = None

    def all_spans(self) -> Iterator[TaskSpan]:
        """The spans of all members."""
        for of_member in self.spans.values():
            yield from of_member.values()

    def partitions(self) -> Mapping[TopicPartition, Task]:
        """Input partition -> its task."""
        return {tp: task for task, tps in self.inputs.items() for tp in tps}
