"""Rows of the summary's queries -> `NightSummary`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date
from typing import Any, TypeVar

from groupreplay.page.model.streams_apps import read_streams
from groupreplay.report.summary.decisions_model import (
    CostlyWave,
    Decisions,
    FlipGroup,
    TierGroups,
    WorstGroup,
)
from groupreplay.report.summary.model import (
    SEVERITIES,
    Blocker,
    BrokenRule,
    BrokerLogs,
    ClassicClient,
    Coverage,
    HalfWayGroup,
    HandOvers,
    Migration,
    NightSummary,
    OutcomePartitions,
    PhaseGroups,
    ReasonEpisodes,
    Seen,
    SlowRequest,
    Stuck,
    StuckEpisode,
    UndecodedRows,
)

SummaryRow = Mapping[str, Any]
Found = Mapping[str, Sequence[SummaryRow]]
"""Query (`frames.SUMMARY_QUERIES`) -> its rows, column -> value; a query that was not run is not
there.
"""

Part = TypeVar("Part")


def night_summary(
    found: Found, *, cluster: str, logical_date: date, as_of_ms: int | None
) -> NightSummary:
    """as_of_ms: ms since the epoch, UTC; None where nothing was ever read.

    Lists get their order here, whatever the order of the rows.
    """
    return NightSummary(
        cluster=cluster,
        logical_date=logical_date,
        as_of_ms=as_of_ms,
        migration=_migration(found),
        hand_overs=_hand_overs(found),
        stuck=_stuck(found),
        streams=read_streams(found),
        decisions=_decisions(found),
        seen=_seen(found),
    )


def _migration(found: Found) -> Migration:
    phases = _parts(PhaseGroups, found.get("fleet", ()))
    half_way = [
        _part(HalfWayGroup, row, blockers=_parts(Blocker, row["blockers"]))
        for row in found.get("half_way", ())
    ]
    clients = _parts(ClassicClient, found.get("classic_clients", ()))
    return Migration(
        phases=tuple(sorted(phases, key=lambda each: each.phase)),
        half_way=tuple(
            sorted(
                half_way,
                key=lambda each: (
                    each.mixed_since_at_ms is None,
                    each.mixed_since_at_ms or 0,
                    each.group_id,
                ),
            )
        ),
        classic_clients=tuple(
            sorted(clients, key=lambda each: (-each.groups, each.client_id or ""))
        ),
    )


def _hand_overs(found: Found) -> HandOvers:
    by_outcome = found.get("hand_overs", ())
    acked = [row for row in by_outcome if row["outcome"] == "ACKED"]
    half, slow = (acked[0]["revoke_ms"] if acked else None) or (None, None)
    slowest = _parts(SlowRequest, found.get("slowest", ()))
    return HandOvers(
        outcomes=tuple(
            sorted(_parts(OutcomePartitions, by_outcome), key=lambda each: each.outcome)
        ),
        acked_half_ms=half,
        acked_99_pct_ms=slow,
        slowest=tuple(
            sorted(
                slowest,
                key=lambda each: (
                    -each.revoke_ms,
                    each.group_id,
                    each.member_id,
                    each.requested_at_ms,
                    each.outcome,
                ),
            )
        ),
    )


def _stuck(found: Found) -> Stuck:
    reasons = _parts(ReasonEpisodes, found.get("stuck_reasons", ()))
    episodes = [
        _part(StuckEpisode, row, blocked_by=tuple(row["blocked_by"] or ()))
        for row in found.get("stuck", ())
    ]
    return Stuck(
        reasons=tuple(sorted(reasons, key=lambda each: (-each.open, -each.ended, each.reason))),
        episodes=tuple(
            sorted(
                episodes,
                key=lambda each: (
                    not each.is_open,
                    -each.stuck_ms,
                    each.group_id,
                    each.member_id or "",
                    each.reason,
                ),
            )
        ),
    )


def _decisions(found: Found) -> Decisions:
    flips = [
        _part(FlipGroup, row, look_at=tuple(row["look_at"] or ())) for row in found.get("flips", ())
    ]
    waves = _parts(CostlyWave, found.get("costliest_wave", ()))
    worst = _parts(WorstGroup, found.get("worst_group", ()))
    tiers = _parts(TierGroups, found.get("flip_tiers", ()))
    return Decisions(
        tiers=tuple(sorted(tiers, key=lambda each: (each.flip_tier is None, each.flip_tier or 0))),
        flips=tuple(
            sorted(
                flips,
                key=lambda each: (
                    each.flip_tier,
                    each.partitions is None,
                    each.partitions or 0,
                    each.group_id,
                ),
            )
        ),
        wave=waves[0] if waves else None,
        worst=worst[0] if worst else None,
    )


def _seen(found: Found) -> Seen:
    counts = {
        name: number or 0 for row in found.get("coverage", ()) for name, number in row.items()
    }
    undecoded = _parts(UndecodedRows, found.get("undecoded", ()))
    broken = [_part(BrokenRule, row, times=row["rows"]) for row in found.get("anomalies", ())]
    return Seen(
        coverage=Coverage(**_taken(Coverage, counts)),
        broker_logs=BrokerLogs(
            inputs=counts.get("texts", 0),
            lines=counts.get("lines", 0),
            others=counts.get("others", 0),
        ),
        unseen_reasons=counts.get("unseen_reasons", 0),
        undecoded=tuple(sorted(undecoded, key=lambda each: (-each.rows, each.reason))),
        broken_rules=tuple(sorted(broken, key=_worst_first)),
    )


def _worst_first(broken: BrokenRule) -> tuple[int, int, str, str]:
    """A severity that is not known comes before all others: somebody should look."""
    rank = SEVERITIES.index(broken.severity) if broken.severity in SEVERITIES else -1
    return rank, -broken.times, broken.severity, broken.rule


def _parts(part: Callable[..., Part], rows: Iterable[SummaryRow]) -> tuple[Part, ...]:
    return tuple(_part(part, row) for row in rows)


def _part(part: Callable[..., Part], row: SummaryRow, **values: Any) -> Part:
    """A part whose fields have the names of columns.

    values: field -> value that counts in place of the row's.
    """
    return part(**(_taken(part, row) | values))


def _taken(part: Any, row: SummaryRow) -> dict[str, Any]:
    return {each.name: row[each.name] for each in fields(part) if each.name in row}
