"""How long the steps of rebalances took, by the coordinator's memory and by what requests were
answered, and which of these times a group is priced by (measures.md, What if, Times)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import median
from typing import Final

from tests.simulator.answers import Answer
from tests.simulator.expected.generations import generation_of
from tests.simulator.expected.hand_overs import hand_overs_of
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Named, is_new_generation, named
from tests.simulator.expected.rebalances import rebalances_of
from tests.simulator.expected.rejoins import (
    REBALANCE_IN_PROGRESS,
    WRITTEN_LATE_MS,
    Rejoin,
    rejoins_in,
)
from tests.simulator.expected.spread import NOTHING, Spread, exactly, percentile
from tests.simulator.lives import Life, is_conversion
from tests.simulator.truth import CLASSIC, Member, Operation

LEAST_OWN, LEAST_FLEET, LEAST_BEATS = 3, 20, 10
"""`what_if.min_samples`, `what_if.min_fleet_samples`; times between heartbeats that show one."""

CLASSIC_BEAT_MS: Final = 3_000
"""`brokers.classic_heartbeat_ms`."""

TRANSFERRED_MS, FEW_MS = 250, 250

REVOKE, SYNC, JOIN, REJOIN, CALLBACK, TAKEN = (
    "REVOKE",
    "SYNC",
    "JOIN",
    "REJOIN",
    "CALLBACK",
    "TAKEN",
)

BASES: Final = ("OWN", "RECORDS", "BROKER_LOG", "FLEET", "FEW", "TRANSFERRED", "ASSUMED")
"""From the strongest on."""

Samples = Mapping[str, Sequence[Spread]]
"""What is measured -> each time of it."""


@dataclass(frozen=True, slots=True)
class Times:
    """R or Y: low, mid and high, and where they come from."""

    low: Spread
    mid: Spread
    high: Spread
    basis: str


ASSUMED_SYNC: Final = Times(exactly(0), exactly(10), exactly(100), "ASSUMED")


class RebalanceTimes:
    """Of one history."""

    def __init__(self, history: History) -> None:
        self._own: dict[str, dict[str, list[Spread]]] = defaultdict(lambda: defaultdict(list))
        for group_id, measure, took in _samples(history):
            self._own[group_id][measure].append(took)
        self._fleet: dict[str, list[Spread]] = defaultdict(list)
        for samples in self._own.values():
            for measure, found in samples.items():
                self._fleet[measure] += found
        self._beats = {
            group_id: _classic_beat(answers)
            for group_id, answers in history.truth.answers.of_groups.items()
        }

    def classic_beat_ms(self, group_id: str) -> int:
        return self._beats.get(group_id) or CLASSIC_BEAT_MS

    def release(self, group_id: str, mode: str) -> Times | None:
        """R of a protocol; None where nothing shows it."""
        own, half_beat = self._own[group_id], self.classic_beat_ms(group_id) // 2
        if mode == "CONSUMER":
            found = _measured(own, REVOKE) or _measured(self._fleet, REVOKE, LEAST_FLEET)
            moved = _measured(own, REJOIN) or _callbacks(own, half_beat)
            return found or (moved and _transferred(moved))
        rejoins = _measured(own, REJOIN) or _phases(own, JOIN, half_beat)
        callbacks = _callbacks(own, half_beat)
        if mode == "COOPERATIVE":
            found = callbacks or rejoins or _measured(self._fleet, CALLBACK, LEAST_FLEET)
        else:
            found = rejoins or (callbacks and _transferred(callbacks))
        return found or self._of_others(own, half_beat)

    def sync(self, group_id: str) -> Times:
        """Y."""
        own = _measured(self._own[group_id], SYNC)
        return own or _measured(self._fleet, SYNC, LEAST_FLEET) or ASSUMED_SYNC

    def _of_others(self, own: Samples, half_beat: int) -> Times | None:
        rejoins = _measured(self._fleet, REJOIN, LEAST_FLEET)
        phases = self._fleet.get(JOIN, ())
        if rejoins is None and len(phases) >= LEAST_FLEET:
            high = percentile(phases, 0.9)
            return Times(NOTHING, _less(percentile(phases, 0.5), half_beat), high, "FLEET")
        revokes = _measured(own, REVOKE) or _measured(self._fleet, REVOKE, LEAST_FLEET)
        return rejoins or (revokes and _transferred(revokes))


def weakest(bases: Sequence[str]) -> str | None:
    """None of none."""
    return max(bases, key=BASES.index, default=None)


# ---------------------------------------------------------------- which times count


def _measured(samples: Samples, measure: str, least: int = LEAST_OWN) -> Times | None:
    found = samples.get(measure, ())
    if len(found) < least:
        return None
    low, mid, high = (percentile(found, share) for share in (0.1, 0.5, 0.9))
    return Times(low, mid, high, "OWN" if least == LEAST_OWN else "FLEET")


def _phases(samples: Samples, measure: str, half_beat: int, least: int = LEAST_OWN) -> Times | None:
    """Of times in which members also had to hear that they are to come."""
    found = samples.get(measure, ())
    if len(found) < least:
        return None
    basis = "BROKER_LOG" if measure == JOIN else "RECORDS" if least == LEAST_OWN else "FEW"
    return Times(NOTHING, _less(percentile(found, 0.5), half_beat), percentile(found, 1.0), basis)


def _callbacks(own: Samples, half_beat: int) -> Times | None:
    """Of the group itself, however few."""
    found = _measured(own, CALLBACK) or _phases(own, TAKEN, half_beat)
    few = own.get(CALLBACK, ())
    if found is None and few:
        high = percentile(few, 1.0).plus(exactly(FEW_MS))
        return Times(NOTHING, percentile(few, 0.5), high, "FEW")
    return found or _phases(own, TAKEN, half_beat, least=1)


def _transferred(times: Times) -> Times:
    return Times(NOTHING, times.mid, times.high.at_least(TRANSFERRED_MS), "TRANSFERRED")


def _less(times: Spread, by: int) -> Spread:
    return Spread(times.least - by, times.most - by).at_least(0)


# ---------------------------------------------------------------- the times


def _samples(history: History) -> Iterator[tuple[str, str, Spread]]:
    """Group, what is measured, and how long it took."""
    cooperative = {life.group_id for life in history.lives if any(map(_is_shown, _begun(life)))}
    for life in history.lives:
        operations = life.operations
        for asked in hand_overs_of(life):
            if asked.outcome == "ACKED" and asked.ended is not None and not asked.member.is_classic:
                took = operations[asked.ended].at - operations[asked.requested].at
                yield from _if_known(life.group_id, REVOKE, took)
        for before, operation in _begun(life):
            sync_ms = generation_of(before, operation).sync_ms
            if sync_ms is not None:
                yield from _if_known(life.group_id, SYNC, sync_ms)
        for taken_at, given_at in _taken(life):
            yield life.group_id, TAKEN, exactly(given_at - taken_at)
    for rebalance in rebalances_of(history):
        if rebalance.joined and rebalance.generation > 0 and rebalance.group_id not in cooperative:
            took = rebalance.joined.broker_at - rebalance.begun.broker_at
            yield from _if_known(rebalance.group_id, JOIN, took)
    given_up = _given_up(history)
    for group_id, rejoins in rejoins_in(history).items():
        if group_id not in cooperative:
            for each in rejoins:
                if each.told is not None and each.join is not None:
                    yield group_id, REJOIN, _lasts(each.join.received_at - each.told.at)
        for spread in _callback_times(rejoins, given_up[group_id]):
            yield group_id, CALLBACK, spread


def _if_known(group_id: str, measure: str, ms: int) -> Iterator[tuple[str, str, Spread]]:
    if ms >= 0:
        yield group_id, measure, exactly(ms)


def _lasts(ms: int) -> Spread:
    """To when a request came, by a line that is written late."""
    return Spread(max(0, ms - WRITTEN_LATE_MS), max(0, ms + 1))


def _begun(life: Life) -> Iterator[tuple[Operation | None, Operation]]:
    """Generations of the classic protocol, with the operation before each."""
    for before, operation in life.steps():
        is_new = operation.protocol == CLASSIC and is_new_generation(before, operation)
        if is_new and operation.epoch > 0:
            yield before, operation


def _is_shown(generation: tuple[Operation | None, Operation]) -> bool:
    """Whether members read on in a generation, as some listed as owned what they had."""
    return generation_of(*generation).cooperative is True


def _goes_on(generation: tuple[Operation | None, Operation]) -> bool:
    """The same, or nobody had anything to list and the assignor is cooperative. A downgrade has no
    members that joined."""
    told = generation_of(*generation)
    by_name = generation[1].protocol_name == "cooperative-sticky"
    is_so = by_name if told.cooperative is None else told.cooperative
    return is_so and told.joined_at is not None


def _taken(life: Life) -> set[tuple[int, int]]:
    """When one generation took partitions of members that stay, and the next gave them out."""
    found = set[tuple[int, int]]()
    for (before, takes), gives in pairwise(_begun(life)):
        if before is None or gives[1].epoch != takes.epoch + 1 or not _goes_on(gives):
            continue
        if is_conversion(*gives) or gives[1].at <= takes.at:
            continue
        lost = {
            each
            for member_id, member in takes.members.items()
            if member_id in before.members
            for each in _lost(before.members[member_id], member)
        }
        held = {named(each) for member in takes.members.values() for each in member.held}
        given = {named(each) for member in gives[1].members.values() for each in member.held}
        if (lost - held) & given:
            found.add((takes.at, gives[1].at))
    return found


def _lost(had: Member, has: Member) -> set[Named]:
    """By names: a group may have been converted between the two."""
    return {named(each) for each in had.held} - {named(each) for each in has.held}


def _given_up(history: History) -> dict[str, set[tuple[str, int]]]:
    """Group -> members that a generation of a cooperative group took partitions from, and it."""
    found: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for life in history.lives:
        for (before, operation), then in pairwise(_begun(life)):
            if before is None or then[1].epoch != operation.epoch + 1 or not _goes_on(then):
                continue
            for member_id, member in operation.members.items():
                had = before.members.get(member_id)
                if had is not None and _lost(had, member):
                    found[life.group_id].add((member_id, operation.epoch))
    return found


def _callback_times(rejoins: Sequence[Rejoin], given_up: set[tuple[str, int]]) -> Iterator[Spread]:
    """From when a member had its assignment to when it came to join the next generation, untold."""
    synced = [
        (each.member_id, each.join.joined, each.synced)
        for each in rejoins
        if each.join is not None and each.synced is not None
    ]
    came = [
        (each.member_id, each.join.joined - 1, each.join)
        for each in rejoins
        if each.told is None and each.join is not None
    ]
    for (who, epoch, had), (other, before, join) in product(synced, came):
        is_next = (who, epoch) == (other, before) and join.received_at >= had.at
        if is_next and (who, epoch) in given_up:
            yield _lasts(join.received_at - had.at)


# ---------------------------------------------------------------- heartbeats


def _classic_beat(answers: Sequence[Answer]) -> int | None:
    """The heartbeat of most members; None where none has shown it. answers: of a group."""
    by_member: dict[str | None, list[Answer]] = defaultdict(list)
    for each in answers:
        by_member[each.asked_by or each.answered_member_id].append(each)
    found = [beat for each in by_member.values() if (beat := _beat_of(each)) is not None]
    return int(median(found) + 0.5) if found else None


def _beat_of(answers: Sequence[Answer]) -> int | None:
    """To hundreds of ms, of one member. What it asks otherwise, commits aside, is no beat."""
    times = []
    last: int | None = None
    for each in answers:
        if each.api == "HEARTBEAT":
            is_beat = each.code in (0, REBALANCE_IN_PROGRESS)
            if is_beat and last is not None:
                times.append(max(0, each.at - last))
            last = each.at if is_beat else None
        elif each.kind in ("join", "sync", "heartbeat", "leave"):
            last = None
    if len(times) < LEAST_BEATS:
        return None
    return int(sum(times) / len(times) / 100 + 0.5) * 100
