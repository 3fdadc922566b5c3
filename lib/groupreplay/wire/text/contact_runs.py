"""Heartbeats and commits of one file, reduced before they are shuffled: routine ones become runs.

Nothing is lost by it. A line that is no routine passes as it is. Runs of the same member and API,
joined in order, have as many requests, the same first and last time and the same longest gap as
their lines, wherever files and nights cut them. Times are ms since the epoch, UTC, of the lines,
that is of the response. The order of lines decides: a clock that goes back makes no gap.

Heartbeats and commits have runs of their own. A member does both by separate timers, so a run of
both would end at every line.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupreplay.limits import MIN_SILENCE_MS
from groupreplay.records.log_events import COMMITS, HEARTBEATS_WITH_EPOCH, LogEvent

MAX_OPEN = 20_000
"""Members of whom one reducer holds runs; about 2 KB each."""


_REBALANCE_IN_PROGRESS = 27


@dataclass(slots=True)
class ContactRun:
    """Successive requests that say the same, or one event that is no routine.

    event: what the line of the first request says.
    position, last_position: where the lines of the first and the last begin.
    longest_gap_ms: longest time between two successive requests of the run, 0 for a single one.
    """

    event: LogEvent
    position: int
    first_ms: int
    last_ms: int
    requests: int
    longest_gap_ms: int
    last_position: int


def is_routine(event: LogEvent) -> bool:
    """A sign of life that says nothing else: a heartbeat or a commit that went well, or the answer
    that a classic group rebalances.

    Joins (epoch 0) and leaves (below 0) of the newer protocols are heartbeats too, and no routine;
    a commit with generation -1 is one of no member.
    """
    if event.event in HEARTBEATS_WITH_EPOCH:
        return event.error_code == 0 and event.epoch is not None and event.epoch > 0
    if event.event == "HEARTBEAT":
        return event.error_code in (0, _REBALANCE_IN_PROGRESS)
    return event.event in COMMITS and event.error_code == 0


class ContactReducer:
    """Takes the events of one file in order, gives rows when they are whole.

    A run ends with the file, with a gap of MIN_SILENCE_MS, with an event of its member that is no
    routine, and with one of the same API that says something else. It also ends when runs of
    `max_open` members are held.
    """

    def __init__(self, max_open: int = MAX_OPEN) -> None:
        self._max_open = max_open
        self._open: dict[tuple[str | None, ...], dict[str, ContactRun]] = {}

    def take(self, event: LogEvent, position: int) -> list[ContactRun]:
        """Rows that this event makes whole; the event itself, if it is no routine, last."""
        member = _member(event)
        runs = self._open.get(member)
        if not is_routine(event):
            ended = [] if runs is None else list(self._open.pop(member).values())
            return [*ended, _single(event, position)]
        done: list[ContactRun] = []
        if runs is None:
            if len(self._open) >= self._max_open:
                done = self.close()
            runs = self._open[member] = {}
        run = runs.get(event.event)
        if (
            run is not None
            and event.at_ms - run.last_ms < MIN_SILENCE_MS
            and _says_the_same(run.event, event)
        ):
            run.longest_gap_ms = max(run.longest_gap_ms, event.at_ms - run.last_ms)
            run.last_ms, run.last_position = event.at_ms, position
            run.requests += 1
            return done
        runs[event.event] = _single(event, position)
        return done if run is None else [run]

    def close(self) -> list[ContactRun]:
        """All that is still held; the end of the file."""
        held = [run for runs in self._open.values() for run in runs.values()]
        self._open.clear()
        return held


def _single(event: LogEvent, position: int) -> ContactRun:
    return ContactRun(event, position, event.at_ms, event.at_ms, 1, 0, position)


def _member(event: LogEvent) -> tuple[str | None, ...]:
    """Who sent it. Those who commit without a member id are told apart by client."""
    if event.member_id is None:
        return event.group_id, None, event.client_id, event.client_host
    return event.group_id, event.member_id


def _says_the_same(one: LogEvent, other: LogEvent) -> bool:
    return (
        one.error_code == other.error_code
        and one.epoch == other.epoch
        and one.response_epoch == other.response_epoch
        and one.heartbeat_interval_ms == other.heartbeat_interval_ms
        and one.instance_id == other.instance_id
        and one.other_member_id == other.other_member_id
        and one.client_id == other.client_id
        and one.client_host == other.client_host
        and one.connection == other.connection
        and one.principal == other.principal
        and one.software_name == other.software_name
        and one.software_version == other.software_version
    )
