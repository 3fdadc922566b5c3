"""What lines prove, joined to the facts of the topic: which line belongs to which row, and what it
may say.

Holds report/joins/lines/departures.py, report/joins/lines/distinct_refusals.py.
Holds report/joins/lines/fenced_members.py, report/joins/lines/rebalance_lines.py.
Holds report/tables/coordinator_events.py, report/tables/rebalances.py.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from groupreplay.evidence.evidence_facts import (
    AssignorFailure,
    Departure,
    Outage,
    Rebalance,
    ShardEvent,
    Silence,
)
from groupreplay.replay.facts import Epoch, GroupSnapshot, HandOver, HeldPartition, MemberLife
from groupreplay.report.catalog import SPECS
from groupreplay.report.joins.group_owners import with_owners
from groupreplay.report.table_frames import NightRows
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
from tests.report.conftest import Prove, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import only_row, packed_of
from tests.support.table_inputs import inputs_of, no_topics

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
    row = only_row(
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


NEAREST: dict[str, tuple[list[dict[str, Any]], tuple[str, str | None, str]]] = {
    "no line": ([], ("LEFT_OR_FENCED", None, "NONE")),
    "too late": ([{"ended_at": AT + 65_001}], ("LEFT_OR_FENCED", None, "NONE")),
    "of an earlier life": ([{"ended_at": AT - 5_001}], ("LEFT_OR_FENCED", None, "NONE")),
    "of another epoch": (
        [{"ended_at": AT + 100, "epoch": 4}],
        ("LEFT_OR_FENCED", None, "NONE"),
    ),
    "long before a classic generation shows it": (
        [{"ended_at": AT + 30_000}],
        ("LEFT", "LEAVE_HEARTBEAT", "EXACT"),
    ),
    "the nearest of two that differ": (
        [
            {"ended_at": AT + 59_000},
            {"ended_at": AT + 20_000, "outcome": "FENCED", "end_detail": "SESSION_EXPIRED"},
        ],
        ("LEFT", "LEAVE_HEARTBEAT", "INFERRED"),
    ),
    "both logs agree": (
        [{"ended_at": AT + 60_000}, {"ended_at": AT + 60_000, "source": "request_log"}],
        ("LEFT", "LEAVE_HEARTBEAT", "EXACT"),
    ),
    "it says that it polled too late, as in members": (
        [
            {
                "ended_at": AT + 60_000,
                "end_detail": "LEAVE_GROUP",
                "client_reason": "consumer poll timeout has expired.",
            }
        ],
        ("LEFT", "POLL_TIMEOUT", "EXACT"),
    ),
}
"""Lines of a group's member -> how its span ended, in what detail, and how sure that is."""


def test_without_an_epoch_the_nearest_line_within_the_span_counts(
    stage: Stage, prove: Prove
) -> None:
    held = [fact(HeldPartition, group_id=name, **REMOVED) for name in NEAREST]
    lines = [
        evidence(Departure, group_id=name, **each)
        for name, (told, _) in NEAREST.items()
        for each in told
    ]
    rows = member_assignments(inputs_of(stage(*held), prove(*lines, evidence(Outage)))).collect()
    assert {row.group_id: (row.end_reason, row.end_detail, row.end_confidence) for row in rows} == {
        name: expected for name, (_, expected) in NEAREST.items()
    }


def test_a_leave_that_was_lost_is_not_the_removal_by_the_next_leader(
    stage: Stage, prove: Prove
) -> None:
    """The next leader's own line is missing. A removal outside of the classic protocol writes its
    tombstones at once, so the earlier line is not of it.
    """
    lost = prove(evidence(Departure, ended_at=AT + 20_000))
    removed = {"end_reason": "LEFT_OR_FENCED", "ended_at": AT + 100_000, "is_final": True}
    ends = {
        protocol: only_row(
            members(inputs_of(stage(fact(MemberLife, member_protocol=protocol, **removed)), lost))
        ).end_reason
        for protocol in ("consumer", "streams", "classic")
    }
    assert ends == {"consumer": "LEFT_OR_FENCED", "streams": "LEFT_OR_FENCED", "classic": "LEFT"}


def test_a_leave_may_seem_to_come_before_its_member_was_let_in(stage: Stage, prove: Prove) -> None:
    """By the clock of another broker. Simulated: classic-1, failover 4.1.2 seed 997000101. Who sends
    a heartbeat that leaves may be back under its id.
    """
    row = {"end_reason": "LEFT_OR_FENCED", "joined_at": AT + 1_000, "ended_at": AT + 10_000}
    ends = {}
    for detail in ("LEAVE_GROUP", "LEAVE_HEARTBEAT"):
        left = prove(evidence(Departure, ended_at=AT, end_detail=detail))
        life = fact(MemberLife, member_protocol="classic", is_final=True, **row)
        ends[detail] = only_row(members(inputs_of(stage(life), left))).end_reason
    assert ends == {"LEAVE_GROUP": "LEFT", "LEAVE_HEARTBEAT": "LEFT_OR_FENCED"}


def test_what_records_prove_stays(stage: Stage, prove: Prove) -> None:
    """A row that was replaced: lines contradict nothing of it."""
    lines = prove(
        evidence(Departure, ended_at=AT + 20_000, outcome="FENCED", end_detail="REBALANCE_TIMEOUT")
    )
    replaced = only_row(
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
    row = only_row(revocation_latencies(inputs_of(stage(fenced), lines)))
    assert (row.outcome, row.end_detail, row.end_confidence) == (
        "FENCED",
        "REBALANCE_TIMEOUT",
        "EXACT",
    )
    left = only_row(
        revocation_latencies(
            inputs_of(stage(fenced), prove(evidence(Departure, ended_at=AT + 20_000)))
        )
    )
    assert (left.outcome, left.end_confidence) == ("LEFT", "EXACT")
    alone = only_row(revocation_latencies(inputs_of(stage(fenced), prove(evidence(Outage)))))
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
            {field.name: field.dataType.simpleString() for field in struct}
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
    row = only_row(rebalances(inputs_of(lines.evidence_tonight, lines)))
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
    event = only_row(coordinator_events(inputs_of(staged, lines)))
    assert (event.event, event.moved_from, event.groups, event.group_ids, event.epochs_after) == (
        "LOADED",
        2,
        3,
        ["a", "b", "g"],
        1,
    ), "g has no snapshot: it was removed in the night, and its epochs count"
