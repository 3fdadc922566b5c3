"""Made-up nights of one group for its page, with ids that try to be markup."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from groupreplay.page.model import life as model
from groupreplay.page.model.life import GroupLife
from tests.support.page_rows import AS_OF_MS, NIGHT

LIFE = (0, 7)


def made_life(
    group_id: str = "payments.settlement", members: int = 9, epochs: int = 24, seed: int = 3
) -> GroupLife:
    """A night in which clients are rolled one after another, with all that a page can show."""
    start = AS_OF_MS - 20 * 60_000
    clients = [f"{group_id[:30]}-{place}" for place in range(members)]
    rolled = _rolled(clients, start, random.Random(seed))
    spans, stuck = rolled["spans"], rolled["stuck"]
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
            is_stalled=True,
            members_consumer=members - 1,
            members_total=members,
            mixed_since_at_ms=start,
            waits_for=((clients[-1], "/10.0.0.1"),),
        ),
        members=rolled["members"],
        spans=(*spans, away, _span("new-2", "consumer", "A_NEW_STATE", AS_OF_MS - 9_000, None)),
        held=rolled["held"],
        epochs=tuple(_epoch(place, epochs, start) for place in range(epochs)),
        hand_overs=rolled["hand_overs"],
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
        days=_days(),
        verdict=model.Verdict(verdict="WARN", cohort=group_id, rules=(("R9", "CHECK", group_id),)),
        cut={"spans": 7},
    )


def _rolled(clients: list[str], start: int, chance: random.Random) -> dict[str, tuple[Any, ...]]:
    """Each client joins again, a minute after the one before, by the consumer protocol."""
    lives, spans, held, hand_overs, stuck = [], [], [], [], []
    long_ago = start - 80_000_000
    for place, client in enumerate(clients):
        moment = start + place * 60_000
        old, new = f"old-{place}", f"new-{place}"
        lives += [
            _member(old, client, "classic", long_ago, moment, "LEFT_OR_FENCED"),
            _member(new, client, "consumer", moment + 2_000, None, "OPEN"),
        ]
        spans += [
            _span(old, "classic", "STABLE", long_ago, moment, seen=place != 0),
            _span(new, "consumer", "UNRELEASED_PARTITIONS", moment + 2_000, moment + 9_000),
            _span(new, "consumer", "STABLE", moment + 9_000, None),
        ]
        held += [_held(old, place, long_ago, moment), _held(new, place, moment + 9_000, None)]
        hand_overs.append(_hand_over(old, new, place, moment, chance))
        stuck.append(_stuck(new, old, moment))
    return {
        "members": tuple(lives),
        "spans": tuple(spans),
        "held": tuple(held),
        "hand_overs": tuple(hand_overs),
        "stuck": tuple(stuck),
    }


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


def _days() -> tuple[model.GroupDay, ...]:
    """The last half of the night cost, the day before nothing."""
    day = model.GroupDay(
        life=LIFE,
        day=str(NIGHT),
        from_at_ms=AS_OF_MS - 12 * 3_600_000,
        to_at_ms=AS_OF_MS,
        unobserved_ms=61_000,
        partitions_ms=9 * 86_400_000,
        low_ms=90_000,
        high_ms=151_000,
        availability_most_pct=99.5,
        availability_least_pct=98.25,
        epochs=24,
        moved=17,
        handover_max_ms=6_900,
    )
    return day, replace(day, day="2026-11-20", to_at_ms=day.from_at_ms, low_ms=0)


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
        days=tuple(
            replace(life.days[0], from_at_ms=at, to_at_ms=at + 3_600_000) for at in times(90)
        ),
        what_if=tuple(replace(life.what_if[0], started_at_ms=at) for at in times(300)),
        failovers=tuple(replace(life.failovers[0], last_at_ms=at) for at in times(100)),
        absences=tuple(
            replace(life.absences[1], member_id=f"m-{k}", left_at_ms=at)
            for k, at in enumerate(times(300))
        ),
        cut={"spans": 40_000, "held": 1, "epochs": 2, "hand_overs": 9, "stuck": 3},
    )
