"""A small night that has something of everything: rows of its tables, what the queries of the summary
find in them, the model of it, and how it reads.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from groupreplay.report.summary.model import (
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

NIGHT = date(2026, 11, 21)
AS_OF = datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)
AS_OF_MS = int(AS_OF.timestamp() * 1000)


def group_row(name: str, phase: str, total: int, consumer: int, **values: Any) -> dict[str, Any]:
    blockers = [
        {
            "member_id": f"{name}-{each}",
            "instance_id": None,
            "client_id": f"app-{each}",
            "client_host": "/10.0.0.1",
        }
        for each in range(total - consumer)
    ]
    counts = {
        "members_total": total,
        "members_consumer": consumer,
        "as_of_at": AS_OF,
        "blockers": blockers,
        "history_complete": True,
    }
    return {"group_id": name, "phase": phase, **counts, **values}


def small_night() -> dict[str, list[dict[str, Any]]]:
    mixed = {
        "team": "payments",
        "progress_pct": 33.3,
        "mixed_since_at": AS_OF - timedelta(days=2, hours=5),
        "is_stalled": True,
    }
    slow = {
        "group_id": "orders",
        "member_id": "m-slow",
        "outcome": "FENCED",
        "revoke_ms": 45_300,
        "unowned_ms": 210,
        "topic": "t",
    }
    slow |= {"team": "orders-team", "client_id": "slow-app", "client_host": "/10.0.0.9"}
    waits = {
        "reason": "WAITING_ON_HOLDER",
        "stuck_ms": 30_000,
        "is_open": True,
        "blocked_by": ["m-slow"],
        "team": "orders-team",
    }
    waits["since_at"] = AS_OF - timedelta(seconds=30)
    acked = {"group_id": "orders", "member_id": "m-quick", "outcome": "ACKED", "topic": "clicks"}
    stalled = {
        "group_id": "mixed",
        "reason": "MIGRATION_STALLED",
        "stuck_ms": 190_800_000,
        "is_open": True,
        "since_at": mixed["mixed_since_at"],
    }
    log = {
        "input": "/server.log",
        "source": "server_log",
        "landed": 5_000,
        "decoded": 20,
        "unknown": 4_980,
    }
    return {
        "migration_progress": [
            group_row("new", "NATIVE", 2, 2),
            group_row("done", "MIGRATED", 3, 3),
            group_row("seen-late", "CONSUMER", 1, 1, history_complete=False),
            group_row("mixed", "MIGRATING", 5, 1, **mixed),
            group_row("old", "CLASSIC", 2, 0),
            group_row("nobody", "EMPTY", 0, 0),
            group_row("kafka-connect", "NOT_APPLICABLE", 4, 0, blockers=[]),
            group_row("other night", "CLASSIC", 9, 0, logical_date=date(2026, 11, 20)),
        ],
        "revocation_latencies": [
            *[{**slow, "partition": partition} for partition in range(3)],
            *[{**acked, "revoke_ms": ms, "partition": ms} for ms in (100, 200, 300)],
            {**acked, "outcome": "OPEN", "revoke_ms": None},
        ],
        "stuck_members": [
            {
                "group_id": "orders",
                "member_id": "m-slow",
                "client_id": "slow-app",
                "reason": "SLOW_REVOCATION",
                "stuck_ms": 45_300,
            },
            {"group_id": "orders", "member_id": "m-wait", **waits},
            {
                "group_id": "loop\n",
                "member_id": "m",
                "client_id": "c",
                "reason": "FENCE_LOOP",
                "stuck_ms": 200_000,
                "repetitions": 4,
            },
        ],
        "stuck_groups": [stalled],
        "coverage": [
            {
                "input": "a",
                "landed": 1000,
                "decoded": 999,
                "undecoded": 1,
                "reduced": 5000,
                "holes": 12,
            },
            {"input": "b", "decoded": 1},
            log,
        ],
        "undecoded": [{"reason": "value too short"}],
        "anomalies": [
            {"rule": "I9", "severity": "INFO"},
            {"rule": "I9", "severity": "INFO"},
            {"rule": "I1", "severity": "ERROR"},
        ],
    }


LINES = """\
groupreplay, cluster prod, night 2026-11-21, as of 2026-11-21 01:02:03 UTC

