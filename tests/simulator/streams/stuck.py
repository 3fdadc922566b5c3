"""Stretches of `stuck_members` and `stuck_groups` of streams groups, from the machines' floor on.

Those that any group has are told by the same watchers as those of consumer groups, with active
tasks for partitions (docs/streams.md, Stuck).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from groupreplay.limits import MIN_STALL_MS
from tests.simulator.compare import Key, OneOf, Wanted
from tests.simulator.expected.stretches import Stretch, Waits, stretches_of
from tests.simulator.lives import Life
from tests.simulator.streams.history import (
    ACTIVE,
    Step,
    StreamsHistory,
    StreamsLife,
    Task,
    Thread,
)
from tests.simulator.streams.members import waited_for
from tests.simulator.streams.tasks import spans_of
from tests.simulator.truth import CONSUMER, STABLE, UNRELEASED, UNREVOKED, Member, Operation
from tests.simulator.truth import Partition as Unit

_STATES = {
    "STABLE": STABLE,
    "UNREVOKED_TASKS": UNREVOKED,
    "UNRELEASED_TASKS": UNRELEASED,
}


def stretches(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        elected = history.truth.elected.get(life.steps[0].offsets_partition, ())
        for stretch in stretches_of(_as_consumers(life), elected, _TaskWaits(life)):
            # Over a change of leader by the new one's clock, which may be behind that of the last.
            if _is_told(stretch.since.at, stretch.closed):
                wanted |= _member(history, life, stretch)
        wanted |= _unready(history, life)
        wanted |= _unassigned(history, life)
    return wanted


def _is_told(since_at: int, closed: Operation | Step | None) -> bool:
    return closed is None or closed.at - since_at >= MIN_STALL_MS


def _member(history: StreamsHistory, life: StreamsLife, stretch: Stretch) -> dict[Key, Wanted]:
    closed = stretch.closed
    values: dict[str, Any] = {
        **history.place(life),
        "until_at": closed.at if closed else None,
        "blocked_by": sorted(stretch.blocked_by),
        "partitions_waiting": OneOf((None, *stretch.waiting)),
        "partitions_held": OneOf((None, *stretch.held)),
    }
    key = (life.group_id, stretch.reason, stretch.member_id or "", stretch.since.at)
    return {key: Wanted(values, (stretch.since.first_offset,))}


def _unready(history: StreamsHistory, life: StreamsLife) -> dict[Key, Wanted]:
    """The topology is not validated, though members are there; before 4.2 nothing says so."""
    wanted: dict[Key, Wanted] = {}
    since: Step | None = None
    known = any(step.validated_epoch >= 0 for step in life.steps) or life.steps[0].epoch == 2
    for step in (*life.steps, life.end):
        is_unready = (
            step is not None
            and known
            and bool(step.members)
            and step.topology_epoch >= 0
            and step.validated_epoch != step.topology_epoch
        )
        if is_unready and since is None:
            since = step
        elif since is not None and not is_unready:
            wanted |= _of_group(history, life, "TOPOLOGY_NOT_READY", since, step, {})
            since = None
    return wanted


def _unassigned(history: StreamsHistory, life: StreamsLife) -> dict[Key, Wanted]:
    """Tasks that a member gave up in one step, while members are there and nobody has them."""
    spans, wanted = spans_of(life), dict[Key, Wanted]()
    released: dict[tuple[int, str], list[Task]] = defaultdict(list)
    for runs in spans.runs.values():
        for span in runs:
            if span.closed is not None:
                released[span.closed, span.member_id].append(span.task)
    for (place, member_id), tasks in released.items():
        left = {s.task: s for t in tasks for s in spans.runs[t] if s.closed == place}
        since: Step | None = None
        told: list[str] = []
        for at, step in enumerate(life.steps[place:], place):
            waiting = sorted(task for task, span in left.items() if spans.is_left(span, at))
            if waiting and step.members:
                since = since or step
                told = sorted(f"{task.subtopology}_{task.partition}" for task in waiting)
            elif since is not None:
                detail = _detail(told, member_id, life.steps[place])
                wanted |= _of_group(history, life, "TASK_UNASSIGNED", since, step, detail)
                since = None
            if not waiting:
                break
        if since is not None:
            detail = _detail(told, member_id, life.steps[place])
            wanted |= _of_group(history, life, "TASK_UNASSIGNED", since, life.end, detail)
    return wanted


def _detail(tasks: list[str], member_id: str, released: Step) -> Mapping[str, Any]:
    whose = f"{member_id} {released.first_offset}"
    return {"detail_values": [json.dumps(tasks), member_id], "whose": whose}


def _of_group(
    history: StreamsHistory,
    life: StreamsLife,
    reason: str,
    since: Step,
    closed: Step | None,
    detail: Mapping[str, Any],
) -> dict[Key, Wanted]:
    if not _is_told(since.at, closed):
        return {}
    said = {name: value for name, value in detail.items() if name != "whose"}
    values = {**history.place(life), "until_at": closed.at if closed else None, **said}
    key = (life.group_id, reason, detail.get("whose", ""), since.at)
    return {key: Wanted(values, (since.first_offset,))}


# ---------------------------------------------------------------- as the watchers see them


class _TaskWaits(Waits):
    """Threads wait for tasks of any role."""

    def __init__(self, life: StreamsLife) -> None:
        super().__init__()
        self._steps = {step.first_offset: step for step in life.steps}

    def waited_for(self, operation: Operation) -> dict[str, dict[Unit, set[str]]]:
        step = self._steps.get(operation.first_offset)
        if step is None:
            return {}
        return {
            member_id: {Unit(None, *task): m for task, m in waited_for(step, member_id).items()}
            for member_id in step.members
        }


def _as_consumers(life: StreamsLife) -> Life:
    operations = list(_operations(life))
    return Life(life.group_id, operations, None)


def _operations(life: StreamsLife) -> Iterator[Operation]:
    for step in (*life.steps, *([life.end] if life.end is not None else [])):
        is_streams = step is not life.end
        yield Operation(
            at=step.at,
            true_at=step.true_at,
            offsets_partition=step.offsets_partition,
            first_offset=step.first_offset,
            last_offset=step.last_offset,
            kind=step.kind,
            asked_by=step.asked_by,
            reason=step.reason,
            answer=(),
            records=tuple(each.replace("K22 ", "K8 ") + " " for each in step.records),
            group_id=life.group_id,
            protocol=CONSUMER if is_streams else None,
            epoch=step.epoch,
            target_epoch=step.target_epoch,
            protocol_type=None,
            protocol_name=None,
            members={i: _as_member(each) for i, each in step.members.items()} if is_streams else {},
        )


def _as_member(thread: Thread) -> Member:
    assigned, pending, target = (
        frozenset(Unit(None, *task) for task in roles[ACTIVE])
        for roles in (thread.assigned, thread.pending, thread.target)
    )
    return Member(
        epoch=thread.epoch,
        previous_epoch=None,
        state=_STATES[thread.state],
        instance_id=None,
        client_id=thread.client_id,
        host=thread.host,
        rebalance_timeout_ms=thread.rebalance_timeout_ms,
        is_classic=False,
        subscription=frozenset(),
        regex=None,
        assignor=None,
        assigned=assigned,
        pending=pending,
        target=target,
        held=assigned | pending,
    )
