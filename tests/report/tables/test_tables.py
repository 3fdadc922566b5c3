"""Every table is made of the kinds that it is given, and of just its columns, with rows and
without.

Holds report/joins/columns.py, report/joins/unit_rows.py, report/tables/group_conversions.py.
Holds report/tables/group_epochs.py, report/tables/group_state.py.
Holds report/tables/member_assignments.py, report/tables/member_states.py.
Holds report/tables/migration_progress.py, report/tables/revocation_latencies.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from graphlib import TopologicalSorter
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructField

from groupreplay.night.engine.held_rows import held_in_one_partition
from groupreplay.replay.facts import (
    FACTS,
    Epoch,
    Fact,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    Stall,
)
from groupreplay.report.catalog import SPECS, waits
from groupreplay.report.context import ReportContext
from groupreplay.report.table_frames import NightRows
from groupreplay.report.table_inputs import StoredTables
from groupreplay.report.tables.group_epochs import group_epochs
from groupreplay.report.tables.member_assignments import member_assignments
from groupreplay.report.tables.migration_progress import migration_progress
from groupreplay.report.tables.revocation_latencies import revocation_latencies
from groupreplay.report.what_if.model import scenarios
from groupreplay.tables.schemas import table_schema
from groupreplay.workers.fact_frames import Counts, GroupState, Undecoded
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.fact_frames import packed_of
from tests.support.table_inputs import inputs_of, no_topics

RESHAPED = {"migration_progress", "topics", "readiness", "group_days"}
RESHAPED |= {"departure_waves", "what_if"}
"""Tables whose rows are not one fact each, field by field."""

FED_BY: dict[str, type[Fact]] = {
    spec.name: spec.facts[0]
    for spec in SPECS.values()
    if len(spec.facts) == 1 and issubclass(spec.facts[0], Fact) and spec.name not in RESHAPED
}


def _columns(schema: Iterable[StructField]) -> list[tuple[str, DataType]]:
    """Names and types, without nullability and comments, nested ones included."""
    return [(field.name, DataType.fromDDL(field.dataType.simpleString())) for field in schema]


def _one_of_each() -> list[Any]:
    facts = [fact(kind) for kind in FACTS]
    stall = fact(Stall, reason="MIGRATION_STALLED", member_id=None, since_at=AT - 86_400_000)
    state = GroupState(group_id="g", offsets_partition=3, state_bytes=b"1")
    broken = Undecoded(
        group_id="g",
        offsets_partition=3,
        offset=5,
        reason="r",
        raw=b"x",
        raw_bytes=1,
        encoding="binary",
    )
    return [*facts, stall, state, broken, Counts(offsets_partition=3, decoded=1)]


def _reports(facts: Sequence[Any], raw: DataFrame, context: ReportContext) -> dict[str, DataFrame]:
    """As a night makes them, of packed facts, where no night was before and there are no broker
    logs. What it reads and tables that others are made of are held, as a night holds them.
    """
    spark, reports = raw.sparkSession, dict[str, DataFrame]()
    packed, raw = held_in_one_partition(packed_of(spark, facts)), held_in_one_partition(raw)
    rows = NightRows(packed, raw, None, no_topics(spark))

    def stored(name: str) -> DataFrame:
        nothing = table_schema(spark, name).no_rows(spark)
        return reports.get(name, nothing)

    read_again = {name for spec in SPECS.values() for name in spec.tables}
    order = TopologicalSorter(waits(SPECS.values())).static_order()
    for spec in [SPECS[name] for name in order if not SPECS[name].is_of_evidence]:
        tables = StoredTables(context.logical_date, stored, spec.tables, spec.earlier)
        frame = rows.frame(spec, context, tables)
        reports[spec.name] = held_in_one_partition(frame) if spec.name in read_again else frame
    return reports


def _row_counts(reports: dict[str, DataFrame]) -> dict[str, int]:
    """With every column made: a bare count would leave them out."""
    return {
        name: len(frame.select(sf.to_json(sf.struct("*"))).collect())
        for name, frame in reports.items()
    }


def test_one_fact_of_each_kind_gives_one_row_in_its_table(
    land: Stage, context: ReportContext
) -> None:
    counts = _row_counts(_reports(_one_of_each(), land(), context))
    of_facts = {name: rows for name, rows in counts.items() if SPECS[name].facts}
    assert of_facts == dict.fromkeys(of_facts, 1) | {"what_if": len(scenarios(None))}


def test_no_facts_give_no_rows_of_just_the_columns_of_the_table(
    spark: SparkSession, land: Stage, context: ReportContext
) -> None:
    """In any order: a column that came later stands at the end of its schema, behind the owners',
    and `Warehouse.shaped` puts them in order."""
    reports = _reports([], land(), context)
    for name, frame in reports.items():
        expected = sorted(_columns(table_schema(spark, name).struct))
        assert sorted(_columns(frame.schema)) == expected, name
    assert _row_counts(reports) == dict.fromkeys(reports, 0)


COLUMN_OF = {
    "hand_over_kind": "kind",
    "imbalance_tenths": "imbalance_pct",
    "tag_names": "client_tags",
    "tag_values": "client_tags",
    "epoch_at": "phase",
    "lost_member_ids": "rearmed",
    "lost_at": "rearmed",
    "lost_session_ms": "rearmed",
    "epochs_opened": "epochs",
    "own_session_ms": "own_timeout_ms",
    "last_commit_at": "gap_high_ms",
}
"""Field of a fact -> its column, where that is called otherwise, or made of several."""


@pytest.mark.parametrize("name", FED_BY)
def test_each_field_of_a_fact_is_a_column_of_its_table(spark: SparkSession, name: str) -> None:
    columns = set(table_schema(spark, name).struct.names)
    if "detail_params" in columns:
        columns |= {"detail_names", "detail_values"}
    assert {COLUMN_OF.get(field.name, field.name) for field in fields(FED_BY[name])} <= columns


def test_values_past_their_types_become_the_limits(stage: Stage, context: ReportContext) -> None:
    far = 2**63 - 1
    row = group_epochs(
        inputs_of(
            stage(
                fact(
                    Epoch,
                    started_at=far,
                    converged_at=-far,
                    members=far,
                    members_classic=-far,
                    partitions_moved=None,
                )
            ),
            context,
        )
    )
    told = row.selectExpr(
        "date_format(started_at, 'yyyy')",
        "date_format(converged_at, 'yyyy')",
        "members",
        "members_classic",
        "partitions_moved",
    ).first()
    assert told is not None
    assert tuple(told) == ("2262", "1970", 2**31 - 1, -(2**31), None)


def test_migration_progress_tells_the_share_who_blocks_and_who_is_stalled(
    stage: Stage, context: ReportContext
) -> None:
    day = context.thresholds.migration_stalled_ms
    facts = [
        fact(GroupSnapshot, group_id="stalled", mixed_since_at=context.as_of_ms - day),
        fact(GroupSnapshot, group_id="mixed", mixed_since_at=context.as_of_ms - day + 1),
        fact(
            GroupSnapshot,
            group_id="empty",
            phase="EMPTY",
            members_total=0,
            members_consumer=0,
            mixed_since_at=None,
            blocker_member_ids=[],
            blocker_client_ids=[],
        ),
        fact(GroupSnapshot, group_id="connect", phase="NOT_APPLICABLE", mixed_since_at=None),
        fact(
            GroupSnapshot,
            group_id="streams",
            phase="NOT_APPLICABLE",
            mixed_since_at=None,
            streams_protocol="classic",
        ),
    ]
    rows = {
        row.group_id: row for row in migration_progress(inputs_of(stage(*facts), context)).collect()
    }
    assert {name: (row.progress_pct, row.is_stalled) for name, row in rows.items()} == {
        "stalled": (66.7, True),
        "mixed": (66.7, False),
        "empty": (None, False),
        "connect": (None, False),
        "streams": (None, False),
    }
    streams = {name: row.streams_protocol for name, row in rows.items() if row.streams_protocol}
    assert streams == {"streams": "classic"}
    assert [each.asDict() for each in rows["mixed"].blockers] == [
        {"member_id": "m1", "instance_id": None, "client_id": "client", "client_host": "/host"}
    ]
    assert rows["connect"].blockers == []


def test_open_hand_overs_last_until_as_of_unless_their_start_was_not_seen(
    stage: Stage, context: ReportContext
) -> None:
    facts = [
        fact(HandOver, member_id="open"),
        fact(HandOver, member_id="not seen", start_observed=False),
        fact(
            HandOver,
            member_id="acked",
            outcome="ACKED",
            revoke_ms=5,
            is_censored=False,
            is_final=True,
        ),
        fact(HandOver, member_id="from the future", requested_at=context.as_of_ms + 1),
    ]
    rows = revocation_latencies(inputs_of(stage(*facts), context)).collect()
    assert {row.member_id: row.revoke_ms for row in rows} == {
        "open": context.as_of_ms - AT,
        "not seen": None,
        "acked": 5,
        "from the future": None,
    }


def test_a_topic_without_a_name_is_shown_by_its_id(stage: Stage, context: ReportContext) -> None:
    facts = [
        fact(HeldPartition, topic="by-name", topic_id=None),
        fact(HeldPartition, topic=None, topic_id="id-orders"),
        fact(HeldPartition, topic=None, topic_id="id-unknown"),
    ]
    rows = member_assignments(inputs_of(stage(*facts), context)).collect()
    assert {(row.topic, row.topic_id) for row in rows} == {
        ("by-name", None),
        ("orders", "id-orders"),
        ("id-unknown", "id-unknown"),
    }