MIGRATION to the consumer protocol: 6 groups; 1 more cannot take part (share, streams, simple, Connect), left out
  consumer protocol         3   1 from birth, 1 migrated, 1 since before the log begins
  half-way                  1   1 mixed for too long
  classic protocol          1
  no members                1
  members                  13   7 of them speak the consumer protocol (53.8 %)
  mixed (payments): 33 % done, mixed for 2 d 5 h, waits for app-0 /10.0.0.1, app-1 /10.0.0.1, app-2 /10.0.0.1 and 1 more
  clients that still speak the classic protocol: app-0 (2 groups), app-1 (2 groups), app-2 (1 group), app-3 (1 group)

HAND-OVERS: 7 partitions asked back from a member
  3 given back (half within 200 ms, 99 % within 300 ms), 1 still open, 3 fenced
  slowest to let go, with the member to be charged:
        45.3 s  orders (orders-team): slow-app /10.0.0.9, 3 partitions, fenced, then unowned 210 ms
        300 ms  orders: m-quick, 3 partitions, given back

STUCK: 2 now, 2 that ended
  MIGRATION_STALLED 1 now, 0 ended; WAITING_ON_HOLDER 1 now, 0 ended; FENCE_LOOP 0 now, 1 ended
  SLOW_REVOCATION 0 now, 1 ended
  now        2 d 5 h  MIGRATION_STALLED, mixed: the whole group, since 2026-11-18 20:02:03
  now         30.0 s  WAITING_ON_HOLDER, orders (orders-team): m-wait, held by m-slow, since 2026-11-21 01:01:33
  ended   3 min 20 s  FENCE_LOOP 4 times, loop\\n: c
  ended       45.3 s  SLOW_REVOCATION, orders: slow-app

