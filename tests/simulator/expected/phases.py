"""`rebalances`: every rebalance of a classic group, phase by phase, as the coordinator's memory went
through them (evidence.md, Rebalances), and the rows of `stuck_groups` that lasted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.compare import Key, OneOf, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.expected.unavailable import life_of
from tests.simulator.injected import Injected
from tests.simulator.played import LOW_THRESHOLDS_MS
from tests.simulator.tables import Row

PREPARING, COMPLETING, STABLE = "PreparingRebalance", "CompletingRebalance", "Stable"
EMPTY, GONE = "Empty", "Gone"
OTHER_LEADER: Final = "rebalances over a change of leader, or soon after one"
_SETTLES_MS: Final = 120_000
THRESHOLDS_MS: Final = {
    reason: LOW_THRESHOLDS_MS[f"{reason.lower()}_ms"]
    for reason in ("JOIN_NEVER_COMPLETES", "SYNC_NEVER_COMPLETES")
}


@dataclass(slots=True)
class Phases:
    """One rebalance. generation: of before. ended_at: of one that did not complete; None while it
    lasts. outcomes: what may be told of it."""

    offsets_partition: int
    generation: int
    started_at: int
    joined_at: int | None = None
    synced_at: int | None = None
    ended_at: int | None = None
    outcomes: tuple[str, ...] = ("OPEN",)


def phases_of(events: Sequence[Injected]) -> list[Phases]:
    """Of one group at one broker, in order."""
    found: list[Phases] = []
    open_: Phases | None = None
    before, generation = GONE, -1
    for event in events:
        state, number = event.detail.split()
        at, now = event.broker_at, int(number)
        begins = state == PREPARING or (now > generation >= 0 and state in (COMPLETING, EMPTY))
        if state == PREPARING or (begins and before != PREPARING):
            if open_ is not None:
                _end(open_, at, "RESTARTED")
            open_ = Phases(event.offsets_partition, now - (state != PREPARING), at)
            found.append(open_)
        if open_ is not None and state == COMPLETING:
            open_.joined_at = at
        elif open_ is not None and state == STABLE:
            open_.synced_at = at
            _end(open_, at, "COMPLETED")
            open_ = None
        elif open_ is not None and state in (EMPTY, GONE):
            outcomes = ("EMPTY",) if state == EMPTY else ("CONVERTED", "INTERRUPTED", "EMPTY")
            _end(open_, at, *outcomes)
            open_ = None
        before, generation = state, now
    return found


def _end(phases: Phases, at: int, *outcomes: str) -> None:
    phases.ended_at, phases.outcomes = at, outcomes


def all_phases(history: History) -> Iterator[tuple[str, Phases]]:
    """(group, rebalance), of all groups."""
    events: dict[tuple[str, int], list[Injected]] = defaultdict(list)
    for event in history.truth.injected:
        if event.what == "phase" and event.group_id is not None:
            events[event.group_id, event.broker].append(event)
    for (group_id, _), of_broker in events.items():
        operations = history.truth.operations.get(group_id, ())
        synced = [each.at for each in operations if each.kind == "sync"]
        for each in phases_of(of_broker):
            _sync(each, synced)
            yield group_id, each


def _sync(phases: Phases, synced: Sequence[int]) -> None:
    """The memory is Stable when the K2 is in the log; the line is written when the leader's
    assignment comes, and the K2 has that time."""
    since, until = phases.joined_at, phases.ended_at
    if since is None:
        return
    at = [each for each in synced if since <= each and (until is None or each <= until)]
    if at:
        phases.synced_at, phases.outcomes = at[-1], ("COMPLETED",)


def _is_moved(history: History, partition: int, since: int, until: int | None) -> bool:
    last = until if until is not None else history.truth.as_of_ms
    return history.is_elected_between(partition, since - _SETTLES_MS, last + _SETTLES_MS)


def _wanted(history: History) -> dict[Key, Wanted]:
    wanted: dict[Key, Wanted] = {}
    for group_id, each in all_phases(history):
        values = {
            "generation": each.generation,
            "started_at": each.started_at,
            "joined_at": each.joined_at,
            "synced_at": each.synced_at,
            "outcome": OneOf(each.outcomes),
        }
        is_moved = _is_moved(history, each.offsets_partition, each.started_at, each.ended_at)
        left_out = OTHER_LEADER if is_moved else ""
        wanted[group_id, each.started_at] = Wanted(values, (), left_out)
    return wanted


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["started_at"]


def _excuse(history: History, row: Row) -> str:
    return OTHER_LEADER if _of_group_is_moved(history, row, row["started_at"]) else ""


def _of_group_is_moved(history: History, row: Row, since: int) -> bool:
    partitions = {p.offsets_partition for g, p in all_phases(history) if g == row["group_id"]}
    return any(_is_moved(history, each, since, since) for each in partitions)


CHECK: Final = Check("phases", _wanted, _key_of, _excuse)


def _stuck(history: History) -> dict[Key, Wanted]:
    """Those whose join phase did not end, or whose sync phase did not, and that lasted."""
    wanted: dict[Key, Wanted] = {}
    for group_id, each in all_phases(history):
        if not set(each.outcomes) & {"RESTARTED", "OPEN"} or each.synced_at is not None:
            continue
        is_sync = each.joined_at is not None
        reason = "SYNC_NEVER_COMPLETES" if is_sync else "JOIN_NEVER_COMPLETES"
        since = each.joined_at if each.joined_at is not None else each.started_at
        lasted_ms = (each.ended_at or newest_line_at(history)) - since
        if lasted_ms < THRESHOLDS_MS[reason]:
            continue
        values = _row(history, each, reason, since) | life_of(history, group_id)
        is_moved = _is_moved(history, each.offsets_partition, each.started_at, each.ended_at)
        left_out = OTHER_LEADER if is_moved else ""
        wanted[group_id, reason, since] = Wanted(values, (), left_out)
    return wanted


def _row(history: History, each: Phases, reason: str, since: int) -> dict[str, Any]:
    is_open = each.ended_at is None
    until = history.truth.as_of_ms if each.ended_at is None else each.ended_at
    return {
        "to_offset": None,
        "start_observed": True,
        "reason": reason,
        "since_at": since,
        "until_at": each.ended_at,
        "stuck_ms": until - since,
        "is_open": is_open,
        "repetitions": None,
        "detail_code": "REBALANCING",
        "is_final": not is_open,
    }


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["reason"] in THRESHOLDS_MS]


def _stuck_key(history: History, row: Row) -> Key:
    return row["group_id"], row["reason"], row["since_at"]


def _stuck_excuse(history: History, row: Row) -> str:
    return OTHER_LEADER if _of_group_is_moved(history, row, row["since_at"]) else ""


STUCK: Final = Check("stuck_phases", _stuck, _stuck_key, _stuck_excuse, _gathered)
