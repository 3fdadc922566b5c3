"""Rebalances of Kafka Streams groups: counts, what is due, and what lines prove of causes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from groupreplay.evidence.evidence_facts import Departure, Rebalance
from groupreplay.replay.streams_facts import StreamsRebalance
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.streams_rebalances import streams_rebalances
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import frame_of, only_row
from tests.support.table_inputs import inputs_of


def test_no_duration_is_negative(stage: Stage, context: ReportContext) -> None:
    late = fact(StreamsRebalance, join_ms=-5, sync_ms=0, commit_gap_ms=-1, probing_interval_ms=7)
    row = only_row(streams_rebalances(inputs_of(stage(late), context)))
    found = (row.join_ms, row.sync_ms, row.commit_gap_ms, row.probing_interval_ms)
    assert found == (None, 0, None, 7)


def test_a_rebalance_has_its_counts_and_what_is_due_next(
    stage: Stage, context: ReportContext
) -> None:
    counted = fact(
        StreamsRebalance,
        also=["JOIN"],
        tasks=5,
        tasks_misplaced=2,
        imbalance_tenths=1666,
        next_at=AT + 60_000,
        next_kind="PROBING",
        outcome="PROBING_DUE",
    )
    row = only_row(streams_rebalances(inputs_of(stage(counted), context)))
    assert (row.tasks, row.tasks_misplaced, row.tasks_owed) == (5, 2, None)
    assert row.imbalance_pct == Decimal("166.6")
    assert (row.next_kind, row.outcome, row.also) == ("PROBING", "PROBING_DUE", ["JOIN"])
    far = fact(StreamsRebalance, imbalance_tenths=2**62, tasks=2**40)
    row = only_row(streams_rebalances(inputs_of(stage(far), context)))
    assert (row.imbalance_pct, row.tasks) == (None, 2**31 - 1)


SCHEDULED = "triggered followup rebalance scheduled for "
TOLD: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[Any, ...]]] = {
    # of the rebalance, of the line -> cause, confidence, whether the line is its evidence
    "a probe, proved": ({"cause": "PROBING"}, {"client_reason": f"{SCHEDULED}1795239831537"}, ("PROBING", "EXACT", True)),
    "a follow-up, proved": ({"cause": "FOLLOWUP"}, {"client_reason": f"{SCHEDULED}0"}, ("FOLLOWUP", "EXACT", True)),
    "by who loses a task": ({"cause": "FOLLOWUP"}, {"client_reason": "need to revoke partitions and re-join"}, ("FOLLOWUP", "EXACT", True)),
    "another cause than the line's": ({"cause": "PROBING"}, {"client_reason": f"{SCHEDULED}0"}, ("PROBING", "INFERRED", False)),
    "shutdown": ({"cause": "UNKNOWN", "confidence": "NONE"}, {"client_reason": "Shutdown requested"}, ("SHUTDOWN", "EXACT", True)),
    "a corrupted task": ({"cause": "UNKNOWN", "confidence": "NONE"}, {"client_reason": "Active tasks corrupted"}, ("TASKS_CORRUPTED", "EXACT", True)),
    "a probe that records did not show": ({"cause": "UNKNOWN", "confidence": "NONE"}, {"client_reason": f"{SCHEDULED}17952"}, ("PROBING", "EXACT", True)),
    "joined again, and no more": ({"cause": "UNKNOWN", "confidence": "NONE"}, {"cause": "SUBSCRIPTION"}, ("REJOIN", "EXACT", True)),
    "a subscription is not proved by metadata": ({"cause": "SUBSCRIPTION"}, {"cause": "SUBSCRIPTION"}, ("SUBSCRIPTION", "INFERRED", False)),
    "a member that is new": ({"cause": "JOIN"}, {"cause": "JOIN"}, ("JOIN", "EXACT", True)),
    "a member that left": ({"cause": "LEFT_OR_FENCED"}, {"cause": "LEFT"}, ("LEFT", "EXACT", True)),
    "a member that is gone, begun by a join": ({"cause": "LEFT_OR_FENCED"}, {"cause": "JOIN"}, ("LEFT_OR_FENCED", "INFERRED", False)),
    "words of its own": ({"cause": "FOLLOWUP"}, {"client_reason": f"{SCHEDULED}0 or so"}, ("FOLLOWUP", "INFERRED", False)),
    "the line of another generation": ({"cause": "PROBING"}, {"client_reason": f"{SCHEDULED}1795", "generation": 3}, ("PROBING", "INFERRED", False)),
    "a group of the streams protocol": ({"cause": "UNKNOWN", "confidence": "NONE", "protocol": "streams"}, {"client_reason": f"{SCHEDULED}0"}, ("UNKNOWN", "NONE", False)),
    "what records prove": ({"cause": "UNKNOWN", "confidence": "EXACT"}, {"client_reason": f"{SCHEDULED}0"}, ("UNKNOWN", "EXACT", False)),
}  # fmt: skip


@pytest.fixture(name="told_by_lines")
def _told_by_lines(spark: SparkSession, context: ReportContext) -> Any:
    def build(*facts: Any) -> ReportContext:
        frame = frame_of(spark, EVIDENCE, facts)
        return replace(context, evidence=frame, evidence_tonight=frame)

    return build


def test_lines_prove_causes_and_name_unknown_ones(stage: Stage, told_by_lines: Any) -> None:
    facts, lines = [], []
    for name, (given, line, _) in TOLD.items():
        facts.append(fact(StreamsRebalance, group_id=name, **given))
        said = {"cause": "REJOIN", "cause_member_id": None, "generation": 6, "started_at": AT - 90}
        lines.append(evidence(Rebalance, group_id=name, **{**said, **line}))
    rows = streams_rebalances(inputs_of(stage(*facts), told_by_lines(*lines))).collect()
    found = {row.group_id: (row.cause, row.confidence, row.evidence is not None) for row in rows}
    assert found == {name: wanted for name, (_, _, wanted) in TOLD.items()}


def test_a_removal_is_told_by_the_line_of_the_member(stage: Stage, told_by_lines: Any) -> None:
    gone = {"cause": "LEFT_OR_FENCED", "cause_member_id": "m"}
    facts = [
        fact(StreamsRebalance, from_offset=1, **gone),
        fact(
            StreamsRebalance, from_offset=2, protocol="streams", confidence="EXACT", epoch=9, **gone
        ),
    ]
    line = evidence(Departure, ended_at=AT - 30_000, epoch=7, outcome="FENCED", position=5)
    later = evidence(Departure, ended_at=AT - 20, epoch=9, outcome="LEFT", position=6)
    frame = streams_rebalances(inputs_of(stage(*facts), told_by_lines(line, later)))
    rows = {row.from_offset: row for row in frame.collect()}
    assert {at: (row.cause, row.confidence, row.evidence.position) for at, row in rows.items()} == {
        1: ("FENCED", "EXACT", 5),
        2: ("LEFT", "EXACT", 6),
    }


def test_without_lines_causes_are_those_of_records(stage: Stage, context: ReportContext) -> None:
    row = only_row(streams_rebalances(inputs_of(stage(fact(StreamsRebalance)), context)))
    assert (row.cause, row.confidence, row.evidence) == ("FOLLOWUP", "INFERRED", None)
