"""How tasks are named in every table that has them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

from groupreplay.replay.streams_facts import HeldTask, StreamsSubtopology, TaskHandOver
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.streams_subtopologies import streams_subtopologies
from groupreplay.report.tables.task_assignments import task_assignments
from groupreplay.report.tables.task_handovers import task_handovers
from tests.report.conftest import Stage
from tests.report.facts_by_hand import fact
from tests.support.fact_frames import only_row
from tests.support.table_inputs import inputs_of


def by_offset(frame: DataFrame) -> dict[int, Row]:
    return {row.from_offset: row for row in frame.collect()}


def test_a_task_is_named_as_kafka_names_it(stage: Stage, context: ReportContext) -> None:
    texts = ["0", "clicks__12", "a__b__3", "sub-topology", "__3", "name__x"]
    held = [fact(HeldTask, subtopology=text, from_offset=at) for at, text in enumerate(texts)]
    rows = by_offset(task_assignments(inputs_of(stage(*held), context)))
    found = [(rows[at].topology, rows[at].subtopology, rows[at].task_id) for at in sorted(rows)]
    assert found == [
        (None, "0", "0_3"),
        ("clicks", "12", "clicks__12_3"),
        ("a__b", "3", "a__b__3_3"),
        (None, "sub-topology", "sub-topology_3"),
        (None, "__3", "__3_3"),
        (None, "name__x", "name__x_3"),
    ]
    moved = fact(TaskHandOver, subtopology="clicks__12")
    hand_over = only_row(task_handovers(inputs_of(stage(moved), context)))
    assert (hand_over.topology, hand_over.task_id) == ("clicks", "clicks__12_3")
    part = fact(StreamsSubtopology, subtopology="clicks__12")
    named = only_row(streams_subtopologies(inputs_of(stage(part), context)))
    assert (named.topology, named.subtopology) == ("clicks", "12")
