"""`coordinator_failovers`, as lines of broker logs complete it: the load, whose sessions it armed
anew, for how long nobody answered, and what a classic group was doing (measures.md, Failovers)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Between, Key, LineAt, OneOf, Untold, Wanted
from tests.simulator.expected import coordinator_failovers
from tests.simulator.expected.coordinator_events import former_of, shown_of
from tests.simulator.expected.coordinator_failovers import (
    Failover,
    failovers_of,
    lost_in,
    phase_of,
    place_of,
)
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.outages import unavailable_of
from tests.simulator.expected.rebalances import BEGUN
from tests.simulator.injected import Injected
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, CONSUMER, Operation

NEAR_MS: Final = 5_000
"""The line of a load lies so near to the records on both sides of the move."""

ARMED_MS: Final = 1_000
"""A session that was armed so soon after the load cannot be told from one that it armed."""

_AT_REST: Final = ("STEADY", "SYNCED", "EMPTY")

_PHASES: Final = {
    "PreparingRebalance": OneOf(("PREPARING",)),
    "CompletingRebalance": OneOf(("COMPLETING",)),
    "Stable": OneOf(("STEADY", "SYNCED")),
    "Empty": OneOf(("EMPTY",)),
}
"""State of a classic group in its coordinator's memory -> phase."""


_STEPS: Final = {
    "EMPTY": 0,
    "STEADY": 0,
    "ASSIGNING": 1,
    "TARGET_UNTOLD": 2,
    "PREPARING": 2,
    "REVOKING": 3,
    "PARTLY_THERE": 4,
    "COMPLETING": 4,
    "SYNCED": 5,
    "UNKNOWN": None,
}
"""Phase -> the first step of the design of Kafka 0.9 that it can be (measures.md, Failovers)."""

SETTLED_MS: Final = 3_600_000
"""A partition that was read so far past the end of a row closes it."""


@dataclass(frozen=True, slots=True)
class Rearmed:
    """Members whose session the load armed, and that ran out so: all of these, and besides at most
    those that were heard of once, a moment after the load, and those of groups with a session of
    their own, which nobody knows of."""

    must: frozenset[str]
    may: frozenset[str]

    def admits(self, value: Any) -> bool:
        return isinstance(value, list) and self.must <= set(value) <= self.must | self.may

    def __str__(self) -> str:
        return f"{sorted(self.must)}, perhaps {sorted(self.may)}"


class _Brokers:
    """What brokers did, and log. loads: as of the history. former: (partition, leader epoch) -> who
    led before. load_lines: (partition, true time) -> where
    the line of the load is. ran_out, resigned: of each partition, in order. slow: consumer groups with a session
    of their own."""

    def __init__(self, history: History) -> None:
        truth = history.truth
        self.loads = history.loads
        self.ran_out: dict[int, list[Injected]] = defaultdict(list)
        self.resigned: dict[int, list[Injected]] = defaultdict(list)
        self.slow: set[str | None] = set()
        for event in truth.injected:
            if event.what == "slow heartbeats":
                self.slow.add(event.group_id)
            if event.what == "ran out":
                self.ran_out[event.offsets_partition].append(event)
            elif event.what == "resign":
                self.resigned[event.offsets_partition].append(event)
        self.load_lines = {
            (each.offsets_partition, each.call.at): each.call.position
            for each in shown_of(history)
            if each.name == "LOADED"
        }
        former = former_of(history)
        self.former = {
            (partition, leader_epoch): former[partition, at]
            for partition, times in truth.elected.items()
            for at, leader_epoch in zip(times, truth.leader_epochs[partition], strict=True)
        }


AT_AN_EDGE: Final = Untold("stretches of which some began near the move")


def _wanted(history: History) -> dict[Key, Wanted]:
    brokers = _Brokers(history)
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        for failover in failovers_of(history, life):
            values = _values(history, failover, brokers)
            values["doc_phase"] = _steps_of(values["phase"])
            wanted[failover.key] = Wanted(values, failover.offsets)
    return wanted


def _steps_of(phase: Any) -> OneOf:
    """The phase that there is, with its step."""
    phases = (phase,) if isinstance(phase, str) else getattr(phase, "values", tuple(_STEPS))
    return OneOf(tuple((each, _STEPS[each]) for each in phases))


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [{**row, "doc_phase": (row["phase"], row["doc_phase"])} for row in rows]


def _values(history: History, failover: Failover, brokers: _Brokers) -> dict[str, Any]:
    key = failover.life.offsets_partition, failover.leader_epoch
    load = brokers.loads[key]
    since, until = failover.before.written.at - NEAR_MS, failover.first.written.at + NEAR_MS
    values = {
        **place_of(history, failover),
        "phase": phase_of(failover.last),
        "unavailable_ms": _unavailable_ms(history, failover.life.group_id, since, until),
        "gap_ms": _gap_ms(failover),
        "is_final": _is_final(history, failover),
    }
    if not since < load.broker_at <= until:
        names = ("loaded_at", "load_ms", "broker", "moved_from", "rearmed", "evidence")
        return values | dict.fromkeys(names)
    return values | {
        "loaded_at": load.broker_at,
        "load_ms": load.took_ms,
        "broker": load.broker,
        "moved_from": brokers.former[key],
        "rearmed": _rearmed(history, failover, load, brokers),
        "phase": _phase(history, failover, load, brokers.resigned[key[0]]),
        "evidence": LineAt("server_log", brokers.load_lines[load.offsets_partition, load.at]),
    }


