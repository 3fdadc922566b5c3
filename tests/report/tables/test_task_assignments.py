"""Who held which task: progress of replicas, and how spans end."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from groupreplay.evidence.evidence_facts import Departure
from groupreplay.replay.streams_facts import HeldTask
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.task_assignments import task_assignments
from groupreplay.workers.evidence_slices import EVIDENCE
from tests.report.conftest import Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import frame_of
from tests.support.table_inputs import inputs_of

SECOND = 1_000
SUMS: dict[str, tuple[dict[str, int | None], int | None, float | None]] = {
    # sums and the seconds between them -> restored records, records a second
    "grew": ({"first_sum": 100, "last_sum": 160, "seconds": 40}, 60, 1.5),
    "stood still": ({"first_sum": 100, "last_sum": 100, "seconds": 40}, 0, 0.0),
    "told once": ({"first_sum": 100, "last_sum": 100, "seconds": 0}, 0, None),
    "fell, its disk was wiped": ({"first_sum": 100, "last_sum": 7, "seconds": 40}, None, None),
    "ran from the first": ({"first_sum": -2, "last_sum": 60, "seconds": 40}, None, None),
    "told never": ({"first_sum": None, "last_sum": None, "seconds": None}, None, None),
    "past a bigint": ({"first_sum": 0, "last_sum": -(2**63), "seconds": 1}, None, None),
}


def test_what_a_replica_restored_is_the_growth_of_its_sums(
    stage: Stage, context: ReportContext
) -> None:
    held = []
    for name, (given, _, _) in SUMS.items():
        seconds = given["seconds"]
        last_at = None if seconds is None else AT + seconds * SECOND
        first_at = None if seconds is None else AT
        sums = {"first_sum": given["first_sum"], "last_sum": given["last_sum"]}
        held.append(
            fact(HeldTask, member_id=name, first_sum_at=first_at, last_sum_at=last_at, **sums)
        )
    rows = task_assignments(inputs_of(stage(*held), context)).collect()
    assert {row.member_id: (row.restored_records, row.records_per_s) for row in rows} == {
        name: tuple(wanted) for name, (_, *wanted) in SUMS.items()
    }


def test_no_duration_is_negative(stage: Stage, context: ReportContext) -> None:
    held = fact(HeldTask, unowned_ms=-1, idle_ms=0)
    (row,) = task_assignments(inputs_of(stage(held), context)).collect()
    assert (row.unowned_ms, row.idle_ms) == (None, 0)


def test_a_removal_is_told_by_the_line_of_the_member(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    line = evidence(
        Departure,
        ended_at=AT - 30_000,
        epoch=None,
        outcome="FENCED",
        end_detail="SESSION_EXPIRED",
    )
    told = replace(context, evidence=frame_of(spark, EVIDENCE, [line]))
    gone = fact(
        HeldTask, end_reason="LEFT_OR_FENCED", released_at=AT - 20_000, assigned_at=AT - 10**6
    )
    held = fact(HeldTask, partition=4)
    rows = task_assignments(inputs_of(stage(gone, held), told)).collect()
    found = {row.task_id: (row.end_reason, row.end_detail, row.end_confidence) for row in rows}
    assert found == {
        "0_3": ("FENCED", "SESSION_EXPIRED", "EXACT"),
        "0_4": ("OPEN", None, "EXACT"),
    }