SEEN: 2 inputs, 1,000 records replayed, 5,000 commits left out that no measure needs
        5,000  lines in 1 log of brokers, 4,980 of them of other loggers or APIs
           12  offsets gone by compaction or loss, in 1 input
  not decoded, see table undecoded: value too short (1 row)
            1  of 7 groups began before the log does, or lie in its holes: their history is not complete
  ERROR  rule I1 broken: 1 time, see table anomalies
  INFO   rule I9 broken: 2 times, see table anomalies"""
SINCE_MS = int((AS_OF - timedelta(days=2, hours=5)).timestamp() * 1000)


def _phase(
    phase: str, members: int, consumer: int, stalled: int = 0, incomplete: int = 0
) -> dict[str, Any]:
    return {
        "phase": phase,
        "groups": 1,
        "members": members,
        "members_consumer": consumer,
        "stalled": stalled,
        "incomplete": incomplete,
    }


def _blocker(name: str) -> dict[str, Any]:
    return {
        "member_id": f"mixed-{name}",
        "instance_id": None,
        "client_id": f"app-{name}",
        "client_host": "/10.0.0.1",
    }


NOBODY: dict[str, Any] = {"team": None, "client_id": None, "client_host": None}
EPISODE: dict[str, Any] = {**NOBODY, "member_id": None, "blocked_by": [], "repetitions": None}

FOUND: dict[str, list[dict[str, Any]]] = {
    "fleet": [
        _phase("NATIVE", 2, 2),
        _phase("MIGRATED", 3, 3),
        _phase("CONSUMER", 1, 1, incomplete=1),
        _phase("MIGRATING", 5, 1, stalled=1),
        _phase("CLASSIC", 2, 0),
        _phase("EMPTY", 0, 0),
        _phase("NOT_APPLICABLE", 4, 0),
    ],
    "half_way": [
        {
            "group_id": "mixed",
            "team": "payments",
            "progress_pct": 33.3,
            "mixed_since_at_ms": SINCE_MS,
            "mixed_ms": 190_800_000,
            "blockers": [_blocker("0"), _blocker("1"), _blocker("2")],
            "blockers_total": 4,
        }
    ],
    "classic_clients": [
        {"client_id": "app-3", "groups": 1, "example": "mixed"},
        {"client_id": "app-2", "groups": 1, "example": "mixed"},
        {"client_id": "app-1", "groups": 2, "example": "mixed"},
        {"client_id": "app-0", "groups": 2, "example": "mixed"},
    ],
    "hand_overs": [
        {"outcome": "FENCED", "partitions": 3, "revoke_ms": None},
        {"outcome": "ACKED", "partitions": 3, "revoke_ms": [200, 300]},
        {"outcome": "OPEN", "partitions": 1, "revoke_ms": None},
    ],
    "slowest": [
        {
            **NOBODY,
            "group_id": "orders",
            "member_id": "m-quick",
            "requested_at_ms": AS_OF_MS,
            "outcome": "ACKED",
            "partitions": 3,
            "topic": "clicks",
            "revoke_ms": 300,
            "unowned_ms": None,
        },
        {
            "group_id": "orders",
            "team": "orders-team",
            "member_id": "m-slow",
            "client_id": "slow-app",
            "client_host": "/10.0.0.9",
            "requested_at_ms": AS_OF_MS,
            "outcome": "FENCED",
            "partitions": 3,
            "topic": "t",
            "revoke_ms": 45_300,
            "unowned_ms": 210,
        },
    ],
    "stuck_reasons": [
        {"reason": "SLOW_REVOCATION", "open": 0, "ended": 1},
        {"reason": "FENCE_LOOP", "open": 0, "ended": 1},
        {"reason": "WAITING_ON_HOLDER", "open": 1, "ended": 0},
        {"reason": "MIGRATION_STALLED", "open": 1, "ended": 0},
    ],
    "stuck": [
        {
            **EPISODE,
            "group_id": "orders",
            "member_id": "m-slow",
            "client_id": "slow-app",
            "reason": "SLOW_REVOCATION",
            "stuck_ms": 45_300,
            "is_open": False,
            "since_at_ms": AS_OF_MS,
        },
        {
            **EPISODE,
            "group_id": "loop\n",
            "member_id": "m",
            "client_id": "c",
            "reason": "FENCE_LOOP",
            "stuck_ms": 200_000,
            "is_open": False,
            "repetitions": 4,
            "since_at_ms": AS_OF_MS,
        },
        {
            **EPISODE,
            "group_id": "orders",
            "team": "orders-team",
            "member_id": "m-wait",
            "reason": "WAITING_ON_HOLDER",
            "stuck_ms": 30_000,
            "is_open": True,
            "blocked_by": ["m-slow"],
            "since_at_ms": AS_OF_MS - 30_000,
        },
        {
            **EPISODE,
            "group_id": "mixed",
            "reason": "MIGRATION_STALLED",
            "stuck_ms": 190_800_000,
            "is_open": True,
            "blocked_by": None,
            "since_at_ms": SINCE_MS,
        },
    ],
    "coverage": [
        {
            "inputs": 2,
            "inputs_with_holes": 1,
            "unseen_reasons": 0,
            "landed": 1000,
            "decoded": 1000,
            "unknown": 0,
            "undecoded": 1,
            "reduced": 5000,
            "aborted": 0,
            "open_commits": 0,
            "duplicates": 0,
            "holes": 12,
            "late": 0,
            "left_out": None,
            "texts": 1,
            "lines": 5000,
            "others": 4980,
        }
    ],
    "undecoded": [{"reason": "value too short", "rows": 1}],
    "anomalies": [
        {"severity": "INFO", "rule": "I9", "rows": 2},
        {"severity": "ERROR", "rule": "I1", "rows": 1},
    ],
}
"""Query -> rows, in an order that the summary does not keep."""

BLOCKERS = tuple(
    Blocker(f"mixed-{each}", None, f"app-{each}", "/10.0.0.1") for each in ("0", "1", "2")
)

SUMMARY = NightSummary(
    cluster="prod",
    logical_date=NIGHT,
    as_of_ms=AS_OF_MS,
    migration=Migration(
        phases=(
            PhaseGroups("CLASSIC", 1, 2, 0, 0, 0),
            PhaseGroups("CONSUMER", 1, 1, 1, 0, 1),
            PhaseGroups("EMPTY", 1, 0, 0, 0, 0),
            PhaseGroups("MIGRATED", 1, 3, 3, 0, 0),
            PhaseGroups("MIGRATING", 1, 5, 1, 1, 0),
            PhaseGroups("NATIVE", 1, 2, 2, 0, 0),
            PhaseGroups("NOT_APPLICABLE", 1, 4, 0, 0, 0),
        ),
        half_way=(HalfWayGroup("mixed", "payments", 33.3, SINCE_MS, 190_800_000, BLOCKERS, 4),),
        classic_clients=(
            ClassicClient("app-0", 2, "mixed"),
            ClassicClient("app-1", 2, "mixed"),
            ClassicClient("app-2", 1, "mixed"),
            ClassicClient("app-3", 1, "mixed"),
        ),
    ),
    hand_overs=HandOvers(
        outcomes=(
            OutcomePartitions("ACKED", 3),
            OutcomePartitions("FENCED", 3),
            OutcomePartitions("OPEN", 1),
        ),
        acked_half_ms=200,
        acked_99_pct_ms=300,
        slowest=(
            SlowRequest(
                group_id="orders",
                team="orders-team",
                member_id="m-slow",
                client_id="slow-app",
                client_host="/10.0.0.9",
                requested_at_ms=AS_OF_MS,
                outcome="FENCED",
                partitions=3,
                topic="t",
                revoke_ms=45_300,
                unowned_ms=210,
            ),
            SlowRequest(
                group_id="orders",
                team=None,
                member_id="m-quick",
                client_id=None,
                client_host=None,
                requested_at_ms=AS_OF_MS,
                outcome="ACKED",
                partitions=3,
                topic="clicks",
                revoke_ms=300,
                unowned_ms=None,
            ),
        ),
    ),
    stuck=Stuck(
        reasons=(
            ReasonEpisodes("MIGRATION_STALLED", 1, 0),
            ReasonEpisodes("WAITING_ON_HOLDER", 1, 0),
            ReasonEpisodes("FENCE_LOOP", 0, 1),
            ReasonEpisodes("SLOW_REVOCATION", 0, 1),
        ),
        episodes=(
            StuckEpisode(
                group_id="mixed",
                team=None,
                member_id=None,
                client_id=None,
                client_host=None,
                reason="MIGRATION_STALLED",
                since_at_ms=SINCE_MS,
                stuck_ms=190_800_000,
                is_open=True,
                blocked_by=(),
                repetitions=None,
            ),
            StuckEpisode(
                group_id="orders",
                team="orders-team",
                member_id="m-wait",
                client_id=None,
                client_host=None,
                reason="WAITING_ON_HOLDER",
                since_at_ms=AS_OF_MS - 30_000,
                stuck_ms=30_000,
                is_open=True,
                blocked_by=("m-slow",),
                repetitions=None,
            ),
            StuckEpisode(
                group_id="loop\n",
                team=None,
                member_id="m",
                client_id="c",
                client_host=None,
                reason="FENCE_LOOP",
                since_at_ms=AS_OF_MS,
                stuck_ms=200_000,
                is_open=False,
                blocked_by=(),
                repetitions=4,
            ),
            StuckEpisode(
                group_id="orders",
                team=None,
                member_id="m-slow",
                client_id="slow-app",
                client_host=None,
                reason="SLOW_REVOCATION",
                since_at_ms=AS_OF_MS,
                stuck_ms=45_300,
                is_open=False,
                blocked_by=(),
                repetitions=None,
            ),
        ),
    ),
    seen=Seen(
        coverage=Coverage(
            inputs=2,
            inputs_with_holes=1,
            landed=1000,
            decoded=1000,
            undecoded=1,
            reduced=5000,
            holes=12,
        ),
        broker_logs=BrokerLogs(inputs=1, lines=5000, others=4980),
        undecoded=(UndecodedRows("value too short", 1),),
        broken_rules=(BrokenRule("ERROR", "I1", 1), BrokenRule("INFO", "I9", 2)),
    ),
)
