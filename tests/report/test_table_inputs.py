"""What a table sees of the facts of a night, and of the tables that it is made of.

Holds report/table_frames.py.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.replay.decision_facts import Churn
from groupreplay.replay.facts import Epoch, MemberLife
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.table_frames import NightRows
from groupreplay.report.table_inputs import StoredTables, TableInputs
from tests.report.facts_by_hand import fact
from tests.support.fact_frames import packed_of
from tests.support.table_inputs import no_topics

BEFORE, NIGHT, AFTER = (date(2026, 11, day) for day in (21, 22, 23))


@pytest.fixture
def stored(spark: SparkSession) -> StoredTables:
    """`facts` as it is when this night has committed it, `snapshots` as it is before that."""
    facts = spark.createDataFrame(
        [
            (BEFORE, True, "final"),
            (NIGHT, True, "tonight"),
            (NIGHT, False, "open"),
            (AFTER, True, "later"),
        ],
        "logical_date DATE, is_final BOOLEAN, row STRING",
    )
    snapshots = spark.createDataFrame(
        [(BEFORE, "before"), (AFTER, "after")], "logical_date DATE, row STRING"
    )
    rows = {"facts": facts, "snapshots": snapshots}
    return StoredTables(NIGHT, rows.__getitem__, ("facts",), ("facts", "snapshots"))


def rows_of(frame: DataFrame) -> set[str]:
    return {row["row"] for row in frame.collect()}


def test_rows_are_of_this_night_of_those_before_or_of_both(stored: StoredTables) -> None:
    assert rows_of(stored.tonight("facts")) == {"tonight", "open"}
    assert rows_of(stored.earlier("facts")) == {"final"}
    assert rows_of(stored.so_far("facts")) == {"final", "tonight", "open"}
    assert rows_of(stored.earlier("snapshots")) == {"before"}


def test_rows_that_this_night_replaces_are_not_of_earlier_nights(spark: SparkSession) -> None:
    """Before this night's commit they are there, after it they are gone: what a table sees may not
    depend on which commit was first.
    """
    open_row = spark.createDataFrame(
        [(BEFORE, False, "open")], "logical_date DATE, is_final BOOLEAN, row STRING"
    )
    stored = StoredTables(NIGHT, lambda _: open_row, (), ("facts",))
    assert rows_of(stored.earlier("facts")) == set()


def test_tables_that_the_spec_does_not_name_cannot_be_read(stored: StoredTables) -> None:
    for read, name in (
        (stored.tonight, "snapshots"),
        (stored.so_far, "snapshots"),
        (stored.earlier, "other"),
    ):
        with pytest.raises(LookupError, match=f"does not name {name} in its"):
            read(name)


def test_rows_of_this_night_are_those_in_memory_where_they_are_kept(spark: SparkSession) -> None:
    """Then the table is only asked for the nights before, and not at all where it is new."""
    schema = "logical_date DATE, is_final BOOLEAN, row STRING"
    written = [(BEFORE, True, "final"), (NIGHT, True, "written")]
    rows = {"facts": spark.createDataFrame(written, schema)}
    kept = {"facts": spark.createDataFrame([(NIGHT, True, "kept")], schema)}
    of_both = ("facts",), ("facts",)
    stored = StoredTables(NIGHT, rows.__getitem__, *of_both, kept=kept)
    assert rows_of(stored.tonight("facts")) == {"kept"}
    assert rows_of(stored.so_far("facts")) == {"final", "kept"}
    new = StoredTables(NIGHT, rows.__getitem__, *of_both, new=("facts",), kept=kept)
    assert rows_of(new.so_far("facts")) == {"kept"}
    assert rows_of(new.earlier("facts")) == set()


def test_facts_are_unpacked_by_kind_with_the_columns_that_are_asked(
    spark: SparkSession, context: ReportContext
) -> None:
    """Of those that the spec names, and no other."""
    staged = packed_of(spark, [fact(MemberLife, member_id="a"), fact(Epoch), fact(Epoch)])
    given: list[TableInputs] = []

    def note(inputs: TableInputs) -> DataFrame:
        given.append(inputs)
        return inputs.staged

    spec = replace(SPECS["group_epochs"], build=note, facts=(Epoch,), beside=(MemberLife,))
    rows = NightRows(staged, staged, None, no_topics(spark))
    rows.frame(spec, context, StoredTables(NIGHT, spark.table))
    (inputs,) = given
    kinds = sorted(row.kind for row in inputs.staged.collect())
    assert kinds == ["epoch", "epoch", "member_life"]
    lives = inputs.facts(MemberLife, columns=("member_id",))
    assert [tuple(row) for row in lives.collect()] == [("member_life", "a")]
    assert len(inputs.facts(Epoch).collect()) == 2
    assert "member_id" not in inputs.facts(Epoch).columns
    with pytest.raises(LookupError, match="does not name Churn"):
        inputs.facts(Epoch, Churn)
