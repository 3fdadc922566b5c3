"""How long the steps of a rebalance take: by the group's own times, else by those of others.

Source of the rules: docs/measures.md, What if.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

OWN: Final = "OWN"
RECORDS: Final = "RECORDS"
BROKER_LOG: Final = "BROKER_LOG"
FLEET: Final = "FLEET"
FEW: Final = "FEW"
TRANSFERRED: Final = "TRANSFERRED"
ASSUMED: Final = "ASSUMED"

BASES: Final = (OWN, RECORDS, BROKER_LOG, FLEET, FEW, TRANSFERRED, ASSUMED)
"""Where times come from, from the strongest on."""

REVOKE: Final = "REVOKE"
REJOIN: Final = "REJOIN"
JOIN: Final = "JOIN"
SYNC: Final = "SYNC"
"""What is measured: a consumer member from being asked for partitions to its answer; a classic one
of an eager group from being told of a rebalance to its JoinGroup; the join phase of such a group;
the sync phase of a rebalance.
"""

CALLBACK: Final = "CALLBACK"
TAKEN: Final = "TAKEN"
"""Measures of cooperative groups, whose members join at once and give up partitions when they are
synced: the time from then to the JoinGroup that says so; and, by the records alone, from the
generation that took the partitions to the one that gave them out.
"""

BEAT: Final = "BEAT"
CLASSIC_BEAT: Final = "CLASSIC_BEAT"
"""How often members send heartbeats, one sample a member: as the broker told those of the consumer
protocol, as the others did.
"""

TRANSFERRED_HIGH_MS: Final = 250
"""The Java client of the consumer protocol needs 100 to 200 ms to answer where the classic one
rejoins in 1 to 20, so times of one say little of the other's slowest.
"""


FEW_HIGH_MS: Final = 250
"""One or two callbacks are not the slowest that a group has."""


class Bracket(NamedTuple):
    """low <= mid <= high, ms."""

    low: int
    mid: int
    high: int


ASSUMED_SYNC: Final = Bracket(0, 10, 100)
"""Sync phase of a cluster that shows none: real ones take 3 to 10 ms, at worst 630."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Times of one kind: how many, their percentiles (interpolated) and the longest, ms."""

    count: int
    p10: int
    p50: int
    p90: int
    most: int


Samples = Mapping[str, Sample]
"""What is measured -> the times of it."""


class Known(NamedTuple):
    """What is known of the times of one group.

    own: times of the group itself.
    fleet: times of all groups of the cluster.
    least_own, least_fleet: least number of times of a kind that count.
    classic_heartbeat_ms: heartbeat interval of classic members.
    """

    own: Samples
    fleet: Samples
    least_own: int
    least_fleet: int
    classic_heartbeat_ms: int

    def own_of(self, what: str) -> Sample | None:
        return _enough(self.own, what, self.least_own)

    def fleet_of(self, what: str) -> Sample | None:
        return _enough(self.fleet, what, self.least_fleet)


def _enough(samples: Samples, what: str, least: int) -> Sample | None:
    found = samples.get(what)
    return found if found is not None and found.count >= least else None


Chosen = tuple[Bracket, str]
"""Times, and where they come from."""


def release_of_consumer(known: Known) -> Chosen | None:
    """R of the consumer protocol: from being told to letting go. None: from nothing."""
    if (own := known.own_of(REVOKE)) is not None:
        return _measured(own), OWN
    if (fleet := known.fleet_of(REVOKE)) is not None:
        return _measured(fleet), FLEET
    if (rejoins := known.own_of(REJOIN)) is not None:
        return _transferred(rejoins), TRANSFERRED
    if (callbacks := _own_callbacks(known)) is not None:
        return _transferred_times(callbacks[0]), TRANSFERRED
    return None


def release_of_eager(known: Known) -> Chosen | None:
    """R of an eager group: from being told of a rebalance to joining. A join phase lasts until the
    slowest member has heard of it and joined, so it is R within half a heartbeat. None: no source.
    """
    if (own := _own_rejoins(known)) is not None:
        return own
    if (callbacks := _own_callbacks(known)) is not None:
        return _transferred_times(callbacks[0]), TRANSFERRED
    return _fleet_rejoins(known) or _of_revokes(known)


def release_of_cooperative(known: Known) -> Chosen | None:
    """R of a cooperative group: the callback in which a member gives up partitions. It comes after
    the sync phase, so join phases and rejoins of such groups do not have it; those of eager ones
    do. None: from nothing.
    """
    if (own := _own_callbacks(known) or _own_rejoins(known)) is not None:
        return own
    if (fleet := known.fleet_of(CALLBACK)) is not None:
        return _measured(fleet), FLEET
    return _fleet_rejoins(known) or _of_revokes(known)


def _own_rejoins(known: Known) -> Chosen | None:
    if (own := known.own_of(REJOIN)) is not None:
        return _measured(own), OWN
    if (phases := known.own_of(JOIN)) is not None:
        return _of_phases(phases, phases.most, known), BROKER_LOG
    return None


def _own_callbacks(known: Known) -> Chosen | None:
    """The group's own even where they are few: its callbacks are its own code, and no other group
    shows how long they take.
    """
    if (own := known.own_of(CALLBACK)) is not None:
        return _measured(own), OWN
    if (taken := known.own_of(TAKEN)) is not None:
        return _of_phases(taken, taken.most, known), RECORDS
    if (few := known.own.get(CALLBACK)) is not None:
        return Bracket(0, few.p50, few.most + FEW_HIGH_MS), FEW
    if (few := known.own.get(TAKEN)) is not None:
        return _of_phases(few, few.most, known), FEW
    return None


def _fleet_rejoins(known: Known) -> Chosen | None:
    if (fleet := known.fleet_of(REJOIN)) is not None:
        return _measured(fleet), FLEET
    if (phases := known.fleet_of(JOIN)) is not None:
        return _of_phases(phases, phases.p90, known), FLEET
    return None


def _of_revokes(known: Known) -> Chosen | None:
    revokes = known.own_of(REVOKE) or known.fleet_of(REVOKE)
    return None if revokes is None else (_transferred(revokes), TRANSFERRED)


def sync_phase(known: Known) -> Chosen:
    """Y, of classic groups: from the end of the join phase to the K2."""
    if (own := known.own_of(SYNC)) is not None:
        return _measured(own), OWN
    if (fleet := known.fleet_of(SYNC)) is not None:
        return _measured(fleet), FLEET
    return ASSUMED_SYNC, ASSUMED


def weakest(bases: list[str]) -> str | None:
    """None of none."""
    return max(bases, key=BASES.index, default=None)


def _measured(sample: Sample) -> Bracket:
    return Bracket(sample.p10, sample.p50, sample.p90)


def _transferred(sample: Sample) -> Bracket:
    return _transferred_times(_measured(sample))


def _transferred_times(times: Bracket) -> Bracket:
    return Bracket(0, times.mid, max(times.high, TRANSFERRED_HIGH_MS))


def _of_phases(phases: Sample, longest_ms: int, known: Known) -> Bracket:
    return Bracket(0, max(0, phases.p50 - known.classic_heartbeat_ms // 2), longest_ms)
