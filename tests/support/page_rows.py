"""Made-up fleets for pages, with ids that try to be markup."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from groupreplay.page.model.fleet import Fleet
from groupreplay.page.model.read import read_fleet

NIGHT = date(2026, 11, 21)
AS_OF_MS = 1_795_239_724_000
"""2026-11-21 05:42:04 UTC."""

HOSTILE = (
    "</script><script>window.__pwned=1</script>",
    '"><img src=x onerror=window.__pwned=1>',
    "javascript:window.__pwned=1",
    "<svg/onload=window.__pwned=1>",
    "{{7*7}}${7*7}",
    "orders\u202egnp.exe",
    "a\u2028b\u2029c",
    "",
    "__proto__",
    "constructor",
    "x" * 255,
    "tab\tnew\nline",
    "'-window.__pwned=1-'",
    "--><!--<script>window.__pwned=1//",
    "\\xff\\xfe-bytes",
    '=HYPERLINK("http://x")',
    "日本語-グループ",
    "emoji-🧨-group",
    "]]><x>",
    "&lt;b&gt;not bold&amp;",
    "%3Cscript%3E",
    "\u0000nul\u0007bel",
    # These are of this project.
    "../../../etc/passwd",
    "//evil.example/x.html",
    "a+b c#d?e=f&g",
    "</style></title></textarea>",
    "\ud800 lone",
    "toString",
    " leading and trailing ",
    "`${window.__pwned=1}`",
    "\u3164",
    "orders\U000e0041\ufe0f",
    "\u115f\u034f\u17b4",
)
"""Ids of groups that are anybody's text."""

_PHASES = ("CLASSIC", "MIGRATING", "MIGRATED", "NATIVE", "ROLLED_BACK", "EMPTY", "NOT_APPLICABLE")


