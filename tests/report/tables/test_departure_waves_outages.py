"""What waves cost whose members went while their group had no coordinator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from groupreplay.evidence.evidence_facts import Contact, Departure
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.departure_waves import departure_waves
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT
from tests.report.waves import by_hand
from tests.support.fact_frames import frame_of
from tests.support.table_inputs import inputs_of, read_to


@pytest.mark.parametrize(
    ("error", "est_ms"),
    [
        ({}, 60_700),
        ({"error_codes": [16], "error_last_at": [AT - 40_000]}, 40_700),
        ({"error_codes": [25], "error_last_at": [AT - 40_000]}, 60_700),
        ({"error_codes": [16], "error_last_at": [AT + 40_000]}, 60_700),
        (
            {"error_codes": [16], "error_last_at": [AT - 40_000]}
            | {"error_apis": ["OFFSET_COMMIT"]},
            60_700,
        ),
    ],
)
def test_who_finds_no_coordinator_reads_on(
    spark: SparkSession,
    stage: Stage,
    context: ReportContext,
    error: dict[str, list[Any]],
    est_ms: int,
) -> None:
    """Its last heartbeat that was granted came a minute before its session was over."""
    gone = by_hand(("G", 0, "a", "/h"), removed_counts=[1], removed_ms=[700])
    contact = {"first_at": AT - 90_000, "last_heartbeat_at": AT - 60_000, "ended_at": AT}
    apis = {"error_apis": ["CONSUMER_GROUP_HEARTBEAT"], "error_counts": [2]}
    of_member = {"group_id": gone.group_id, "member_id": gone.member_ids[0]}
    departed = {"outcome": "FENCED", "end_detail": "SESSION_EXPIRED", "ended_at": AT}
    lines = [
        evidence(Contact, **of_member, **contact, **(apis | error if error else {})),
        evidence(Departure, **of_member, **departed),
    ]
    told = frame_of(spark, EVIDENCE, lines)
    context = replace(context, evidence=told, evidence_tonight=told)
    staged = stage(gone)
    tables = read_to(staged, context, AT)
    (row,) = departure_waves(inputs_of(staged, context, tables=tables)).collect()
    assert row.est_ms == est_ms
