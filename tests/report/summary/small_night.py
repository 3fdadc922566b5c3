"""A small night that has something of everything: rows of its tables, what the queries of the summary
find in them, the model of it, and how it reads.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from groupreplay.page.streams_apps import (
    IdleTask,
    Learner,
    MisplacedApp,
    Streams,
    StreamsApps,
    StreamsLoop,
    TaskMoves,
)
from groupreplay.report.summary.decisions_model import (
    CostlyWave,
    Decisions,
    FlipGroup,
    TierGroups,
    WorstGroup,
)
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

STUCK: 3 now, 2 that ended
  HANDOVER_BOUNCED 1 now, 0 ended; MIGRATION_STALLED 1 now, 0 ended; WAITING_ON_HOLDER 1 now, 0 ended
  FENCE_LOOP 0 now, 1 ended; SLOW_REVOCATION 0 now, 1 ended
  now        2 d 5 h  MIGRATION_STALLED, mixed: the whole group, since 2026-11-18 20:02:03
  now     15 min 0 s  HANDOVER_BOUNCED 3 times, bouncing: the whole group, since 2026-11-21 00:47:03
  now         30.0 s  WAITING_ON_HOLDER, orders (orders-team): m-wait, held by m-slow, since 2026-11-21 01:01:33
  ended   3 min 20 s  FENCE_LOOP 4 times, loop\\n: c
  ended       45.3 s  SLOW_REVOCATION, orders: slow-app

STREAMS: 3 applications of Kafka Streams (2 classic, 1 streams), 5 processes, 7 threads
  2 of 13 tasks not where they should be, in 1 application:
    swap (payments): 2 of 5, looked at again at 2026-11-21 01:02:53
  2 members learn a task, the longest first:
     3 min 0 s  swap (payments): 0_3 at swap-2 /10.0.0.2, not ready at 2 probes
          0 ms  swap (payments): 0_4 at ?
  4 tasks left a process:
    2 warm, 1 cold, 1 bounced, 1 still open
  longest without a commit:
        47.0 s  swap (payments): 0_2, cold
         1.3 s  swap (payments): 0_1, warm, bounced
        960 ms  swap (payments): 0_0, warm
  HANDOVER_BOUNCED 3 times, bouncing, since 2026-11-21 00:47:03

DECISIONS: 3 groups can be flipped to the consumer protocol tonight, 1 after their canaries, 1 while offline
  flip known (payments): proven by its like, 9 partitions, to range
  flip small: a canary, 6 partitions, to range; look at R8
  flip big: a canary, 60 partitions, to range
  costliest wave: a, ROLLOUT at 2026-11-21 00:02:03, 3 out and 3 in, 9 moved; stopped for about 12.3 s in all
  worst group: a, its partitions were read 96.00 to 98.50 % of the time

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
            ReasonEpisodes("HANDOVER_BOUNCED", 1, 0),
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
                group_id="bouncing",
                team=None,
                member_id=None,
                client_id=None,
                client_host=None,
                reason="HANDOVER_BOUNCED",
                since_at_ms=AS_OF_MS - 900_000,
                stuck_ms=900_000,
                is_open=True,
                blocked_by=(),
                repetitions=3,
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
    streams=Streams(
        apps=(
            StreamsApps("classic", 2, 3, 5, 10, 2, 1),
            StreamsApps("streams", 1, 2, 2, 3, 0, 0),
        ),
        misplaced=(MisplacedApp("swap", "payments", 5, 2, "PROBING", AS_OF_MS + 50_000),),
        learners=(
            Learner("swap", "payments", "0_3", "swap-2", "/10.0.0.2", AS_OF_MS - 180_000, 2),
            Learner("swap", "payments", "0_4", None, None, AS_OF_MS, None),
        ),
        learners_total=2,
        moves=(
            TaskMoves(None, "OPEN", 1),
            TaskMoves("COLD", "OWNER_GONE", 1),
            TaskMoves("WARMED", "RETURNED", 1),
            TaskMoves("WARMED", "TRANSFERRED", 1),
        ),
        idlest=(
            IdleTask("swap", "payments", "0_2", "COLD", "OWNER_GONE", 47_000),
            IdleTask("swap", "payments", "0_1", "WARMED", "RETURNED", 1_265),
            IdleTask("swap", "payments", "0_0", "WARMED", "TRANSFERRED", 960),
        ),
        loops=(StreamsLoop("bouncing", None, "HANDOVER_BOUNCED", AS_OF_MS - 900_000, 3),),
    ),
    decisions=Decisions(
        tiers=(
            TierGroups(0, 1),
            TierGroups(1, 1),
            TierGroups(2, 2),
            TierGroups(3, 1),
            TierGroups(None, 1),
        ),
        flips=(
            FlipGroup("known", "payments", 1, 9, "range", ()),
            FlipGroup("small", None, 2, 6, "range", ("R8",)),
            FlipGroup("big", None, 2, 60, "range", ()),
        ),
        wave=CostlyWave("a", None, "ROLLOUT", AS_OF_MS - 3_600_000, 3, 3, 9, 12_300, True),
        worst=WorstGroup("a", None, 98.5, 96.0),
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
