"""Stretches of `stuck_members` and `stuck_groups` of streams groups, from the machines' floor on.

Those that any group has are told by the same watchers as those of consumer groups, with active
tasks for partitions (docs/streams.md, Stuck).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.simulator.compare import Between, Key, OneOf, Wanted
from tests.simulator.expected.stretches import Stretch, Waits, stretches_of
from tests.simulator.expected.stuck import DEADLINE_OF_HOLDERS
from tests.simulator.lives import Life
from tests.simulator.streams.history import (
    ACTIVE,
    Step,
    StreamsHistory,
    StreamsLife,
    Thread,
)
from tests.simulator.streams.members import waited_for
from tests.simulator.streams.troubles import NOTHING_SAID, is_told, troubles, whose
from tests.simulator.truth import (
    CONSUMER,
    STABLE,
    STREAMS,
    UNRELEASED,
    UNREVOKED,
    Member,
    Operation,
)
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
        for stretch in stretches_of(as_consumers(life), elected, _TaskWaits(life)):
            # Over a change of leader by the new one's clock, which may be behind that of the last.
            if is_told(stretch.since.at, stretch.closed):
                wanted |= _stretch(history, life, stretch)
        wanted |= troubles(history, life)
    return wanted


def _stretch(history: StreamsHistory, life: StreamsLife, stretch: Stretch) -> dict[Key, Wanted]:
    opened, closed = stretch.opened, stretch.closed
    # Brokers of 4.3 count a first target that they do not write as the one of epoch 1.
    has_target = any("K20" in each.records for each in life.steps if each.at <= stretch.since.at)
    epochs = [stretch.since.epoch, (stretch.since.target_epoch or 0) if has_target else 0]
    values: dict[str, Any] = {
        **history.place(life),
        **NOTHING_SAID,
        **whose(None, None),
        "from_offset": Between(opened.first_offset, opened.last_offset),
        "to_offset": Between(closed.first_offset, closed.last_offset) if closed else None,
        "is_final": closed is not None,
        "until_at": closed.at if closed else None,
        "blocked_by": sorted(stretch.blocked_by),
        "partitions_waiting": OneOf(tuple(stretch.waiting)) if stretch.waiting else None,
        "partitions_held": OneOf(tuple(stretch.held)) if stretch.held else None,
        "epochs": epochs if stretch.reason == "ASSIGNING_STALLED" else [],
    }
    if stretch.member is not None and stretch.member_id is not None:
        hosts = {
            step.members[stretch.member_id].host
            for step in life.steps
            if stretch.member_id in step.members
        }
        values |= {
            "member_id": stretch.member_id,
            "instance_id": stretch.member.instance_id,
            "client_id": stretch.member.client_id,
            "client_host": OneOf(tuple(hosts)),
            "member_protocol": STREAMS,
            "deadline_at": _deadline_at(history, stretch),
        }
    key = (life.group_id, stretch.reason, stretch.member_id or "", stretch.since.at)
    return {key: Wanted(values, (stretch.since.first_offset,))}


def _deadline_at(history: StreamsHistory, stretch: Stretch) -> Any:
    """When the member's rebalance timer runs out; a new leader arms the timers anew."""
    if stretch.reason == "WAITING_ON_HOLDER":
        return DEADLINE_OF_HOLDERS
    timeout_ms = stretch.member.rebalance_timeout_ms if stretch.member is not None else None
    if stretch.reason != "SLOW_REVOCATION" or timeout_ms is None:
        return None
    last = history.truth.ended_at if stretch.closed is None else stretch.closed.true_at
    elected = history.truth.elected.get(stretch.opened.offsets_partition, ())
    fallen = any(stretch.since.true_at <= at <= last for at in elected)
    return OneOf((*(at + timeout_ms for at in stretch.requested_at), *([None] if fallen else [])))


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


def as_consumers(life: StreamsLife) -> Life:
    operations = list(_operations(life))
    return Life(life.group_id, operations, None)


def _operations(life: StreamsLife) -> Iterator[Operation]:
    has_target = False
    for step in (*life.steps, *([life.end] if life.end is not None else [])):
        is_streams = step is not life.end
        has_target = has_target or "K20" in step.records
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
            records=tuple(_as_record(each, step) for each in step.records),
            group_id=life.group_id,
            protocol=CONSUMER if is_streams else None,
            epoch=step.epoch,
            # What a coordinator begins with is in no record.
            target_epoch=step.target_epoch if has_target else None,
            protocol_type=None,
            protocol_name=None,
            members={i: _as_member(each) for i, each in step.members.items()} if is_streams else {},
        )


def _as_record(record: str, step: Step) -> str:
    """Told as the record of a consumer group that it is like."""
    if record == "K17":
        return f"K3 epoch {step.epoch} hash {step.metadata_hash}"
    if record == "K20":
        return f"K6 target epoch {step.target_epoch}"
    return record.replace("K22 ", "K8 ") + " "


def _as_member(thread: Thread) -> Member:
    assigned, pending, target = (
        frozenset(Unit(None, *task) for task in roles[ACTIVE])
        for roles in (thread.assigned, thread.pending, thread.target)
    )
    return Member(
        epoch=thread.epoch,
        previous_epoch=None,
        state=_STATES[thread.state],
        instance_id=thread.instance_id,
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
