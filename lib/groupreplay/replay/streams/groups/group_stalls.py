"""What is stuck in a streams group (KIP-1071) besides what any group has: topologies that are not
ready or out of date, and tasks that nobody runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from groupreplay.replay.facts import Stall
from groupreplay.replay.kept.streams_tasks import GroupTasks, StreamsState, task_text
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output


class GroupStalls:
    """The stalls of one life of a streams group."""

    def __init__(self, life: Life, state: StreamsState, group: GroupTasks, output: Output) -> None:
        self._life = life
        self._state = state
        self._group = group
        self._output = output

    def watch(self, at: int, offset: int, observed: bool) -> None:
        """At operation end.

        observed: no hole lies before the operation.
        """
        if not observed:
            self._state.stalls.clear()
        self._topology(at, offset, observed)
        self._stale_members(at, offset, observed)
        self._unassigned(at, offset, observed)

    def _topology(self, at: int, offset: int, observed: bool) -> None:
        """Internal topics are missing: the K17 is not validated for the topology there is. Before
        4.2 that is in no record.
        """
        group = self._group
        is_unready = (
            bool(self._life.members)
            and group.is_validating
            and group.topology_epoch >= 0
            and group.validated_epoch != group.topology_epoch
        )
        epochs = {
            "topology_epoch": group.topology_epoch,
            "validated_epoch": group.validated_epoch,
        }
        self._keep("TOPOLOGY_NOT_READY", is_unready, at, offset, observed, "TOPOLOGY", epochs)

    def _stale_members(self, at: int, offset: int, observed: bool) -> None:
        """Members whose topology is older than the group's."""
        group = self._group
        for member_id, epoch in group.topology_epochs.items():
            epochs = {"member_topology_epoch": epoch, "topology_epoch": group.topology_epoch}
            is_stale = member_id in self._life.members and epoch < group.topology_epoch
            key = f"STALE_TOPOLOGY\x00{member_id}"
            self._keep(key, is_stale, at, offset, observed, "STALE", epochs, member_id)
        for member_id in [m for m in group.topology_epochs if m not in self._life.members]:
            del group.topology_epochs[member_id]

    def _unassigned(self, at: int, offset: int, observed: bool) -> None:
        """Tasks that one record took, and that nobody has yet. While nobody is there, nobody is
        stuck.
        """
        waiting: dict[int, list[str]] = {}
        owners: dict[int, str] = {}
        if self._life.members:
            for task, move in self._state.moves.items():
                if move.granted_offset < 0 and move.row is not None:
                    waiting.setdefault(move.row.from_offset, []).append(task_text(task))
                    owners[move.row.from_offset] = move.row.from_member_id
        keys = {f"TASK_UNASSIGNED\x00{taken}": taken for taken in waiting}
        for key in [k for k in self._state.stalls if k.startswith("TASK_UNASSIGNED\x00")]:
            if key not in keys:
                self._keep(key, False, at, offset, observed, "UNASSIGNED", {})
        for key, taken in keys.items():
            values = {"tasks": sorted(waiting[taken]), "from_member": owners[taken]}
            # It begins with that record: one operation may take tasks by several.
            self._keep(key, True, at, taken, observed, "UNASSIGNED", values)

    def _keep(
        self,
        key: str,
        holds: bool,
        at: int,
        offset: int,
        observed: bool,
        code: str,
        values: Mapping[str, Any],
        member_id: str | None = None,
    ) -> None:
        """Opens, keeps or ends a stall.

        key: its reason, and what it is about.
        """
        stall = self._state.stalls.get(key)
        if not holds:
            if stall is not None:
                del self._state.stalls[key]
                self._output.emit_stall(stall, at, offset)
            return
        if stall is None:
            stall = self._state.stalls[key] = self._new(key, at, offset, observed, member_id)
        stall.detail_code, stall.detail_names = code, list(values)
        stall.detail_values = [
            json.dumps(each) if isinstance(each, list) else str(each) for each in values.values()
        ]

    def _new(self, key: str, at: int, offset: int, observed: bool, member_id: str | None) -> Stall:
        member = self._life.members.get(member_id) if member_id is not None else None
        return Stall(
            **self._life.place,
            from_offset=offset,
            start_observed=observed,
            reason=key.split("\x00")[0],
            member_id=member_id,
            instance_id=member.instance_id if member is not None else None,
            client_id=member.client_id if member is not None else None,
            client_host=member.client_host if member is not None else None,
            member_protocol=member.protocol if member is not None else None,
            since_at=at,
            blocked_by=[],
        )

    def end_all(self, at: int, offset: int) -> None:
        """The life ends where it was seen to."""
        for key in list(self._state.stalls):
            self._output.emit_stall(self._state.stalls.pop(key), at, offset)
