"""The price of a wave under another protocol: for how many partition-ms nobody reads.

Events that follow each other within a heartbeat are one cluster: a rebalance under way takes up who
comes. In a cluster some partitions move to members that joined, some are let go by members that
left, some stand still until a session ends; what one of each costs is `Rates`. Source of the rules:
docs/measures.md, What if.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from groupreplay.replay.decisions.churn import GONE, JOINED, REPLACED, WENT_AWAY
from groupreplay.replay.decisions.modes import CONSUMER_ALONE, COOPERATIVE, EAGER
from groupreplay.report.departure_codes import EXPIRED, LEFT, UNKNOWN
from groupreplay.report.what_if.known import (
    EXPIRED_ENDS,
    UNKNOWN_END,
    Event,
    Timeouts,
    Wave,
    gap_of,
)
from groupreplay.report.what_if.times import Bracket

SESSION_CHECK_MS: Final = 1_000
"""A session is seen to have ended up to so much later than it did."""


class Scenario(NamedTuple):
    """A protocol and what is set otherwise.

    mode: EAGER, COOPERATIVE, CONSUMER.
    is_static: all members are static ones.
    heartbeat_ms: heartbeat interval of the consumer protocol, None: as it is.
    """

    name: str
    mode: str
    is_static: bool = False
    heartbeat_ms: int | None = None


def scenarios(other_heartbeat_ms: int | None) -> list[Scenario]:
    """Those that a wave is priced under."""
    found = [
        Scenario("EAGER", EAGER),
        Scenario("COOPERATIVE", COOPERATIVE),
        Scenario("CONSUMER", CONSUMER_ALONE),
        Scenario("EAGER_STATIC", EAGER, is_static=True),
        Scenario("CONSUMER_STATIC", CONSUMER_ALONE, is_static=True),
    ]
    if other_heartbeat_ms is not None:
        found.append(
            Scenario("CONSUMER_HEARTBEAT", CONSUMER_ALONE, heartbeat_ms=other_heartbeat_ms)
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """rebalances: how many there would be.
    moved: partitions that a sticky assignor must move.
    stopped: partitions that nobody reads at least once.
    low_ms, mid_ms, high_ms: partition-ms that nobody reads: at least, as estimated, at most.
    uses_release, uses_sync: the price depends on R, on Y.
    session_ms: the longest session that partitions stood still for, None: none did.
    """

    rebalances: int
    moved: int
    stopped: int
    low_ms: int
    mid_ms: int
    high_ms: int
    uses_release: bool
    uses_sync: bool
    session_ms: int | None


def price(
    wave: Wave, scenario: Scenario, release: Bracket, sync: Bracket, timeouts: Timeouts
) -> Price:
    """release: R of the scenario's protocol.
    sync: Y, the sync phase.
    """
    heartbeat = scenario.heartbeat_ms or timeouts.heartbeat
    steps, absences = _steps(wave, scenario, timeouts)
    rates = _rates(scenario.mode, release, sync, heartbeat, timeouts)
    clusters = list(_clusters(steps, max(heartbeat, timeouts.classic_heartbeat), wave))
    beat = timeouts.classic_heartbeat if scenario.mode != CONSUMER_ALONE else heartbeat
    cost = _Cost()
    for held, gap in absences:  # who is back is told its partitions within a heartbeat
        cost.add(held, _Rate(gap.low, 2 * gap.mid, gap.high + beat))
    for cluster in clusters:
        _add_cluster(cost, cluster, rates)
    moved = sum(cluster.moved + cluster.let_go for cluster in clusters)
    bounced = sum(absence.held for absence in absences)
    return Price(
        rebalances=sum(cluster.rebalances(scenario.mode) for cluster in clusters),
        moved=moved,
        stopped=_stopped(clusters, scenario.mode, moved + bounced, wave),
        low_ms=cost.low,
        mid_ms=(cost.twice_mid + 1) // 2,
        high_ms=cost.high,
        uses_release=any(cluster.releases(scenario.mode) for cluster in clusters),
        uses_sync=scenario.mode != CONSUMER_ALONE
        and any(cluster.syncs(scenario.mode) for cluster in clusters),
        session_ms=max((each for c in clusters for each in c.sessions), default=None),
    )


# ---------------------------------------------------------------- what happens


class _Step(NamedTuple):
    """What the group has to rebalance for: JOINED, LEFT, EXPIRED, UNKNOWN."""

    at: int
    kind: str
    held: int
    left_out: int
    session_ms: int
    members_after: int
    partitions: int


class _Absence(NamedTuple):
    """Absence of a static member that is back before its session ends: nobody rebalances for it."""

    held: int
    gap: Bracket


def _steps(
    wave: Wave, scenario: Scenario, timeouts: Timeouts
) -> tuple[list[_Step], list[_Absence]]:
    steps: list[_Step] = []
    absences: list[_Absence] = []
    missing = 0
    for event in wave.events:
        gap = gap_of(event, timeouts.classic_heartbeat)
        session = _session_ms(event, scenario, timeouts)
        is_absorbed = gap is not None and _absorbs(event, gap, session, scenario, wave)
        if event.kind == WENT_AWAY:
            continue
        if is_absorbed:
            missing += {GONE: 1, JOINED: -1}.get(event.kind, 0)
            if event.kind != JOINED and gap is not None:
                absences.append(_Absence(event.held, gap))
        elif event.kind == REPLACED and gap is None:
            # It was absorbed; nothing shows how long it took, but its session had not ended.
            absences.append(_Absence(event.held, Bracket(0, 0, session)))
        else:
            steps += _of_event(event, gap, session, scenario, max(0, missing))
    return sorted(steps, key=lambda step: step.at), absences


def _session_ms(event: Event, scenario: Scenario, timeouts: Timeouts) -> int:
    if scenario.is_static:
        return timeouts.static
    if scenario.mode == CONSUMER_ALONE or event.session_ms is None:
        return timeouts.session
    return event.session_ms


def _absorbs(event: Event, gap: Bracket, session: int, scenario: Scenario, wave: Wave) -> bool:
    """Whether nobody notices. What really was absorbed is so in the protocol that it was in."""
    if scenario.is_static:
        return gap.mid <= session
    return event.kind == REPLACED and (scenario.mode == wave.mode or gap.mid <= session)


def _of_event(
    event: Event, gap: Bracket | None, session: int, scenario: Scenario, missing: int
) -> list[_Step]:
    """missing: members that are away, and for the coordinator still there."""
    after = event.members_after + missing
    joined = _Step(event.at, JOINED, 0, 0, session, after, event.partitions)
    if event.kind == JOINED:
        return [joined]
    went = joined._replace(held=event.held, left_out=event.left_out)
    if event.kind == REPLACED and gap is not None:
        at, there = event.at - gap.mid + session, max(0, after - 1)
        return [went._replace(at=at, kind=EXPIRED, members_after=there), joined]
    return [went._replace(kind=EXPIRED if scenario.is_static else _end(event))]


def _end(event: Event) -> str:
    end = event.gone.end if event.gone is not None else UNKNOWN_END
    if end == UNKNOWN_END:
        return UNKNOWN
    return EXPIRED if end in EXPIRED_ENDS else LEFT


# ---------------------------------------------------------------- clusters


@dataclass(slots=True)
class _Cluster:
    """members_before: live members of the group before its first event."""

    members_before: int
    partitions: int = 0
    joined: int = 0
    departed: int = 0
    left: int = 0
    expired: list[tuple[int, int]] = field(default_factory=list)
    unknown: list[tuple[int, int]] = field(default_factory=list)
    members_after: int = 0
    is_through_empty: bool = False

    def add(self, step: _Step) -> None:
        # Until it went its member was to read what nobody is to read now.
        self.partitions = max(self.partitions - step.left_out, step.partitions)
        self.members_after = step.members_after
        self.is_through_empty |= step.members_after == 0
        if step.kind == JOINED:
            self.joined += 1
            return
        self.departed += 1
        if step.kind == LEFT:
            self.left += step.held
        elif step.held:
            kind = self.expired if step.kind == EXPIRED else self.unknown
            kind.append((step.held, step.session_ms))

    @property
    def taken(self) -> int:
        """Members that get partitions of others: who joins an empty group takes them of nobody."""
        return 0 if self.is_through_empty or self.members_before == 0 else self.joined

    @property
    def due(self) -> int:
        """Partitions that who joined gets, of whomever, by Kafka's sticky assignors."""
        members = max(1, self.members_after)
        joined = min(self.taken, members)
        share, rest = divmod(self.partitions, members)
        return joined * share + max(0, rest - (members - joined))

    @property
    def moved(self) -> int:
        """What members that stay must give of it: who joined gets first what was let go."""
        return max(0, self.due - self.let_go)

    @property
    def let_go(self) -> int:
        return self.left + sum(held for held, _ in (*self.expired, *self.unknown))

    @property
    def staying(self) -> int:
        """Partitions of members that stay; none where the group is empty at a time."""
        if self.is_through_empty or not (self.taken or self.departed):
            return 0
        return max(0, self.partitions - self.let_go)

    @property
    def sessions(self) -> list[int]:
        return [session for _, session in self.expired]

    def rebalances(self, mode: str) -> int:
        """A cooperative group takes partitions in one and gives them in the next."""
        return 2 if mode == COOPERATIVE and self.moved else int(bool(self.joined or self.departed))

    def releases(self, mode: str) -> bool:
        return bool(self.staying + self.let_go if mode == EAGER else self.due)

    def syncs(self, mode: str) -> bool:
        return bool((self.staying if mode == EAGER else self.due) + self.let_go)


