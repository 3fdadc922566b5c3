"""Rules about a group as a whole, its history, and the brokers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from groupreplay.config.checks import dotted
from groupreplay.limits import KEPT_EPOCH_TIMES
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.report.readiness.known import (
    BLOCK,
    BLOCK_ONLINE,
    CHECK,
    FIX,
    INFO,
    NA,
    Case,
    FiredRule,
    Refused,
)

HOUR_MS: Final = 3_600_000
REFUSED_MS: Final = 7 * 86_400_000
"""Refusals of upgrades count for a week."""

STREAM: Final = "stream"
UNIFORM: Final = "uniform"
SUGGESTED: Final = {
    "range": "range",
    "cooperative-sticky": UNIFORM,
    "sticky": UNIFORM,
    "roundrobin": UNIFORM,
}
"""Assignor of a classic group -> the server's that does the same."""

FENCED_INSTANCE_ID: Final = 82
UNRELEASED_INSTANCE_ID: Final = 111


def not_consumer(case: Case) -> FiredRule | None:
    if (case.group.protocol_type or "") in ("", "consumer"):
        return None
    detail = "a group of another protocol type, such as Kafka Connect, has no consumer protocol"
    return case.about([], rule="R1", severity=NA, detail=detail)


def unknown_assignor(case: Case) -> FiredRule | None:
    name, group = case.group.assignor, case.group
    if name is None or name in SUGGESTED or name == STREAM or group.protocol_type != "consumer":
        return None
    if any((each.assignment_user_data or 0) > 0 for each in group.members):
        return None  # R3
    detail = "its own assignor: the broker takes the group, and replaces its strategy silently"
    return case.about([], rule="R3b", severity=CHECK, detail=detail)


def streams(case: Case) -> FiredRule | None:
    if case.group.protocol_name != STREAM or case.group.protocol != "classic":
        return None
    detail = "Kafka Streams: to a streams group, offline; not on 4.2.0 (KAFKA-20254)"
    return case.about([], rule="R4", severity=NA, detail=detail)


def instance_conflict(case: Case) -> FiredRule | None:
    codes = (FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID)
    found = [each for each in case.group.refusals if each.is_tonight and each.error_code in codes]
    if not found:
        return None
    detail = (
        "an instance id was taken while its owner lived: after the flip the second one never starts"
    )
    attempts = sum(each.attempts for each in found)
    return _by_line(found, rule="R6", severity=FIX, value=attempts, limit=0, detail=detail)


def takeovers(case: Case) -> FiredRule | None:
    """A classic member writes no record when it goes, so its gap is not known exactly. An exact gap
    is that of a record.
    """
    group, since = case.group, case.group.now_ms - case.criteria.readiness.lookback_ms
    absences = zip(
        group.static_ended_at,
        group.static_gap_low_ms,
        group.static_gap_high_ms,
        group.static_outcomes,
        strict=True,
    )
    taken = sum(
        1
        for ended_at, low_ms, high_ms, outcome in absences
        if outcome == "ABSORBED" and ended_at >= since and (low_ms is None or low_ms != high_ms)
    )
    if not taken or not group.static_members:
        return None
    detail = (
        "after the flip a process that dies and restarts within its session gets"
        " UNRELEASED_INSTANCE_ID, fatal in Java: see that it is restarted with a back-off"
    )
    return case.about(group.static_members, rule="R7", severity=CHECK, value=taken, detail=detail)


def group_size(case: Case) -> FiredRule | None:
    total, limit = case.group.members_total, case.brokers.max_size
    if total <= limit:
        return None
    detail = "more members than group.consumer.max.size: the broker refuses"
    return case.about([], rule="R11", severity=BLOCK, value=total, limit=limit, detail=detail)


def policy(case: Case) -> FiredRule | None:
    if case.brokers.policy not in ("downgrade", "disabled"):
        return None
    detail = f"group.consumer.migration.policy is {case.brokers.policy}: the broker refuses"
    return FiredRule(rule="R14", severity=BLOCK_ONLINE, detail=detail)


def empties_anyway(case: Case) -> FiredRule | None:
    group, criteria = case.group, case.criteria
    since = group.now_ms - criteria.readiness.lookback_ms
    is_recreated = group.recreated_at is not None and group.recreated_at >= since
    if group.members_total and not is_recreated:
        return None
    detail = (
        "it has no members"
        if not group.members_total
        else f"it had no members before {_utc(group.recreated_at or 0)}, and then some again"
    )
    detail += ": an offline flip costs nothing at such a moment"
    return case.about([], rule="R15", severity=INFO, detail=detail)


def unstable(case: Case) -> FiredRule | None:
    group, criteria = case.group, case.criteria
    limit = criteria.readiness.epochs_per_hour
    epochs = sum(1 for at in group.epoch_times_at if at > group.now_ms - HOUR_MS)
    loops = any(_is_open_loop(times_at, group.now_ms, case) for times_at in group.loops_at)
    if epochs <= limit and not loops:
        return None
    count = f"{KEPT_EPOCH_TIMES} or more" if epochs == KEPT_EPOCH_TIMES else f"{epochs}"
    detail = f"{count} epochs in the last hour" if epochs > limit else "a member flaps"
    return case.about([], rule="R16", severity=FIX, value=epochs, limit=limit, detail=detail)


