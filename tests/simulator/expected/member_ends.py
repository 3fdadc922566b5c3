"""`members`, of which lines of broker logs say how each ended (evidence.md, ends of members).

The truth names the request or the timer that removed a member. Of a classic group's members it
does so where the removal wrote a K2 at once; else what was done to the process decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.stops import is_over
from tests.simulator.injected import Injected
from tests.simulator.lives import Life
from tests.simulator.tables import Row
from tests.simulator.truth import STREAMS, Operation

NOT_TOLD: Final = "members that no operation of their own removed"

_TIMERS: Final = {
    "session-timeout": "SESSION_EXPIRED",
    "heartbeat": "SESSION_EXPIRED",
    "rebalance-timeout": "REBALANCE_TIMEOUT",
    "consumer-group-join": "JOIN_TIMEOUT",
    "consumer-group-sync": "SYNC_TIMEOUT",
}
"""Kafka's name of a timer -> the detail of the fence that it ends in."""

_SURE: Final = OneOf(("EXACT", "INFERRED"))
"""INFERRED where another line about the same member lies near."""


@dataclass(frozen=True, slots=True)
class Ending:
    reason: Any
    detail: Any


_GONE: Final = Ending("FENCED", OneOf(("SESSION_EXPIRED", "JOIN_TIMEOUT", "SYNC_TIMEOUT")))
"""A process that is not there any more; a static member of the classic protocol never leaves."""

POLL_TIMEOUT: Final = " poll timeout"
"""What the truth says of a leave whose client has not polled for too long."""

_TIMED_OUT: Final = Ending("LEFT", "POLL_TIMEOUT")

_OF_PROCESSES: Final = {
    "close": Ending("LEFT", "LEAVE_GROUP"),
    "admin removal": Ending("LEFT", "ADMIN_REMOVAL"),
    "crash": _GONE,
}
"""What was done to a classic member last -> how it ended."""


def ending_of(operation: Operation, member_id: str) -> Ending | None:
    """How an operation that removed a member did it; None where it does not say."""
    if operation.kind == "leave" and operation.asked_by == member_id:
        if operation.reason == "admin":
            return Ending("LEFT", "ADMIN_REMOVAL")
        if operation.reason.endswith(POLL_TIMEOUT):
            return _TIMED_OUT
        is_heartbeat = operation.reason.startswith("-1")
        return Ending("LEFT", "LEAVE_HEARTBEAT" if is_heartbeat else "LEAVE_GROUP")
    named = re.fullmatch(
        r"Timeout\((?:tp=[^,]*, )?key=([a-z-]+?)-" + _subject(operation, member_id), _of(operation)
    )
    detail = _TIMERS.get(named[1]) if named is not None else None
    return Ending("FENCED", detail) if detail is not None else None


def _still_stands(event: Injected, true_at: int) -> bool:
    """Whether a process was frozen before it was in a generation, and still is."""
    return event.what == "freeze" and event.at < true_at and not is_over(event, true_at)


def _subject(operation: Operation, member_id: str) -> str:
    return re.escape(f"{operation.group_id}-{member_id})")


def _of(operation: Operation) -> str:
    return operation.reason if operation.kind == "internal" else ""


class _Ends:
    """Of one history. done: to each member, in order."""

    def __init__(self, history: History) -> None:
        self.wanted: dict[Key, Wanted] = {}
        self._elected = history.truth.elected
        self._done: dict[tuple[str | None, str | None], list[Injected]] = defaultdict(list)
        for event in history.truth.injected:
            self._done[event.group_id, event.member_id].append(event)
        for life in history.lives:
            self._of_life(life)

    def _of_life(self, life: Life) -> None:
        joined: dict[str, Operation] = {}
        for before, operation in life.steps():
            was = before.members if before is not None else {}
            for member_id in was.keys() - operation.members.keys():
                opened = joined.pop(member_id)
                self._add(life, member_id, opened, operation, was[member_id].instance_id)
            for member_id in operation.members.keys() - was.keys():
                joined[member_id] = operation
            instances = {each.instance_id for each in operation.members.values()} - {None}
            for member_id in was.keys() - operation.members.keys():
                if was[member_id].instance_id in instances:
                    self._replace(life, member_id)

    def _add(
        self,
        life: Life,
        member_id: str,
        opened: Operation,
        removed: Operation,
        instance_id: str | None,
    ) -> None:
        key = life.group_id, member_id, opened.first_offset
        ending = ending_of(removed, member_id)
        if ending is None:
            ending = self._by_process(opened, removed, member_id, instance_id)
        values: dict[str, Any] = {"ended_at": removed.at}
        if removed.protocol is None:
            ending = Ending("GROUP_REMOVED", None)
        if ending is not None:
            values |= {"end_reason": ending.reason, "end_detail": ending.detail}
        values["end_confidence"] = "EXACT" if removed.protocol is None else _SURE
        left_out = NOT_TOLD if ending is None else ""
        offsets = (opened.first_offset, removed.first_offset)
        self.wanted[key] = Wanted(values, offsets, left_out)

    def _by_process(
        self, opened: Operation, removed: Operation, member_id: str, instance_id: str | None
    ) -> Ending | None:
        """Of a member of a classic group, whose generation without it comes later."""
        if removed.protocol != "classic" or removed.has("K8"):
            return None
        done = [
            event
            for event in self._done[removed.group_id, member_id]
            if event.at <= removed.true_at
            and (event.at >= opened.true_at or _still_stands(event, opened.true_at))
        ]
        if len(done) != 1 or self._has_other_leader(removed.offsets_partition, done[0], removed):
            return None
        if instance_id is not None and self._has_heir(instance_id, done[0], removed):
            return None
        is_static_close = instance_id is not None and done[0].what == "close"
        if done[0].what == "close" and done[0].detail.endswith(POLL_TIMEOUT):
            return _GONE if is_static_close else _TIMED_OUT
        return _GONE if is_static_close else _OF_PROCESSES.get(done[0].what)

    def _has_heir(self, instance_id: str, event: Injected, removed: Operation) -> bool:
        """Whether another process took the instance over, in a join phase that wrote nothing."""
        starts = self._done[removed.group_id, None]
        return any(
            each.what == "start"
            and each.detail.split()[-1:] == [instance_id]
            and event.at <= each.at <= removed.true_at
            for each in starts
        )

    def _has_other_leader(self, partition: int, event: Injected, removed: Operation) -> bool:
        """What one leader did, and did not write, the next one does not know of."""
        elected = self._elected.get(partition, ())
        return any(event.at <= at <= removed.true_at for at in elected)

    def _replace(self, life: Life, member_id: str) -> None:
        for key in [each for each in self.wanted if each[:2] == (life.group_id, member_id)][-1:]:
            values = {"end_reason": "REPLACED", "end_detail": None, "end_confidence": "EXACT"}
            self.wanted[key] = Wanted(values, self.wanted[key].offsets)


def _wanted(history: History) -> dict[Key, Wanted]:
    return _Ends(history).wanted


def ends_of(history: History) -> dict[Key, Wanted]:
    """(group, member, first offset of the operation that removed it) -> how it ended."""
    wanted = _wanted(history).items()
    return {(key[0], key[1], each.offsets[1]): each for key, each in wanted}


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], history.opened_by(row)


def _excuse(history: History, row: Row) -> str:
    began = history.operation_at(row["group_id"], row["from_offset"])
    if began is not None and began.protocol == STREAMS:
        return "members of streams groups: streams/lines.py has them"
    return "members that are still there" if row["end_reason"] == "OPEN" else ""


CHECK: Final = Check("member_ends", _wanted, _key_of, _excuse)
