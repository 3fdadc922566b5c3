"""What an absence cost or saved: of recordings, from the topic alone and with lines, and by hand.

Holds report/joins/lines/member_contacts.py, report/joins/lines/settings_in_force.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from groupreplay.config.model import BrokersConfig
from groupreplay.evidence.evidence_facts import SEEN, BrokerSetting, Contact, Departure
from groupreplay.replay.decision_facts import Absence
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.lines.settings_in_force import GONE_MS, broker_settings
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.tables.static_accounting import static_accounting
from groupreplay.tables.schemas import table_schema
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import AS_OF_MS, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import frame_of
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import group
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of, read_to

BROKERS = BrokersConfig(
    heartbeat_interval_ms=2000,
    session_timeout_ms=12_000,
    min_session_timeout_ms=6000,
    classic_heartbeat_ms=1000,
)
"""As the brokers of the recordings were."""

GROUPS = (
    ("classic-3.9", "classic-static"),
    ("classic-3.9", "classic-fenced-instance"),
    ("consumer-4.3", "static-bounce"),
    ("consumer-4.3", "fence-loop"),
    ("consumer-4.3", "frozen"),
    ("other-groups-4.2", "classic-static"),
)

Prove = Callable[..., ReportContext]


@pytest.fixture
def prove(spark: SparkSession, context: ReportContext) -> Prove:
    """Facts of lines -> a context in which they are evidence, all of this night."""

    def build(*facts: Any) -> ReportContext:
        frame = frame_of(spark, EVIDENCE, facts)
        return replace(
            context,
            brokers=BROKERS,
            evidence=frame,
            evidence_tonight=frame,
            lines_as_of_ms=AS_OF_MS,
        )

    return build


def recorded(recording: str, group_id: str) -> list[Any]:
    one = group(recording, group_id)
    facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
    return [
        replace(each, group_id=f"{recording} {group_id}")
        for each in facts
        if isinstance(each, Absence)
    ]


def told(recording: str, group_id: str) -> list[Any]:
    return [
        replace(each, group_id=f"{recording} {group_id}")
        for each in recorded_evidence(recording)
        if isinstance(each, (Contact, Departure)) and each.group_id == group_id
    ]


def inputs(staged: DataFrame, context: ReportContext, at: int = AT) -> TableInputs:
    """at: how far the partitions of the rows were read."""
    return inputs_of(staged, context, tables=read_to(staged, context, at))


Rows = dict[tuple[str, str], list[Row]]


def rows_of(stage: Stage, context: ReportContext) -> Rows:
    """(recording, group) -> its rows in the order of the log."""
    staged = stage(*(each for one in GROUPS for each in recorded(*one)))
    found: Rows = {one: [] for one in GROUPS}
    rows = static_accounting(inputs(staged, context)).collect()
    for row in sorted(rows, key=lambda row: row.from_offset):
        recording, _, group_id = row.group_id.partition(" ")
        found[recording, group_id].append(row)
    return found


def test_what_brokers_printed_when_they_started_needs_no_configuration(
    stage: Stage, prove: Prove
) -> None:
    printed = [
        each for each in recorded_evidence("consumer-4.3") if isinstance(each, BrokerSetting)
    ]
    told = prove(*printed)
    for brokers, own_ms in (
        (BrokersConfig(), 12_000),
        (BrokersConfig(session_timeout_ms=46_000), 46_000),
    ):
        back, gone = rows_of(stage, replace(told, brokers=brokers))["consumer-4.3", "static-bounce"]
        assert (back.own_timeout_ms, gone.own_timeout_ms) == (own_ms, own_ms)


def test_a_broker_that_is_gone_for_a_week_counts_no_more(prove: Prove) -> None:
    """One that says nothing counts as long as no other is seen later: logs may just have stopped."""
    settings = [
        *[
            (1, "version", "3.9.2", AT),
            (2, "version", "4.3.1", AT - 1),
            (3, "version", "4.2.0", AT),
        ],
        (3, SEEN, "", AT + 1),
    ]

    def versions(*more: tuple[int, str, str, int]) -> list[tuple[str, str]]:
        facts = [
            evidence(BrokerSetting, broker=broker, setting=name, value=value, occurred_at=at)
            for broker, name, value, at in (*settings, *more)
        ]
        told = prove(*facts).evidence
        assert told is not None
        (row,) = broker_settings(told).collect()
        return sorted(tuple(each) for each in row.settings)

    old, *others = [("version", each) for each in ("3.9.2", "4.2.0", "4.3.1")]
    assert versions() == [old, *others]
    assert versions((2, SEEN, "", AT + GONE_MS)) == [old, *others]
    assert versions((2, SEEN, "", AT + GONE_MS + 1)) == others, "3 was seen a ms later"
    assert versions((2, "version", "4.4.0", AT + 2 * GONE_MS)) == [("version", "4.4.0")]


def test_recordings_from_the_topic_alone(stage: Stage, context: ReportContext) -> None:
    rows = rows_of(stage, replace(context, brokers=BROKERS))
    *absorbed, expired = rows["classic-3.9", "classic-static"]
    assert [(r.to_offset, r.outcome, r.left_shown_by) for r in absorbed] == [
        (36, "ABSORBED", "COMMIT"),
        (69, "ABSORBED", "COMMIT"),
        (104, "ABSORBED", "COMMIT"),
    ]
    assert [(r.gap_low_ms, r.gap_ms, r.gap_high_ms) for r in absorbed] == [
        (0, None, 4014),
        (0, None, 3525),
        (0, None, 3091),
    ]
    assert {(r.partitions, r.avoided_moves, r.epochs, r.blind_ms) for r in absorbed} == {
        (2, 4, 0, None)
    }
    assert {(r.absorbed_own, r.owner_was_alive, r.own_timeout_ms) for r in absorbed} == {
        (True, None, 12_000)
    }
    assert (expired.outcome, expired.blind_ms, expired.blind_extra_ms) == ("EXPIRED", 12896, 12896)
    assert (expired.partitions, expired.epochs, expired.absorbed_own) == (2, 1, False)
    assert (expired.gap_low_ms, expired.gap_high_ms, expired.absorbed_45s) == (None, None, None)

    back, gone = rows["consumer-4.3", "static-bounce"]
    assert (back.outcome, back.left_shown_by, back.from_offset) == ("ABSORBED", "AWAY_RECORD", 38)
    assert (back.gap_low_ms, back.gap_ms, back.gap_high_ms) == (3968, 3968, 3968)
    assert (back.own_timeout_ms, back.absorbed_45s, back.is_cliff) == (12_000, True, False)
    assert (gone.outcome, gone.blind_ms, gone.partitions, gone.epochs) == ("EXPIRED", 10676, 2, 1)

    dynamic = [*rows["consumer-4.3", "fence-loop"], *rows["consumer-4.3", "frozen"]]
    assert [r.gap_low_ms for r in dynamic] == [4094, 3729, 2889, 2908, 13227]
    assert {(r.membership, r.outcome, r.blind_extra_ms) for r in dynamic} == {
        ("DYNAMIC", "RETURNED", None)
    }
    assert [r.absorbed_45s for r in dynamic] == [None, True, True, True, True]
    assert [r.is_cliff for r in dynamic] == [False] * 5


def test_recordings_with_both_logs(stage: Stage, prove: Prove) -> None:
    rows = rows_of(stage, prove(*(each for one in GROUPS for each in told(*one))))
    *absorbed, expired = rows["classic-3.9", "classic-static"]
    assert {r.left_shown_by for r in absorbed} == {"HEARTBEAT"}
    assert [(r.gap_ms, r.gap_high_ms) for r in absorbed] == [
        (3125, 4014),
        (3122, 3525),
        (3133, 3091),
    ]
    assert absorbed[0].gap_low_ms == 2102
    assert {(r.owner_was_alive, r.absorbed_own, r.is_cliff) for r in absorbed} == {
        (False, True, False)
    }
    assert (expired.outcome, expired.blind_ms, expired.left_shown_by) == (
        "EXPIRED",
        13_086,
        "HEARTBEAT",
    )
    assert expired.evidence is not None
    clients = [each.client_id for each in (*absorbed, expired)]
    assert clients == [f"classic-static-{each}" for each in ("m0", "m1", "m2", "n2")]

    duplicates = rows["classic-3.9", "classic-fenced-instance"]
    assert [(r.owner_was_alive, r.gap_ms) for r in duplicates] == [(True, 266), (True, 2)]

    back, gone = rows["consumer-4.3", "static-bounce"]
    assert (back.left_shown_by, back.gap_ms, back.owner_was_alive) == ("AWAY_RECORD", 3968, False)
    assert (gone.outcome, gone.blind_ms) == ("EXPIRED", 10_676)
    assert {r.outcome for r in rows["consumer-4.3", "fence-loop"]} == {"RETURNED"}


def test_a_cliff_is_what_no_timeout_of_the_consumer_protocol_absorbs(
    stage: Stage, context: ReportContext
) -> None:
    brokers = BrokersConfig(
        heartbeat_interval_ms=1, session_timeout_ms=3000, max_session_timeout_ms=3000
    )
    rows = rows_of(stage, replace(context, brokers=brokers))["other-groups-4.2", "classic-static"]
    assert [(r.gap_high_ms, r.is_cliff) for r in rows] == [
        (3591, True),
        (3017, True),
        (3127, True),
        (None, False),
    ]


def test_a_member_that_said_goodbye_left(stage: Stage, prove: Prove) -> None:
    absent = {"removed_at": AT, "last_commit_at": AT - 30_000, "to_offset": 10}
    staged = stage(
        fact(Absence, **absent),
        fact(Absence, from_offset=20, identity="instance:j", member_id="n", **absent),
        fact(
            Absence,
            from_offset=30,
            member_id="r",
            **{**absent, "outcome": "EXPIRED_RETURNED", "returned_at": AT + 50_000},
        ),
        fact(Absence, from_offset=40, member_id="away", outcome="AWAY", left_at=AT),
        fact(Absence, from_offset=50, identity="instance:k", member_id="k", **absent),
    )
    leave = {"outcome": "LEFT", "end_detail": "LEAVE_GROUP"}
    context = prove(
        evidence(Departure, member_id="m", ended_at=AT - 10, **leave),
        evidence(Departure, member_id="m", ended_at=AT + 1, source="request_log", **leave),
        evidence(Departure, member_id="n", ended_at=AT - 60_000, **leave),
        evidence(Departure, member_id="r", ended_at=AT - 5, **leave),
        evidence(Departure, member_id="k", ended_at=AT + 3, source="request_log", **leave),
    )
    read = inputs(staged, context, AT + 70_000)
    rows = {r.from_offset: r for r in static_accounting(read).collect()}
    assert (rows[10].outcome, rows[10].left_shown_by, rows[10].blind_ms) == ("LEFT", "LEAVE", 10)
    assert rows[10].absorbed_own is None
    assert (rows[20].outcome, rows[20].left_shown_by) == ("EXPIRED", "COMMIT"), "committed since"
    assert (rows[30].outcome, rows[30].gap_ms) == ("LEFT_RETURNED", 50_005)
    assert (rows[30].absorbed_own, rows[30].absorbed_45s, rows[30].absorbed_60s) == (
        False,
        False,
        True,
    )
    assert (rows[40].blind_ms, rows[40].removed_at) == (70_000, None)
    assert (rows[50].left_shown_by, rows[50].blind_ms) == ("LEAVE", 0), "answered after the removal"


def test_what_waited_for_its_answer_shows_life_until_it_came(stage: Stage, prove: Prove) -> None:
    """It may have died at any time from then on, until after the answer; the session runs from the
    answer.
    """
    absent = {"outcome": "ABSORBED", "returned_at": AT, "to_offset": 10}
    staged = stage(
        fact(Absence, last_commit_at=AT - 60_000, **absent),
        fact(Absence, from_offset=20, member_id="c", last_commit_at=AT - 45_000, **absent),
        fact(Absence, from_offset=30, member_id="old", last_commit_at=AT - 60_000, **absent),
    )
    heard = {"first_at": AT - 90_000, "last_heartbeat_at": AT - 30_000, "longest_gap_ms": 3_000}
    waited = heard | {"last_alive_at": AT - 50_000}
    context = prove(
        evidence(Contact, member_id="m", **waited),
        evidence(Contact, member_id="c", **waited),
        evidence(Contact, member_id="old", **heard),
    )
    rows = {r.from_offset: r for r in static_accounting(inputs(staged, context)).collect()}
    assert {r.left_shown_by for r in rows.values()} == {"HEARTBEAT"}
    gaps = {at: (r.gap_low_ms, r.gap_ms, r.gap_high_ms) for at, r in rows.items()}
    assert gaps == {
        10: (27_000, 50_000, 60_000),
        20: (27_000, 45_000, 45_000),
        30: (27_000, 30_000, 60_000),
    }


def test_who_may_have_lived_on_was_gone_for_no_longer(stage: Stage, prove: Prove) -> None:
    """A join that waited and was refused shows life until its answer. Who was seen to join alone was
    to be heard of within its heartbeat interval.
    """
    absent = {"outcome": "ABSORBED", "returned_at": AT, "to_offset": 10}
    staged = stage(
        fact(Absence, member_protocol="classic", **absent),
        fact(Absence, from_offset=20, member_id="c", member_protocol="classic", **absent),
        fact(Absence, from_offset=30, member_id="k", member_protocol="consumer", **absent),
    )
    heard = {"first_at": AT - 90_000, "last_heartbeat_at": AT - 30_000}
    joined = heard | {"longest_gap_ms": 10, "last_seen_at": AT - 30_000}
    context = prove(
        evidence(
            Contact, member_id="m", longest_gap_ms=3_000, beats=9, last_seen_at=AT - 20_000, **heard
        ),
        evidence(Contact, member_id="c", **joined),
        evidence(Contact, member_id="k", heartbeat_interval_ms=5_000, **joined),
    )
    rows = {r.from_offset: r for r in static_accounting(inputs(staged, context)).collect()}
    gaps = {at: (r.gap_low_ms, r.gap_ms) for at, r in rows.items()}
    assert gaps == {10: (17_000, 30_000), 20: (29_000, 30_000), 30: (25_000, 30_000)}


def test_the_most_is_not_less_than_the_least(stage: Stage, context: ReportContext) -> None:
    """The broker whose clock is four seconds ahead wrote the last commit, another one the rest."""
    back = {"membership": "DYNAMIC", "outcome": "RETURNED", "removed_at": AT - 11_000}
    (row,) = static_accounting(
        inputs(stage(fact(Absence, **back, last_commit_at=AT - 9_000, returned_at=AT)), context)
    ).collect()
    assert (row.gap_low_ms, row.gap_ms, row.gap_high_ms) == (11_000, None, 11_000)


def test_a_removed_member_is_waited_for_an_hour(stage: Stage, context: ReportContext) -> None:
    staged = stage(
        fact(Absence, removed_at=AT),
        fact(Absence, from_offset=19, removed_at=AT - 3_600_000),
        fact(Absence, from_offset=20, removed_at=AT - 3_600_001),
        fact(Absence, from_offset=30, outcome="AWAY", left_at=AT - 3_600_001),
        fact(Absence, from_offset=40, outcome="UNOBSERVED", left_at=0, is_final=True),
    )
    rows = static_accounting(inputs(staged, context, AT)).collect()
    assert {row.from_offset: row.is_final for row in rows} == {
        10: False,
        19: False,
        20: True,
        30: False,
        40: True,
    }


def test_rows_have_the_columns_of_the_schema(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    frame = static_accounting(inputs(stage(fact(Absence)), context))
    schema = table_schema(spark, SPECS["static_accounting"].name).struct
    wanted = {f.name: f.dataType.simpleString() for f in schema if f.name not in OWNERS}
    assert {f.name: f.dataType.simpleString() for f in frame.schema} == wanted


OWNERS = {"team", "contact"}
