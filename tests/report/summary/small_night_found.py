"""What the queries of the summary find in the small night."""

from __future__ import annotations

from typing import Any

from tests.report.summary.small_night import AS_OF_MS, SINCE_MS


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


def _decisions_found() -> dict[str, list[dict[str, Any]]]:
    flip: dict[str, Any] = {
        "team": None,
        "flip_tier": 2,
        "suggested_assignor": "range",
        "look_at": [],
    }
    return {
        "flip_tiers": [
            {"flip_tier": None, "groups": 1},
            {"flip_tier": 2, "groups": 2},
            *[{"flip_tier": tier, "groups": 1} for tier in (3, 1, 0)],
        ],
        "flips": [
            {**flip, "group_id": "known", "team": "payments", "flip_tier": 1, "partitions": 9},
            {**flip, "group_id": "small", "partitions": 6, "look_at": ["R8"]},
            {**flip, "group_id": "big", "partitions": 60},
        ],
        "costliest_wave": [
            {
                "group_id": "a",
                "team": None,
                "wave_class": "ROLLOUT",
                "started_at_ms": AS_OF_MS - 3_600_000,
                "departed": 3,
                "joined": 3,
                "moved": 9,
                "stopped_ms": 12_300,
                "is_estimate": True,
            }
        ],
        "worst_group": [{"group_id": "a", "team": None, "most_pct": 98.5, "least_pct": 96.0}],
    }


def _streams_found() -> dict[str, list[dict[str, Any]]]:
    swap = {"group_id": "swap", "team": "payments"}
    idle = {**swap, "kind": "WARMED", "outcome": "TRANSFERRED"}
    return {
        "streams_apps": [
            {
                "protocol": "streams",
                "apps": 1,
                "processes": 2,
                "members": 2,
                "tasks": 3,
                "tasks_misplaced": 0,
                "apps_misplaced": 0,
            },
            {
                "protocol": "classic",
                "apps": 2,
                "processes": 3,
                "members": 5,
                "tasks": 10,
                "tasks_misplaced": 2,
                "apps_misplaced": 1,
            },
        ],
        "misplaced": [
            {
                **swap,
                "tasks": 5,
                "tasks_misplaced": 2,
                "next_kind": "PROBING",
                "next_at_ms": AS_OF_MS + 50_000,
            }
        ],
        "learners": [
            {
                **swap,
                "task_id": "0_4",
                "client_id": None,
                "client_host": None,
                "since_at_ms": AS_OF_MS,
                "probes": None,
            },
            {
                **swap,
                "task_id": "0_3",
                "client_id": "swap-2",
                "client_host": "/10.0.0.2",
                "since_at_ms": AS_OF_MS - 180_000,
                "probes": 2,
            },
        ],
        "learners_total": [{"learners": 2}],
        "task_moves": [
            {"kind": "WARMED", "outcome": "TRANSFERRED", "tasks": 1},
            {"kind": None, "outcome": "OPEN", "tasks": 1},
            {"kind": "WARMED", "outcome": "RETURNED", "tasks": 1},
            {"kind": "COLD", "outcome": "OWNER_GONE", "tasks": 1},
        ],
        "idlest": [
            {**idle, "task_id": "0_0", "idle_ms": 960},
            {**idle, "task_id": "0_1", "outcome": "RETURNED", "idle_ms": 1_265},
            {**idle, "task_id": "0_2", "kind": "COLD", "outcome": "OWNER_GONE", "idle_ms": 47_000},
        ],
        "loops": [
            {
                "group_id": "bouncing",
                "team": None,
                "reason": "HANDOVER_BOUNCED",
                "since_at_ms": AS_OF_MS - 900_000,
                "repetitions": 3,
            }
        ],
    }


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
        {"reason": "HANDOVER_BOUNCED", "open": 1, "ended": 0},
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
        {
            **EPISODE,
            "group_id": "bouncing",
            "reason": "HANDOVER_BOUNCED",
            "stuck_ms": 900_000,
            "is_open": True,
            "blocked_by": None,
            "repetitions": 3,
            "since_at_ms": AS_OF_MS - 900_000,
        },
    ],
    **_streams_found(),
    **_decisions_found(),
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
