"""Members that only lines show to be stuck."""

from __future__ import annotations

from datetime import timedelta

from groupreplay.evidence.evidence_facts import SEEN, BrokerSetting, Contact, Refusal, Silence
from groupreplay.replay.facts import GroupSnapshot
from groupreplay.report.tables.stuck_members import stuck_members
from tests.report.conftest import AS_OF_MS, Prove, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact, life
from tests.support.table_inputs import inputs_of


def test_stuck_of_lines(stage: Stage, prove: Prove) -> None:
    """Each reason above its threshold, and beside it what looks like it and is none."""
    knocks = {
        "first_at": AT,
        "last_at": AT + 20_000,
        "attempts": 3,
        "times_at": [AT, AT + 10_000, AT + 20_000],
        "is_final": True,
    }
    burst = {
        "first_at": AT,
        "last_at": AT + 900,
        "attempts": 9,
        "times_at": list(range(AT, AT + 900, 100)),
        "is_final": True,
    }
    silent = {"last_heartbeat_at": AS_OF_MS - 10_000, "last_seen_at": AS_OF_MS - 10_000}
    heard = dict.fromkeys(silent, AS_OF_MS - 9_999)
    bounced = {"instance_id": "i", "protocol": "classic"}
    facts = (
        evidence(Refusal, group_id="loop", **knocks),
        evidence(Refusal, group_id="burst", **burst),
        evidence(Refusal, group_id="commits", api="OFFSET_COMMIT", **knocks),
        evidence(Silence, group_id="late", ended_by="LATE", is_final=True),
        evidence(Silence, group_id="back", session_timeout_ms=45_000, is_final=True),
        evidence(Silence, group_id="bounce", ended_by="LATE", is_final=True, **bounced),
        evidence(Contact, group_id="silent", session_timeout_ms=30_000, **silent),
        evidence(Contact, group_id="gone", **silent),
        evidence(Contact, group_id="away", is_away=True, **silent),
        evidence(Contact, group_id="parked", is_rejoining=True, **silent),
        evidence(Contact, group_id="heard", **heard),
    )
    alive = [life(group_id=group) for group in ("silent", "away", "parked", "heard")] + [
        life(group_id="gone", ended_at=AT, is_final=True)
    ]
    groups = [fact(GroupSnapshot, group_id=each.group_id, phase="NATIVE") for each in alive]
    rows = {
        row.group_id: row
        for row in stuck_members(inputs_of(stage(*alive, *groups), prove(*facts))).collect()
    }
    assert {group: (row.reason, row.stuck_ms, row.is_open) for group, row in rows.items()} == {
        "loop": ("REJECTED_LOOP", 20_000, False),
        "late": ("LATE_LEAVE", 12_000, False),
        "back": ("NOT_HEARTBEATING", 12_000, False),
        "silent": ("NOT_HEARTBEATING", 10_000, True),
    }
    assert (rows["loop"].incarnation, rows["loop"].evidence.position, rows["loop"].repetitions) == (
        -1,
        7,
        3,
    )
    assert rows["silent"].incarnation == alive[0].incarnation
    deadlines = {
        group: row.deadline_at and row.deadline_at - row.since_at for group, row in rows.items()
    }
    assert deadlines == {
        "loop": None,
        "late": None,
        "back": timedelta(seconds=45),
        "silent": timedelta(seconds=30),
    }


def test_silent_members_of_kafka_streams(stage: Stage, prove: Prove) -> None:
    """On the classic protocol a session runs out whenever a member is stopped: only one that comes
    back over its connection was stuck. On its own protocol a member that closes says so.
    """
    thread = {"client_id": "app-StreamThread-1-consumer", "is_final": True}
    facts = (
        evidence(Silence, group_id="stopped", ended_by="LATE", protocol="classic", **thread),
        evidence(Silence, group_id="fenced", ended_by="FENCED", protocol="classic", **thread),
        evidence(Silence, group_id="frozen", ended_by="HEARTBEAT", protocol="classic", **thread),
        evidence(Silence, group_id="killed", ended_by="LATE", protocol="streams", **thread),
        evidence(Silence, group_id="back", ended_by="FENCED", protocol="streams", **thread),
    )
    rows = stuck_members(inputs_of(stage(), prove(*facts))).collect()
    assert {row.group_id: row.reason for row in rows} == {
        "frozen": "NOT_HEARTBEATING",
        "killed": "LATE_LEAVE",
        "back": "NOT_HEARTBEATING",
    }


def test_who_is_silent_behind_the_end_of_a_log_is_not_known(stage: Stage, prove: Prove) -> None:
    """Broker 2's request log ends early, that of its coordinators goes on; of broker 3 nobody knows
    where they end, and broker 1's are there.
    """
    early, silent = AS_OF_MS - 60_000, {"last_seen_at": AS_OF_MS - 70_000}
    silent |= {"last_heartbeat_at": silent["last_seen_at"]}
    seen = {"setting": SEEN, "value": "", "group_id": ""}
    ended = {"ended_by": "LATE", "since_at": early - 5_000, "until_at": early + 40_000}
    facts = (
        evidence(BrokerSetting, broker=1, source="request_log", occurred_at=AS_OF_MS, **seen),
        evidence(BrokerSetting, broker=2, source="request_log", occurred_at=early, **seen),
        evidence(BrokerSetting, broker=2, source="server_log", occurred_at=AS_OF_MS, **seen),
        *(
            evidence(Contact, group_id=f"silent {each}", heard_by=each, **silent)
            for each in (1, 2, 3)
        ),
        *(
            evidence(Silence, group_id=f"fenced {each}", broker=each, is_final=True, **ended)
            for each in (1, 2, 3)
        ),
    )
    lives = [life(is_final=False, group_id=f"silent {each}") for each in (1, 2, 3)]
    groups = [fact(GroupSnapshot, group_id=each.group_id) for each in lives]
    rows = stuck_members(inputs_of(stage(*lives, *groups), prove(*facts))).collect()
    told = {row.group_id: row.stuck_ms for row in rows}
    assert told == {
        "silent 1": 70_000,
        "silent 2": 10_000,
        "silent 3": 70_000,
        "fenced 1": 45_000,
        "fenced 3": 45_000,
    }
