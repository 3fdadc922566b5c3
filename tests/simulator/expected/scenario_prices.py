"""What a wave would have cost under another protocol: the formulas of measures.md, What if."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.simulator.expected.rebalance_times import Times
from tests.simulator.expected.spread import NOTHING, Spread, exactly
from tests.simulator.expected.wave_steps import (
    EXPIRED,
    LEFT,
    UNKNOWN,
    Absence,
    Cluster,
    Happened,
    Scenario,
    Settings,
    clusters_of,
    steps_of,
)

CHECK_MS: Final = 1_000
"""So much later than it ran out a session may be seen to have."""


@dataclass(slots=True)
class Bracket:
    """Partition-ms: low, twice the middle, so that half a heartbeat is whole, and high."""

    low: Spread = NOTHING
    twice_mid: Spread = NOTHING
    high: Spread = NOTHING

    def add(self, count: int, low: Spread, twice_mid: Spread, high: Spread) -> None:
        self.low = self.low.plus(low.at_least(0).times(count))
        self.twice_mid = self.twice_mid.plus(twice_mid.times(count))
        self.high = self.high.plus(high.times(count))

    @property
    def mid(self) -> Spread:
        return Spread((self.twice_mid.least + 1) // 2, (self.twice_mid.most + 1) // 2)


@dataclass(slots=True)
class Price:
    """uses_release, uses_sync: whether it depends on R, and on Y."""

    rebalances: int
    moved: int
    stopped: int
    cost: Bracket
    uses_release: bool
    uses_sync: bool
    session_ms: int | None


def price_of(
    events: Sequence[Happened],
    mode: str,
    before: int,
    scenario: Scenario,
    settings: Settings,
    release: Times | None,
    sync: Times,
) -> Price:
    """mode: of the group. before: its members before the wave. Raises Unsure."""
    steps, absences = steps_of(events, mode, scenario, settings)
    beat = scenario.heartbeat_ms or settings.beat
    clusters = clusters_of(steps, before, max(beat, settings.classic_beat))
    cost = Bracket()
    of_scenario = _Costs(scenario.mode, beat, settings, release, sync)
    for each in absences:
        of_scenario.add_absence(cost, each)
    for cluster in clusters:
        of_scenario.add(cost, cluster)
    moved = sum(each.moved + each.let_go for each in clusters)
    twice = scenario.mode == "COOPERATIVE"
    return Price(
        rebalances=sum(2 if twice and each.moved else 1 for each in clusters),
        moved=moved,
        stopped=_stopped(events, clusters, absences, scenario.mode, moved),
        cost=cost,
        uses_release=any(_uses_release(scenario.mode, each) for each in clusters),
        uses_sync=any(_uses_sync(scenario.mode, each) for each in clusters),
        session_ms=max((ms for each in clusters for ms in each.held_by(EXPIRED)), default=None),
    )


def _stopped(
    events: Sequence[Happened],
    clusters: Sequence[Cluster],
    absences: Sequence[Absence],
    mode: str,
    moved: int,
) -> int:
    """An eager group that rebalances stops as a whole."""
    of_all = max(each.partitions for each in events)
    if mode == "EAGER" and any(each.staying for each in clusters):
        return of_all
    return min(of_all, moved + sum(each.held for each in absences))


def _uses_release(mode: str, cluster: Cluster) -> bool:
    """Members that are asked let go; in an eager group all are."""
    return bool(cluster.staying + cluster.let_go if mode == "EAGER" else cluster.due)


def _uses_sync(mode: str, cluster: Cluster) -> bool:
    """Whoever gets a partition of a classic group gets it by a sync phase."""
    waits = cluster.staying if mode == "EAGER" else cluster.due
    return mode != "CONSUMER" and bool(waits + cluster.let_go)


class _Costs:
    """Of one scenario: a line of the page's table each."""

    def __init__(
        self, mode: str, beat: int, settings: Settings, release: Times | None, sync: Times
    ) -> None:
        zero = Times(NOTHING, NOTHING, NOTHING, "")
        self._mode, self._assignment = mode, settings.assignment
        self._beat = beat if mode == "CONSUMER" else settings.classic_beat
        self._release = release or zero
        self._sync = zero if mode == "CONSUMER" else sync

    def add_absence(self, cost: Bracket, absence: Absence) -> None:
        low, mid, high = absence.gap
        cost.add(absence.held, low, mid.times(2), high.plus(exactly(self._beat)))

    def add(self, cost: Bracket, cluster: Cluster) -> None:
        own = Bracket()
        moves = self._with_release()
        if self._mode == "EAGER":
            stays_mid = Spread(
                moves[1].least - self._beat, moves[1].most - self._beat
            )  # nobody waits half a heartbeat for who is there
            own.add(cluster.staying, moves[0], stays_mid, moves[2])
        else:
            own.add(cluster.due, *moves)
            # At least who joined gets first what others let go.
            own.low = moves[0].times(cluster.moved)
        left = self._left()
        for count in cluster.held_by(LEFT).values():
            own.add(count, *left)
        for session_ms, count in cluster.held_by(EXPIRED).items():
            own.add(count, *self._expired(session_ms, left))
        for session_ms, count in cluster.held_by(UNKNOWN).items():
            dear = self._expired(session_ms, left)
            low = min(left[0], dear[0].at_least(0))
            own.add(count, low, left[1], max(left[2], dear[2]))
        if cluster.is_empty_at_a_time:
            own.low = own.twice_mid = NOTHING
        cost.low = cost.low.plus(own.low)
        cost.twice_mid = cost.twice_mid.plus(own.twice_mid)
        cost.high = cost.high.plus(own.high)

    def _with_release(self) -> tuple[Spread, Spread, Spread]:
        """Of one partition: low, twice the middle, high."""
        release, sync, beat = self._release, self._sync, exactly(self._beat)
        return (
            release.low.plus(sync.low),
            release.mid.plus(sync.mid).times(2).plus(beat),
            release.high.plus(sync.high).plus(beat),
        )

    def _left(self) -> tuple[Spread, Spread, Spread]:
        if self._mode == "EAGER":
            return self._with_release()
        sync, beat = self._sync, exactly(self._beat)
        late = exactly(self._assignment if self._mode == "CONSUMER" else 0)
        return sync.low, sync.mid.times(2).plus(beat), sync.high.plus(beat).plus(late)

    def _expired(
        self, session_ms: int, left: tuple[Spread, Spread, Spread]
    ) -> tuple[Spread, Spread, Spread]:
        """As who left, but that nobody has to hear of it before the session ends."""
        session, beat = exactly(session_ms), self._beat
        mid = Spread(left[1].least - beat, left[1].most - beat).plus(session.times(2))
        return exactly(session_ms - beat), mid, left[2].plus(exactly(session_ms + CHECK_MS))
