"""A small night that has something of everything: the rows of its tables. `small_night_found.py` has
what the queries of the summary find in them, `small_night_summary.py` the summary of it.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

NIGHT = date(2026, 11, 21)

AS_OF = datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)

AS_OF_MS = int(AS_OF.timestamp() * 1000)
SINCE_MS = int((AS_OF - timedelta(days=2, hours=5)).timestamp() * 1000)
"""Since when a group of it is half-way."""


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
        "stuck_groups": [
            stalled,
            {
                "group_id": "bouncing",
                "reason": "HANDOVER_BOUNCED",
                "stuck_ms": 900_000,
                "since_at": AS_OF - timedelta(minutes=15),
                "is_open": True,
                "repetitions": 3,
            },
        ],
        **_streams_night(),
        **_decisions_night(),
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


def _decisions_night() -> dict[str, list[dict[str, Any]]]:
    ready = {"verdict": "READY", "suggested_assignor": "range"}
    wave = {"started_at": AS_OF - timedelta(hours=1), "departed": 3, "joined": 3, "moved": 9}
    day = {"partitions_ms": 100_000, "low_ms": 1_000, "high_ms": 4_000}
    return {
        "readiness": [
            {**ready, "group_id": "big", "flip_tier": 2, "partitions": 60},
            {**ready, "group_id": "small", "flip_tier": 2, "partitions": 6, "rules": RULES},
            {**ready, "group_id": "known", "flip_tier": 1, "partitions": 9, "team": "payments"},
            {**ready, "group_id": "later", "flip_tier": 3, "partitions": 1},
            {"group_id": "off", "verdict": "READY_OFFLINE", "flip_tier": 0},
            {"group_id": "no", "verdict": "BLOCKED", "flip_tier": None},
        ],
        "departure_waves": [
            {**wave, "group_id": "a", "class": "ROLLOUT", "low_ms": 9_000, "est_ms": 12_300},
            {**wave, "group_id": "b", "class": "CRASH", "low_ms": 11_000},
            {**wave, "group_id": "c", "class": "START", "low_ms": 90_000},
            {**wave, "group_id": "d", "class": "SCALE_UP"},
        ],
        "group_days": [
            {**day, "group_id": "a"},
            {**day, "group_id": "a", "low_ms": 2_000},
            {**day, "group_id": "b", "high_unknown": 1},
            {**day, "group_id": "idle", "partitions_ms": 0, "low_ms": 0},
        ],
    }


RULES: list[dict[str, Any]] = [
    {
        "rule": rule,
        "severity": severity,
        "members": [],
        "members_count": 0,
        "value": None,
        "limit": None,
        "detail": None,
        "evidence_offset": None,
        "evidence": None,
    }
    for rule, severity in (("R15", "INFO"), ("R8", "CHECK"))
]


def _streams_night() -> dict[str, list[dict[str, Any]]]:
    counts = {"protocol": "classic", "processes": 2, "members": 4, "tasks": 5}
    swap = {"group_id": "swap", "team": "payments", **counts}
    due = {"next_kind": "PROBING", "next_at": AS_OF + timedelta(seconds=50)}
    learns = {"group_id": "swap", "role": "WARMUP", "end_reason": "OPEN", "team": "payments"}
    learns |= {"client_id": "swap-2", "client_host": "/10.0.0.2"}
    moved = {"group_id": "swap", "kind": "WARMED", "outcome": "TRANSFERRED", "team": "payments"}
    return {
        "streams_rebalances": [
            {**swap, "from_offset": 5, "tasks_misplaced": 4},
            {**swap, "from_offset": 9, "tasks_misplaced": 2, **due},
            {**swap, "from_offset": 7, "tasks_misplaced": 5},
            {**swap, "from_offset": 99, "is_final": True, "incarnation": 1, "tasks": 99},
            {**counts, "group_id": "sticky", "tasks_misplaced": None, "members": 1, "processes": 1},
            {**counts, "group_id": "stopped", "members": 0, "tasks_misplaced": 5},
            {**counts, "group_id": "new", "protocol": "streams", "members": 2, "tasks": 3},
        ],
        "task_assignments": [
            {**learns, "task_id": "0_3", "assigned_at": AS_OF - timedelta(minutes=3), "probes": 2},
            {**learns, "task_id": "0_4", "client_id": None, "client_host": None},
            {**learns, "task_id": "0_0", "end_reason": "PROMOTED", "is_final": True},
            {**learns, "task_id": "0_1", "role": "ACTIVE"},
        ],
        "task_handovers": [
            {**moved, "task_id": "0_0", "idle_ms": 960},
            {**moved, "task_id": "0_1", "outcome": "RETURNED", "idle_ms": 1_265},
            {**moved, "task_id": "0_2", "kind": "COLD", "outcome": "OWNER_GONE", "idle_ms": 47_000},
            {**moved, "task_id": "0_3", "kind": None, "outcome": "OPEN", "team": None},
        ],
    }
