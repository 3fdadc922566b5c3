"""Rules about what a group's members are: clients, sessions, subscriptions, user data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from groupreplay.config.checks import dotted
from groupreplay.config.group_patterns import pattern_regex
from groupreplay.config.model import ClientVersions
from groupreplay.records.log_events import REQUEST_LOG
from groupreplay.report.departure_codes import EXPIRED, LEFT, POLL_TIMEOUT, UNKNOWN
from groupreplay.report.readiness.known import (
    BLOCK_ONLINE,
    CHECK,
    FIX,
    INFO,
    Case,
    Criteria,
    FiredRule,
    Group,
    Member,
)

NEWEST_EMBEDDED_VERSION: Final = 3
"""Version that clients from 3.5 on write, which know racks (KIP-881)."""

CONSUMER: Final = "consumer"


def assignment_user_data(case: Case) -> FiredRule | None:
    """ConsumerGroup.fromClassicGroup: user data of a custom assignor would be lost."""
    with_data = [each for each in case.group.members if (each.assignment_user_data or 0) > 0]
    if not with_data or (case.group.protocol_type or "") != CONSUMER:
        return None
    most = max(each.assignment_user_data or 0 for each in with_data)
    detail = "the assignment has user data, which an online upgrade would lose: the broker refuses"
    return case.about(
        with_data, rule="R3", severity=BLOCK_ONLINE, value=most, limit=0, detail=detail
    )


def malformed(case: Case) -> FiredRule | None:
    group = case.group
    if group.protocol != "classic" or (group.protocol_type or "") != CONSUMER:
        return None
    unread = [
        each
        for each in group.members
        if each.profile_offset is not None
        and None in (each.subscription_user_data, each.assignment_user_data)
    ]
    detail = "its subscription or assignment does not parse: the broker refuses an online upgrade"
    return case.about(unread, rule="R3c", severity=BLOCK_ONLINE, detail=detail) if unread else None


# ---------------------------------------------------------------- sessions


def session_shrinks(case: Case) -> FiredRule | None:
    """R5, else R5a: what static members' own session timeout absorbed, and the broker's will
    not.
    """
    brokers = case.brokers
    own = [each for each in case.group.static_members if each.session_timeout_ms is not None]
    above = [each for each in own if (each.session_timeout_ms or 0) > brokers.max_session_ms]
    if above:
        return _shrinks(case, above, "R5", brokers.max_session_ms)
    above = [each for each in own if (each.session_timeout_ms or 0) > brokers.session_ms]
    return _shrinks(case, above, "R5a", brokers.session_ms) if above else None


def _shrinks(case: Case, above: list[Member], rule: str, limit_ms: int) -> FiredRule:
    """An epoch of -2 starts no clock again: only a gap of a heartbeat less is sure to fit."""
    lost = case.absorbed(longer_than_ms=limit_ms - case.brokers.heartbeat_ms)
    own = _seconds(max(each.session_timeout_ms or 0 for each in above))
    severity = (FIX if lost else CHECK) if rule == "R5" else (CHECK if lost else INFO)
    most = "at most " if rule == "R5" else ""
    detail = f"sessions of {own} s become {most}{_seconds(limit_ms)} s"
    return case.about(
        above,
        rule=rule,
        severity=severity,
        value=lost,
        limit=limit_ms,
        detail=f"{detail}: {lost} of the absences that they absorbed may not fit",
    )


def blindness_grows(case: Case) -> FiredRule | None:
    """A group may set a timeout of its own, within the brokers' bounds and longer than its
    heartbeat interval: GroupConfig.validate.
    """
    brokers = case.brokers
    limit = brokers.session_ms
    below = [
        each
        for each in case.group.members
        if each.session_timeout_ms is not None and each.session_timeout_ms < limit
    ]
    if not below:
        return None
    crashes = sum(1 for each in case.group.ended if departure(each, case) == EXPIRED)
    own_ms = min(each.session_timeout_ms or 0 for each in below)
    least_ms = max(own_ms, brokers.min_session_ms, brokers.heartbeat_ms + 1)
    remedy = (
        f"consumer.session.timeout.ms of the group can make it {_seconds(least_ms)} s"
        if least_ms < limit
        else "no consumer.session.timeout.ms of the group can make it less"
    )
    noticed = f"a crash will be noticed after {_seconds(limit)} s instead of {_seconds(own_ms)} s"
    return case.about(
        below,
        rule="R5b",
        severity=CHECK if crashes else INFO,
        value=crashes,
        limit=limit,
        detail=f"{noticed}; {remedy}",
    )


def mixed_failover(case: Case) -> FiredRule | None:
    """At load every member of a consumer group gets the group's timeout: GroupMetadataManager's
    onLoaded.
    """
    limit = case.brokers.session_ms
    above = [each for each in case.group.classic_members if (each.session_timeout_ms or 0) > limit]
    detail = f"while the group is mixed, a move of its coordinator gives it {_seconds(limit)} s"
    return (
        case.about(above, rule="R5c", severity=INFO, limit=limit, detail=detail) if above else None
    )


def departure(member: Member, case: Case) -> str:
    """What became of a member that left or was fenced: by its line, else by how long it had
    committed nothing.
    """
    if member.end_detail is not None:
        return EXPIRED if member.end_detail == "SESSION_EXPIRED" else LEFT
    if member.silent_ms is None:
        return UNKNOWN
    if member.silent_ms >= (member.rebalance_timeout_ms or 0) > 0:
        return POLL_TIMEOUT
    if member.member_protocol == "classic":
        if member.session_timeout_ms is None:
            return UNKNOWN
        session_ms = member.session_timeout_ms - case.criteria.brokers.classic_heartbeat_ms
    else:
        session_ms = case.brokers.session_ms - case.brokers.heartbeat_ms - 1_000
    return EXPIRED if member.silent_ms >= session_ms else LEFT


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g}"


# ---------------------------------------------------------------- clients


def client(case: Case) -> FiredRule | None:
    """By the request log; of a client that is not in it an old subscription shows that it is
    old.
    """
    found: dict[str, list[Member]] = {}
    for member in case.group.classic_members:
        if (problem := _of_client(member, case.criteria)) is not None:
            found.setdefault(problem, []).append(member)
    if not found:
        return None
    members = [member for some in found.values() for member in some]
    return case.about(members, rule="R8", severity=CHECK, detail="; ".join(sorted(found)))


def _of_client(member: Member, criteria: Criteria) -> str | None:
    if member.software_name is None:
        is_old = 0 <= (member.embedded_version or 0) < NEWEST_EMBEDDED_VERSION
        is_old = is_old and member.embedded_version is not None
        return "a client from before 3.5, by its subscription" if is_old else None
    known = _entry(member, criteria.clients)
    if known is None:
        return "a client that is not known here: see clients in the configuration"
    rule, version = known
    if dotted(version) < dotted(rule.early):
        return f"a client without the consumer protocol, which came with {rule.early}"
    if dotted(version) < dotted(rule.full):
        return f"a client with the consumer protocol in early access, whole from {rule.full} on"
    return None


def _entry(
    member: Member, clients: tuple[ClientVersions, ...]
) -> tuple[ClientVersions, str] | None:
    """The first entry that matches, and the version that counts."""
    for each in clients:
        if re.fullmatch(pattern_regex(each.name), member.software_name or "") is None:
            continue
        version = member.software_version or ""
        if each.version_after is None:
            return each, version
        _, found, behind = version.partition(each.version_after)
        if found:
            return each, behind
    return None


def rack(case: Case) -> FiredRule | None:
    racked = [each for each in case.group.members if each.rack_id is not None]
    detail = "the server's assignors do not know racks (KAFKA-19387)"
    return (
        case.about(racked, rule="R10", severity=CHECK, value=len(racked), detail=detail)
        if racked
        else None
    )


def subscription(case: Case) -> FiredRule | None:
    """Members that differ, or a subscription that changes: a pattern of the client's, as a rule."""
    group = case.group
    hashes = {
        each.subscription_hash for each in group.members if each.subscription_hash is not None
    }
    if len(hashes) < 2 and not group.subscription_changes:
        return None
    told = "members subscribe to different topics" if len(hashes) > 1 else "subscriptions changed"
    detail = (
        f"{told}: a pattern of the client's becomes a regular expression (RE2J) of the server's"
    )
    members = group.members if len(hashes) > 1 else []
    return case.about(
        members, rule="R12", severity=CHECK, value=len(hashes), limit=1, detail=detail
    )


