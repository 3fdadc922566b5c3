"""What rules of readiness find in records, and which absences the consumer protocol would not
absorb: cases of scenarios/readiness.yaml, from the records to the rows of both tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.model import BrokersConfig, ReadinessConfig
from groupreplay.report.context import ReportContext
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.tables.readiness import readiness
from groupreplay.report.tables.static_accounting import static_accounting
from tests.replay.test_scenarios import log_of
from tests.report.conftest import Stage
from tests.report.readiness.recorded import CLIENTS
from tests.support.building import NAMES
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of
from tests.support.yaml_text import safe_load

Case = Mapping[str, Any]

CASES: list[Case] = safe_load(
    (Path(__file__).parents[2] / "scenarios" / "readiness.yaml").read_text(encoding="utf-8")
)["cases"]
WORDS = {"name", "source", "records", "row", "rules"}
BROKERS = BrokersConfig(max_size=3)
"""All else is as it is by default."""


@pytest.fixture
def inputs(spark: SparkSession, stage: Stage, context: ReportContext) -> TableInputs:
    """All cases, each in a partition of its own that was read to its last record."""
    facts: list[Any] = []
    read = []
    for number, case in enumerate(CASES):
        entries = log_of(case["records"]).entries
        facts += replayed(entries, NAMES, (), case["name"], number)
        read.append((f"__consumer_offsets-{number}", entries[-1].ts_ms))
    own = replace(
        context,
        brokers=BROKERS,
        clients=CLIENTS,
        readiness=ReadinessConfig(min_observed_ms=0),
        log_kinds=frozenset(),
    )
    coverage = spark.createDataFrame(read, "input STRING, last_ms BIGINT").select(
        "input",
        sf.timestamp_millis("last_ms").alias("last_at"),
        sf.lit(own.logical_date).alias("logical_date"),
    )
    return inputs_of(stage(*facts), own, tables={"coverage": coverage})


def shown(row: Row, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that are named; members of a rule by their ids."""
    found = {name: row[name] for name in fields}
    if "members" in found:
        found["members"] = [each.member_id for each in row.members]
    return found


def rules_of(row: Row, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rules that fired; of one that is expected what is named of it."""
    named = {each["rule"]: each for each in wanted}
    return [shown(rule, named.get(rule.rule, {"rule": None})) for rule in row.rules]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_says_all_that_it_must(case: Case) -> None:
    assert case.keys() - {"absences"} == WORDS
    assert (case["row"] is None) == (case["rules"] is None)


def test_rules_find_in_records_what_they_must(inputs: TableInputs) -> None:
    rows = {row.group_id: row for row in readiness(inputs).collect()}
    assert rows.keys() == {case["name"] for case in CASES if case["row"] is not None}
    for case in CASES:
        if (row := rows.get(case["name"])) is not None:
            assert shown(row, case["row"]) == case["row"], case["name"]
            assert rules_of(row, case["rules"]) == case["rules"], case["name"]


def test_there_is_a_case_of_each_rule_that_no_recording_shows() -> None:
    fired = {rule["rule"] for case in CASES for rule in case["rules"] or ()}
    assert {"R3", "R3b", "R5", "R10", "R11", "R12"} <= fired
    assert any(case["rules"] == [] for case in CASES), "and of records that only look like it"


def test_absences_that_a_consumer_session_would_not_absorb_are_a_cliff(
    inputs: TableInputs,
) -> None:
    """The session of a classic static member is its own, and one that no broker allows is cut when
    the group is flipped.
    """
    found: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(static_accounting(inputs).collect(), key=lambda row: row.to_offset):
        found[row.group_id].append(row)
    for case in CASES:
        if "absences" in case:
            rows, wanted = found[case["name"]], case["absences"]
            assert len(rows) == len(wanted), case["name"]
            told = [shown(*pair) for pair in zip(rows, wanted, strict=True)]
            assert told == wanted, case["name"]
    cliffs = [row.group_id for rows in found.values() for row in rows if row.is_cliff]
    fixed = [case["name"] for case in CASES if _severity(case, "R5") == "FIX"]
    assert set(fixed) <= set(cliffs), "R5 asks for a fix where there is a cliff"


def _severity(case: Case, rule: str) -> str | None:
    return next((each["severity"] for each in case["rules"] or () if each["rule"] == rule), None)
