"""A night without logs of brokers, logs that come a night later, and the first night again: what
the topic cannot tell is told, what it can stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.cli.outcome import result_lines
from groupreplay.config.model import (
    PRIVATE_FIELDS,
    Config,
    GroupsConfig,
    Owner,
    PrivacyConfig,
)
from groupreplay.config.sources import RequestLogSource, ServerLogSource, Source
from groupreplay.night.run import NightResult, build_reports, run_night
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.report.catalog import SPECS
from groupreplay.report.words.privacy import hash_keys, hidden
from groupreplay.tables.schemas import PUBLIC
from tests.end_to_end.logs import RECORDINGS
from tests.support.few_tables import few_tables
from tests.support.log_lines import recorded_lines

RECORDING = RECORDINGS / "consumer-4.3"
DAY, NEXT = date(2026, 11, 21), date(2026, 11, 22)

SHARPENED = {
    "group_epochs",
    "member_assignments",
    "revocation_latencies",
    "members",
    "stuck_members",
    "stuck_groups",
    "what_if",
}
"""Tables that lines can say more in; all others have the same digest with and without them."""
MEMBERSHIP = (
    *("group_epochs", "revocation_latencies"),
    *("members", "stuck_members", "stuck_groups", "member_states"),
    *("refusals", "rebalances", "rejoins", "coordinator_events"),
)
"""Beside few: epochs and hand-overs, members and groups as they were, and tables of lines alone."""
DECISIONS = ("what_if", "static_accounting", "readiness", "coordinator_failovers", "group_days")
"""What is made of them: as long again to publish."""


def night(
    spark: SparkSession,
    warehouse: Path,
    day: date,
    *,
    with_logs: bool,
    cluster: str = "test",
    job: Callable[..., NightResult] = run_night,
) -> NightResult:
    topic = (
        Source(kind="segments", path=str(RECORDING / "segments")),
        Source(kind="topics", path=str(RECORDING / "topics.json")),
    )
    logs = (
        ServerLogSource(
            kind=SERVER_LOG,
            path=str(RECORDING / "broker-1.server.log.gz"),
            broker=1,
            timezone="UTC",
        ),
        RequestLogSource(
            kind=REQUEST_LOG,
            path=str(RECORDING / "broker-1.request.log.gz"),
            broker=1,
            timezone="UTC",
        ),
    )
    config = Config(
        cluster=cluster,
        warehouse=str(warehouse),
        sources=(*topic, *(logs if with_logs else ())),
        groups=GroupsConfig(exclude=("nobody-*",)),
        owners="/owners.yaml",
        owner_rules=(Owner(pattern="*", team="all", contact="#all"),),
    )
    return job(spark, config, day)


class Nights(NamedTuple):
    """without: the night without logs, and how its members ended.

    again: the last run of all: the first night's report again, without a replay, after its logs
    came with the next; and the next again.
    """

    warehouse: Path
    without: NightResult
    ends: list[str]
    again: NightResult


def three_runs(spark: SparkSession, warehouse: Path, *tables: str) -> Nights:
    """All publish few tables, and these."""
    with few_tables(*tables, "group_conversions", is_summarized=True):
        without = night(spark, warehouse, DAY, with_logs=False)
    assert not (warehouse / "raw_lines").exists(), "without logs there are no tables of them"
    ends = [row["end_reason"] for row in table(spark, warehouse, "members").collect()]
    with few_tables("members"):
        night(spark, warehouse, NEXT, with_logs=True)
    late = table(spark, warehouse, "members").where("end_reason = 'LEFT_OR_FENCED'").count()
    assert late == ends.count("LEFT_OR_FENCED"), (
        "what was final stays so until its night runs again"
    )
    with few_tables(*tables, is_summarized=True):
        again = night(spark, warehouse, DAY, with_logs=True, job=build_reports)
    return Nights(warehouse, without, ends, again)


@pytest.fixture(scope="module")
def nights(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    return three_runs(spark, tmp_path_factory.mktemp("warehouse"), *MEMBERSHIP)


def table(spark: SparkSession, warehouse: Path, name: str) -> DataFrame:
    return spark.read.format("delta").load(str(warehouse / name))


def test_lines_say_how_members_ended_and_change_nothing_else(
    spark: SparkSession, nights: Nights
) -> None:
    warehouse, without, ends, with_logs = nights
    assert ends.count("LEFT_OR_FENCED") == 20
    rows = table(spark, warehouse, "members").collect()
    assert len(rows) == len(ends)
    assert {(row["team"], row["contact"]) for row in rows} == {("all", "#all")}
    assert not [row for row in rows if row["end_reason"] == "LEFT_OR_FENCED"]
    assert (
        not table(spark, warehouse, "member_assignments")
        .where("end_reason = 'LEFT_OR_FENCED'")
        .count()
    )
    assert not table(spark, warehouse, "group_epochs").where("cause = 'LEFT_OR_FENCED'").count()
    fenced = {row["client_id"]: row["end_detail"] for row in rows if row["end_reason"] == "FENCED"}
    assert fenced == {
        "crash-victim": "SESSION_EXPIRED",
        "frozen-frozen": "SESSION_EXPIRED",
        "static-bounce-m1": "SESSION_EXPIRED",
        "stuck-revoker-stuck": "REBALANCE_TIMEOUT",
    }
    compare_digests(without, with_logs, SHARPENED - {*DECISIONS})


def compare_digests(without: NightResult, with_logs: NightResult, sharpened: set[str]) -> None:
    """Lines change these tables alone."""
    assert without.run is not None
    assert with_logs.run is not None
    before, after = without.run.digest or {}, with_logs.run.digest or {}
    assert {name for name in after if before.get(name) != after[name]} <= sharpened
    assert after.keys() >= sharpened & before.keys()
    assert before["member_states"] == after["member_states"]


@pytest.mark.soak
def test_lines_change_no_other_table_that_decisions_stand_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = three_runs(spark, tmp_path, *MEMBERSHIP, *DECISIONS)
    compare_digests(made.without, made.again, SHARPENED)
    check_names_are_hidden(spark, tmp_path)


def test_lines_show_who_knocks_in_vain_and_who_fell_silent(
    spark: SparkSession, nights: Nights
) -> None:
    """The timeline of the recording: a process killed, one frozen and thawed, one started again and
    again with an instance id that is taken.
    """
    stuck = (
        table(spark, nights.warehouse, "stuck_members")
        .where(sf.col("evidence").isNotNull())
        .collect()
    )
    assert {(row["client_id"], row["reason"]) for row in stuck} == {
        ("crash-victim", "LATE_LEAVE"),
        ("frozen-frozen", "NOT_HEARTBEATING"),
        ("duplicate-instance-intruder", "REJECTED_LOOP"),
    }
    (refused,) = (
        table(spark, nights.warehouse, "refusals")
        .where("refusal = 'UNRELEASED_INSTANCE_ID'")
        .collect()
    )
    assert (refused["attempts"], refused["subject"]) == (5, "duplicate-instance-i")


def test_every_line_is_counted(spark: SparkSession, nights: Nights) -> None:
    warehouse, without, _, with_logs = nights
    coverage = table(spark, warehouse, "coverage")
    logs = {
        row["source"]: row
        for row in coverage.where(sf.col("source").isin(SERVER_LOG, REQUEST_LOG)).collect()
    }
    assert (logs[SERVER_LOG]["landed"], logs[REQUEST_LOG]["landed"]) == (3839, 4406)
    for row in logs.values():
        assert row["landed"] == row["decoded"] + row["unknown"] + row["undecoded"]
    assert not coverage.where("source = 'none'").count(), (
        "both logs are given: every reason can be seen"
    )
    assert any("cannot be seen without logs of brokers" in line for line in result_lines(without))
    assert any("lines in 2 logs of brokers" in line for line in result_lines(with_logs))


@pytest.mark.soak
def test_each_kind_of_name_is_hidden_alone(spark: SparkSession, nights: Nights) -> None:
    """Whatever column it stands in, alone or with others."""
    check_names_are_hidden(spark, nights.warehouse)


def check_names_are_hidden(spark: SparkSession, warehouse: Path) -> None:
    values: dict[str, set[str]] = {name: set() for name in PRIVATE_FIELDS}
    for lines in recorded_lines("consumer-4.3").values():
        for name, found in values.items():
            found |= {getattr(line.event, name) for line in lines} - {None, ""}
    for name in [name for name in SPECS if name in PUBLIC]:
        if not any((warehouse / name).rglob("*.parquet")):
            continue
        rows = table(spark, warehouse, name).drop("cluster", "logical_date")
        shown: DataFrame | None = None
        for kind in PRIVATE_FIELDS:
            if kind == "principal" and kind not in rows.columns:
                continue
            keys = hash_keys(PrivacyConfig(hash=(kind,), salt="a salt of this test"))
            told = hidden(SPECS[name], rows, keys).select(
                sf.lit(kind).alias("kind"), sf.to_json(sf.struct("*")).alias("row")
            )
            shown = told if shown is None else shown.unionByName(told)
        assert shown is not None
        for row in shown.collect():
            words = "|".join(map(re.escape, values[row["kind"]]))
            leak = re.search(rf"(?<![\w-])(?:{words})(?![\w-])", row["row"])
            assert leak is None, f"{leak} of {row['kind']} in {name}: {row['row']}"


@pytest.mark.soak
def test_a_cluster_without_logs_shares_the_warehouse(spark: SparkSession, nights: Nights) -> None:
    warehouse, without, _, _ = nights
    refused = table(spark, warehouse, "refusals").count()
    with few_tables("refusals", *SHARPENED - {*DECISIONS}):
        other = night(spark, warehouse, DAY, with_logs=False, cluster="other")
    assert other.run is not None
    assert without.run is not None
    alone = without.run.digest or {}
    assert other.run.digest == {name: alone[name] for name in other.run.digest or {}}
    assert set(other.run.digest or {}) >= (SHARPENED - {*DECISIONS}) & set(alone)
    assert table(spark, warehouse, "refusals").count() == refused > 0
