"""`group_epochs` and `streams_rebalances` of streams groups: one row an epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, Wanted
from tests.simulator.streams.history import (
    STABLE,
    STANDBY,
    WARMUP,
    Step,
    StreamsHistory,
    StreamsLife,
    Task,
)
from tests.simulator.streams.tasks import left_tasks
from tests.simulator.tables import elapsed_ms
from tests.simulator.truth import STREAMS

EXACT = "EXACT"

ASSIGNOR: Final = "sticky"
"""Of a broker whose configuration names none, as those that are played."""

NOT_OF_EPOCHS: Final = dict.fromkeys(
    ("joined_at", "sync_ms", "cooperative", "skipped", "partitions", "stopped", "leader_member_id")
)
"""Columns of `group_epochs` that streams groups have not (docs/measures.md, Epochs)."""

NOT_OF_REBALANCES: Final = dict.fromkeys(
    (
        *("scheduled_at", "join_ms", "sync_ms", "commit_gap_ms"),
        *("leader_member_id", "leader_process_id", "tasks_owed", "tasks_ready"),
        *("tasks_granted", "tasks_returned", "tasks_misplaced", "imbalance_tenths"),
        *("next_at", "next_kind", "next_member_id", "assignor_confidence"),
        *("probing_interval_ms", "min_version", "max_version", "common_version"),
        *("error_code", "joins"),
    )
)
"""Columns of `streams_rebalances` that only classic groups have (docs/streams.md, Rebalances)."""


@dataclass(slots=True)
class Epoch:
    """before: the step before the one that opened it. closed: what superseded it, or ended the
    life. target, moved: of its first target."""

    opened: Step
    before: Step | None
    closed: Step | None = None
    target: Step | None = None
    moved: int | None = None
    converged: Step | None = None


def epochs_of(life: StreamsLife) -> list[Epoch]:
    """The epochs of a life, in order."""
    found: list[Epoch] = []
    owners: dict[Task, str] = {}
    for before, step in life.pairs():
        if before is None or step.epoch != before.epoch:
            if found:
                found[-1].closed = step
            found.append(Epoch(step, before))
        epoch = found[-1]
        if any(record == "K20" for record in step.records):
            now = step.targets
            if epoch.target is None and step.target_epoch == step.epoch:
                epoch.target = step
                epoch.moved = sum(1 for task, was in owners.items() if now.get(task, was) != was)
            owners = now
        settled = [each.epoch == step.epoch and each.state == STABLE for each in _threads(step)]
        is_current = step.target_epoch == step.epoch
        if epoch.converged is None and is_current and settled and all(settled):
            epoch.converged = step
    found[-1].closed = life.end
    return found


def _threads(step: Step) -> list[Any]:
    return list(step.members.values())


def causes_of(life: StreamsLife, epoch: Epoch) -> list[tuple[str, str | None]]:
    """(cause, member) by docs/streams.md, Rebalances: all that apply, the first one first."""
    before, step = epoch.before, epoch.opened
    was = before.members if before is not None else {}
    came, gone = step.members.keys() - was.keys(), was.keys() - step.members.keys()
    heirs = {each: step.heir_of(was[each]) for each in gone}
    # One that was away may come back under its own id.
    again = {each for each in was.keys() - gone if f"K19 {each} gone" in step.records}
    back = {each for each in heirs.values() if each is not None and each in came} | again
    found = [("STATIC_REPLACED", _only(back))] if back else []
    if came - back:
        found.append(("JOIN", _only(came - back)))
    left = {each for each in gone if heirs[each] not in back}
    if left:
        found.append(("LEFT_OR_FENCED", _only(left)))
    if before is None:
        return found
    if step.validated_epoch != before.validated_epoch:
        found.append(("TOPOLOGY_VALIDATED", None))
    # Brokers of 4.1 write hash 0 whenever a member leaves; else it is that of no topics.
    if step.metadata_hash != before.metadata_hash and (step.metadata_hash != 0 or not left):
        found.append(("TOPIC_METADATA", None))
    if step.configs != before.configs:
        found.append(("CONFIG", None))
    stayed = (step.members.keys() & was.keys()) - again
    changed = {each for each in stayed if step.members[each].metadata != was[each].metadata}
    if changed:
        found.append(("MEMBER_METADATA", _only(changed)))
    return found or [("REFINED" if _is_refined(step) else "UNKNOWN", None)]


def _is_refined(step: Step) -> bool:
    """Whether the target is another epoch's, and the same (4.4): tasks of a member are not those
    that the coordinator has in mind for it."""
    return "K20" in step.records and not any(each.startswith("K21") for each in step.records)


def _only(member_ids: Set[str]) -> str | None:
    return next(iter(member_ids)) if len(member_ids) == 1 else None


def _end(epoch: Epoch) -> dict[str, Any]:
    closed, at = epoch.closed, epoch.opened.at
    converged_at = epoch.converged.at if epoch.converged else None
    target_at = epoch.target.at if epoch.target else None
    is_ended = closed is not None and closed.protocol is None
    return {
        "to_offset": closed.offsets if closed else None,
        "is_final": closed is not None,
        "target_at": target_at,
        "converged_at": converged_at,
        "superseded_at": closed.at if closed is not None and not is_ended else None,
        "assign_ms": elapsed_ms(at, target_at),
        "converge_ms": elapsed_ms(at, converged_at),
    }


def _outcome(epoch: Epoch, removed: str) -> str:
    if epoch.converged is not None:
        return "CONVERGED"
    if epoch.closed is None:
        return "OPEN"
    return "SUPERSEDED" if epoch.closed.protocol is not None else removed


def group_epochs(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        for epoch in epochs_of(life):
            opened = epoch.opened
            (cause, member_id), *_ = causes_of(life, epoch)
            values = {
                **history.place(life),
                "from_offset": opened.offsets,
                "epoch": opened.epoch,
                "protocol": STREAMS,
                "started_at": opened.at,
                "cause": cause,
                "cause_member_id": member_id,
                "confidence": EXACT if cause != "UNKNOWN" else "NONE",
                "members": len(opened.members),
                "members_classic": 0,
                "partitions_moved": epoch.moved,
                "outcome": _outcome(epoch, "GROUP_REMOVED"),
                **_end(epoch),
                **NOT_OF_EPOCHS,
            }
            key = (life.group_id, opened.epoch, opened.first_offset)
            wanted[key] = Wanted(values, _offsets(epoch))
    return wanted


def rebalances(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        for epoch in epochs_of(life):
            opened = epoch.opened
            (cause, member_id), *also = causes_of(life, epoch)
            was = epoch.before.members if epoch.before is not None else {}
            who = opened.members.get(member_id or "") or was.get(member_id or "")
            values = {
                **history.place(life),
                "from_offset": opened.offsets,
                "epoch": opened.epoch,
                "protocol": STREAMS,
                "cause": cause,
                "cause_member_id": member_id,
                "cause_process_id": who.process_id if who is not None else None,
                "confidence": EXACT if cause != "UNKNOWN" else "NONE",
                "also": [each for each, _ in also],
                "join_ended_at": opened.at,
                "decided_at": epoch.target.at if epoch.target else None,
                "members": len(opened.members),
                "processes": len({each.process_id for each in opened.members.values()}),
                "tasks_revoked": epoch.moved,
                "outcome": _outcome(epoch, "SUPERSEDED"),
                "to_offset": epoch.closed.offsets if epoch.closed else None,
                "is_final": epoch.closed is not None,
                "assignor": ASSIGNOR,
                **_counts(life, opened),
                "warmups_started": 0,
                "warmups_dropped": 0,
                **NOT_OF_REBALANCES,
            }
            key = (life.group_id, opened.epoch, opened.first_offset)
            wanted[key] = Wanted(values, _offsets(epoch))
    return wanted


def _counts(life: StreamsLife, step: Step) -> dict[str, int]:
    roles = Counter(role for each in step.members.values() for role in each.held.values())
    held = step.owners.keys()
    known = step.targets.keys() | held | left_tasks(life, step)
    return {
        "tasks": len(known),
        "tasks_active": len(held),
        "tasks_missing": len(known - held),
        "standby_copies": roles[STANDBY],
        "warmup_copies": roles[WARMUP],
    }


def _offsets(epoch: Epoch) -> tuple[int, ...]:
    steps = (epoch.opened, epoch.target, epoch.converged, epoch.closed)
    return tuple(each.first_offset for each in steps if each is not None)
