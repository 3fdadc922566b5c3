"""Made-up fleets and groups for pages, with ids that try to be markup."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from groupreplay.page.model import life as model
from groupreplay.page.model import life_of_tasks
from groupreplay.page.model.fleet import Fleet
from groupreplay.page.model.life import GroupLife
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
        "wave_counts": [{"wave": "ROLLOUT", "waves": 40, "moved": 3}],
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


# ---------------------------------------------------------------- one group

LIFE = (0, 7)


def made_life(
    group_id: str = "payments.settlement", members: int = 9, epochs: int = 24, seed: int = 3
) -> GroupLife:
    """A night in which clients are rolled one after another, with all that a page can show."""
    chance = random.Random(seed)
    start = AS_OF_MS - 20 * 60_000
    clients = [f"{group_id[:30]}-{place}" for place in range(members)]
    lives, spans, held, hand_overs, stuck = [], [], [], [], []
    for place, client in enumerate(clients):
        moment = start + place * 60_000
        lives += [
            _member(
                f"old-{place}", client, "classic", start - 80_000_000, moment, "LEFT_OR_FENCED"
            ),
            _member(f"new-{place}", client, "consumer", moment + 2_000, None, "OPEN"),
        ]
        spans += [
            _span(f"old-{place}", "classic", "STABLE", start - 80_000_000, moment, seen=place != 0),
            _span(
                f"new-{place}", "consumer", "UNRELEASED_PARTITIONS", moment + 2_000, moment + 9_000
            ),
            _span(f"new-{place}", "consumer", "STABLE", moment + 9_000, None),
        ]
        held += [
            _held(f"old-{place}", place, start - 80_000_000, moment),
            _held(f"new-{place}", place, moment + 9_000, None),
        ]
        hand_overs.append(_hand_over(f"old-{place}", f"new-{place}", place, moment, chance))
        stuck.append(_stuck(f"new-{place}", f"old-{place}", moment))
    away = _span("new-1", "consumer", "STABLE", AS_OF_MS - 30_000, None, epoch=-2)
    return GroupLife(
        cluster="prod-eu",
        logical_date=NIGHT,
        group_id=group_id,
        from_at_ms=AS_OF_MS - 86_400_000,
        as_of_ms=AS_OF_MS,
        version="0.0.0",
        state=model.State(
            phase="MIGRATING",
            protocol="consumer",
            members_consumer=members - 1,
            members_total=members,
            mixed_since_at_ms=start,
            waits_for=((clients[-1], "/10.0.0.1"),),
        ),
        members=tuple(lives),
        spans=(*spans, away, _span("new-2", "consumer", "A_NEW_STATE", AS_OF_MS - 9_000, None)),
        held=tuple(held),
        epochs=tuple(_epoch(place, epochs, start) for place in range(epochs)),
        hand_overs=tuple(hand_overs),
        stuck=(*stuck, replace(stuck[0], member_id=None, reason="MIGRATION_STALLED", is_open=True)),
        rebalances=(
            model.Rebalance(
                generation=4,
                started_at_ms=start,
                joined_at_ms=start + 3_000,
                synced_at_ms=start + 4_000,
                cause="JOIN",
                outcome="COMPLETED",
            ),
        ),
        refusals=(
            model.Refusal(
                subject=group_id,
                client_id=group_id,
                api="CONSUMER_GROUP_HEARTBEAT",
                refusal="UPGRADE_REFUSED",
                first_at_ms=start,
                last_at_ms=start + 60_000,
                attempts=12,
            ),
        ),
        waves=(
            model.GroupWave(
                wave="ROLLOUT",
                started_at_ms=start,
                ended_at_ms=start + members * 60_000,
                departed=members,
                joined=members,
                stopped_ms=90_000,
            ),
        ),
        **_decided(group_id, start),
        verdict=model.Verdict(verdict="WARN", cohort=group_id, rules=(("R9", "CHECK", group_id),)),
        cut={"spans": 7},
    )


def _decided(group_id: str, start: int) -> dict[str, Any]:
    """What waves would have cost, who was gone, and a move of the coordinator."""
    priced = model.PricedWave(
        started_at_ms=start,
        scenario="CONSUMER",
        is_actual=True,
        rebalances=4,
        stopped_partitions=7,
        low_ms=60_000,
        mid_ms=88_000,
        high_ms=120_000,
        actual_ms=90_000,
        delta_pct=-2.2,
        basis="OWN",
    )
    refused = model.PricedWave(
        started_at_ms=start, scenario="EAGER", is_actual=False, refused="WAVE_HIDDEN"
    )
    absence = model.Absence(
        life=LIFE,
        instance_id=group_id,
        member_id="old-0",
        returned_as="new-0",
        membership="STATIC",
        outcome="ABSORBED",
        left_at_ms=start - 20_000,
        returned_at_ms=start,
        gap_low_ms=20_000,
        gap_ms=20_000,
        gap_high_ms=21_000,
        own_timeout_ms=45_000,
        absorbed_45s=True,
        absorbed_60s=True,
        partitions=3,
    )
    expired = replace(
        absence, outcome="EXPIRED", member_id="old-1", returned_as=None, gap_ms=None, moved=3
    )
    failover = model.Failover(
        leader_epoch_before=3,
        leader_epoch=4,
        last_at_ms=start + 100_000,
        first_at_ms=start + 109_000,
        gap_ms=9_000,
        phase="REVOKING",
        epochs_after=2,
        moved_after=5,
        broker=2,
        moved_from=1,
    )
    return {
        "what_if": (priced, replace(priced, scenario="EAGER", is_actual=False), refused),
        "absences": (
            absence,
            replace(expired, removed_at_ms=start, returned_at_ms=None, blind_ms=20_000),
            replace(absence, outcome="AWAY", member_id="new-1", returned_at_ms=None, gap_ms=None),
            replace(absence, outcome="UNOBSERVED", left_at_ms=None, returned_at_ms=None),
        ),
        "failovers": (failover,),
    }


def _member(
    member_id: str, client: str, protocol: str, joined: int, ended: int | None, how: str
) -> model.Member:
    return model.Member(
        life=LIFE,
        member_id=member_id,
        client_id=client,
        client_host="/10.0.0.1",
        member_protocol=protocol,
        joined_at_ms=joined,
        ended_at_ms=ended,
        end_reason=how,
    )


def _span(
    member_id: str,
    protocol: str,
    state: str,
    begin: int,
    end: int | None,
    *,
    epoch: int = 4,
    seen: bool = True,
) -> model.Span:
    return model.Span(
        life=LIFE,
        member_id=member_id,
        member_protocol=protocol,
        member_epoch=epoch,
        state=state,
        from_at_ms=begin,
        to_at_ms=end,
        partitions_assigned=3,
        partitions_pending=0,
        waiting_on=("old-0",) if state.startswith("UNREL") else (),
        start_observed=seen,
        is_final=end is not None,
    )


def _held(member_id: str, partition: int, begin: int, end: int | None) -> model.Held:
    return model.Held(
        life=LIFE,
        member_id=member_id,
        topic="payments",
        partition=partition,
        assigned_at_ms=begin,
        released_at_ms=end,
        end_reason="OPEN" if end is None else "REVOKED",
    )


def _hand_over(
    giver: str, taker: str, partition: int, ms: int, chance: random.Random
) -> model.HandOver:
    took = chance.randint(10, 7_000)
    return model.HandOver(
        life=LIFE,
        member_id=giver,
        topic="payments",
        partition=partition,
        requested_at_ms=ms - took,
        ended_at_ms=ms,
        granted_at_ms=ms + 9_000,
        granted_to=taker,
        notify_ms=300,
        revoke_ms=took,
        unowned_ms=9_000,
        resume_ms=100,
        outcome="FENCED" if partition % 4 == 0 else "ACKED",
    )


def _stuck(member_id: str, by: str, ms: int) -> model.Stuck:
    return model.Stuck(
        life=LIFE,
        reason="WAITING_ON_HOLDER",
        member_id=member_id,
        since_at_ms=ms + 2_000,
        until_at_ms=ms + 9_000,
        stuck_ms=7_000,
        is_open=False,
        blocked_by=(by,),
    )


def _epoch(place: int, of: int, start: int) -> model.Epoch:
    began = start + place * (20 * 60_000 // of)
    outcome = ("CONVERGED", "SUPERSEDED", "UNOBSERVED")[place % 3 if place % 7 == 2 else 0]
    ends = began + 3_000
    return model.Epoch(
        life=(0, 7) if place < of - 2 else (0, 900),
        epoch=place + 4,
        protocol="consumer",
        started_at_ms=began,
        cause=("UPGRADE", "LEFT_OR_FENCED", "JOIN")[place % 3],
        cause_member_id=f"new-{place % 3}",
        converged_at_ms=ends if outcome == "CONVERGED" else None,
        superseded_at_ms=began + 20 * 60_000 // of,
        members=9,
        members_classic=2,
        partitions_moved=3,
        converge_ms=3_000 if outcome == "CONVERGED" else None,
        outcome=outcome,
    )


def capped_life() -> GroupLife:
    """A group that moved all night: as many rows of each list as a page is given."""
    chance = random.Random(5)
    life = made_life(members=60)
    start = AS_OF_MS - 20 * 3_600_000

    def times(many: int) -> list[int]:
        return sorted(chance.randrange(start, AS_OF_MS - 60_000) for _ in range(many))

    states = ("STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS")
    return replace(
        life,
        members=tuple(
            _member(f"m-{k}", f"client-{k % 60}", "consumer", at, at + 900_000, "FENCED")
            for k, at in enumerate(times(500))
        ),
        spans=tuple(
            _span(f"m-{k % 500}", "consumer", states[k % 3], at, at + 20_000, seen=k % 9 > 0)
            for k, at in enumerate(times(3_000))
        ),
        held=tuple(
            _held(f"m-{chance.randrange(500)}", k % 60, at, at + 90_000)
            for k, at in enumerate(times(3_000))
        ),
        epochs=tuple(replace(_epoch(k % 20, 20, at), epoch=k) for k, at in enumerate(times(500))),
        hand_overs=tuple(
            _hand_over(f"m-{k % 500}", f"m-{(k + 7) % 500}", k % 60, at, chance)
            for k, at in enumerate(times(1_000))
        ),
        stuck=tuple(_stuck(f"m-{k}", f"m-{k + 1}", at) for k, at in enumerate(times(200))),
        conversions=tuple(
            model.Conversion(life=LIFE, converted_at_ms=at, direction="UPGRADE", mode="ONLINE")
            for at in times(100)
        ),
        rebalances=tuple(replace(life.rebalances[0], started_at_ms=at) for at in times(300)),
        refusals=tuple(replace(life.refusals[0], first_at_ms=at) for at in times(200)),
        waves=tuple(
            replace(life.waves[0], started_at_ms=at, ended_at_ms=at + 5_000) for at in times(200)
        ),
        what_if=tuple(replace(life.what_if[0], started_at_ms=at) for at in times(300)),
        failovers=tuple(replace(life.failovers[0], last_at_ms=at) for at in times(100)),
        absences=tuple(
            replace(life.absences[1], member_id=f"m-{k}", left_at_ms=at)
            for k, at in enumerate(times(300))
        ),
        cut={"spans": 40_000, "held": 1, "epochs": 2, "hand_overs": 9, "stuck": 3},
    )


def streams_life() -> GroupLife:
    """Two processes with two threads each; a task goes over cold and bounces back."""
    life = made_life(members=2, epochs=4)
    begin = AS_OF_MS - 10 * 60_000
    processes = tuple(
        life_of_tasks.Process(
            life=LIFE,
            process_id=f"{place}" * 8,
            threads=2,
            restarts=0,
            hosts=("/10.0.0.1",),
            joined_at_ms=begin,
            end_reason="OPEN",
        )
        for place in (1, 2)
    )
    members = tuple(
        model.Member(
            life=LIFE,
            member_id=f"p{place}-{thread}",
            client_id=f"app-StreamThread-{thread}-consumer",
            member_protocol="streams",
            process_id=f"{place}" * 8,
            joined_at_ms=begin,
            end_reason="OPEN",
        )
        for place in (1, 2)
        for thread in (1, 2)
    )
    move = life_of_tasks.TaskMove(
        life=LIFE,
        task_id="0_1",
        from_process_id="1" * 8,
        to_process_id="2" * 8,
        kind="COLD",
        cause="REBALANCED",
        outcome="TRANSFERRED",
        released_at_ms=begin + 60_000,
        granted_at_ms=begin + 61_000,
    )
    span = life_of_tasks.TaskSpan(
        life=LIFE,
        member_id="p2-1",
        process_id="2" * 8,
        partition=1,
        task_id="0_1",
        role="ACTIVE",
        assigned_at_ms=begin + 61_000,
        end_reason="OPEN",
    )
    return replace(
        life,
        members=members,
        spans=(),
        held=(),
        hand_overs=(),
        stuck=(),
        processes=processes,
        tasks=(span, replace(span, role="WARMUP", process_id="1" * 8, member_id="p1-1")),
        task_moves=(
            move,
            replace(move, kind="WARMED", outcome="RETURNED", granted_at_ms=begin + 90_000),
        ),
    )