def _is_open_loop(times_at: list[int], now_ms: int, case: Case) -> bool:
    """As FENCE_LOOP of stuck_members: so many repetitions in a window, the last of them of this
    hour.
    """
    limits = case.criteria.thresholds
    last = times_at[-limits.fence_loop_count :]
    is_dense = len(last) == limits.fence_loop_count
    is_dense = is_dense and last[-1] - last[0] <= limits.fence_loop_window_ms
    return is_dense and now_ms - last[-1] <= HOUR_MS


def broker(case: Case) -> FiredRule | None:
    brokers = case.brokers
    if brokers.protocols is not None:
        detail = f"group.coordinator.rebalance.protocols is {brokers.protocols}, without consumer"
        return FiredRule(rule="R17", severity=BLOCK, detail=detail)
    if brokers.version is None or not dotted(brokers.version):
        return None
    if dotted(brokers.version) < (4,):
        detail = f"brokers of {brokers.version}: the consumer protocol came with 4.0"
        return FiredRule(rule="R17", severity=BLOCK, detail=detail)
    if brokers.group_version == 0:
        detail = "the feature group.version is 0: the broker knows no consumer protocol"
        return FiredRule(rule="R17", severity=BLOCK, detail=detail)
    if (*dotted(brokers.version), 0)[:2] in ((4, 0), (4, 1)):
        detail = f"brokers of {brokers.version}: see KAFKA-19862 and KAFKA-19233"
        return FiredRule(rule="R17", severity=INFO, detail=detail)
    return None


def refused(case: Case) -> FiredRule | None:
    since = case.group.now_ms - REFUSED_MS
    found = [
        each
        for each in case.group.refusals
        if each.refusal == "UPGRADE_REFUSED" and each.last_at >= since
    ]
    if not found:
        return None
    reasons = sorted({_reason(each) for each in found})
    attempts = max(sum(e.attempts for e in found if e.source == kind) for kind in _KINDS)
    detail = f"the broker refused an online upgrade: {', '.join(reasons)}"
    return _by_line(found, rule="R18", severity=BLOCK_ONLINE, value=attempts, detail=detail)


_KINDS: Final = (REQUEST_LOG, SERVER_LOG)
_REASONS: Final = {
    "CUSTOM_ASSIGNOR": ("CUSTOM_ASSIGNOR", "custom assignor"),
    "POLICY": ("POLICY", "online upgrade is disabled"),
    "NOT_CONSUMER_PROTOCOL": ("NOT_CONSUMER_PROTOCOL", "embedded protocol"),
    "SIZE": ("SIZE", "maximum size"),
    "MALFORMED": ("MALFORMED", "malformed"),
}
"""What the broker says -> words of its own log's line, and of its answer."""


def _reason(refusal: Refused) -> str:
    said = refusal.message or ""
    return next(
        (name for name, words in _REASONS.items() if any(word in said for word in words)),
        "see refusals",
    )


def rolled_back(case: Case) -> FiredRule | None:
    group = case.group
    if group.phase != "ROLLED_BACK":
        return None
    detail = f"it went back at {_utc(group.downgraded_at or 0)}: ask who did that, and why"
    return case.about(
        [],
        rule="R19",
        severity=CHECK,
        value=group.downgraded_at,
        detail=detail,
        evidence_offset=group.downgrade_offset,
    )


def _by_line(found: list[Refused], **said: object) -> FiredRule:
    """A finding that lines show: the place of the first."""
    first = min(found, key=lambda each: (each.last_at, each.source, each.position))
    place = {"source": first.source, "input": first.input, "position": first.position}
    return FiredRule(evidence=place, **said)  # type: ignore[arg-type]


def _utc(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


RULES: Final[tuple[Callable[[Case], FiredRule | None], ...]] = (
    *(not_consumer, unknown_assignor, streams, instance_conflict, takeovers, group_size, policy),
    *(empties_anyway, unstable, broker, refused, rolled_back),
)


def unseen(case: Case) -> list[str]:
    """The rules that nothing given could show, or that ask for more history than was seen."""
    kinds, group, criteria = case.criteria.log_kinds, case.group, case.criteria
    found = []
    if REQUEST_LOG not in kinds and not (group.protocol == "consumer" and SERVER_LOG in kinds):
        found.append("R6")
    if case.brokers.policy is None:
        found.append("R14")
    if case.brokers.version is None:
        found.append("R17")
    if not kinds & {REQUEST_LOG, SERVER_LOG}:
        found.append("R18")
    observed_ms = case.observed_ms or 0
    if not group.history_complete and observed_ms < criteria.readiness.lookback_ms:
        found += ["R15", "R19", *(["R7"] if group.static_members else [])]
        found += ["R16"] if observed_ms < HOUR_MS else []
    return found