def _gap_ms(failover: Failover) -> int | None:
    """None where the clocks of both brokers make it negative."""
    ms = failover.first.written.at - failover.before.written.at
    return ms if ms >= 0 else None


def _is_final(history: History, failover: Failover) -> bool:
    """Whether no later record can change it: the minute is over, another leader there, or the life
    at its end."""
    first = failover.first.written
    until = first.at + coordinator_failovers.AFTER_MS
    return (
        failover.life.end is not None
        or any(
            each.written.at > until or each.written.leader_epoch != first.leader_epoch
            for each in failover.records
        )
        or history.truth.as_of_ms - until > SETTLED_MS
    )


def _unavailable_ms(history: History, group_id: str, since: int, until: int) -> Any:
    """From the first answer that turned somebody away to the first that did not, after the last
    stretch that began near the move."""

    answers = history.truth.answers.of_groups.get(group_id, ())
    near = [
        each
        for each in unavailable_of(answers)
        if any(since < part.since_at <= until for part in each.outages)
    ]
    if any(not since < part.since_at <= until for each in near for part in each.outages):
        return AT_AN_EDGE
    if not near or (lasted := near[-1].until) is None:
        return None
    since_at = near[0].since_at
    return Between(lasted.first - since_at, lasted.last - since_at)


def _rearmed(history: History, failover: Failover, load: Injected, brokers: _Brokers) -> Rearmed:
    must, may, group_id = set(), set(), failover.life.group_id
    is_slow = failover.last.protocol == CONSUMER and group_id in brokers.slow
    ran_out = brokers.ran_out[failover.life.offsets_partition]
    answers = history.truth.answers.of_groups.get(group_id, ())
    for member_id, removed in lost_in(failover):
        # Whoever waits in a rebalance is not removed, and its session is armed again.
        armed = [
            each
            for each in ran_out
            if each.broker == load.broker
            and load.at < each.at <= removed.true_at
            and not goes_on(answers, member_id, each.at, removed.true_at)
            and each.detail.endswith(f"-{group_id}-{member_id})")
        ][-1:]
        late = [each.armed_at - load.at for each in armed]
        # Sessions of a classic group run on when it is converted, and end nobody then.
        is_stale = removed.protocol == CONSUMER and any("key=heartbeat-" in e.detail for e in armed)
        if late == [0] and not is_slow and not is_stale:
            must.add(member_id)
        elif any(0 <= each <= ARMED_MS for each in late):
            may.add(member_id)
    return Rearmed(frozenset(must), frozenset(may))


def goes_on(answers: Sequence[Answer], member_id: str, since: int, until: int) -> bool:
    """Whether the coordinator knew a member between two times: its session ran out while it waited
    in a rebalance, and it went some other way later."""
    return any(
        each.about == member_id and not each.code and since < each.came_true_at <= until
        for each in answers
    )


IS_LOST: Final = Untold("an upgrade that the coordinator had in its memory, and no log has")
NOT_THE_LAST: Final = Untold("a group that was silent while its coordinator moved twice")


def _phase(
    history: History, failover: Failover, load: Injected, resigned: Sequence[Injected]
) -> Any:
    last: Operation = failover.last
    if last.protocol != CLASSIC:
        return phase_of(last)
    between = [each for each in resigned if last.true_at <= each.at <= load.at]
    if len(between) != 1:
        return NOT_THE_LAST
    (before,) = between
    if last.group_id not in before.states:
        return IS_LOST
    phase = _PHASES[before.states[last.group_id]]
    others: tuple[str, ...] = ()
    if _goes_on(history, last.group_id, before, load):
        others = ("PREPARING", "COMPLETING")
    is_cut_off = not {"PREPARING", "COMPLETING"}.isdisjoint((*phase.values, *others))
    if is_cut_off and before.broker_at - before.at != load.broker_at - load.at:
        # By another clock a rebalance that was cut off may seem to have begun after the move.
        others += _AT_REST
    return OneOf((*phase.values, *others)) if others else phase


def _goes_on(history: History, group_id: str, before: Injected, load: Injected) -> bool:
    """Whether a broker that was the leader no more, and had not heard of that, let members join, or
    wait until it heard: its log shows a rebalance that was never written."""
    ahead = before.broker_at - before.at
    if any(
        each.says.startswith(BEGUN)
        and (each.broker, each.values[0]) == (before.broker, group_id)
        and before.at <= each.at <= load.at
        for each in history.truth.logged.all
    ):
        return True  # it could not store an assignment any more
    return any(
        each.kind in ("join", "leave")
        and each.broker == before.broker
        and (not each.error or each.at > each.received_at)  # who is turned away does not wait
        and before.broker_at <= each.at
        and each.received_at <= load.at + ahead
        for each in history.truth.answers.of_groups.get(group_id, ())
    )


CHECK: Final = Check(
    "failover_lines",
    _wanted,
    coordinator_failovers.CHECK.key_of,
    coordinator_failovers.CHECK.excuse,
    _gathered,
)
