"""One K2 of a classic Streams group, read as its leader meant it.

A K2 shows both sides of a generation: what each member had and reported when it joined (its
subscription), and what it gets (its assignment). Source: StreamsPartitionAssignor.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.records.classic import GroupMember, GroupMetadataValue, NamedPartitions
from groupreplay.records.entries import Entry
from groupreplay.replay.kept.streams_tasks import (
    Generation,
    MemberTasks,
    StreamsState,
    Task,
    TopicPartition,
)
from groupreplay.replay.streams.classic.placement import place

STREAMS_PROTOCOL = "stream"


def is_streams(protocol: str | None) -> bool:
    """Whether the name of a classic group's protocol is that of Kafka Streams."""
    return protocol == STREAMS_PROTOCOL


def read_generation(
    state: StreamsState, entry: Entry, value: GroupMetadataValue
) -> Generation | None:
    """The generation that a K2 with members shows; None where it cannot be read whole.

    What it shows of input partitions, and of subtopologies that have state, goes into `state`
    first: it counts for this K2 as well.
    """
    if any(
        m.streams_error is not None or m.subscription is None or m.subscription.streams is None
        for m in value.members
    ):
        return None
    for member in value.members:
        if not _gives_the_same(state, member):
            _learn_inputs(state, member)
    tasks = state.partitions()
    generation = Generation(
        value.generation,
        entry.ts_ms,
        entry.offset,
        value.current_state_timestamp_ms,
        value.leader,
        {member.member_id: _member_tasks(member, tasks) for member in value.members},
    )
    _learn_stateful(state, generation)
    return generation


class Placement:
    """Where the highly available assignor wants each task with state: task -> process. It follows
    from processes, their threads and the tasks alone, so what was found last often holds.

    Source: HighAvailabilityTaskAssignor.assignActiveStatefulTasks.
    """

    def __init__(self) -> None:
        self._known: tuple[dict[str, int], set[Task]] | None = None
        self._wanted: dict[Task, str] = {}

    def of(self, state: StreamsState, generation: Generation) -> dict[Task, str]:
        """The placement that a generation goes after."""
        capacity = {process: len(members) for process, members in generation.threads.items()}
        tasks = {task for task in state.inputs if task[0] in state.stateful}
        if self._known != (capacity, tasks):
            self._known, self._wanted = (capacity, tasks), place(capacity, tasks)
        return self._wanted


def find_owed(state: StreamsState, generation: Generation, wanted: Mapping[Task, str]) -> None:
    """Finds which tasks are owed, and to whom, and which nobody has.

    A task is withheld from its next owner while another member still had it when it joined
    (StreamsPartitionAssignor.populateActiveTaskAndPartitionsLists). The next owner rejoins at once,
    and it is where the assignor wants the task, or has a replica of it. Where several processes are
    left the record does not say which.
    """
    active = generation.active
    owners: dict[Task, list[MemberTasks]] = {}
    for member in generation.members.values():
        for task in member.owned.difference(active):
            owners.setdefault(task, []).append(member)
    due = generation.due()
    copies = generation.copies
    for task, had in owners.items():
        others = [m for m in due if all(m is not owner for owner in had)]
        if others:
            generation.owed[task] = _receiver(task, others, wanted.get(task), copies)
    subscribed = {topic for member in generation.members.values() for topic in member.topics}
    generation.missing = frozenset(
        task
        for task in state.inputs.keys() - active.keys() - generation.owed.keys()
        if any(topic in subscribed for topic, _ in state.inputs[task])
    )


def keep_owed(before: Generation, now: Generation) -> None:
    """The same generation, written once more for a static member that came back."""
    now.owed, now.missing = before.owed, before.missing


def _receiver(
    task: Task, due: list[MemberTasks], wanted: str | None, copies: set[tuple[Task, str]]
) -> str | None:
    processes = {member.process_id for member in due}
    if wanted in processes:
        return wanted
    holders = {process for process in processes if (task, process) in copies}
    for found in (holders, processes):
        if len(found) == 1:
            return next(iter(found))
    return None


def _gives_the_same(state: StreamsState, member: GroupMember) -> bool:
    """Whether a member gets the tasks that it had: their inputs are known then."""
    had = state.last.members.get(member.member_id) if state.last is not None else None
    given = member.assignment.streams if member.assignment is not None else None
    return (
        had is not None
        and given is not None
        and had.given == set(given.active)
        and had.replicas == given.standby.keys()
    )


def _learn_inputs(state: StreamsState, member: GroupMember) -> None:
    """Which partitions a task reads, as an assignment shows it.

    A member that joined and never synced has none (KAFKA-17733): it got nothing. The n-th assigned
    partition, by topic and partition, belongs to the n-th active entry
    (StreamsPartitionAssignor.getActiveTasks); replicas name theirs.
    """
    assignment = member.assignment
    if assignment is None or assignment.streams is None:
        return
    found: dict[Task, set[TopicPartition]] = {}
    listed = sorted(_partitions(assignment.assigned_partitions))
    for task, tp in zip(assignment.streams.active, listed, strict=False):
        found.setdefault(task, set()).add(tp)
    for task, tps in assignment.streams.standby.items():
        found.setdefault(task, set()).update(tps)
    for task, read in found.items():
        if state.inputs.get(task) != (inputs := frozenset(read)):
            state.inputs[task] = inputs


def _partitions(topics: tuple[NamedPartitions, ...]) -> list[TopicPartition]:
    return [(named.topic, p) for named in topics for p in named.partitions]


def _member_tasks(member: GroupMember, tasks: Mapping[TopicPartition, Task]) -> MemberTasks:
    subscription, assignment = member.subscription, member.assignment
    assert subscription is not None
    assert subscription.streams is not None
    info = subscription.streams
    found = MemberTasks(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        info.process_id,
        subscription.topics,
        owned=frozenset(
            tasks[tp] for tp in _partitions(subscription.owned_partitions) if tp in tasks
        ),
        sums=info.offset_sums,
        unique_field=info.unique_field,
        version=info.version,
        latest_version=info.latest_version,
        error_code=info.error_code,
        endpoint=info.endpoint,
        tags=info.client_tags,
    )
    if assignment is not None and (given := assignment.streams) is not None:
        found.given = frozenset(given.active)
        found.replicas = frozenset(given.standby)
        found.next_ms = given.next_rebalance_ms
        found.used_version, found.usable_version = given.version, given.common_version
        found.assigned_error = given.error_code
    return found


def _learn_stateful(state: StreamsState, generation: Generation) -> None:
    """A subtopology has state where a member reports a sum of one of its tasks, or has a
    replica.
    """
    members = generation.members.values()
    for subtopology in {task[0] for member in members for task in member.sums}:
        state.stateful[subtopology] = "SUM_SEEN"
    for subtopology in {task[0] for member in members for task in member.replicas}:
        state.stateful.setdefault(subtopology, "REPLICA_SEEN")
