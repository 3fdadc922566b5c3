"""What the overview of a night shows, as data. Each class but `Fleet` is a row of one query
(`report/pages/fleet_frames.py`), whose columns are its fields; None stands for NULL.

`night` is a logical date as YYYY-MM-DD. What ends in `_at_ms` is a time, in ms since 1970, UTC;
what else ends in `_ms` is a duration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from groupreplay.page.model.streams_apps import Streams

Client = tuple[str | None, ...]
"""client_id, client_host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightTotals:
    """Groups by what their members speak at the end of one night.

    left_out: groups that are empty, or of a kind that cannot take part.
    """

    night: str
    classic: int
    mixed: int
    consumer: int
    left_out: int
    members_consumer: int
    members_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseNight:
    """Epochs and generations that began in one night for one cause."""

    night: str
    cause: str
    epochs: int
    converge_half_ms: int | None = None
    superseded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyNight:
    """Partitions that were asked back in one night, and how long the acked ones took."""

    night: str
    asked: int
    fenced: int
    half_ms: int | None = None
    most_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDay:
    """`group_days` of all groups, a day.

    high_unknown: changes of hands of which high_ms knows no upper bound.
    """

    day: str
    partitions_ms: int
    low_ms: int
    high_ms: int = 0
    high_unknown: int = 0
    moved: int
    returned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostGroup:
    """The same of one group, over the days of this night."""

    group_id: str
    team: str | None = None
    partitions_ms: int
    low_ms: int
    high_ms: int = 0
    high_unknown: int = 0
    moved: int
    returned: int
    handover_max_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWay:
    """A group with members of both protocols.

    waits_for: clients of the first of its blockers.
    blockers: how many members of the classic protocol it has.
    """

    group_id: str
    team: str | None = None
    contact: str | None = None
    members_consumer: int
    members_total: int
    mixed_since_at_ms: int | None = None
    is_stalled: bool
    waits_for: tuple[Client, ...] = ()
    blockers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicClient:
    """A client id of members that still speak classic."""

    client_id: str | None = None
    software: str | None = None
    groups: int
    members: int
    team: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A member, or a whole group, that is stuck now.

    blocked_by: ids of the members that it waits for, or that cause it.
    """

    group_id: str
    team: str | None = None
    reason: str
    member_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    since_at_ms: int
    stuck_ms: int
    deadline_at_ms: int | None = None
    repetitions: int | None = None
    detail: str | None = None
    blocked_by: tuple[str, ...] = ()


HELD_BY: Final = 3
"""Members that an episode waits for, of which a page names no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A member that an episode waits for."""

    group_id: str
    member_id: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonCount:
    """Episodes of one reason: open now, and ended since the night before."""

    reason: str
    open: int
    ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRequest:
    """Partitions that one member was asked for at once and that ended alike; the longest of each
    step.

    is_censored: it was still asked at the end, so that it took longer than is known.
    """

    group_id: str
    team: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    topic: str
    partitions: int
    outcome: str
    notify_ms: int | None = None
    revoke_ms: int | None = None
    unowned_ms: int | None = None
    resume_ms: int | None = None
    is_censored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A group that could be flipped to the consumer protocol, and where it stands in the order."""

    group_id: str
    team: str | None = None
    flip_tier: int
    verdict: str
    cohort: str
    partitions: int | None = None
    suggested_assignor: str | None = None
    look_at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCount:
    """Groups of one verdict and tier (None: not to be flipped online tonight)."""

    verdict: str
    flip_tier: int | None = None
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """A rule of readiness that fired, and in how many groups.

    detail: what it found in one of these groups.
    """

    rule: str
    severity: str
    groups: int
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """A wave of joins and departures.

    wave: its class.
    stopped_ms: partition-ms that nobody read, an estimate or a lower bound.
    is_estimate: stopped_ms is an estimate.
    """

    group_id: str
    team: str | None = None
    wave: str
    started_at_ms: int
    ended_at_ms: int
    departed: int
    joined: int
    epochs: int | None = None
    moved: int | None = None
    stopped_ms: int | None = None
    is_estimate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveCount:
    """Waves of one class in this night."""

    wave: str
    waves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """A group in the finder.

    epochs: epochs and generations that began in this night.
    superseded: how many of these another one superseded.
    stuck: open episodes.
    """

    group_id: str
    team: str | None = None
    phase: str
    members_consumer: int
    members_total: int
    epochs: int = 0
    superseded: int = 0
    stuck: int = 0
    went_back: bool = False
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """`coverage` added up.

    unseen: reasons of being stuck that no source could show.
    """

    inputs: int = 0
    texts: int = 0
    undecoded: int = 0
    holes: int = 0
    late: int = 0
    left_out: int = 0
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRule:
    severity: str
    rule: str
    times: int
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecodedReason:
    reason: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """One night of one cluster.

    since_at_ms: as-of of the night before, None for the first.
    groups: groups in the finder, those in trouble first.
    groups_total: how many groups there are.
    went_back: groups that were downgraded in this night.
    has_pages: the groups that have a page of their own.
    members: client ids by (group_id, member_id), for who is waited for.
    prefix: text that links to these pages begin with: a folder and its slash where the overview
        stands above them, else "".
    """

    cluster: str
    logical_date: date
    as_of_ms: int
    since_at_ms: int | None
    version: str
    nights: tuple[NightTotals, ...] = ()
    phases: Mapping[str, int]
    went_back: int = 0
    causes: tuple[CauseNight, ...] = ()
    latency: tuple[LatencyNight, ...] = ()
    half_way: tuple[HalfWay, ...] = ()
    half_way_total: int = 0
    clients: tuple[ClassicClient, ...] = ()
    stuck: tuple[Episode, ...] = ()
    reasons: tuple[ReasonCount, ...] = ()
    slow: tuple[SlowRequest, ...] = ()
    verdicts: tuple[VerdictCount, ...] = ()
    flips: tuple[Flip, ...] = ()
    rules: tuple[RuleCount, ...] = ()
    waves: tuple[Wave, ...] = ()
    wave_counts: tuple[WaveCount, ...] = ()
    cost_days: tuple[CostDay, ...] = ()
    cost_groups: tuple[CostGroup, ...] = ()
    streams: Streams
    groups: tuple[GroupLine, ...] = ()
    groups_total: int = 0
    seen: Seen = Seen()
    broken_rules: tuple[BrokenRule, ...] = ()
    undecoded: tuple[UndecodedReason, ...] = ()
    has_pages: frozenset[str] = frozenset()
    members: Mapping[tuple[str, str], str | None]
    prefix: str = ""


def in_order(groups: tuple[GroupLine, ...]) -> list[GroupLine]:
    """Those in trouble first, then those to be migrated, each by how much they rebalanced."""
    rank = {"MIGRATING": 0, "ROLLED_BACK": 1, "CLASSIC": 2}
    return sorted(
        groups,
        key=lambda each: (-each.stuck, rank.get(each.phase, 3), -each.epochs, each.group_id),
    )
