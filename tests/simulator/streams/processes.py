"""`streams_processes`, `streams_subtopologies` and `group_conversions` of streams groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.streams.history import Step, StreamsHistory, StreamsLife, Thread
from tests.simulator.streams.tasks import spans_of


@dataclass(slots=True)
class _Process:
    """said: what its newest description says."""

    opened: Step
    restarts: int
    said: Thread
    threads: int = 0
    seen: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)


def processes(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        running: dict[str, _Process] = {}
        ended: dict[str, int] = {}
        known: set[str] = set()
        was: dict[str, Thread] = {}
        for step in life.steps:
            of_process: dict[str, list[str]] = {}
            for member_id, member in step.members.items():
                of_process.setdefault(member.process_id, []).append(member_id)
            for process_id in list(running):
                if process_id not in of_process:
                    process = running.pop(process_id)
                    ended[process_id] = process.restarts
                    wanted |= _row(history, life, process_id, process, step)
            for process_id, members in of_process.items():
                fresh = [each for each in members if each not in was]
                said = step.members[members[0]]
                if process_id not in running:
                    again = process_id in ended and any(each not in known for each in fresh)
                    restarts = ended.get(process_id, 0) + again
                    running[process_id] = _Process(step, restarts, said)
                process = running[process_id]
                present = [
                    each
                    for each, thread in was.items()
                    if thread.process_id == process_id and not thread.is_away
                ]
                if fresh and process.opened is not step and not present:
                    process.restarts += 1
                process.threads = max(process.threads, len(members))
                process.seen |= set(members)
                for member_id in members:
                    process.hosts.add(step.members[member_id].host)
                    if f"K19 {member_id}" in step.records:
                        process.said = step.members[member_id]
            known |= step.members.keys()
            was = dict(step.members)
        for process_id, process in running.items():
            wanted |= _row(history, life, process_id, process, life.end)
    return wanted


def _row(
    history: StreamsHistory, life: StreamsLife, process_id: str, process: _Process, end: Step | None
) -> dict[Key, Wanted]:
    tags = dict(process.said.tags)
    values: dict[str, Any] = {
        **history.place(life),
        "from_offset": process.opened.offsets,
        "to_offset": end.offsets if end else None,
        "is_final": end is not None,
        "threads": process.threads,
        "members": len(process.seen),
        "restarts": process.restarts,
        "hosts": sorted(process.hosts),
        "tag_names": list(tags),
        "tag_values": list(tags.values()),
        "endpoint": process.said.endpoint,
        "versions": [],
        "joined_at": process.opened.at,
        "left_at": end.at if end else None,
        "end_reason": "LEFT_OR_FENCED" if end else "OPEN",
    }
    key = (life.group_id, process_id, process.opened.first_offset)
    return {key: Wanted(values, (process.opened.first_offset,))}


def subtopologies(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        last = life.steps[-1]
        spans = spans_of(life)
        for name, told in last.subtopologies.items():
            ever = {task for task in spans.runs if task.subtopology == name}
            now = {task for task in last.targets if task.subtopology == name}
            standbys = last.configs.get("num.standby.replicas")
            values = {
                **history.place(life),
                "from_offset": history.incarnation(life),
                "to_offset": life.end.offsets if life.end is not None else None,
                "has_source_changelog": None,
                # Of a topic that was made anew with fewer partitions the log still names the others.
                "tasks": Between(len(now), len(now | ever)),
                "source_topics": sorted(told.inputs),
                "changelog_topics": sorted(told.changelogs),
                "is_stateful": bool(told.changelogs),
                "stateful_basis": "TOPOLOGY",
                "standby_replicas": int(standbys) if standbys is not None else None,
                "is_final": life.end is not None,
            }
            wanted[life.group_id, name, life.steps[0].first_offset] = Wanted(
                values, (last.first_offset,)
            )
    return wanted


def conversions(history: StreamsHistory) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        if life.before is not None:
            first = life.steps[0]
            joined = next(iter(first.members), None)
            wanted |= _conversion(history, life, first, "TO_STREAMS", joined, life.before.epoch)
        if (
            life.end is not None
            and life.end.protocol is not None
            and "K17 gone" in life.end.records
        ):
            epoch = life.steps[-1].epoch
            wanted |= _conversion(history, life, life.end, "FROM_STREAMS", None, epoch)
    return wanted


def _conversion(
    history: StreamsHistory,
    life: StreamsLife,
    step: Step,
    direction: str,
    member_id: str | None,
    epoch_before: int,
) -> dict[Key, Wanted]:
    values = {
        **history.place(life),
        "incarnation": step.offsets,
        "from_offset": step.offsets,
        "to_offset": step.offsets,
        "converted_at": step.at,
        "direction": direction,
        "mode": "OFFLINE",
        "trigger_member_id": member_id,
        "epoch_before": epoch_before or None,
        "epoch_after": step.epoch or None,
        "is_final": True,
    }
    return {(life.group_id, step.first_offset): Wanted(values, (step.first_offset,))}
