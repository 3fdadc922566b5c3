"""`what_if`: what waves would have cost under another protocol, by the coordinator's memory, what
requests were answered and the formulas of the page (measures.md, What if).

How near the prices are to the truth is held over many (`priced`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from tests.simulator.compare import Between, Key, Untold, Wanted
from tests.simulator.criteria import OTHER_HEARTBEAT_MS
from tests.simulator.expected import departure_waves, member_ends, wave_classes, wave_estimates
from tests.simulator.expected.absences import Follows
from tests.simulator.expected.comings import GONE
from tests.simulator.expected.group_modes import MIXED
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalance_times import RebalanceTimes, weakest
from tests.simulator.expected.scenario_prices import Price, price_of
from tests.simulator.expected.told import Told
from tests.simulator.expected.wave_events import (
    are_unknown,
    happened,
    kinds_of,
    mode_of,
    partitions_of,
)
from tests.simulator.expected.wave_gaps import Gaps
from tests.simulator.expected.wave_steps import (
    LEFT,
    Happened,
    Scenario,
    Settings,
    Unsure,
)
from tests.simulator.expected.waves import Chain, Event, chains_of, is_opaque, waves_of
from tests.simulator.tables import Row
from tests.simulator.truth import CONSUMER

SCENARIOS: Final = (
    Scenario("EAGER", "EAGER"),
    Scenario("COOPERATIVE", "COOPERATIVE"),
    Scenario("CONSUMER", "CONSUMER"),
    Scenario("EAGER_STATIC", "EAGER", is_static=True),
    Scenario("CONSUMER_STATIC", "CONSUMER", is_static=True),
    Scenario("CONSUMER_HEARTBEAT", "CONSUMER", heartbeat_ms=OTHER_HEARTBEAT_MS),
)

STATIC_MS: Final = 45_000
"""`what_if.static_timeout_ms`."""

ASSIGNMENT_MS: Final = 1_000
"""Kafka's default from 4.3 on: that of brokers that say no version."""

SLOW_BEAT_MS: Final = 20_000
"""Of groups whose config asks for it."""

WITHOUT_ROWS: Final = frozenset({"START", "STOP"})
EITHER: Final = "a start or a stop, or not: how members ended is not told"
UNSURE: Final = Untold("on which side of a session or a heartbeat it was")
ENDS: Final = Untold("how members ended")
MOST_WORLDS: Final = 64

_NUMBERS: Final = (
    *("rebalances", "moved_min", "stopped_partitions", "low_ms", "mid_ms", "high_ms"),
    *("r_ms", "y_ms", "session_ms", "heartbeat_ms", "basis"),
)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """What one of several ways in which it may have been says."""

    wanted: tuple[Any, ...]

    def admits(self, value: Any) -> bool:
        return any(
            each == value or (hasattr(each, "admits") and each.admits(value))
            for each in self.wanted
        )

    def __str__(self) -> str:
        return " or ".join(dict.fromkeys(map(str, self.wanted)))


@dataclass(slots=True)
class _Wave:
    """One wave of a chain. worlds: its events, in each way in which its members may have ended; None
    where there are too many. actual: expectation of actual_ms."""

    chain: Chain
    events: Sequence[Event]
    before: int
    mode: str
    worlds: Sequence[Sequence[Happened]] | None
    actual: Any


