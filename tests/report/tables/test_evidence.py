"""What lines prove, joined to the facts of the topic: which line belongs to which row, and what it
may say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from groupreplay.evidence.evidence_facts import (
    AssignorFailure,
    Contact,
    Departure,
    Outage,
    Rebalance,
    Refusal,
    Rejoin,
    ShardEvent,
    Silence,
)
from groupreplay.replay.facts import Epoch, Fact, GroupSnapshot, HandOver, HeldPartition, MemberLife
from groupreplay.report.catalog import SPECS
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.evidence_stalls import unseen_reasons
from groupreplay.report.joins.owners import with_owners
from groupreplay.report.night_rows import NightRows
from groupreplay.report.table_inputs import StoredTables
from groupreplay.report.tables.coordinator_events import coordinator_events
from groupreplay.report.tables.group_epochs import group_epochs
from groupreplay.report.tables.member_assignments import member_assignments
from groupreplay.report.tables.members import members
from groupreplay.report.tables.rebalances import rebalances
from groupreplay.report.tables.refusals import refusals
from groupreplay.report.tables.rejoins import rejoins
from groupreplay.report.tables.revocation_latencies import revocation_latencies
from groupreplay.report.tables.stuck_groups import stuck_groups
from groupreplay.report.tables.stuck_members import stuck_members
from groupreplay.tables.schemas import table_schema
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import AS_OF_MS, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import frame_of, packed_of
from tests.support.table_inputs import inputs_of, no_topics

Prove = Callable[..., ReportContext]


@pytest.fixture
def prove(spark: SparkSession, context: ReportContext) -> Prove:
    """Facts of lines -> a context in which they are evidence, all of this night."""

    def build(*facts: Any) -> ReportContext:
        frame = frame_of(spark, EVIDENCE, facts)
        return replace(
            context,
            evidence=frame,
            evidence_tonight=frame,
            lines_as_of_ms=AS_OF_MS,
            log_kinds=frozenset({"server_log", "request_log"}),
        )

    return build


def one(frame: DataFrame) -> Row:
    (row,) = frame.collect()
    return row


REMOVED = {
    "end_reason": "LEFT_OR_FENCED",
    "released_at": AT + 60_000,
    "released_epoch": 9,
    "is_final": True,
}


def test_a_removal_is_told_by_the_line_of_its_epoch(stage: Stage, prove: Prove) -> None:
    """Two lines of the member lie in the span: a leave whose append failed, and the fence that was
    done.
    """
    held = stage(fact(HeldPartition, **REMOVED))
    row = one(
        member_assignments(
            inputs_of(
                held,
                prove(
                    evidence(Departure, ended_at=AT + 59_990, epoch=8),
                    evidence(
                        Departure,
                        ended_at=AT + 58_000,
                        epoch=9,
                        outcome="FENCED",
                        end_detail="SESSION_EXPIRED",
                        position=70,
                    ),
                    evidence(Departure, ended_at=AT + 60_000, epoch=9, member_id="other"),
                    evidence(Departure, ended_at=AT + 60_000, epoch=9, group_id="other"),
                ),
            )
        )
    )
    assert (row.end_reason, row.end_detail, row.end_confidence, row.evidence.position) == (
        "FENCED",
        "SESSION_EXPIRED",
        "EXACT",
        70,
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param([], ("LEFT_OR_FENCED", None, "NONE"), id="no line"),
        pytest.param([{"ended_at": AT + 65_001}], ("LEFT_OR_FENCED", None, "NONE"), id="too late"),
        pytest.param(
            [{"ended_at": AT - 5_001}], ("LEFT_OR_FENCED", None, "NONE"), id="of an earlier life"
        ),
        pytest.param(
            [{"ended_at": AT + 100, "epoch": 4}],
            ("LEFT_OR_FENCED", None, "NONE"),
            id="of another epoch",
        ),
        pytest.param(
            [{"ended_at": AT + 30_000}],
            ("LEFT", "LEAVE_HEARTBEAT", "EXACT"),
            id="long before a classic generation shows it",
        ),
        pytest.param(
            [
                {"ended_at": AT + 59_000},
                {"ended_at": AT + 20_000, "outcome": "FENCED", "end_detail": "SESSION_EXPIRED"},
            ],
            ("LEFT", "LEAVE_HEARTBEAT", "INFERRED"),
            id="the nearest of two that differ",
        ),
        pytest.param(
            [{"ended_at": AT + 60_000}, {"ended_at": AT + 60_000, "source": "request_log"}],
            ("LEFT", "LEAVE_HEARTBEAT", "EXACT"),
            id="both logs agree",
        ),
    ],
)
def test_without_an_epoch_the_nearest_line_within_the_span_counts(
    stage: Stage, prove: Prove, told: list[dict[str, Any]], expected: tuple[Any, ...]
) -> None:
    row = one(
        member_assignments(
            inputs_of(
                stage(fact(HeldPartition, **REMOVED)),
                prove(*(evidence(Departure, **each) for each in told), evidence(Outage)),
            )
        )
    )
    assert (row.end_reason, row.end_detail, row.end_confidence) == expected


def test_what_records_prove_stays(stage: Stage, prove: Prove) -> None:
    """A row that was replaced: lines contradict nothing of it."""
    lines = prove(
        evidence(Departure, ended_at=AT + 20_000, outcome="FENCED", end_detail="REBALANCE_TIMEOUT")
    )
    replaced = one(
        member_assignments(
            inputs_of(stage(fact(HeldPartition, **{**REMOVED, "end_reason": "REPLACED"})), lines)
        )
    )
    assert (replaced.end_reason, replaced.end_detail, replaced.end_confidence) == (
        "REPLACED",
        None,
        "EXACT",
    )


def test_a_fence_at_the_timeout_is_concluded_until_a_line_says_so(
    stage: Stage, prove: Prove
) -> None:
    """The member may have left, or its session may have run out, in the very moment (measures.md
    section 5).
    """
    lines = prove(
        evidence(Departure, ended_at=AT + 20_000, outcome="FENCED", end_detail="REBALANCE_TIMEOUT")
    )
    fenced = fact(
        HandOver, outcome="FENCED", ended_at=AT + 20_001, is_censored=False, is_final=True
    )
    row = one(revocation_latencies(inputs_of(stage(fenced), lines)))
    assert (row.outcome, row.end_detail, row.end_confidence) == (
        "FENCED",
        "REBALANCE_TIMEOUT",
        "EXACT",
    )
    left = one(
        revocation_latencies(
            inputs_of(stage(fenced), prove(evidence(Departure, ended_at=AT + 20_000)))
        )
    )
    assert (left.outcome, left.end_confidence) == ("LEFT", "EXACT")
    alone = one(revocation_latencies(inputs_of(stage(fenced), prove(evidence(Outage)))))
    assert (alone.outcome, alone.end_detail, alone.end_confidence, alone.evidence) == (
        "FENCED",
        None,
        "INFERRED",
        None,
    )


def test_causes_of_epochs_come_from_departures_and_of_generations_from_rebalances(
    stage: Stage, prove: Prove
) -> None:
    epochs = stage(
        fact(Epoch, epoch=9, from_offset=1, cause="LEFT_OR_FENCED", cause_member_id="m"),
        fact(
            Epoch,
            epoch=7,
            from_offset=2,
            protocol="classic",
            cause="LEFT_OR_FENCED",
            confidence="INFERRED",
            started_at=AT + 9_000,
        ),
        fact(
            Epoch,
            epoch=8,
            from_offset=3,
            protocol="classic",
            cause="UNKNOWN",
            confidence="NONE",
            started_at=AT + 9_000,
        ),
        fact(
            Epoch, epoch=8, from_offset=4, cause="UNKNOWN", confidence="NONE", started_at=AT + 9_000
        ),
    )
    lines = prove(
        evidence(Departure, epoch=9, outcome="FENCED", end_detail="SESSION_EXPIRED"),
        evidence(
            Rebalance,
            generation=6,
            cause="LEFT",
            cause_member_id="gone",
            reason="LEFT",
            client_reason="the consumer is being closed",
        ),
        evidence(
            Rebalance,
            generation=7,
            cause="REJOIN",
            cause_member_id="leader",
            reason="LEADER_REJOINED",
        ),
    )
    rows = {row.from_offset: row for row in group_epochs(inputs_of(epochs, lines)).collect()}
    told = {
        offset: (
            row.cause,
            row.cause_member_id,
            row.confidence,
            row.cause_detail,
            row.client_reason,
        )
        for offset, row in rows.items()
    }
    assert told == {
        1: ("FENCED", "m", "EXACT", "SESSION_EXPIRED", None),
        2: ("LEFT", "gone", "EXACT", "LEFT", "the consumer is being closed"),
        3: ("REJOIN", "leader", "EXACT", "LEADER_REJOINED", None),
        4: ("UNKNOWN", None, "NONE", None, None),
    }


def life(**given: Any) -> Fact:
    return fact(MemberLife, **given)


def test_a_life_has_the_contact_of_its_time(stage: Stage, prove: Prove) -> None:
    lives = stage(
        life(from_offset=1, ended_at=AT + 20_000, end_reason="LEFT_OR_FENCED", is_final=True),
        life(from_offset=2, joined_at=AT + 30_000),
        life(from_offset=3, member_id="silent"),
    )
    first = {
        "last_heartbeat_at": AT + 8_000,
        "heartbeats": 4,
        "longest_gap_ms": 5_000,
        "error_codes": [25],
        "error_counts": [2],
    }
    lines = prove(
        evidence(Departure, ended_at=AT + 19_990, outcome="FENCED", end_detail="SESSION_EXPIRED"),
        evidence(Contact, ended_at=AT + 19_990, **first),
        evidence(
            Contact,
            first_at=AT + 30_000,
            last_heartbeat_at=AT + 40_000,
            heartbeats=9,
            software_version="4.4.0",
        ),
    )
    rows = {row.from_offset: row for row in members(inputs_of(lives, lines)).collect()}
    assert (rows[1].end_reason, rows[1].end_detail, rows[1].heartbeats, rows[1].longest_gap_ms) == (
        "FENCED",
        "SESSION_EXPIRED",
        4,
        5_000,
    )
    assert [(each.error_code, each.error, each.requests) for each in rows[1].errors] == [
        (25, "UNKNOWN_MEMBER_ID", 2)
    ]
    assert (
        rows[2].end_reason,
        rows[2].heartbeats,
        rows[2].software_version,
        rows[2].principal,
    ) == ("OPEN", 9, "4.4.0", "User:app")
    assert (rows[3].heartbeats, rows[3].errors) == (None, None)


def test_without_logs_lives_say_what_the_topic_says(stage: Stage, context: ReportContext) -> None:
    row = one(members(inputs_of(stage(life(ended_at=AT, end_reason="LEFT_OR_FENCED")), context)))
    assert (row.end_reason, row.end_confidence, row.software_name, row.evidence) == (
        "LEFT_OR_FENCED",
        "NONE",
        None,
        None,
    )


def test_a_refusal_in_both_logs_is_told_once(prove: Prove) -> None:
    lines = prove(
        evidence(Refusal, attempts=5, message=None),
        evidence(Refusal, source="request_log", attempts=5, message="owned"),
        evidence(Refusal, subject="other", error_code=4711, refusal="ERROR_4711"),
    )
    assert lines.evidence_tonight is not None
    rows = {
        row.subject: row for row in refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    }
    assert (rows["m"].error, rows["m"].message, rows["m"].evidence.source) == (
        "UNRELEASED_INSTANCE_ID",
        "owned",
        "request_log",
    )
    assert rows["other"].error == "ERROR_4711"


def test_an_answer_without_a_text_gets_that_of_the_line(prove: Prove) -> None:
    """UNKNOWN_SERVER_ERROR is answered without a word; where lines of one asker differ, nobody
    knows which of them was this one.
    """
    failed = {"error_code": -1, "refusal": "UNKNOWN_SERVER_ERROR"}
    lines = prove(
        evidence(Refusal, source="request_log", **failed),
        evidence(Refusal, message="Index 1 out of bounds for length 1.", **failed),
        evidence(Refusal, source="request_log", subject="two", **failed),
        evidence(Refusal, subject="two", message="one", **failed),
        evidence(Refusal, subject="two", message="another", first_at=AT + 9_000_000, **failed),
    )
    assert lines.evidence_tonight is not None
    rows = {
        row.subject: (row.message, row.evidence.source)
        for row in refusals(inputs_of(lines.evidence_tonight, lines)).collect()
    }
    assert rows == {
        "m": ("Index 1 out of bounds for length 1.", "request_log"),
        "two": (None, "request_log"),
    }


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
    facts = (
        evidence(Refusal, group_id="loop", **knocks),
        evidence(Refusal, group_id="burst", **burst),
        evidence(Refusal, group_id="commits", api="OFFSET_COMMIT", **knocks),
        evidence(Silence, group_id="late", ended_by="LATE", is_final=True),
        evidence(Silence, group_id="back", session_timeout_ms=45_000, is_final=True),
        evidence(
            Silence,
            group_id="streams",
            client_id="app-StreamThread-1-consumer",
            ended_by="LATE",
            is_final=True,
        ),
        evidence(
            Silence,
            group_id="bounce",
            instance_id="i",
            protocol="classic",
            ended_by="LATE",
            is_final=True,
        ),
        evidence(Contact, group_id="silent", session_timeout_ms=30_000, **silent),
        evidence(Contact, group_id="gone", **silent),
        evidence(Contact, group_id="away", is_away=True, **silent),
        evidence(Contact, group_id="parked", is_rejoining=True, **silent),
        evidence(
            Contact,
            group_id="heard",
            last_heartbeat_at=AS_OF_MS - 9_999,
            last_seen_at=AS_OF_MS - 9_999,
        ),
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


def test_stuck_groups_of_lines(stage: Stage, prove: Prove) -> None:
    facts = (
        evidence(
            Refusal,
            group_id="refused",
            refusal="UPGRADE_REFUSED",
            message="CUSTOM_ASSIGNOR",
            subject="",
            is_final=True,
        ),
        evidence(
            Rebalance,
            group_id="join",
            started_at=AS_OF_MS - 60_000,
            members_missing=["a", "b"],
            nobody_joined=True,
        ),
        evidence(Rebalance, group_id="slow", started_at=AS_OF_MS - 59_999),
        evidence(
            Rebalance,
            group_id="sync",
            joined_at=AT,
            outcome="RESTARTED",
            ended_at=AT + 60_000,
            is_final=True,
        ),
        evidence(
            Rebalance,
            group_id="done",
            joined_at=AT,
            synced_at=AT + 900_000,
            outcome="COMPLETED",
            is_final=True,
        ),
        evidence(Outage, group_id="down", until_at=AT + 30_000, is_final=True),
        evidence(Outage, group_id="blink", until_at=AT + 29_999, is_final=True),
        evidence(AssignorFailure, group_id="once", until_at=AT + 5_000, is_final=True),
        evidence(
            AssignorFailure, group_id="given up", reason=None, last_at=AT + 4_000, is_final=True
        ),
        evidence(
            AssignorFailure,
            group_id="still",
            first_at=AS_OF_MS - 9_000,
            last_at=AS_OF_MS - 4_000,
            attempts=2,
            epoch=8,
        ),
    )
    rows = {
        row.group_id: row
        for row in stuck_groups(inputs_of(stage(fact(GroupSnapshot)), prove(*facts))).collect()
    }
    assert {group: (row.reason, row.stuck_ms, row.is_open) for group, row in rows.items()} == {
        "refused": ("UPGRADE_REFUSED", 0, False),
        "join": ("JOIN_NEVER_COMPLETES", 60_000, True),
        "sync": ("SYNC_NEVER_COMPLETES", 60_000, False),
        "down": ("COORDINATOR_UNAVAILABLE", 30_000, False),
        "once": ("ASSIGNOR_FAILED", 5_000, False),
        "given up": ("ASSIGNOR_FAILED", 4_000, False),
        "still": ("ASSIGNOR_FAILED", 9_000, True),
    }
    assert (
        rows["still"].detail == "2 attempts, the last for epoch 8: Partitions were left unassigned."
    )
    assert rows["given up"].detail == "1 attempts, the last for epoch 7"
    assert rows["still"].evidence.position == 7
    assert rows["refused"].detail == "CUSTOM_ASSIGNOR: 1 attempts"
    assert "missing: a, b" in rows["join"].detail


def test_tables_of_lines_have_their_columns(
    spark: SparkSession, stage: Stage, prove: Prove
) -> None:
    lines = prove(evidence(Outage))
    assert lines.evidence_tonight is not None
    frames = {
        "refusals": with_owners(refusals(inputs_of(lines.evidence_tonight, lines)), None),
        "rebalances": with_owners(rebalances(inputs_of(lines.evidence_tonight, lines)), None),
        "rejoins": with_owners(rejoins(inputs_of(lines.evidence_tonight, lines)), None),
        "coordinator_events": coordinator_events(inputs_of(stage(), lines)),
    }
    for name, frame in frames.items():
        bare = [
            [(field.name, field.dataType.simpleString()) for field in struct]
            for struct in (frame.schema, table_schema(spark, name).struct)
        ]
        assert bare[0] == bare[1], name


def test_tables_that_ask_facts_of_other_kinds_get_them(
    spark: SparkSession, stage: Stage, land: Stage, prove: Prove
) -> None:
    """A silence is of a member that still is there, and of a life of its group; an event is told
    with the groups of its partition.
    """
    facts = [fact(MemberLife), fact(GroupSnapshot), fact(Epoch, started_at=AT)]
    silence = evidence(Silence)
    lines = prove(
        silence, evidence(ShardEvent, group_id=""), evidence(AssignorFailure, is_final=True)
    )
    assert lines.evidence_tonight is not None
    staged = stage(*facts)
    rows_of_night = NightRows(packed_of(spark, facts), land(), None, no_topics(spark))
    stored = StoredTables(lines.logical_date, spark.table)
    expected = {
        "stuck_members": with_owners(stuck_members(inputs_of(staged, lines)), None),
        "stuck_groups": with_owners(stuck_groups(inputs_of(staged, lines)), None),
        "coordinator_events": coordinator_events(inputs_of(staged, lines)),
    }
    for name, frame in expected.items():
        rows = frame.collect()
        assert rows, name
        assert rows_of_night.frame(SPECS[name], lines, stored).collect() == rows, name


def test_phases_and_events(stage: Stage, prove: Prove) -> None:
    lines = prove(
        evidence(Rebalance, joined_at=AT + 3_000, synced_at=AT + 3_004, outcome="COMPLETED"),
        evidence(ShardEvent, group_id="", moved_from=2),
    )
    assert lines.evidence_tonight is not None
    row = one(rebalances(inputs_of(lines.evidence_tonight, lines)))
    assert (row.join_ms, row.sync_ms, row.cause, row.generation) == (3_000, 4, "JOIN", 6)
    parked = prove(evidence(Rebalance, joined_at=AT + 3_000))
    (row,) = rebalances(inputs_of(stage(), parked)).collect()
    assert (row.join_ms, row.sync_ms) == (3_000, None), "nobody knows how long it will take"
    staged = stage(
        fact(GroupSnapshot, group_id="b"),
        fact(GroupSnapshot, group_id="a"),
        fact(GroupSnapshot, group_id="c", offsets_partition=4),
        fact(Epoch, started_at=AT + 60_000),
        fact(Epoch, started_at=AT + 60_001),
        fact(Epoch, started_at=AT - 1),
    )
    event = one(coordinator_events(inputs_of(staged, lines)))
    assert (event.event, event.moved_from, event.groups, event.group_ids, event.epochs_after) == (
        "LOADED",
        2,
        2,
        ["a", "b"],
        1,
    )


def test_who_was_slow_and_who_waited(stage: Stage, prove: Prove) -> None:
    told = {"generation": 3, "told_at": AT, "is_final": True}
    came = {"joined_at": AT + 9_000, "answered_at": AT + 9_010, "new_generation": 4}
    lines = prove(
        evidence(Rejoin, **told, **came, synced_at=AT + 9_020),
        evidence(Rejoin, member_id="n", **came | {"joined_at": AT + 1}),
        evidence(Rejoin, member_id="o", **told | {"told_at": AT + 9_001, "is_final": False}),
        evidence(Rejoin, member_id="p", **told, **came | {"joined_at": AT - 1}),
    )
    found = rejoins(inputs_of(stage(), lines)).collect()
    rows = {
        row.member_id: (row.generation, row.new_generation, row.rejoin_ms, row.wait_ms)
        for row in found
    }
    assert rows == {
        "m": (3, 4, 9_000, 10),
        "n": (None, 4, None, 9_009),
        "o": (3, None, None, None),
        "p": (3, 4, 0, 9_011),
    }, "times of two lines may differ by a millisecond"
    assert {row.member_id for row in found if not row.is_final} == {"n", "o"}


def test_unseen_reasons() -> None:
    assert unseen_reasons(frozenset({"server_log", "request_log"})) == {}
    of_lines = {"LATE_LEAVE", "JOIN_NEVER_COMPLETES", "SYNC_NEVER_COMPLETES", "ASSIGNOR_FAILED"}
    assert unseen_reasons(frozenset({"request_log"})).keys() == of_lines
    assert unseen_reasons(frozenset({"server_log"})).keys() == {
        "NOT_HEARTBEATING",
        "LATE_LEAVE",
        "COORDINATOR_UNAVAILABLE",
    }
