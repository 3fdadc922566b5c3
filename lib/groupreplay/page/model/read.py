"""Rows of the queries -> the models of the pages, in an order of their own: neither the order in
which rows come nor the number of tasks shows on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from heapq import nsmallest
from typing import Any, Final

from groupreplay.page.model import fleet, life, life_of_tasks
from groupreplay.page.model.fleet import Fleet, in_order
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.rows import read_rows
from groupreplay.page.model.streams_apps import read_streams

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Kind of row -> rows."""

_TIERS: Final = (1, 2, 0, 3)


def read_fleet(
    rows: Rows,
    *,
    cluster: str,
    logical_date: date,
    as_of_ms: int,
    since_at_ms: int | None,
    version: str,
) -> Fleet:
    """The overview without its links: `has_pages` is added when the pages of groups are there."""
    phases = {row["phase"]: row["groups"] for row in rows.get("phases", ())}
    groups = read_rows(fleet.GroupLine, rows.get("groups", ()))
    coverage = read_rows(fleet.Seen, rows.get("seen", ()))
    return Fleet(
        cluster=cluster,
        logical_date=logical_date,
        as_of_ms=as_of_ms,
        since_at_ms=since_at_ms,
        version=version,
        phases=phases,
        went_back=sum(row.get("went_back", 0) for row in rows.get("phases", ())),
        half_way_total=phases.get("MIGRATING", 0),
        groups=tuple(in_order(groups)),
        groups_total=sum(phases.values()),
        seen=coverage[0] if coverage else fleet.Seen(),
        members={
            (each.group_id, each.member_id): each.client_id
            for each in read_rows(fleet.Holder, rows.get("holders", ()))
        },
        streams=read_streams(rows),
        **{name: _ordered(cls, rows.get(name, ()), key) for name, (cls, key) in _FLEET.items()},
    )


def _ordered(cls: type[Any], rows: Iterable[Mapping[str, Any]], key: Any) -> Any:
    return tuple(sorted(read_rows(cls, rows), key=lambda each: (key(each), str(each))))


_SEVERITIES: Final = {"ERROR": 0, "WARN": 1, "INFO": 2}

_FLEET: Final[Mapping[str, tuple[type[Any], Any]]] = {
    "nights": (fleet.NightTotals, lambda each: each.night),
    "causes": (fleet.CauseNight, lambda each: (each.night, each.cause)),
    "latency": (fleet.LatencyNight, lambda each: each.night),
    "half_way": (fleet.HalfWay, lambda each: _or_last(each.mixed_since_at_ms)),
    "clients": (fleet.ClassicClient, lambda each: -each.groups),
    "stuck": (fleet.Episode, lambda each: -each.stuck_ms),
    "reasons": (fleet.ReasonCount, lambda each: each.reason),
    "slow": (fleet.SlowRequest, lambda each: -(each.revoke_ms or 0)),
    "verdicts": (fleet.VerdictCount, lambda each: each.verdict),
    "flips": (fleet.Flip, lambda each: (_TIERS.index(each.flip_tier), _or_last(each.partitions))),
    "rules": (fleet.RuleCount, lambda each: -each.groups),
    "waves": (fleet.Wave, lambda each: -(each.stopped_ms or 0)),
    "wave_counts": (fleet.WaveCount, lambda each: -each.waves),
    "cost_days": (fleet.CostDay, lambda each: each.day),
    "cost_groups": (fleet.CostGroup, lambda each: -each.low_ms),
    "broken_rules": (
        fleet.BrokenRule,
        lambda each: (_SEVERITIES.get(each.severity, -1), -each.times),
    ),
    "undecoded": (fleet.UndecodedReason, lambda each: -each.rows),
}
"""Field of `Fleet` -> what its rows are, and how they are ordered before all else."""


def _or_last(value: int | None) -> tuple[bool, int]:
    return value is None, value or 0


