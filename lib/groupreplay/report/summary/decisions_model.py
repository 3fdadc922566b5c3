"""The part of `NightSummary` about what can be decided. Names and units as there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TierGroups:
    """Groups of one flip_tier of `readiness`, None: groups not to be flipped online tonight."""

    flip_tier: int | None
    groups: int


@dataclass(frozen=True, slots=True)
class FlipGroup:
    """A group that can be flipped to the consumer protocol tonight.

    flip_tier: 1 its cohort is proven, 2 it is the canary of its cohort.
    look_at: rules that somebody must look at first.
    """

    group_id: str
    team: str | None
    flip_tier: int
    partitions: int | None
    suggested_assignor: str | None
    look_at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CostlyWave:
    """A run of joins and departures.

    wave_class: as in `departure_waves`.
    stopped_ms: partition-ms that nobody read.
    is_estimate: stopped_ms is an estimate, else a lower bound.
    """

    group_id: str
    team: str | None
    wave_class: str
    started_at_ms: int
    departed: int
    joined: int
    moved: int | None
    stopped_ms: int
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class WorstGroup:
    """The group whose partitions were missed most, of the days that the night wrote.

    most_pct, least_pct: upper and lower bound of the share of time in which they were read, in
        percent of the time in which they should have been; least_pct is None where commits do not
        show it.
    """

    group_id: str
    team: str | None
    most_pct: float
    least_pct: float | None


@dataclass(frozen=True, slots=True)
class Decisions:
    """What can be decided.

    tiers: groups of each flip_tier, None last.
    flips: groups to begin with.
    wave: the wave that cost most, None where nothing stopped.
    worst: the group that was read least, None where nothing stopped.
    """

    tiers: tuple[TierGroups, ...] = ()
    flips: tuple[FlipGroup, ...] = ()
    wave: CostlyWave | None = None
    worst: WorstGroup | None = None
