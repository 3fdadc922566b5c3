"""Coverage adds up, and says what nobody could see."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from groupreplay.config.model import BrokersConfig
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.coverage import NEEDS_OF_DECISIONS, coverage, unseen_decisions
from groupreplay.workers.fact_frames import Counts
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT
from tests.report.tables.source_rows import DAMAGE, lines_of_brokers, unit
from tests.support.table_inputs import inputs_of

COUNTED = (
    *("source", "first_offset", "next_offset", "landed", "decoded", "unknown", "undecoded"),
    *("reduced", "control", "holes", "late"),
)
"""Columns that are compared of a log of the topic."""

COUNTED_OF_LINES = (*COUNTED[:8], "duplicates", "loggers")
"""The same of a log of a broker."""


def test_coverage_adds_up_input_by_input(stage: Stage, land: Stage, context: ReportContext) -> None:
    counts = [
        Counts(offsets_partition=3, decoded=1),
        Counts(offsets_partition=3, decoded=1, unknown=1, undecoded=1),
        Counts(offsets_partition=9),
    ]
    staged = stage(*counts)
    record = {"kind": "record", "offset": 1}
    raw = land(
        *[record] * 4,
        DAMAGE,
        {"kind": "open_commit", "offset": 9},
        {"kind": "marker", "offset": 8},
        unit(3, reduced=5, holes=2, control=1, below=100),
        unit(3, late=40) | {"log_incarnation": 1},
        {"kind": "late_record", "offset": 2},
        unit(3, source="dump_log", first_offset=10, next_offset=12, last_ts_ms=AT + 9, reduced=1),
        unit(4, first_offset=7, next_offset=7, first_ts_ms=-1, last_ts_ms=-1),
    )
    rows = {
        row.input: row
        for row in (
            coverage(inputs_of(staged, context, raw))
            .selectExpr("*", "unix_millis(last_at) AS last_ms", "first_at IS NULL AS is_idle")
            .collect()
        )
    }
    counted = {name[-1]: tuple(row[each] for each in COUNTED) for name, row in rows.items()}
    assert counted["3"] == ("dump_log+segments", 0, 12, 5, 2, 1, 2, 6, 1, 2, 40)
    assert counted["4"] == ("segments", 7, 7, 0, 0, 0, 0, 0, 0, 0, 0)
    assert (rows["__consumer_offsets-3"].last_ms, rows["__consumer_offsets-4"].is_idle) == (
        AT + 9,
        True,
    )
    assert (
        rows["__consumer_offsets-3"].log_incarnation,
        rows["__consumer_offsets-4"].log_incarnation,
    ) == (1, None)
    assert len(rows) == 2
    assert all(row.landed == row.decoded + row.unknown + row.undecoded for row in rows.values())


def test_logs_of_brokers_are_covered_line_by_line(
    spark: SparkSession, stage: Stage, land: Stage, context: ReportContext
) -> None:
    lines = lines_of_brokers(spark)
    rows = {
        row.input: row
        for row in coverage(
            inputs_of(stage(Counts(offsets_partition=3)), context, land(unit(3)), lines)
        ).collect()
    }
    counted = {name: tuple(row[each] for each in COUNTED_OF_LINES) for name, row in rows.items()}
    assert counted["/s"] == ("server_log", 0, 200, 14, 3, 8, 3, 0, 0, {"a": 1, "b": 7})
    assert counted["/r"] == ("request_log", 0, 100, 8, 3, 5, 0, 2, 0, None)
    assert rows["__consumer_offsets-3"].loggers is None


def test_what_no_source_shows_is_listed(stage: Stage, land: Stage, context: ReportContext) -> None:
    """Once for each reason of being stuck that logs of brokers could show."""
    rows = coverage(
        inputs_of(
            stage(), replace(context, log_kinds=frozenset({"segments", "server_log"})), land()
        )
    ).collect()
    needs_requests = "not observable: needs request_log"
    assert {row.input: row.detail for row in rows} == {
        "readiness.R6": needs_requests,
        "readiness.R8": needs_requests,
        "readiness.R13": needs_requests,
        "departure_waves.est_ms": needs_requests,
        "NOT_HEARTBEATING": "not observable: needs request_log",
        "LATE_LEAVE": "not observable: needs request_log and server_log",
        "COORDINATOR_UNAVAILABLE": "not observable: needs request_log",
    }
    assert {(row.source, row.landed) for row in rows} == {("none", 0)}


def test_decisions_that_no_source_can_show(context: ReportContext) -> None:
    alone = unseen_decisions(replace(context, log_kinds=frozenset()))
    assert alone == NEEDS_OF_DECISIONS
    told = BrokersConfig(migration_policy="bidirectional", version="4.1.1")
    configured = unseen_decisions(replace(context, log_kinds=frozenset(), brokers=told))
    assert alone.keys() - configured.keys() == {"readiness.R14", "readiness.R17"}
    both = frozenset({"server_log", "request_log"})
    assert unseen_decisions(replace(context, log_kinds=both)) == {}
    requests = unseen_decisions(replace(context, log_kinds=frozenset({"request_log"})))
    assert requests.keys() == {"readiness.R14", "readiness.R17", "coordinator_failovers.phase"}
