"""False alarms are counted: every row of `stuck_members` and `stuck_groups` over all recordings,
with and without broker logs, needs a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import cache

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.model import Thresholds
from groupreplay.config.sources import TEXT_KINDS
from groupreplay.evidence.evidence_facts import Contact, Departure
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.stuck_groups import stuck_groups
from groupreplay.report.tables.stuck_members import stuck_members
from groupreplay.workers.evidence_slices import EVIDENCE
from groupreplay.workers.fact_frames import REPLAYED
from tests.support.fact_frames import frame_of
from tests.support.log_lines import newest_ms, recorded_evidence
from tests.support.table_inputs import inputs_of
from tests.truth.faults import (
    BEATS_MS,
    Alarm,
    Fault,
    faults,
    healthy_groups,
    is_only_departure,
    owed,
    unexplained_ms,
)
from tests.truth.tables import Tables
from tests.truth.truth import KNOWN, OF_CONSUMERS, Truth, truth_of

SHORTEST_MS = Thresholds().slow_revocation_ms
"""Nothing that is over sooner is worth an alarm."""
TWICE = ("churn-4.3", "consumer-4.3", "migration-4.0", "streams-protocol-4.3")
"""Recordings that are read without broker logs too, whenever tests run: consumer groups, their
faults, groups of both protocols, and streams groups.
"""

Alarms = Callable[[str, bool], list[Alarm]]


@pytest.fixture(scope="module")
def alarms(spark: SparkSession) -> Alarms:
    """(recording, whether broker logs were read) -> rows of both tables, as one night tells
    them.
    """

    @cache
    def told(recording: str, with_lines: bool) -> list[Alarm]:
        tables = Tables(recording)
        context = ReportContext(
            "c",
            date(2026, 1, 1),
            tables.as_of_ms,
            Thresholds(),
            log_kinds=frozenset(TEXT_KINDS),
        )
        if with_lines:
            lines = frame_of(spark, EVIDENCE, recorded_evidence(recording))
            context = replace(
                context, evidence=lines, evidence_tonight=lines, lines_as_of_ms=newest_ms(recording)
            )
        staged = frame_of(spark, REPLAYED, tables.facts)
        rows = stuck_members(inputs_of(staged, context)).unionByName(
            stuck_groups(inputs_of(staged, context)), allowMissingColumns=True
        )
        rows = rows.withColumns(
            {"since": sf.unix_millis("since_at"), "by_lines": sf.col("evidence").isNotNull()}
        )
        return [_alarm(truth_of(recording), row) for row in rows.collect()]

    return told


def _alarm(truth: Truth, row: Row) -> Alarm:
    members = {row.member_id, *(row.blocked_by or ())} - {None}
    clients = frozenset({truth.client(member) for member in members} | {row.client_id} - {None})
    return Alarm(
        row.group_id, clients, row.reason, row.since, row.since + row.stuck_ms, row.by_lines
    )


@pytest.mark.parametrize("recording", OF_CONSUMERS)
def test_every_alarm_has_its_fault(recording: str, alarms: Alarms) -> None:
    """Nothing but what the script did, and no longer than that: with broker logs, and so without,
    for these add alarms and take none away.
    """
    known, healthy = faults(truth_of(recording)), healthy_groups(truth_of(recording), SHORTEST_MS)
    false_alarms = [
        alarm
        for alarm in alarms(recording, True)
        if alarm.group in healthy or unexplained_ms(alarm, known) > BEATS_MS
    ]
    assert false_alarms == []


@pytest.mark.parametrize(
    "recording",
    [each if each in TWICE else pytest.param(each, marks=pytest.mark.soak) for each in KNOWN],
)
def test_broker_logs_take_no_alarm_away(recording: str, alarms: Alarms) -> None:
    of_topic = [alarm for alarm in alarms(recording, True) if not alarm.by_lines]
    assert sorted(map(repr, of_topic)) == sorted(map(repr, alarms(recording, False)))


@pytest.mark.parametrize("recording", OF_CONSUMERS)
def test_every_fault_is_found(recording: str, alarms: Alarms) -> None:
    truth = truth_of(recording)
    told = [alarm for alarm in alarms(recording, True) if alarm.reason != "WAITING_ON_HOLDER"]
    for fault in owed(truth, SHORTEST_MS):
        if is_only_departure(fault, truth):
            assert _went(recording, fault), fault
        else:
            assert any(
                fault.explains(alarm) and alarm.since < fault.until and fault.since < alarm.until
                for alarm in told
            ), fault


def _went(recording: str, fault: Fault) -> bool:
    """Whether a line tells that the member was fenced, or why it left."""
    known = recorded_evidence(recording)
    members = {
        fact.member_id
        for fact in known
        if isinstance(fact, Contact) and fact.client_id == fault.client
    }
    departures = [
        fact for fact in known if isinstance(fact, Departure) and fact.member_id in members
    ]
    return any(
        fault.since <= each.ended_at <= fault.until + BEATS_MS
        and (each.outcome == "FENCED" or each.client_reason)
        for each in departures
    )


def test_there_is_enough_to_be_silent_about_and_to_tell() -> None:
    healthy = sum(len(healthy_groups(truth_of(recording), SHORTEST_MS)) for recording in KNOWN)
    kinds = {fault.kind for recording in KNOWN for fault in owed(truth_of(recording), SHORTEST_MS)}
    assert healthy >= 50
    assert kinds >= {
        "KILLED",
        "FROZEN",
        "STATIC_GONE",
        "SLOW_CALLBACK",
        "HANGS",
        "INTRUDER",
        "KNOCKS_AT_STREAMS",
    }
