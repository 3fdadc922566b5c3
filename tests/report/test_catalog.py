"""Every published table has a spec, and specs that contradict each other are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest
from pyspark.sql import DataFrame

from groupreplay.evidence.evidence_facts import ShardEvent
from groupreplay.replay.facts import Epoch, GroupSnapshot
from groupreplay.report.catalog import SPECS, specs_by_name, waits
from groupreplay.report.digest import LOG, hash_sql
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.tables import what_if
from groupreplay.report.words.privacy import FIELDS, MEMBERS
from groupreplay.tables.schemas import PUBLIC, TABLES, ddl_text


def build(inputs: TableInputs) -> DataFrame:
    return inputs.staged


def spec(name: str, **fields: Any) -> TableSpec:
    return TableSpec(name=name, build=build, **fields)


def columns(name: str) -> set[str]:
    """Of a schema file, fields of structs included."""
    return set(re.findall(r"\b([a-z_]+):? +[A-Z]{3,}", ddl_text(name)))


def test_every_published_table_has_a_spec_and_a_schema() -> None:
    assert set(SPECS) <= set(TABLES)
    assert set(PUBLIC) - set(SPECS) == {"runs"}, "the table that the ledger of runs writes"


def test_each_spec_is_called_as_its_module() -> None:
    modules = {name: each.build.__module__.rpartition(".")[2] for name, each in SPECS.items()}
    assert modules == {name: name for name in SPECS}


def test_the_order_given_is_kept_and_dependencies_are_those_of_this_night() -> None:
    found = specs_by_name([spec("b", tables=("a",), earlier=("b", "c")), spec("a"), spec("c")])
    assert list(found) == ["b", "a", "c"]
    assert waits(found.values()) == {"b": ("a",), "a": (), "c": ()}


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([spec("a"), spec("a")], "two specs are called a"),
        ([spec("a", tables=("b",))], "a is made of b, and no spec is called so"),
        ([spec("a", earlier=("b",))], "a is made of b, and no spec is called so"),
        ([spec("a", tables=("a",))], "tables wait for each other: a -> a"),
        (
            [spec("a", tables=("b",)), spec("b", tables=("a",)), spec("c")],
            "tables wait for each other: (a -> b -> a|b -> a -> b)",
        ),
        (
            [spec("a", earlier=("group_state",)), spec("group_state")],
            "a is made of group_state, which holds clients in clear",
        ),
    ],
)
def test_specs_that_contradict_each_other_are_refused(specs: list[TableSpec], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        specs_by_name(specs)


def test_rows_come_of_the_kinds_that_a_spec_names() -> None:
    of_both = spec("a", facts=(Epoch,), raw=frozenset({"damage"}), beside=(GroupSnapshot,))
    found = {
        kind: of_both.has_rows_of({kind}) for kind in (Epoch.KIND, "damage", GroupSnapshot.KIND)
    }
    assert found == {Epoch.KIND: True, "damage": True, GroupSnapshot.KIND: False}
    assert replace(of_both, is_built_always=True).has_rows_of(())
    of_lines = spec("a", evidence=(ShardEvent,), beside=(Epoch,))
    assert (of_lines.is_of_evidence, of_lines.is_of_tables) == (True, False)
    assert spec("a", tables=("topics",)).is_of_tables


TAKEN = {("what_if", "departure_waves"): frozenset(what_if.OF_WAVES)}
"""(table, other table) -> the columns that it takes of it, where it takes a few alone."""


@pytest.mark.parametrize("name", [each.name for each in SPECS.values() if each.tables])
def test_what_is_hidden_is_hashed_once(name: str) -> None:
    """A table that is made of facts too is hidden as a whole, so it may not take a column that is
    hidden already from another table.
    """
    if not SPECS[name].is_of_tables:
        for other in (*SPECS[name].tables, *SPECS[name].earlier):
            private = FIELDS | MEMBERS | SPECS[other].members | SPECS[other].quotes
            private |= SPECS[other].faults
            private |= {name for each in SPECS[other].sentences for name in each}
            taken = TAKEN.get((name, other), columns(other))
            assert taken <= columns(other)
            assert not taken & private, other


DIGESTS = {
    "anomalies": "cc595a9f",
    "group_conversions": "c6da461c",
    "group_epochs": "95c7849e",
    "member_assignments": "bb7301bf",
    "member_states": "637f5679",
    "migration_progress": "7a443017",
    "revocation_latencies": "2ff4e15d",
    "stuck_groups": "78afb8a8",
    "stuck_members": "b71b8ef6",
    "topics": "c21367a8",
}
"""Table -> CRC of the SQL that hashes its rows, as `runs` of earlier releases have sums of it. One
that changes is named in CHANGELOG: sums of nights before and after it cannot be compared.
"""


@pytest.mark.parametrize("name", DIGESTS)
def test_digests_of_released_tables_change_on_purpose_alone(name: str) -> None:
    """The column that came later adds nothing where it is NULL, as it is in rows of releases
    before: Spark's hash passes over NULLs."""
    sql = hash_sql(SPECS[name].digest)
    assert name == "topics" or sql.endswith(f", {LOG})")
    assert f"{crc32(sql.replace(f', {LOG})', ')').encode()):08x}" == DIGESTS[name]