class _Waves:
    """Of one history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._times = RebalanceTimes(history)
        self._told = Told(history)
        self._ends = member_ends.ends_of(history)
        self._estimates = wave_estimates.CHECK.wanted(history)
        self._slow = {
            each.group_id for each in history.truth.injected if each.what == "slow heartbeats"
        }

    def rows(self) -> Iterator[tuple[Key, Wanted]]:
        for chain in chains_of(self._history):
            before = chain.events[0].members_before
            ends = [self._ends_of(each, chain) for each in chain.events]
            beat_ms = self._times.classic_beat_ms(chain.life.group_id)
            gaps = Gaps(self._history, chain, self._told, ends, beat_ms)
            place = 0
            for events in waves_of(chain):
                first = place
                place += len(events)
                has_row = not is_opaque(events) and self._has_row(chain, events, before)
                if has_row is not False:
                    wave = self._wave(chain, events, before, first, ends, gaps)
                    yield from self._rows(wave, "" if has_row else EITHER)
                before = events[-1].members

    def _ends_of(self, event: Event, chain: Chain) -> frozenset[str]:
        if event.coming.kind != GONE:
            return frozenset()
        return wave_classes.ends_of(event, chain.events, self._ends)

    def _has_row(self, chain: Chain, events: Sequence[Event], before: int) -> bool | None:
        """None where the truth does not tell."""
        told = wave_classes.class_of(events, chain, before, self._ends)
        without = {each in WITHOUT_ROWS for each in told.possible}
        return None if len(without) > 1 else without == {False}

    # ------------------------------------------------------------ what happened

    def _wave(
        self,
        chain: Chain,
        events: Sequence[Event],
        before: int,
        first: int,
        ends: Sequence[frozenset[str]],
        gaps: Gaps,
    ) -> _Wave:
        choices: list[list[Happened]] = []
        worlds = 1
        for place, event in enumerate(events, first):
            one = happened(self._history, event, gaps.of(place))
            is_gone = event.coming.kind == GONE and one.held
            kinds = kinds_of(ends[place]) if is_gone else {LEFT}
            choices.append([replace(one, end=kind) for kind in sorted(kinds)])
            worlds *= len(kinds)
        found = [list(each) for each in product(*choices)] if worlds <= MOST_WORLDS else None
        if found is not None:
            found += [
                [replace(e, partitions=count) for e, count in zip(one, counts, strict=True)]
                for counts in self._other_counts(events)
                for one in found
            ]
        key = (chain.life.group_id, events[0].coming.operation.first_offset)
        wave = _Wave(chain, events, before, mode_of(self._history, events), found, None)
        wave.actual = self._actual(key, events, ends[first : first + len(events)])
        return wave

    def _other_counts(self, events: Sequence[Event]) -> Sequence[Sequence[int]]:
        """How many partitions the group may also have had to read at each event."""

        def counts(since: int, *, knows_names: bool) -> tuple[int, ...]:
            history = self._history
            return tuple(
                partitions_of(history, each, since, knows_names=knows_names) for each in events
            )

        found = [counts(since, knows_names=knows) for knows in (True, False) for since in (0, 1)]
        return [each for each in dict.fromkeys(found) if each != found[0]]

    def _actual(self, key: Key, events: Sequence[Event], ends: Sequence[frozenset[str]]) -> Any:
        """est_ms of the wave; less what those who were too slow had stood still for."""
        estimate = self._estimates[key].values["told"]
        if not isinstance(estimate, wave_estimates.Bracket):
            return estimate
        gone = [each for event, each in zip(events, ends, strict=True) if event.coming.kind == GONE]
        waited = {"REBALANCE_TIMEOUT", "JOIN_TIMEOUT", "SYNC_TIMEOUT"}
        if any(each and each <= waited for each in gone):
            return None
        is_less = any(not each or "POLL_TIMEOUT" in each for each in gone)
        may_wait = any(not each or each & waited for each in gone)
        least = 0 if is_less else estimate.least
        told = Between(least, estimate.most)
        is_partial = estimate.least_untold != estimate.least or estimate.may_be_null
        return AnyOf((told, None)) if may_wait or is_partial else told

    # ------------------------------------------------------------ rows

    def _rows(self, wave: _Wave, left_out: str) -> Iterator[tuple[Key, Wanted]]:
        first, last = wave.events[0].coming.operation, wave.events[-1].coming.operation
        life = wave.chain.life
        of_wave = {
            "incarnation": self._history.incarnation(life),
            "offsets_partition": life.offsets_partition,
            "from_offset": Between(first.first_offset, first.last_offset),
            "to_offset": Between(last.first_offset, last.last_offset),
            "start_observed": True,
            "started_at": wave.events[0].at,
            "events": len(wave.events),
        }
        for scenario in SCENARIOS:
            is_plain = not scenario.is_static and scenario.heartbeat_ms is None
            values = {
                **of_wave,
                "is_actual": is_plain and scenario.mode == wave.mode,
                "delta_pct": Follows(_delta_pct),
                "model_error_pct": Follows(_model_error_pct),
                **self._priced(wave, scenario),
            }
            key = (life.group_id, first.first_offset, scenario.name)
            wanted = Wanted(values, (first.first_offset, last.first_offset), left_out)
            yield key, self._history.judged(life, wanted)

    def _priced(self, wave: _Wave, scenario: Scenario) -> dict[str, Any]:
        group_id = wave.chain.life.group_id
        names = (*_NUMBERS, "actual_ms", "refused")
        if wave.worlds is None:
            return dict.fromkeys(names, ENDS)
        found = []
        try:
            for events in wave.worlds:
                found.append(self._of_world(wave, scenario, events, group_id))
        except Unsure:
            return dict.fromkeys(names, UNSURE)
        return {name: _either([each[name] for each in found]) for name in names}

    def _of_world(
        self, wave: _Wave, scenario: Scenario, events: Sequence[Happened], group_id: str
    ) -> dict[str, Any]:
        settings = self._settings(group_id)
        release = self._times.release(group_id, scenario.mode)
        sync = self._times.sync(group_id)
        price = price_of(events, wave.mode, wave.before, scenario, settings, release, sync)
        refused: Callable[[Row], str] | None = None
        if release is None and price.rebalances:
            refused = _no_times
        elif are_unknown(events):
            refused = _unknown_ends
        if refused is not None:
            return {**dict.fromkeys((*_NUMBERS, "actual_ms")), "refused": Follows(refused)}
        used = [("r_ms", release)] if price.uses_release and release is not None else []
        used += [("y_ms", sync)] if price.uses_sync else []
        is_consumer = scenario.mode == "CONSUMER"
        beat = settings.beat if is_consumer else settings.classic_beat
        return {
            **dict.fromkeys(("r_ms", "y_ms")),
            **{name: times.mid for name, times in used},
            **_numbers(price),
            "heartbeat_ms": scenario.heartbeat_ms or beat,
            "basis": weakest([times.basis for _, times in used]),
            "actual_ms": wave.actual,
            "refused": Follows(_mixed if wave.mode == MIXED else _compared),
        }

    def _settings(self, group_id: str) -> Settings:
        config = self._history.truth.broker_config
        beat = int(config.get("group.consumer.heartbeat.interval.ms", 5_000))
        answers = self._history.truth.answers.of_groups.get(group_id, ())
        is_told = any(each.protocol == CONSUMER and each.code == 0 for each in answers)
        return Settings(
            session=int(config.get("group.consumer.session.timeout.ms", 45_000)),
            static=STATIC_MS,
            beat=SLOW_BEAT_MS if group_id in self._slow and is_told else beat,
            classic_beat=self._times.classic_beat_ms(group_id),
            assignment=ASSIGNMENT_MS,
        )


def _numbers(price: Price) -> dict[str, Any]:
    cost = price.cost
    return {
        "rebalances": price.rebalances,
        "moved_min": price.moved,
        "stopped_partitions": price.stopped,
        "low_ms": cost.low,
        "mid_ms": cost.mid,
        "high_ms": cost.high,
        "session_ms": price.session_ms,
    }


def _either(wanted: Sequence[Any]) -> Any:
    return wanted[0] if all(each == wanted[0] for each in wanted) else AnyOf(tuple(wanted))


# ---------------------------------------------------------------- what follows from others


def _delta_pct(row: Row) -> float | None:
    mid, actual = row["mid_ms"], row["actual_ms"]
    if not actual or mid is None or row["is_mixed"]:
        return None
    return float(round(100 * (mid - actual) / actual, 1))


def _model_error_pct(row: Row) -> float | None:
    return _delta_pct(row) if row["is_actual"] else None


def _compared(row: Row) -> str | None:
    return "NO_ACTUAL" if row["actual_ms"] is None else None


def _mixed(row: Row) -> str:
    return "MIXED_ACTUAL"


def _no_times(row: Row) -> str:
    return "NO_TIMES"


def _unknown_ends(row: Row) -> str:
    return "UNKNOWN_ENDS"


_FOLLOW: Final = ("delta_pct", "model_error_pct", "refused")


def _wanted(history: History) -> dict[Key, Wanted]:
    return dict(_Waves(history).rows())


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    gathered = []
    for row in rows:
        known = {**row, "is_mixed": row["refused"] == "MIXED_ACTUAL"}
        gathered.append({**row, **{name: (row[name], known) for name in _FOLLOW}})
    return gathered


def _key_of(history: History, row: Row) -> Key:
    return *departure_waves.CHECK.key_of(history, row), row["scenario"]


CHECK: Final = Check("what_if", _wanted, _key_of, gathered=_gathered)