def groups_in_trouble(found: Fleet, most: int) -> list[str]:
    """Groups that get a page of their own. First come those with somebody stuck, then those of the
    slowest hand-overs, of partitions and of tasks, and half-way ones, stalled first. Then come
    groups that went back this night, that broke rules, that rebalanced most in vain, that had the
    costliest waves, and that paid most.
    """
    lines = found.groups
    wanted = [
        *[each.group_id for each in found.stuck if each.reason != "MIGRATION_STALLED"],
        *[each.group_id for each in lines if each.stuck],
        *[each.group_id for each in found.slow],
        *[each.group_id for each in found.streams.idlest],
        *[each.group_id for each in sorted(found.half_way, key=lambda each: not each.is_stalled)],
        *[each.group_id for each in lines if each.phase == "MIGRATING"],
        *[each.group_id for each in lines if each.went_back],
        *[each.group_id for each in lines if each.errors],
        *_most_superseded(lines),
        *[each.group_id for each in found.waves if each.stopped_ms],
        *[each.group_id for each in found.cost_groups],
    ]
    return list(dict.fromkeys(wanted))[:most]


def _most_superseded(lines: tuple[fleet.GroupLine, ...]) -> list[str]:
    most = nsmallest(
        10,
        [each for each in lines if each.superseded],
        key=lambda each: (-each.superseded, each.group_id),
    )
    return [each.group_id for each in most]


# ---------------------------------------------------------------- one group

_LIFE: Final[Mapping[str, tuple[type[Any], Any]]] = {
    "members": (life.Member, lambda each: (each.joined_at_ms, each.member_id)),
    "spans": (life.Span, lambda each: (each.from_at_ms, each.member_id)),
    "held": (life.Held, lambda each: (each.topic, each.partition, each.assigned_at_ms)),
    "epochs": (life.Epoch, lambda each: (each.started_at_ms, each.from_offset)),
    "hand_overs": (life.HandOver, lambda each: each.requested_at_ms),
    "stuck": (life.Stuck, lambda each: (not each.is_open, -each.stuck_ms)),
    "conversions": (life.Conversion, lambda each: each.converted_at_ms),
    "rebalances": (life.Rebalance, lambda each: each.started_at_ms),
    "refusals": (life.Refusal, lambda each: each.first_at_ms),
    "waves": (life.GroupWave, lambda each: each.started_at_ms),
    "days": (life.GroupDay, lambda each: each.from_at_ms),
    "what_if": (life.PricedWave, lambda each: (each.started_at_ms, each.scenario)),
    "failovers": (life.Failover, lambda each: each.first_at_ms),
    "absences": (life.Absence, lambda each: _or_last(each.left_at_ms)),
    "processes": (life_of_tasks.Process, lambda each: each.joined_at_ms),
    "streams_epochs": (life_of_tasks.StreamsEpoch, lambda each: each.began_at_ms),
    "tasks": (life_of_tasks.TaskSpan, lambda each: (each.assigned_at_ms, each.task_id)),
    "task_moves": (life_of_tasks.TaskMove, lambda each: (each.granted_at_ms or 0, each.task_id)),
}
"""Field of `GroupLife` -> what its rows are, and how they are ordered."""

LEFT_OUT: Final = "_left_out"
"""Field of the first row of a list that is cut: how many rows are left out."""

_ONE: Final[Mapping[str, type[Any]]] = {"state": life.State, "verdict": life.Verdict}


def read_group(
    rows: Rows,
    *,
    cluster: str,
    logical_date: date,
    group_id: str,
    from_at_ms: int | None,
    as_of_ms: int,
    version: str,
    first_night: date | None = None,
) -> GroupLife:
    known = {
        kind: [
            row for row in found if kind != "streams_epochs" or row.get("began_at_ms") is not None
        ]
        for kind, found in rows.items()
    }
    lists = {name: _ordered(cls, known.get(name, ()), key) for name, (cls, key) in _LIFE.items()}
    ones: dict[str, Any] = {}
    for name, cls in _ONE.items():
        found = read_rows(cls, known.get(name, ()))
        ones[name] = found[0] if found else None
    return GroupLife(
        cluster=cluster,
        logical_date=logical_date,
        first_night=first_night,
        group_id=group_id,
        from_at_ms=from_at_ms,
        as_of_ms=as_of_ms,
        version=version,
        cut={
            name: left_out
            for name in _LIFE
            if (left_out := sum(row.get(LEFT_OUT, 0) for row in rows.get(name, ())))
        },
        **lists,
        **ones,
    )
