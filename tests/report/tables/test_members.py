"""What lines prove of a life: how it ended, and how it was in touch."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import (
    Contact,
    Departure,
)
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.members import members
from tests.report.conftest import Prove, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, life
from tests.support.fact_frames import only_row
from tests.support.table_inputs import inputs_of


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


def test_who_dies_before_its_first_k2_was_heard_of(stage: Stage, prove: Prove) -> None:
    """Its join was answered 100 ms before the K2, and it sent nothing more; it is gone a session
    later, or still there. Who left before the row began is of another life."""
    lives = stage(
        life(from_offset=1, member_id="died", ended_at=AT + 60_000, end_reason="LEFT_OR_FENCED"),
        life(from_offset=2, member_id="dies"),
        life(from_offset=3, member_id="back", joined_at=AT + 90_000),
    )
    first = {"first_at": AT - 3_000, "last_heartbeat_at": AT - 100, "heartbeats": 1}
    lines = prove(
        evidence(Contact, member_id="died", ended_at=AT + 45_000, **first),
        evidence(Contact, member_id="dies", **first),
        evidence(Contact, member_id="back", ended_at=AT + 45_000, **first),
    )
    rows = members(inputs_of(lives, lines)).orderBy("from_offset").collect()
    assert [row.heartbeats for row in rows] == [1, 1, None]


def test_a_member_that_says_so_left_since_it_did_not_poll_in_time(
    stage: Stage, prove: Prove
) -> None:
    """Words alone do not: by another way out, or in other words, the end is what the line says."""
    said = {"left": "consumer poll timeout has expired.", "closed": "the consumer is being closed"}
    lives = stage(
        *[
            life(member_id=each, ended_at=AT + 10, end_reason="LEFT_OR_FENCED")
            for each in ("left", "closed", "beat")
        ]
    )
    lines = prove(
        *[
            evidence(
                Departure,
                member_id=each,
                ended_at=AT,
                end_detail="LEAVE_HEARTBEAT" if each == "beat" else "LEAVE_GROUP",
                client_reason=said.get(each, said["left"]),
            )
            for each in ("left", "closed", "beat")
        ]
    )
    rows = members(inputs_of(lives, lines)).collect()
    assert {row.member_id: (row.end_reason, row.end_detail) for row in rows} == {
        "left": ("LEFT", "POLL_TIMEOUT"),
        "closed": ("LEFT", "LEAVE_GROUP"),
        "beat": ("LEFT", "LEAVE_HEARTBEAT"),
    }


def test_without_logs_lives_say_what_the_topic_says(stage: Stage, context: ReportContext) -> None:
    row = only_row(
        members(inputs_of(stage(life(ended_at=AT, end_reason="LEFT_OR_FENCED")), context))
    )
    assert (row.end_reason, row.end_confidence, row.software_name, row.evidence) == (
        "LEFT_OR_FENCED",
        "NONE",
        None,
        None,
    )


def test_a_line_of_an_earlier_end_under_the_same_id_does_not_count(
    stage: Stage, prove: Prove
) -> None:
    """The member left, and came back 2 s later; where the line of its next end is missing, nobody
    knows how that was, unless the clock of its coordinator may have made it so soon.
    """
    ends = {"late": AT + 600_000, "soon": AT + 4_000}
    lives = stage(
        *(
            life(
                member_id=each,
                joined_at=AT + 2_000,
                ended_at=ended_at,
                end_reason="LEFT_OR_FENCED",
                is_final=True,
            )
            for each, ended_at in ends.items()
        )
    )
    lines = prove(*(evidence(Departure, member_id=each, ended_at=AT) for each in ends))
    rows = members(inputs_of(lives, lines)).collect()
    assert {row.member_id: row.end_reason for row in rows} == {
        "late": "LEFT_OR_FENCED",
        "soon": "LEFT",
    }


def test_a_line_of_a_later_end_under_the_same_id_does_not_count(stage: Stage, prove: Prove) -> None:
    """The member was removed, in a line that is missing, came back and left: only its join shows
    that this is another end. Who came right then may be the same, by a line that is late.
    """
    came = {"again": AT + 900, "before": AT - 9_000, "late": AT + 100, "unheard": None}
    lives = stage(
        *(life(member_id=each, ended_at=AT, end_reason="LEFT_OR_FENCED") for each in came)
    )
    lines = prove(
        *(
            evidence(Departure, member_id=each, ended_at=AT + 4_000, since_at=since_at)
            for each, since_at in came.items()
        )
    )
    rows = members(inputs_of(lives, lines)).collect()
    assert {row.member_id: row.end_reason for row in rows} == {
        "again": "LEFT_OR_FENCED",
        "before": "LEFT",
        "late": "LEFT",
        "unheard": "LEFT",
    }