def _clusters(steps: list[_Step], gap_ms: int, wave: Wave) -> Iterator[_Cluster]:
    begins = [
        0,
        *(i + 1 for i, (one, next_) in enumerate(pairwise(steps)) if next_.at - one.at > gap_ms),
    ]
    members = wave.members_before
    for begin, end in pairwise([*begins, len(steps)] if steps else []):
        cluster = _Cluster(members)
        for step in steps[begin:end]:
            cluster.add(step)
        yield cluster
        members = cluster.members_after


# ---------------------------------------------------------------- what it costs


class _Rate(NamedTuple):
    """What one partition costs, ms; the middle twice, so that half a heartbeat stays whole."""

    low: int
    twice_mid: int
    high: int


@dataclass(slots=True)
class _Cost:
    low: int = 0
    twice_mid: int = 0
    high: int = 0

    def add(self, partitions: int, rate: _Rate) -> None:
        self.low += partitions * rate.low
        self.twice_mid += partitions * rate.twice_mid
        self.high += partitions * rate.high


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """What one partition costs, by what becomes of it.

    stays: it stays at its member; None but in eager groups, as others go on reading it.
    moves: it moves to a member that joined; None in eager groups, which stop as a whole.
    left: its member left.
    beat_ms: how long after the last heartbeat, which began its session, an expired member may have
        stopped.
    late: its member expired: what comes on top of the session.
    """

    stays: _Rate | None
    moves: _Rate | None
    left: _Rate
    beat_ms: int
    late: _Rate

    def expired(self, session_ms: int) -> _Rate:
        low = max(0, session_ms - self.beat_ms)
        return _Rate(low, 2 * session_ms + self.late.twice_mid, session_ms + self.late.high)

    def unknown(self, session_ms: int) -> _Rate:
        """It left, or its session ended."""
        left, expired = self.left, self.expired(session_ms)
        return _Rate(min(left.low, expired.low), left.twice_mid, max(left.high, expired.high))