def slow_to_rejoin(case: Case) -> FiredRule | None:
    """A classic group waits for the longest rebalance timeout of all members, and the broker of a
    consumer group for the member's own: GroupMetadataManager.scheduleConsumerGroupRebalanceTimeout.
    """
    parts = {
        each.member_id: each.rejoin["rejoin_ms"] / each.rebalance_timeout_ms
        for each in case.group.members
        if each.rejoin is not None and (each.rebalance_timeout_ms or 0) > 0
    }
    slow = [each for each in case.group.members if parts.get(each.member_id, 0) >= SLOW_PART]
    if not slow:
        return None
    worst = max(slow, key=lambda each: (parts[each.member_id], each.member_id))
    told, limit = worst.rejoin or {}, worst.rebalance_timeout_ms or 0
    detail = (
        f"took {_seconds(told['rejoin_ms'])} s to join again; after the flip a member that takes"
        f" longer than its own rebalance timeout, {_seconds(limit)} s, is fenced"
    )
    return case.about(
        slow,
        rule="R13",
        severity=CHECK,
        value=told["rejoin_ms"],
        limit=limit,
        detail=detail,
        evidence={name: told[name] for name in ("source", "input", "position")},
    )


SLOW_PART: Final = 0.5
"""Part of its rebalance timeout from which a member is slow."""

RULES: Final[tuple[Callable[[Case], FiredRule | None], ...]] = (
    *(assignment_user_data, malformed, session_shrinks, blindness_grows, mixed_failover),
    *(client, rack, subscription, slow_to_rejoin),
)


def unseen(group: Group, criteria: Criteria) -> list[str]:
    """The rules that nothing given could show: requests of classic members alone show them."""
    is_seen = REQUEST_LOG in criteria.log_kinds and any(
        each.software_name is not None for each in group.classic_members
    )
    return [] if is_seen or not group.classic_members else ["R8", "R13"]
