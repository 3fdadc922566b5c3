"""One group judged: every rule that fires, and what follows from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from groupreplay.report.brokers import VERSION, Brokers
from groupreplay.report.readiness import of_groups, of_members
from groupreplay.report.readiness.known import (
    BLOCK,
    BLOCK_ONLINE,
    CHECK,
    FIX,
    NA,
    Case,
    Criteria,
    FiredRule,
    Group,
)

NOT_APPLICABLE: Final = "NOT_APPLICABLE"
BLOCKED: Final = "BLOCKED"
READY_OFFLINE: Final = "READY_OFFLINE"
WARN: Final = "WARN"
UNKNOWN: Final = "UNKNOWN"
READY: Final = "READY"


_SESSION: Final = "group.consumer.session.timeout.ms"

_DECIDE: Final = {
    "R5": {"group.consumer.max.session.timeout.ms"},
    "R5a": {_SESSION},
    "R5b": {_SESSION, "group.consumer.min.session.timeout.ms"},
    "R5c": {_SESSION},
    "R11": {"group.consumer.max.size"},
    "R14": {"group.consumer.migration.policy"},
    "R17": {VERSION},
}
"""Rule -> the brokers' settings that it asks."""


@dataclass(slots=True, kw_only=True)
class Judged:
    """Columns of `readiness`, as far as one group alone gives them.

    software: name of each client software that live members have, ascending.
    is_eligible: it can be flipped online tonight.
    """

    verdict: str
    findings: list[FiredRule]
    rules_unseen: list[str]
    assignor: str | None
    suggested_assignor: str | None
    suggested_session_timeout_ms: int | None
    members_static: int
    observed_ms: int | None
    software: list[str]
    is_eligible: bool


def judged(group: Group, brokers: Brokers, criteria: Criteria) -> Judged:
    case = Case(group=group, brokers=brokers, criteria=criteria)
    rules = (*of_groups.RULES, *of_members.RULES)
    found = [finding for rule in rules if (finding := rule(case)) is not None]
    for finding in found:
        if not brokers.differing.isdisjoint(_DECIDE.get(finding.rule, ())):
            finding.detail += "; brokers differ in that, the least favourable counts"
    found.sort(key=lambda finding: rule_order(finding.rule))
    fired = {finding.rule for finding in found}
    unseen = {*of_groups.unseen(case), *of_members.unseen(group, criteria)} - fired
    verdict = _verdict(case, {finding.severity for finding in found})
    can_roll = group.phase != "MIGRATING" and group.members_total > 0
    has_fix = any(finding.severity == FIX for finding in found)
    names = {each.software_name for each in group.members if each.software_name is not None}
    return Judged(
        verdict=verdict,
        findings=found,
        rules_unseen=sorted(unseen, key=rule_order),
        assignor=group.assignor,
        suggested_assignor=of_groups.SUGGESTED.get(group.assignor or ""),
        suggested_session_timeout_ms=_session_timeout_ms(case),
        members_static=len(group.static_members),
        observed_ms=case.observed_ms,
        software=sorted(names),
        is_eligible=can_roll and (verdict == READY or (verdict == WARN and not has_fix)),
    )


def rule_order(rule: str) -> tuple[int, str]:
    """R5, R5a, R5b, R10."""
    number = re.match(r"R(\d+)", rule)
    return int(number[1]) if number else 0, rule


def _verdict(case: Case, severities: set[str]) -> str:
    """The first that applies."""
    group = case.group
    is_described = all(each.profile_offset is not None for each in group.members)
    observed_ms = case.observed_ms
    is_observed = observed_ms is not None and observed_ms >= case.criteria.readiness.min_observed_ms
    verdicts = {
        NOT_APPLICABLE: NA in severities,
        BLOCKED: BLOCK in severities,
        READY_OFFLINE: BLOCK_ONLINE in severities or group.phase == "EMPTY",
        WARN: bool(severities & {FIX, CHECK}),
        UNKNOWN: not is_described or not is_observed,
    }
    return next((name for name, applies in verdicts.items() if applies), READY)


def _session_timeout_ms(case: Case) -> int | None:
    """What `consumer.session.timeout.ms` of the group would absorb what its own one did; None: the
    broker's is enough.
    """
    brokers, static = case.brokers, case.group.static_members
    if not static:
        return None
    gaps = case.absorbed_gaps()
    own = max((each.session_timeout_ms or 0 for each in static), default=0)
    need = -(-(max(gaps) + brokers.heartbeat_ms) // 1000) * 1000 if gaps else own
    return None if need <= brokers.session_ms else min(need, brokers.max_session_ms)
