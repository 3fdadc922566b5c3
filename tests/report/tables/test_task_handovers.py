"""Hand-overs of tasks as the table has them."""

from __future__ import annotations

from groupreplay.replay.streams_facts import TaskHandOver
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.task_handovers import task_handovers
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.table_inputs import inputs_of


def test_no_duration_is_negative(stage: Stage, context: ReportContext) -> None:
    steps = ("notify_ms", "revoke_ms", "grant_ms", "unowned_ms", "resume_ms", "idle_ms")
    hand_over = fact(TaskHandOver, learning_ms=-1, gap_records=-1, **dict.fromkeys(steps, -1))
    (row,) = task_handovers(inputs_of(stage(hand_over), context)).collect()
    assert {row[name] for name in (*steps, "learning_ms")} == {None}
    assert row.gap_records == -1, "a copy that got on since it joined; no duration"


def test_a_hand_over_has_its_kind_and_what_became_of_it(
    stage: Stage, context: ReportContext
) -> None:
    warmed = fact(
        TaskHandOver,
        hand_over_kind="WARMED",
        learning_started_at=AT,
        last_not_ready_at=AT,
        ready_at=AT + 63_011,
        learning_ms=63_011,
        probes=1,
        outcome="TRANSFERRED",
        gap_records=0,
        gap_confidence="PLUS_STORES",
    )
    open_one = fact(TaskHandOver, partition=4)
    rows = task_handovers(inputs_of(stage(warmed, open_one), context)).collect()
    assert {row.task_id: (row.kind, row.outcome, row.learning_ms, row.probes) for row in rows} == {
        "0_3": ("WARMED", "TRANSFERRED", 63_011, 1),
        "0_4": (None, "OPEN", None, None),
    }
