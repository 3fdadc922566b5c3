"""`group_days`: times and partition-times of each day, added up from the coordinator's memory after
each operation (measures.md, Days of groups)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulator.compare import AllOf, Between, Bound, Key, OneOf, Untold, Wanted
from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED, comings_of
from tests.simulator.expected.day_costs import COLUMNS, OVER_CONVERSIONS, costs_of_day
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.moves import counts_of, moves_of
from tests.simulator.expected.stops import IN_FLIGHT_MS, Stops
from tests.simulator.expected.transitions import sync_phases_of
from tests.simulator.expected.unread import bounds_of_day, unread_of
from tests.simulator.lives import Life, is_conversion
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC, CONSUMER, Operation, Partition

DAY_MS: Final = 86_400_000
SLACK_PCT: Final = 1e-9
"""Of a quotient."""

_EVENTS: Final = {JOINED: "joins", GONE: "departures", REPLACED: "replaced", AWAY: "away"}
_TIMES: Final = ("members_ms", "empty_ms", "mixed_ms", "consumer_ms", "classic_ms")
_OF_PARTITIONS: Final = ("partitions_ms", "unowned_ms", "away_ms")
_COUNTS: Final = ("members_max", "epochs", *_EVENTS.values())
_SUMS: Final = (*_TIMES, *_OF_PARTITIONS, *_COUNTS, "rebalancing_ms")

SHARED_OUT: Final = Untold("how a stop is shared out among days")


@dataclass(slots=True)
class _Day:
    """from_offset: of the last operation before it, or of the first of the life."""

    from_at: int
    to_at: int
    from_offset: Any
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SUMS, 0))
    causes: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Causes:
    """How many epochs have each cause. causes: of each epoch, or what it may be."""

    causes: tuple[Any, ...]

    def admits(self, value: Any) -> bool:
        left = Counter(value)
        untold = []
        for cause in self.causes:
            if isinstance(cause, str):
                left[cause] -= 1
            else:
                untold.append(cause)
        if min(left.values(), default=0) < 0 or left.total() != len(untold):
            return False
        told = list(left.elements())
        return all(any(each.admits(one) for one in told) for each in untold)

    def __str__(self) -> str:
        return f"causes {list(map(str, self.causes))}"


class _Unowned:
    """Partitions that were let go, and that the target, or the next one, has."""

    def __init__(self) -> None:
        self._free: set[Partition] = set()

    def step(self, before: Operation | None, operation: Operation) -> None:
        """A target that leaves a partition out ends that it is missed, if an earlier operation let
        it go: within one operation the order is not told."""
        held = _held(operation)
        if operation.target_epochs:
            self._free &= _target(operation)
        if before is not None and operation.protocol == CONSUMER:
            self._free |= _held(before) - held
        self._free -= held

    def at(self, operation: Operation) -> int:
        if operation.protocol != CONSUMER or not operation.members:
            return 0
        lags = operation.epoch > (operation.target_epoch or 0)
        return len(self._free if lags else self._free & _target(operation))


def _held(operation: Operation) -> set[Partition]:
    if operation.protocol_type == "connect":
        return set()
    return {partition for member in operation.members.values() for partition in member.held}


def _target(operation: Operation) -> set[Partition]:
    return {partition for member in operation.members.values() for partition in member.target}


def _rates(operation: Operation, unowned: int) -> dict[str, int]:
    members = operation.members.values()
    is_mixed = any(member.is_classic for member in members)
    is_consumer = operation.protocol == CONSUMER
    return {
        "members_ms": len(members),
        "empty_ms": int(not members),
        "mixed_ms": int(is_consumer and is_mixed),
        "consumer_ms": int(bool(members) and is_consumer and not is_mixed),
        "classic_ms": int(bool(members) and operation.protocol == CLASSIC),
        "partitions_ms": len(_held(operation)) + unowned,
        "unowned_ms": unowned,
        "away_ms": sum(len(member.held) for member in members if member.is_away),
    }


class _Days:
    """Adds up one life."""

    def __init__(self, history: History, life: Life) -> None:
        self.days: dict[int, _Day] = {}
        self._first = self._newest = history.incarnation(life)
        self._clock = life.operations[0].at
        self._epochs = epochs_of(history, life)
        self._add_times(history, life)
        self._clock = life.operations[0].at
        clocks: dict[int, int] = {}
        for operation in life.operations:
            self._clock = max(self._clock, operation.at)
            clocks[operation.first_offset] = self._clock
            if operation.protocol is not None:
                sums = self._day(self._clock).sums
                sums["members_max"] = max(sums["members_max"], len(operation.members))
        phases = sync_phases_of(history, life)
        for epoch in self._epochs:
            if life.is_seen_to_begin(epoch.opened):
                day = self._day(clocks[epoch.opened.first_offset])
                day.sums["epochs"] += 1
                day.causes.append(epoch.cause.cause)
            if epoch.opened.protocol == CLASSIC:
                self._add_sync(epoch.opened, phases.get(epoch.opened.first_offset, 0))
        for comings in comings_of(life):
            sums = self._day(clocks[comings[0].operation.first_offset]).sums
            for coming in comings:
                if coming.kind != REPLACED or coming.heir != coming.member_id:
                    sums[_EVENTS[coming.kind]] += 1

    def _add_times(self, history: History, life: Life) -> None:
        unowned, before = _Unowned(), None
        for operation in life.operations:
            if before is not None:
                self._pass(operation.at, self._rates(before, unowned.at(before)))
                self._newest = Between(operation.first_offset, operation.last_offset)
            unowned.step(before, operation)
            before = operation
        if before is None or before.protocol is None:
            return
        end = life.converted_by
        until = history.truth.logs[life.offsets_partition].last_at if end is None else end.at
        self._pass(until, self._rates(before, unowned.at(before)))

    def _rates(self, operation: Operation, unowned: int) -> dict[str, int]:
        """Which include that an epoch is open: of classic groups the phases alone are."""
        offset = operation.first_offset
        begun = [each for each in self._epochs if each.opened.first_offset <= offset]
        converged = begun[-1].converged if begun else None
        is_open = bool(begun) and (converged is None or converged.first_offset > offset)
        is_rebalancing = is_open and bool(operation.members) and operation.protocol == CONSUMER
        return _rates(operation, unowned) | {"rebalancing_ms": int(is_rebalancing)}

    def _add_sync(self, operation: Operation, sync_ms: int) -> None:
        """The phase in which a generation was assigned, which may begin on the day before."""
        begin = operation.at - sync_ms
        while begin < operation.at:
            until = min(operation.at, (begin // DAY_MS + 1) * DAY_MS)
            self._day(begin).sums["rebalancing_ms"] += until - begin
            begin = until

    def _day(self, at: int) -> _Day:
        number = at // DAY_MS
        begin = max(number * DAY_MS, self._clock) if not self.days else number * DAY_MS
        opened = self._newest if self.days else self._first
        return self.days.setdefault(number, _Day(begin, begin, opened))

    def _pass(self, until: int, rates: dict[str, int]) -> None:
        while self._clock < until:
            day = self._day(self._clock)
            passed = min(until, (self._clock // DAY_MS + 1) * DAY_MS) - self._clock
            for name, rate in rates.items():
                day.sums[name] += rate * passed
            day.sums["members_max"] = max(day.sums["members_max"], rates["members_ms"])
            self._clock += passed
            day.to_at = self._clock


def _stopped(history: History, life: Life, stops: Stops) -> list[int]:
    """Of partitions that another member got from one that something was done to: for how long at
    least nobody read them, ms. True times."""
    found, operations, holdings = [], life.operations, history.holdings(life)
    for span in holdings.spans:
        heir = holdings.next_after(span)
        if heir is None or span.closed is None:
            continue
        released, granted = operations[span.closed], operations[heir.opened]
        since = operations[span.opened].true_at
        stopped = stops.last(life.group_id, span.member_id, since, released.true_at)
        between = operations[span.closed : heir.opened]
        is_missed = all(each.members for each in between)
        if stopped is not None and is_missed and not history.has_other_leader(released, granted):
            found.append(granted.true_at - stopped)
    return found


def _least(history: History, life: Life, stops: Stops, days: Mapping[int, _Day]) -> Any:
    """availability_least_pct: not above what is sure of the times without a reader."""
    if len(days) != 1:
        return SHARED_OUT
    if life.group_id in history.truth.transactional:
        return Untold("a transaction may end, and its commits count, when its process is gone")
    (day,) = days.values()
    partitions_ms, found = day.sums["partitions_ms"], _stopped(history, life, stops)
    if not partitions_ms:
        return None
    slack = 100 * IN_FLIGHT_MS * len(found) / partitions_ms
    return Bound(max(0, 100 * (1 - sum(found) / partitions_ms)), is_lower=True, slack=slack)


def _of_life(history: History, life: Life, stops: Stops) -> Iterator[tuple[Key, Wanted]]:
    is_converted = any(is_conversion(*step) for step in life.steps())
    days = _Days(history, life).days
    least = OVER_CONVERSIONS if is_converted else _least(history, life, stops, days)
    unread = unread_of(history, life) if len(days) == 1 else []
    bounds: dict[str, Any] = dict.fromkeys(("low_ms", "high_ms"), SHARED_OUT)
    costs: dict[str, Any] = dict.fromkeys(COLUMNS, SHARED_OUT)
    moved: dict[str, Any] = dict.fromkeys(("moved", "returned"), SHARED_OUT)
    if len(days) == 1:
        bounds = bounds_of_day(history, life, unread)
        moved = counts_of(history, [life], moves_of(history, life))
        converts = dict.fromkeys(COLUMNS, OVER_CONVERSIONS)
        costs = converts if is_converted else costs_of_day(history, life)
    is_seen = life.is_seen_to_begin(life.operations[0]) and not history.begins_unwritten(life)
    for number, day in days.items():
        values: dict[str, Any] = {
            "incarnation": history.incarnation(life),
            "offsets_partition": life.offsets_partition,
            "start_observed": OneOf((True, is_seen)),
            "day": number,
            "from_offset": day.from_offset,
            "causes": Causes(tuple(day.causes)),
            "transitions_hidden": 0,
            "from_at": day.from_at,
            "to_at": day.to_at,
            "unobserved_ms": 0,
            "is_final": history.is_final(life.end is not None, (number + 1) * DAY_MS),
            **day.sums,
            **bounds,
            **costs,
        }
        values["low_ms"] = _low(values)
        values["availability_most_pct"] = _most(values)
        values["availability_least_pct"] = least
        values |= moved
        if is_converted:
            untold = ("partitions_ms", "unowned_ms", "availability_most_pct")
            values |= dict.fromkeys(untold, OVER_CONVERSIONS)
        offsets = (life.operations[0].first_offset, life.operations[-1].first_offset)
        yield (life.group_id, day.from_at), history.judged(life, Wanted(values, offsets))


def _low(values: Mapping[str, Any]) -> Any:
    """Not above what nobody read, and the sum of what is sure."""
    if not isinstance(values["sync_ms"], int):
        return values["low_ms"]
    is_sure = values["unowned_ms"] + values["away_ms"] + values["sync_ms"]
    return AllOf((is_sure, values["low_ms"]))


def _most(values: Mapping[str, Any]) -> Any:
    """By what is sure, where that is known."""
    if not isinstance(values["sync_ms"], int):
        return values["sync_ms"]
    if not values["partitions_ms"]:
        return None
    is_sure = values["unowned_ms"] + values["away_ms"] + values["sync_ms"]
    pct = max(0.0, 100 * (1 - is_sure / values["partitions_ms"]))
    return AllOf((Bound(pct, True, SLACK_PCT), Bound(pct, False, SLACK_PCT)))


def _wanted(history: History) -> dict[Key, Wanted]:
    stops = Stops(history.truth)
    return dict(each for life in history.lives for each in _of_life(history, life, stops))


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["from_at"]


CHECK: Final = Check("group_days", _wanted, _key_of)
