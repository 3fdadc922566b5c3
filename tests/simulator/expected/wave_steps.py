"""What a wave's events are for a group that rebalances otherwise: which of them nobody notices, and
which come together (measures.md, What if)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from tests.simulator.expected.comings import AWAY, GONE, JOINED, REPLACED
from tests.simulator.expected.spread import Spread, exactly

LEFT, EXPIRED, UNKNOWN = "LEFT", "EXPIRED", "UNKNOWN"


class Scenario(NamedTuple):
    """heartbeat_ms: of the consumer protocol; None: as it is."""

    name: str
    mode: str
    is_static: bool = False
    heartbeat_ms: int | None = None


class Gap(NamedTuple):
    """How long a process was gone: at least, as it seems, at most."""

    low: Spread
    mid: Spread
    high: Spread


@dataclass(frozen=True, slots=True)
class Happened:
    """One event. held: partitions that the member had and somebody was to read after it; left_out: that
    it had and nobody was. session_ms: its own; None of the consumer
    protocol. members: after it. partitions: that the group had to read, before or after it. end:
    LEFT, EXPIRED or UNKNOWN. gap: of who is back; None of who is not, or of whom nothing shows
    when it went."""

    kind: str
    at: int
    held: int
    session_ms: int | None
    members: int
    partitions: int
    end: str = LEFT
    gap: Gap | None = None
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """ms. session: of the consumer protocol; static: of members that would be static. beat,
    classic_beat: heartbeats. assignment: least time between two assignments."""

    session: int
    static: int
    beat: int
    classic_beat: int
    assignment: int


class Unsure(Exception):
    """The truth does not say on which side of a session an absence was."""


class Step(NamedTuple):
    """What the group has to rebalance for. kind: JOINED, LEFT, EXPIRED or UNKNOWN."""

    at: Spread
    kind: str
    held: int
    session_ms: int
    members: int
    partitions: int
    left_out: int = 0


class Absence(NamedTuple):
    """Of a static member that is back in time."""

    held: int
    gap: Gap


@dataclass(slots=True)
class Cluster:
    """Steps that one rebalance takes up. before: members that there were."""

    before: int
    steps: list[Step] = field(default_factory=list)

    @property
    def partitions(self) -> int:
        """What nobody was to read once a member had gone was to be read before."""
        most = 0
        for each in self.steps:
            most = max(most - each.left_out, each.partitions)
        return most

    @property
    def is_empty_at_a_time(self) -> bool:
        return any(each.members == 0 for each in self.steps)

    @property
    def joined(self) -> int:
        return sum(each.kind == JOINED for each in self.steps)

    @property
    def gone(self) -> int:
        return len(self.steps) - self.joined

    @property
    def takers(self) -> int:
        """Who joins an empty group takes partitions of nobody."""
        return 0 if self.is_empty_at_a_time or not self.before else self.joined

    @property
    def moved(self) -> int:
        """Partitions that go from members that stay to who joined, at least."""
        return self._moved_after(self.let_go)

    @property
    def due(self) -> int:
        """Partitions that who joined gets in all."""
        return self._moved_after(0)

    def _moved_after(self, let_go: int) -> int:
        members = max(1, self.steps[-1].members)
        joined = min(self.takers, members)
        return least_moved(self.partitions, members - joined, joined, let_go)

    @property
    def let_go(self) -> int:
        return sum(each.held for each in self.steps if each.kind != JOINED)

    @property
    def staying(self) -> int:
        is_quiet = not (self.takers or self.gone)
        return 0 if self.is_empty_at_a_time or is_quiet else max(0, self.partitions - self.let_go)

    def held_by(self, kind: str) -> Counter[int]:
        """Session -> partitions of members that went so."""
        found = Counter[int]()
        for each in self.steps:
            if each.kind == kind and each.held:
                found[each.session_ms] += each.held
        return found


def least_moved(partitions: int, staying: int, joined: int, let_go: int) -> int:
    """Partitions that members which stay give up, where an assignor moves as little as it can
    (`test_least_moves`). let_go: partitions of nobody, by members that went.
    """
    share, rest = divmod(partitions, max(1, staying + joined))
    return max(0, joined * share + max(0, rest - staying) - let_go)


def steps_of(
    events: Sequence[Happened], mode: str, scenario: Scenario, settings: Settings
) -> tuple[list[Step], list[Absence]]:
    """mode: of the group itself. Raises Unsure."""
    steps: list[Step] = []
    absences: list[Absence] = []
    missing = 0
    for event in events:
        if event.kind == AWAY:
            continue
        session_ms = _session_ms(event, scenario, settings)
        gap, still = event.gap, max(0, missing)
        if event.kind == REPLACED and gap is None:
            # It was back before its session ended, whenever it went.
            unknown = Gap(exactly(0), exactly(0), exactly(session_ms))
            absences.append(Absence(event.held, unknown))
        elif gap is not None and _is_unnoticed(event, gap, session_ms, mode, scenario):
            missing += {GONE: 1, JOINED: -1, REPLACED: 0}[event.kind]
            if event.kind != JOINED:
                absences.append(Absence(event.held, gap))
        else:
            steps += _noticed(event, gap, session_ms, scenario.is_static, still)
    return _in_order(steps), absences


def _session_ms(event: Happened, scenario: Scenario, settings: Settings) -> int:
    if scenario.is_static:
        return settings.static
    is_consumer = scenario.mode == "CONSUMER" or event.session_ms is None
    return settings.session if is_consumer or event.session_ms is None else event.session_ms


def _is_unnoticed(
    event: Happened, gap: Gap, session_ms: int, mode: str, scenario: Scenario
) -> bool:
    if not scenario.is_static:
        if event.kind != REPLACED:
            return False
        if scenario.mode == mode:
            return True  # as it was in truth
    if gap.mid.least <= session_ms < gap.mid.most:
        raise Unsure
    return gap.mid.most <= session_ms


def _noticed(
    event: Happened, gap: Gap | None, session_ms: int, is_static: bool, missing: int
) -> Iterator[Step]:
    """missing: who is gone, and for the group still a member."""
    members = event.members + missing
    last = Step(exactly(event.at), JOINED, 0, session_ms, members, event.partitions)
    if event.kind == JOINED:
        yield last
    elif event.kind == REPLACED and gap is not None:
        since = Spread(event.at - gap.mid.most, event.at - gap.mid.least)
        ran_out = since.plus(exactly(session_ms))
        there = max(0, members - 1)
        yield last._replace(
            at=ran_out, kind=EXPIRED, held=event.held, members=there, left_out=event.left_out
        )
        yield last
    else:
        kind = EXPIRED if is_static else event.end
        yield last._replace(kind=kind, held=event.held, left_out=event.left_out)


def _in_order(steps: list[Step]) -> list[Step]:
    found = sorted(steps, key=lambda each: each.at.least)
    if found != sorted(steps, key=lambda each: each.at.most):
        raise Unsure
    return found


def clusters_of(steps: Sequence[Step], before: int, within_ms: int) -> list[Cluster]:
    """before: members of the group before the wave. Raises Unsure."""
    found = [Cluster(before, list(steps[:1]))] if steps else []
    for earlier, later in pairwise(steps):
        between = Spread(later.at.least - earlier.at.most, later.at.most - earlier.at.least)
        if between.least <= within_ms < between.most:
            raise Unsure
        if between.most > within_ms:
            found.append(Cluster(found[-1].steps[-1].members))
        found[-1].steps.append(later)
    return found
