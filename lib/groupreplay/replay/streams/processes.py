"""The processes of a Streams group: rows of `streams_processes`, and who of them share an id.

A process is one KafkaStreams instance. Its id lies in its state directory, so it survives a restart
where a store is on disk; a directory that was copied gives one id to two machines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from groupreplay.records.consumer import STATIC_LEAVE_EPOCH
from groupreplay.replay.facts import Fact, Stall
from groupreplay.replay.kept.streams_tasks import ProcessLife
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output
from groupreplay.replay.streams_facts import StreamsProcess

RESTARTS_KEPT = 256
"""Processes that are gone and whose number of restarts is kept."""

AWAY_KEPT: Final = 64
"""Static members of a process that were removed while they were away, and are remembered."""

DUPLICATE = "DUPLICATE_PROCESS_ID"


class Processes:
    """The processes of one life: the only writer of `Life.processes`."""

    def __init__(self, life: Life, output: Output) -> None:
        self._life = life
        self._output = output
        self._restarted: set[str] = set()

    def process_of(self, member_id: str) -> str | None:
        """The process that a member is a thread of."""
        for process_id, process in self._life.processes.items():
            if member_id in process.members:
                return process_id
        return None

    def join(
        self,
        process_id: str,
        member_id: str,
        *,
        client_host: str | None,
        endpoint: str | None,
        tags: Mapping[str, str],
        version: int | None,
        at: int,
        offset: int,
        observed: bool,
    ) -> None:
        """A member is a thread of a process; of one that was known already: what it says of itself
        now.
        """
        life = self._life
        process = life.processes.get(process_id)
        if process is None or member_id not in process.members:
            self.leave(member_id)
        # A thread that left its group by itself comes back under its id: its process ran on.
        left = life.departures.get(member_id)
        if process is None:
            earlier = life.gone_processes.pop(process_id, None)
            process = life.processes[process_id] = ProcessLife(
                StreamsProcess(
                    **life.place,
                    from_offset=offset,
                    start_observed=observed,
                    process_id=process_id,
                    threads=0,
                    members=0,
                    restarts=0 if earlier is None else earlier + (left is None),
                    hosts=[],
                    joined_at=at,
                )
            )
        row = process.row
        if member_id not in process.members:
            is_known = left is not None and left.removed_at >= row.joined_at and row.members > 0
            is_known |= member_id in process.removed_away
            row.members += not is_known
            are_away = all(self._is_away(each) for each in process.members)
            if are_away and not is_known and row.members > 1:
                self._restarted.add(process_id)
        process.members[member_id] = (client_host or "", endpoint)
        if client_host and client_host not in row.hosts:
            row.hosts = sorted([*row.hosts, client_host])
        if version is not None and version not in row.versions:
            row.versions = sorted([*row.versions, version])
        row.endpoint = endpoint
        row.tag_names, row.tag_values = list(tags), list(tags.values())

    def _is_away(self, member_id: str) -> bool:
        """Whether a static member left for a while, as each thread of a process that is
        restarted does (4.4).
        """
        member = self._life.members.get(member_id)
        return member is not None and member.epoch == STATIC_LEAVE_EPOCH

    def leave(self, member_id: str, *, was_away: bool = False) -> None:
        """A member is gone. Its process is too at the end of the operation, unless another member
        of it comes.

        was_away: it is a static member that had left for a while.
        """
        process_id = self.process_of(member_id)
        if process_id is None:
            return
        process = self._life.processes[process_id]
        del process.members[member_id]
        if was_away:
            process.removed_away = [*process.removed_away, member_id][-AWAY_KEPT:]

    def settle(self, at: int, offset: int, reason: str = "LEFT_OR_FENCED") -> None:
        """At operation end: which processes are gone, which began again, which share an id.

        reason: why those that are gone are; UNOBSERVED where a hole hides it.
        """
        for process_id in list(self._life.processes):
            process = self._life.processes[process_id]
            if not process.members:
                self._end(process_id, at, offset, reason)
                continue
            row = process.row
            row.threads = max(row.threads, len(process.members))
            row.restarts += process_id in self._restarted
            self._watch_duplicate(process_id, process, at, offset)
        self._restarted.clear()

    def end(self, at: int, offset: int, reason: str) -> None:
        """The life ends.

        reason: GROUP_REMOVED or UNOBSERVED.
        """
        for process_id in list(self._life.processes):
            self._end(process_id, at, offset, reason)

    def leave_all(self) -> None:
        """The group is empty."""
        for process in self._life.processes.values():
            process.members.clear()

    def open_rows(self) -> list[Fact]:
        """Rows of the processes that are there."""
        found: list[Fact] = []
        for process in self._life.processes.values():
            found.append(process.row)
            if process.duplicate is not None:
                found.append(process.duplicate)
        return found

    def _end(self, process_id: str, at: int, offset: int, reason: str) -> None:
        life = self._life
        process = life.processes.pop(process_id)
        if process.duplicate is not None:
            self._end_duplicate(process, at, offset)
        row = process.row
        row.to_offset, row.end_reason = offset, reason
        row.left_at = None if reason == "UNOBSERVED" else at
        self._output.emit(row)
        life.gone_processes[process_id] = row.restarts
        while len(life.gone_processes) > RESTARTS_KEPT:
            del life.gone_processes[next(iter(life.gone_processes))]

    def _watch_duplicate(self, process_id: str, process: ProcessLife, at: int, offset: int) -> None:
        """One id on two hosts, or with two endpoints: the assignor takes them for one client."""
        hosts = sorted({host for host, _ in process.members.values()})
        endpoints = {each for _, each in process.members.values() if each is not None}
        if len(hosts) < 2 and len(endpoints) < 2:
            if process.duplicate is not None:
                self._end_duplicate(process, at, offset)
            return
        if process.duplicate is None:
            process.duplicate = Stall(
                **self._life.place,
                from_offset=offset,
                reason=DUPLICATE,
                member_id=None,
                since_at=at,
                blocked_by=[],
                detail_code="TWO_HOSTS",
                detail_names=["process", "hosts"],
            )
        process.duplicate.blocked_by = sorted(process.members)
        process.duplicate.detail_values = [process_id, json.dumps(hosts)]

    def _end_duplicate(self, process: ProcessLife, at: int, offset: int) -> None:
        stall, process.duplicate = process.duplicate, None
        if stall is not None:
            stall.until_at, stall.to_offset = at, offset
            self._output.emit(stall)
