"""What is known of one group when it is judged, and what is found: data alone, with the names of
the columns that it comes from and goes to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groupreplay.config.model import BrokersConfig, ClientVersions, ReadinessConfig, Thresholds
from groupreplay.report.brokers import Brokers

NA = "NA"
BLOCK = "BLOCK"
BLOCK_ONLINE = "BLOCK_ONLINE"
FIX = "FIX"
CHECK = "CHECK"
INFO = "INFO"

MAX_MEMBERS = 20
"""So many members stand beside a rule; members_count has all."""


@dataclass(slots=True, kw_only=True)
class Member:
    """A life of a member, as fields of `MemberLife`, its contact and the line of its end say.

    rejoin: the rejoin of the night that took it longest: rejoin_ms, and source, input and position
        of the line that began it; None where no line shows one.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    client_inherited: bool | None = None
    member_protocol: str = "classic"
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    protocols: list[str] | None = None
    embedded_version: int | None = None
    rack_id: str | None = None
    subscription_hash: int | None = None
    subscription_user_data: int | None = None
    assignment_user_data: int | None = None
    profile_offset: int | None = None
    silent_ms: int | None = None
    end_detail: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    rejoin: dict[str, Any] | None = None


@dataclass(slots=True, kw_only=True)
class Refused:
    """A run of refusals.

    is_tonight: it is in the night's own lines.
    """

    error_code: int
    refusal: str
    message: str | None = None
    attempts: int = 1
    last_at: int
    is_tonight: bool = True
    source: str
    input: str
    position: int


@dataclass(slots=True, kw_only=True)
class Group:
    """Fields of `GroupSnapshot`, and what other facts say of it.

    now_ms: how far its partition was read: the moment that is described.
    members: live members.
    ended: members that left or were fenced tonight.
    static_*: parallel lists, one element for each absence of a static member that ended.
    loops_at: when the repetitions of each open fence loop began, ms.
    subscription_changes: generations tonight that another subscription caused.
    downgrade_offset: offset of the last conversion back to classic, None for none.
    """

    now_ms: int
    protocol: str
    phase: str
    history_complete: bool = True
    members_total: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    k2_offset: int | None = None
    unbroken_since_at: int | None = None
    partitions_held: int | None = None
    epoch_times_at: list[int] = field(default_factory=list)
    recreated_at: int | None = None
    downgraded_at: int | None = None
    static_ended_at: list[int] = field(default_factory=list)
    static_gap_low_ms: list[int | None] = field(default_factory=list)
    static_gap_high_ms: list[int | None] = field(default_factory=list)
    static_outcomes: list[str] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    ended: list[Member] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)
    loops_at: list[list[int]] = field(default_factory=list)
    subscription_changes: int = 0
    downgrade_offset: int | None = None

    @property
    def classic_members(self) -> list[Member]:
        return [each for each in self.members if each.member_protocol == "classic"]

    @property
    def static_members(self) -> list[Member]:
        return [each for each in self.members if each.instance_id is not None]

    @property
    def assignor(self) -> str | None:
        """As the K2 has it, which names none where nobody is a member; in a mixed group the first
        that its first classic member offers.
        """
        if self.protocol == "classic":
            return self.protocol_name if self.members_total else None
        offered = [each.protocols for each in self.classic_members if each.protocols]
        return offered[0][0] if offered else None


@dataclass(slots=True, frozen=True, kw_only=True)
class Criteria:
    """What every group of a night is judged by.

    log_kinds: kinds of broker logs that are given.
    """

    readiness: ReadinessConfig = field(default_factory=ReadinessConfig)
    brokers: BrokersConfig = field(default_factory=BrokersConfig)
    clients: tuple[ClientVersions, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)
    log_kinds: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class FiredRule:
    """A rule that fired.

    members: those that it is about, all of them.
    evidence: where a line shows it: source, input, position.
    """

    rule: str
    severity: str
    detail: str
    members: list[Member] = field(default_factory=list)
    value: float | None = None
    limit: float | None = None
    evidence_offset: int | None = None
    evidence: dict[str, Any] | None = None


@dataclass(slots=True, frozen=True, kw_only=True)
class Case:
    """One group to be judged."""

    group: Group
    brokers: Brokers
    criteria: Criteria

    def about(self, members: list[Member], **said: Any) -> FiredRule:
        """A finding about members: of one its own record is the evidence, else the group's."""
        own = [each.profile_offset for each in members if each.profile_offset is not None]
        offset = self.group.k2_offset if self.group.protocol == "classic" else None
        if len(members) == 1 and own:
            offset = own[0]
        elif offset is None:
            offset = max(own, default=None)
        said.setdefault("evidence_offset", offset)
        return FiredRule(members=sorted(members, key=lambda each: each.member_id), **said)

    def absorbed(self, longer_than_ms: int = -1) -> int:
        """Static members' absences within the lookback that their session absorbed, and that may
        have been longer than that.
        """
        return sum(1 for gap_ms in self.absorbed_gaps() if gap_ms > longer_than_ms)

    def absorbed_gaps(self) -> list[int]:
        """How long these may have been, ms; those of which it is not known are left out."""
        group = self.group
        since = group.now_ms - self.criteria.readiness.lookback_ms
        gaps = zip(
            group.static_ended_at, group.static_gap_high_ms, group.static_outcomes, strict=True
        )
        return [
            gap_ms
            for ended_at, gap_ms, outcome in gaps
            if outcome == "ABSORBED" and ended_at >= since and gap_ms is not None
        ]

    @property
    def observed_ms(self) -> int | None:
        since = self.group.unbroken_since_at
        return None if since is None else max(0, self.group.now_ms - since)
