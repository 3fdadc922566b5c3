"""Digests: the same for the same rows in any order, the sum of the parts, other for any other
value.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, Observation, SparkSession

from groupreplay.replay.facts import Epoch, HeldPartition, MemberState
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import (
    EMPTY,
    add_digests,
    digest_of,
    observed,
    row_hash,
)
from groupreplay.report.tables.group_epochs import group_epochs
from groupreplay.report.tables.member_assignments import member_assignments
from groupreplay.report.tables.member_states import member_states
from groupreplay.tables.schemas import table_schema
from tests.report.conftest import Stage
from tests.report.facts_by_hand import fact
from tests.support.table_inputs import inputs_of, topics_of


def digest(frame: DataFrame, table: str) -> str:
    row = frame.select(row_hash(SPECS[table]).alias("hash")).agg(digest_of("hash")).first()
    assert row is not None
    return str(row[0])


def test_digests_add_up_modulo_2_to_the_64() -> None:
    assert add_digests() == EMPTY
    assert add_digests("ffffffffffffffff", "0000000000000003") == "0000000000000002"


@pytest.mark.parametrize("table", [spec.name for spec in SPECS.values() if spec.digest])
def test_digested_columns_are_columns_of_the_table(spark: SparkSession, table: str) -> None:
    """Spark looks for them before it runs anything."""
    frame = table_schema(spark, table).no_rows(spark)
    assert frame.select(row_hash(SPECS[table]).alias("hash")).columns == ["hash"]


def test_the_digest_of_no_rows_is_that_of_nothing(spark: SparkSession) -> None:
    frame = table_schema(spark, "group_epochs").no_rows(spark)
    assert digest(frame, "group_epochs") == EMPTY


def test_a_digest_is_free_of_order_and_adds_up(stage: Stage, context: ReportContext) -> None:
    facts = [fact(Epoch, epoch=epoch, is_final=epoch % 2 == 0) for epoch in range(50)]
    whole = digest(group_epochs(inputs_of(stage(*facts), context)).repartition(3), "group_epochs")
    assert whole == digest(
        group_epochs(inputs_of(stage(*reversed(facts)), context)), "group_epochs"
    )
    parts = [
        digest(group_epochs(inputs_of(stage(*part), context)), "group_epochs")
        for part in (facts[:10], facts[10:])
    ]
    assert whole == add_digests(*parts) != parts[0]
    assert len(whole) == 16


def test_a_digest_sees_values_and_which_column_is_null(
    stage: Stage, context: ReportContext
) -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"epoch": 8},
        {"target_at": 5},
        {"converged_at": 5},
        {"cause_member_id": "m"},
        {"to_offset": 5},
    ]
    found = {
        digest(group_epochs(inputs_of(stage(fact(Epoch, **each)), context)), "group_epochs")
        for each in variants
    }
    assert len(found) == len(variants)


def test_a_digest_leaves_out_the_night_finality_order_in_arrays_and_learnt_names(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    later = replace(context, logical_date=date(2024, 1, 1))
    no_names = {"topics": topics_of(spark, later.logical_date)}
    held = stage(fact(HeldPartition)), stage(fact(HeldPartition, is_final=True))
    assert digest(member_assignments(inputs_of(held[0], context)), "member_assignments") == digest(
        member_assignments(inputs_of(held[1], later, tables=no_names)), "member_assignments"
    )
    waits = [
        stage(fact(MemberState, waiting_on=waiting_on))
        for waiting_on in (["a", "b"], ["b", "a"], ["a"])
    ]
    found = [digest(member_states(inputs_of(staged, context)), "member_states") for staged in waits]
    assert found[0] == found[1] != found[2]


def test_an_observed_frame_is_the_same_and_tells_its_digests(
    stage: Stage, context: ReportContext
) -> None:
    facts = [fact(Epoch, epoch=epoch, is_final=epoch < 3) for epoch in range(10)]
    frame = group_epochs(inputs_of(stage(*facts), context))
    observation = Observation()
    told = observed(frame, SPECS["group_epochs"], observation)
    assert told.columns == frame.columns
    told.write.format("noop").mode("overwrite").save()
    finals = digest(frame.where("is_final"), "group_epochs")
    assert observation.get == {
        "rows": 10,
        "rows_final": 3,
        "digest": digest(frame, "group_epochs"),
        "digest_final": finals,
    }
