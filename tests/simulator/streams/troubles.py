"""What is stuck in streams groups alone (docs/streams.md, Stuck): topologies that are not ready or out
of date, tasks that nobody runs, and processes that share an id.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from groupreplay.limits import MIN_STALL_MS
from tests.simulator.compare import Key, Wanted
from tests.simulator.streams.history import Step, StreamsHistory, StreamsLife, Task, Thread
from tests.simulator.streams.tasks import spans_of
from tests.simulator.truth import STREAMS, Operation

NOTHING_SAID: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("partitions_waiting", "partitions_held", "deadline_at", "repetitions")),
    "epochs": [],
    "detail_code": None,
    "detail_names": [],
    "detail_values": [],
}
"""Of a stretch that says no more than since when, until when and who."""


def whose(member_id: str | None, member: Thread | None) -> dict[str, Any]:
    """Who the row of a member is about; nobody, of a group's."""
    return {
        "member_id": member_id,
        "instance_id": member.instance_id if member is not None else None,
        "client_id": member.client_id if member is not None else None,
        "client_host": member.host if member is not None else None,
        "member_protocol": STREAMS if member is not None else None,
    }


def is_told(since_at: int, closed: Operation | Step | None) -> bool:
    return closed is None or closed.at - since_at >= MIN_STALL_MS


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A stretch of steps. since: the first, last: the last one in it, closed: the one after it."""

    since: Step
    last: Step
    closed: Step | None


def _while(
    steps: Sequence[Step], end: Step | None, is_so: Callable[[Step], bool]
) -> Iterator[_Trouble]:
    """Each unbroken run of steps in which something is so. end: what ended the life after them."""
    since: Step | None = None
    last: Step | None = None
    for step in steps:
        if is_so(step):
            since, last = since or step, step
        elif since is not None and last is not None:
            yield _Trouble(since, last, step)
            since = None
    if since is not None and last is not None:
        yield _Trouble(since, last, end)


def troubles(history: StreamsHistory, life: StreamsLife) -> dict[Key, Wanted]:
    found: dict[Key, Wanted] = {}
    for each in (_unready, _stale, _duplicates, _unassigned):
        found |= dict(each(history, life))
    return found


Rows = Iterator[tuple[Key, Wanted]]


def _unready(history: StreamsHistory, life: StreamsLife) -> Rows:
    """The topology is not validated, though members are there; before 4.2 nothing says so."""
    if not (any(step.validated_epoch >= 0 for step in life.steps) or life.steps[0].epoch == 2):
        return

    def is_unready(step: Step) -> bool:
        is_known = bool(step.members) and step.topology_epoch >= 0
        return is_known and step.validated_epoch != step.topology_epoch

    for trouble in _while(life.steps, life.end, is_unready):
        last = trouble.last
        said = {"topology_epoch": last.topology_epoch, "validated_epoch": last.validated_epoch}
        yield from _row(history, life, "TOPOLOGY_NOT_READY", trouble, "TOPOLOGY", said)


def _stale(history: StreamsHistory, life: StreamsLife) -> Rows:
    """A member's topology epoch is below its group's."""
    for member_id in {each for step in life.steps for each in step.members}:

        def is_stale(step: Step, member_id: str = member_id) -> bool:
            member = step.members.get(member_id)
            return member is not None and member.topology_epoch < step.topology_epoch

        for trouble in _while(life.steps, life.end, is_stale):
            last, member = trouble.last, trouble.since.members[member_id]
            said = {
                "member_topology_epoch": last.members[member_id].topology_epoch,
                "topology_epoch": last.topology_epoch,
            }
            values = whose(member_id, member)
            yield from _row(history, life, "STALE_TOPOLOGY", trouble, "STALE", said, values)


def _duplicates(history: StreamsHistory, life: StreamsLife) -> Rows:
    """Members of one process id have two hosts, or two endpoints."""
    for process_id in {each.process_id for step in life.steps for each in step.members.values()}:

        def threads(step: Step, process_id: str = process_id) -> dict[str, Thread]:
            members = step.members.items()
            return {name: each for name, each in members if each.process_id == process_id}

        def hosts(step: Step, threads: Callable[[Step], dict[str, Thread]] = threads) -> list[str]:
            return sorted({each.host for each in threads(step).values()})

        def is_twice(
            step: Step,
            hosts: Callable[[Step], list[str]] = hosts,
            threads: Callable[[Step], dict[str, Thread]] = threads,
        ) -> bool:
            endpoints = {each.endpoint for each in threads(step).values()} - {None}
            return len(hosts(step)) > 1 or len(endpoints) > 1

        for trouble in _while(life.steps, life.end, is_twice):
            said = {"process": process_id, "hosts": hosts(trouble.last)}
            values = {"blocked_by": sorted(threads(trouble.last))}
            told = _row(history, life, "DUPLICATE_PROCESS_ID", trouble, "TWO_HOSTS", said, values)
            yield from told


def _unassigned(history: StreamsHistory, life: StreamsLife) -> Rows:
    """Tasks that a member gave up in one step, while members are there and nobody has them."""
    spans = spans_of(life)
    released: dict[tuple[int, str], list[Task]] = defaultdict(list)
    for runs in spans.runs.values():
        for span in runs:
            if span.closed is not None:
                released[span.closed, span.member_id].append(span.task)
    for (place, member_id), tasks in released.items():
        left = {s.task: s for t in tasks for s in spans.runs[t] if s.closed == place}
        waiting = {
            step.first_offset: [task for task, span in left.items() if spans.is_left(span, at)]
            for at, step in enumerate(life.steps[place:], place)
        }

        def is_left(step: Step, waiting: Mapping[int, list[Task]] = waiting) -> bool:
            return bool(waiting[step.first_offset] and step.members)

        for trouble in _while(life.steps[place:], life.end, is_left):
            names = [f"{t.subtopology}_{t.partition}" for t in waiting[trouble.last.first_offset]]
            said = {"tasks": sorted(names), "from_member": member_id}
            values = {"from_offset": life.steps[place].offsets}
            key = f"{member_id} {life.steps[place].first_offset}"
            told = _row(history, life, "TASK_UNASSIGNED", trouble, "UNASSIGNED", said, values, key)
            yield from told


def _row(
    history: StreamsHistory,
    life: StreamsLife,
    reason: str,
    trouble: _Trouble,
    code: str,
    said: Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
    about: str | None = None,
) -> Rows:
    """said: the parameters of its detail, in order. about: what tells it from others."""
    since, closed = trouble.since, trouble.closed
    if reason != "DUPLICATE_PROCESS_ID" and not is_told(since.at, closed):
        return
    told = {
        **history.place(life),
        **NOTHING_SAID,
        **whose(None, None),
        "from_offset": since.offsets,
        "to_offset": closed.offsets if closed is not None else None,
        "is_final": closed is not None,
        "until_at": closed.at if closed is not None else None,
        "blocked_by": [],
        "detail_code": code,
        "detail_names": list(said),
        "detail_values": [_text(each) for each in said.values()],
        **(values or {}),
    }
    key = about or told["member_id"] or said.get("process", "")
    yield (life.group_id, reason, key, since.at), Wanted(told, (since.first_offset,))


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list) else str(value)