def _rates(
    mode: str, release: Bracket, sync: Bracket, heartbeat_ms: int, timeouts: Timeouts
) -> _Rates:
    """Eager members stop when they hear of the rebalance, each at a heartbeat of its own, until it
    is synced; cooperative ones and those of the consumer protocol let go of what moves alone.
    """
    beat = timeouts.classic_heartbeat
    both = Bracket(*(one + other for one, other in zip(release, sync, strict=True)))
    if mode == EAGER:
        return _Rates(
            stays=_Rate(both.low, 2 * both.mid, beat + both.high),
            moves=None,
            left=_Rate(both.low, beat + 2 * both.mid, beat + both.high),
            beat_ms=beat,
            late=_Rate(0, 2 * both.mid, beat + both.high + SESSION_CHECK_MS),
        )
    if mode == COOPERATIVE:
        return _Rates(
            stays=None,
            moves=_Rate(both.low, beat + 2 * both.mid, beat + both.high),
            left=_Rate(sync.low, beat + 2 * sync.mid, beat + sync.high),
            beat_ms=beat,
            late=_Rate(0, 2 * sync.mid, beat + sync.high + SESSION_CHECK_MS),
        )
    told = heartbeat_ms + timeouts.assignment
    return _Rates(
        stays=None,
        moves=_Rate(release.low, heartbeat_ms + 2 * release.mid, heartbeat_ms + release.high),
        left=_Rate(0, heartbeat_ms, told),
        beat_ms=heartbeat_ms,
        late=_Rate(0, 0, told + SESSION_CHECK_MS),
    )


def _add_cluster(cost: _Cost, cluster: _Cluster, rates: _Rates) -> None:
    own = _Cost()
    if rates.stays is not None:
        own.add(cluster.staying, rates.stays)
    if rates.moves is not None:
        own.add(cluster.moved, rates.moves)
        # Members that stay may have what was let go before it is asked back for who joined.
        own.add(cluster.due - cluster.moved, rates.moves._replace(low=0))
    own.add(cluster.left, rates.left)
    for held, session_ms in cluster.expired:
        own.add(held, rates.expired(session_ms))
    for held, session_ms in cluster.unknown:
        own.add(held, rates.unknown(session_ms))
    if cluster.is_through_empty:
        # Nobody misses a partition of a group without members; until it is empty somebody may.
        own.low = own.twice_mid = 0
    cost.low += own.low
    cost.twice_mid += own.twice_mid
    cost.high += own.high


def _stopped(clusters: list[_Cluster], mode: str, let_go: int, wave: Wave) -> int:
    """An eager group stops as a whole."""
    most = max(event.partitions for event in wave.events)
    if mode == EAGER and any(cluster.staying for cluster in clusters):
        return most
    return min(most, let_go)