def fleet_rows(groups: int, nights: int = 30, seed: int = 7) -> dict[str, list[dict[str, Any]]]:
    """Rows as the queries give them: hostile ids first, the rest plain."""
    chance = random.Random(seed)
    ids = [*HOSTILE, *(f"team{i % 97}.service-{i}.v{i % 7}" for i in range(groups))][:groups]
    lines = []
    for place, group_id in enumerate(ids):
        phase = _PHASES[place % 7 if place < 200 else chance.choice((0, 2, 2, 2, 3))]
        members = 0 if phase == "EMPTY" else chance.randint(1, 12)
        consumer = {"MIGRATING": members // 2, "MIGRATED": members, "NATIVE": members}
        lines.append(
            {
                "group_id": group_id,
                "team": group_id if place % 5 == 0 else f"team{place % 97}",
                "phase": phase,
                "members_total": members,
                "members_consumer": consumer.get(phase, 0),
                "epochs": chance.randint(0, 9),
                "superseded": chance.randint(0, 2),
                "stuck": 1 if place < 30 else 0,
                "went_back": place % 50 == 4,
            }
        )
    days = [str(NIGHT - timedelta(days=back)) for back in reversed(range(nights))]
    return {
        "groups": lines,
        "phases": [
            {
                "phase": phase,
                "groups": sum(line["phase"] == phase for line in lines),
                "went_back": 2 if phase == "MIGRATED" else 0,
            }
            for phase in _PHASES
        ],
        **_history(days, groups, chance),
        **_lists(ids[:40], chance),
        **_streams(ids[:40], chance),
    }


def _history(
    days: list[str], groups: int, chance: random.Random
) -> dict[str, list[dict[str, Any]]]:
    nights, causes, latency, costs = [], [], [], []
    for place, day in enumerate(days):
        consumer = groups * place // max(len(days), 1)
        mixed = groups // 50
        nights.append(
            {
                "night": day,
                "classic": max(0, groups - consumer - mixed),
                "mixed": mixed,
                "consumer": consumer,
                "left_out": 3,
                "members_consumer": consumer * 4,
                "members_total": groups * 4,
            }
        )
        for cause in ("JOIN", "LEFT_OR_FENCED", "UPGRADE", "A_NEW_CAUSE"):
            row = {"night": day, "cause": cause, "epochs": chance.randint(0, 500)}
            causes.append(row | {"converge_half_ms": 1200, "superseded": 3})
        times = {"half_ms": chance.randint(80, 200), "most_ms": chance.randint(2000, 60_000)}
        latency.append({"night": day, "asked": 900, "fenced": 2, **times})
        costs.append(
            {
                "day": day,
                "partitions_ms": 86_400_000 * 100,
                "low_ms": chance.randint(0, 90_000_000),
                "high_ms": 99_000_000,
                "high_unknown": 1,
                "moved": 44,
                "returned": 3,
            }
        )
    return {"nights": nights, "causes": causes, "latency": latency, "cost_days": costs}


def _lists(ids: list[str], chance: random.Random) -> dict[str, list[dict[str, Any]]]:
    half_way, stuck, slow, waves, flips, costs, clients = [], [], [], [], [], [], []
    for group_id in ids:
        own = {"group_id": group_id, "team": group_id[:20] or None}
        half_way.append(
            own
            | {
                "members_consumer": 2,
                "members_total": 5,
                "mixed_since_at_ms": AS_OF_MS - chance.randint(1, 10**8),
                "is_stalled": len(group_id) % 2 == 0,
                "waits_for": [[group_id, "/10.0.0.1"], [None, None]],
                "blockers": 3,
            }
        )
        stuck.append(
            own
            | {
                "reason": "SLOW_REVOCATION",
                "member_id": f"m-{group_id}",
                "client_id": group_id,
                "client_host": f"/{group_id}",
                "since_at_ms": AS_OF_MS - 99_000,
                "stuck_ms": chance.randint(10_000, 10**7),
                "deadline_at_ms": AS_OF_MS + 60_000,
                "blocked_by": [f"m-{group_id}"],
                "repetitions": len(group_id) or None,
                "detail": group_id,
            }
        )
        steps = {"notify_ms": 900, "unowned_ms": 400, "resume_ms": None}
        asked = {"client_id": group_id, "topic": group_id, "partitions": 3, "outcome": "FENCED"}
        slow.append(own | asked | steps | {"revoke_ms": chance.randint(100, 60_000)})
        times = {"started_at_ms": AS_OF_MS - 50_000, "ended_at_ms": AS_OF_MS - 20_000}
        counts = {"departed": 2, "joined": 2, "moved": 7, "epochs": 4}
        waves.append(own | times | counts | {"wave": "ROLLOUT", "stopped_ms": 44_000})
        flips.append(
            own | {"flip_tier": 2, "verdict": "READY", "cohort": group_id, "look_at": ["R9"]}
        )
        lost = {"low_ms": chance.randint(1, 10**6), "high_ms": 10**6, "high_unknown": 0}
        costs.append(own | lost | {"partitions_ms": 10**9, "moved": 3, "returned": 1})
        clients.append({"client_id": group_id, "software": group_id, "groups": 3, "members": 9})
    return {
        "half_way": half_way[:25],
        "stuck": stuck,
        "reasons": [{"reason": "SLOW_REVOCATION", "open": len(stuck), "ended": 3}],
        "slow": slow[:20],
        "waves": waves[:25],
        "wave_counts": [{"wave": "ROLLOUT", "waves": 40}],
        "flips": flips[:25],
        "verdicts": [{"verdict": "READY", "flip_tier": 2, "groups": 40}],
        "rules": [{"rule": "R9", "severity": "CHECK", "groups": 4, "detail": HOSTILE[0]}],
        "cost_groups": costs[:25],
        "clients": clients[:25],
        "seen": [{"inputs": 9, "texts": 2, "holes": 12, "unseen": ["LATE_LEAVE"]}],
        "broken_rules": [{"severity": "WARN", "rule": "I7", "times": 2, "groups": 1}],
        "undecoded": [{"reason": HOSTILE[1], "rows": 4}],
    }


def _streams(ids: list[str], chance: random.Random) -> dict[str, list[dict[str, Any]]]:
    """Of Kafka Streams, whose applications have hostile ids too."""
    misplaced, learners, idlest, loops = [], [], [], []
    for place, group_id in enumerate(ids):
        own = {"group_id": group_id, "team": group_id[:20] or None, "task_id": f"0_{place}"}
        due = ("PROBING", AS_OF_MS + 60_000 * place) if place % 2 else ("FOLLOWUP", None)
        missing = {"tasks": 24, "tasks_misplaced": 1 + place % 5}
        misplaced.append(own | missing | {"next_kind": due[0], "next_at_ms": due[1]})
        who = {"client_id": group_id, "client_host": "/10.0.0.1", "probes": place % 3 or None}
        learners.append(own | who | {"since_at_ms": AS_OF_MS - chance.randint(1, 10**7)})
        moved = {"kind": "COLD", "outcome": "RETURNED" if place % 4 == 0 else "TRANSFERRED"}
        idlest.append(own | moved | {"idle_ms": chance.randint(1, 10**6)})
        loop = {"reason": "PROBING_LOOP", "since_at_ms": AS_OF_MS - 10**6, "repetitions": 7}
        loops.append(own | loop)
    app = {"apps": 30, "processes": 60, "members": 120, "tasks": 960}
    return {
        "streams_apps": [
            {"protocol": "classic", "tasks_misplaced": 90, "apps_misplaced": 30, **app},
            {"protocol": "streams", "tasks_misplaced": 0, "apps_misplaced": 0, **app},
        ],
        "misplaced": misplaced[:25],
        "learners": learners[:25],
        "learners_total": [{"learners": len(learners)}],
        "task_moves": [
            {"kind": "WARMED", "outcome": "TRANSFERRED", "tasks": 1_200},
            {"kind": "COLD", "outcome": "RETURNED", "tasks": 4},
            {"kind": None, "outcome": "OPEN", "tasks": 2},
            {"kind": "A_NEW_KIND", "outcome": "A_NEW_OUTCOME", "tasks": 1},
        ],
        "idlest": idlest[:25],
        "loops": loops[:5],
    }


def made_fleet(groups: int, nights: int = 30, pages: int = 0) -> Fleet:
    """pages: groups, from the first, that have a page of their own."""
    fleet = read_fleet(
        fleet_rows(groups, nights),
        cluster="prod-eu",
        logical_date=NIGHT,
        as_of_ms=AS_OF_MS,
        since_at_ms=AS_OF_MS - 86_400_000,
        version="0.0.0",
    )
    return replace(fleet, has_pages=frozenset(each.group_id for each in fleet.groups[:pages]))
