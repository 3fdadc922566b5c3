"""What the package knows of a table: what it is made of, and what gives it rows."""

from __future__ import annotations

from typing import Any, cast

import pytest

from groupreplay.evidence.evidence_facts import Departure
from groupreplay.replay.facts import Epoch, MemberLife
from groupreplay.report.table_spec import StagedFacts, TableSpec

BUILD = cast(Any, None)


def spec(**more: Any) -> TableSpec:
    return TableSpec(name="t", build=BUILD, **more)


@pytest.mark.parametrize(
    ("made", "of_tables", "of_evidence"),
    [
        (spec(tables=("members",)), True, False),
        (spec(facts=(Epoch,)), False, False),
        (spec(evidence=(Departure,)), False, True),
        (spec(evidence=(Departure,), facts=(Epoch,)), False, False),
        (spec(evidence=(Departure,), raw=frozenset({"unit"})), False, False),
        (spec(beside=(Epoch,)), False, False),
        (spec(is_built_always=True), False, False),
    ],
)
def test_a_table_is_of_tables_or_of_evidence_alone_where_it_names_nothing_else(
    made: TableSpec, of_tables: bool, of_evidence: bool
) -> None:
    assert (made.is_of_tables, made.is_of_evidence) == (of_tables, of_evidence)


def test_only_kinds_that_it_names_give_it_rows() -> None:
    made = spec(facts=(Epoch,), beside=(MemberLife,), raw=frozenset({"unit"}))
    assert made.has_rows_of({Epoch.KIND})
    assert made.has_rows_of({"unit"})
    assert not made.has_rows_of({MemberLife.KIND})
    assert not made.has_rows_of(set())
    assert spec(is_built_always=True).has_rows_of(set())


def test_where_there_are_logs_of_brokers_other_facts_may_be_read() -> None:
    other = StagedFacts((MemberLife,), frozenset({"member_id"}))
    made = spec(facts=(Epoch,), beside=(MemberLife,), facts_with_evidence=other)
    assert made.staged(with_evidence=True) == other
    assert made.staged(with_evidence=False).kinds == (Epoch, MemberLife)
    assert spec(facts=(Epoch,)).staged(with_evidence=True).kinds == (Epoch,)


def test_a_place_that_reads_facts_may_want_fewer_columns() -> None:
    staged = StagedFacts((Epoch, MemberLife), frozenset({"epoch"}))
    assert staged.of((Epoch,), None) == StagedFacts((Epoch,), frozenset({"epoch"}))
    assert staged.of((Epoch,), ["a", "b"]) == StagedFacts((Epoch,), frozenset({"a", "b"}))
