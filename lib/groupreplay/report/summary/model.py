"""What one night found, as data: `NightSummary`, which text and pages are made of.

Values are numbers, ids and names as the tables hold them. `as_of_ms` and what ends in `_at_ms` are
times, in ms since the epoch, UTC; what else ends in `_ms` is a duration. None stands where a table
has NULL. Names of phases, outcomes, reasons and rules are open enums, as in the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from typing import Any, Final

from groupreplay.page.model.streams_apps import Streams
from groupreplay.report.summary.decisions_model import Decisions

NOT_APPLICABLE: Final = "NOT_APPLICABLE"
"""The phase of groups that cannot take part in the migration."""

SEVERITIES: Final = ("ERROR", "WARN", "INFO")
"""Severities of rules, the worst first."""


# ---------------------------------------------------------------- migration


@dataclass(frozen=True, slots=True)
class PhaseGroups:
    """The groups of one phase.

    members: members of these groups; static ones that left for a while count.
    members_consumer: members among these that speak the consumer protocol.
    stalled: groups with members of both protocols for longer than the threshold.
    incomplete: groups that began before the log does, or lie in its holes.
    """

    phase: str
    groups: int
    members: int
    members_consumer: int
    stalled: int
    incomplete: int


@dataclass(frozen=True, slots=True)
class Blocker:
    """A member that speaks the classic protocol in a group that is half-way."""

    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None


@dataclass(frozen=True, slots=True)
class HalfWayGroup:
    """A group with members of both protocols.

    progress_pct: members that speak the consumer protocol, in percent; None without members.
    mixed_since_at_ms: since when it has members of both; None where that was not seen.
    mixed_ms: from then to as-of.
    blockers: the first few.
    blockers_total: how many there are.
    """

    group_id: str
    team: str | None
    progress_pct: float | None
    mixed_since_at_ms: int | None
    mixed_ms: int | None
    blockers: tuple[Blocker, ...]
    blockers_total: int


@dataclass(frozen=True, slots=True)
class ClassicClient:
    """A client id of members that still speak the classic protocol.

    groups: how many groups have such members.
    example: the first of their ids.
    """

    client_id: str | None
    groups: int
    example: str


@dataclass(frozen=True, slots=True)
class Migration:
    """How far the fleet is from the classic to the consumer protocol.

    phases: groups of each phase, ordered by its name.
    half_way: groups with members of both protocols, the longest mixed first.
    classic_clients: client ids of classic members, those in the most groups first.
    """

    phases: tuple[PhaseGroups, ...] = ()
    half_way: tuple[HalfWayGroup, ...] = ()
    classic_clients: tuple[ClassicClient, ...] = ()

    @property
    def taking_part(self) -> tuple[PhaseGroups, ...]:
        """The phases of groups that can take part."""
        return tuple(each for each in self.phases if each.phase != NOT_APPLICABLE)

    @property
    def left_out(self) -> int:
        """Groups that cannot take part: share, streams and simple groups, Kafka Connect."""
        return sum(each.groups for each in self.phases if each.phase == NOT_APPLICABLE)


# ---------------------------------------------------------------- hand-overs


@dataclass(frozen=True, slots=True)
class OutcomePartitions:
    """How many hand-overs, each of one partition, ended so."""

    outcome: str
    partitions: int


@dataclass(frozen=True, slots=True)
class SlowRequest:
    """Partitions that one member was asked to give back at once, and that ended alike.

    member_id: the member that was asked, and is charged.
    client_id, client_host: client of that member.
    partitions: how many partitions.
    topic: their topic, the first by name where they are of several.
    revoke_ms: the longest time of a partition, by which the request is slow.
    unowned_ms: the longest time without an owner; None where none was measured.
    """

    group_id: str
    team: str | None
    member_id: str
    client_id: str | None
    client_host: str | None
    requested_at_ms: int
    outcome: str
    partitions: int
    topic: str
    revoke_ms: int
    unowned_ms: int | None


@dataclass(frozen=True, slots=True)
class HandOvers:
    """Partitions that were asked back from members.

    outcomes: by name.
    acked_half_ms: half of those given back (ACKED) were within this time; None without any.
    acked_99_pct_ms: 99 % of them were within this time; None without any.
    slowest: the slowest first.
    """

    outcomes: tuple[OutcomePartitions, ...] = ()
    acked_half_ms: int | None = None
    acked_99_pct_ms: int | None = None
    slowest: tuple[SlowRequest, ...] = ()


# ---------------------------------------------------------------- stuck


@dataclass(frozen=True, slots=True)
class ReasonEpisodes:
    """How many episodes of one reason are open at as-of, and how many ended."""

    reason: str
    open: int
    ended: int


@dataclass(frozen=True, slots=True)
class StuckEpisode:
    """A member, or a group, that is or was stuck.

    member_id: None where the group is stuck as a whole.
    stuck_ms: while open, to as-of.
    blocked_by: ids of the members that it waits for.
    repetitions: how often it happened; None for a reason that is one stretch.
    """

    group_id: str
    team: str | None
    member_id: str | None
    client_id: str | None
    client_host: str | None
    reason: str
    since_at_ms: int
    stuck_ms: int
    is_open: bool
    blocked_by: tuple[str, ...]
    repetitions: int | None


@dataclass(frozen=True, slots=True)
class Stuck:
    """Who is stuck, and why.

    reasons: reasons, those with the most open episodes first.
    episodes: open ones first, then the longest first.
    """

    reasons: tuple[ReasonEpisodes, ...] = ()
    episodes: tuple[StuckEpisode, ...] = ()


# ---------------------------------------------------------------- seen


@dataclass(frozen=True, slots=True)
class Coverage:
    """Logs of the offsets topic, in records, as in the table `coverage`.

    inputs: partition logs and files.
    inputs_with_holes: inputs among these that lack offsets.
    holes: offsets that are gone, by compaction or loss.
    left_out: records of groups that the configuration leaves out.
    """

    inputs: int = 0
    inputs_with_holes: int = 0
    landed: int = 0
    decoded: int = 0
    unknown: int = 0
    undecoded: int = 0
    reduced: int = 0
    aborted: int = 0
    open_commits: int = 0
    duplicates: int = 0
    holes: int = 0
    late: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class BrokerLogs:
    """Logs of brokers, in lines.

    others: lines of loggers or APIs that show nothing about groups.
    """

    inputs: int = 0
    lines: int = 0
    others: int = 0


@dataclass(frozen=True, slots=True)
class UndecodedRows:
    """How many rows could not be decoded for one reason."""

    reason: str
    rows: int


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """How often a rule was broken.

    severity: one of SEVERITIES.
    """

    severity: str
    rule: str
    times: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read, and what could not be seen or understood.

    unseen_reasons: reasons of being stuck that the given sources cannot show.
    undecoded: the most rows first.
    broken_rules: the worst severity first, then the most times.
    """

    coverage: Coverage = Coverage()
    broker_logs: BrokerLogs = BrokerLogs()
    unseen_reasons: int = 0
    undecoded: tuple[UndecodedRows, ...] = ()
    broken_rules: tuple[BrokenRule, ...] = ()


# ---------------------------------------------------------------- the night


@dataclass(frozen=True, slots=True)
class NightSummary:
    """One night of one cluster.

    as_of_ms: None where nothing was ever read.
    page: where its page is, None where none was written.
    """

    cluster: str
    logical_date: date
    as_of_ms: int | None
    migration: Migration = Migration()
    hand_overs: HandOvers = HandOvers()
    stuck: Stuck = Stuck()
    streams: Streams = field(default_factory=Streams)
    decisions: Decisions = field(default_factory=Decisions)
    seen: Seen = Seen()
    page: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The same as objects, lists, strings, numbers and None; a date as YYYY-MM-DD. Keys are
        the names of the fields.
        """
        plain: dict[str, Any] = _plain(self)
        return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value
