"""Bytes that were not decoded, and where they stand."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from groupreplay.report.context import ReportContext
from groupreplay.report.tables.undecoded import undecoded
from groupreplay.workers.fact_frames import Undecoded
from tests.report.conftest import Stage
from tests.report.tables.source_rows import DAMAGE, lines_of_brokers, unit
from tests.support.table_inputs import inputs_of


def test_undecoded_names_the_place_and_caps_the_bytes(
    stage: Stage, land: Stage, context: ReportContext
) -> None:
    long = Undecoded(
        group_id="g",
        offsets_partition=3,
        offset=5,
        reason="short",
        raw=b"x" * 2000,
        raw_bytes=9000,
        encoding="json",
    )
    elsewhere = replace(long, offsets_partition=9)
    rows = (
        undecoded(
            inputs_of(stage(long, elsewhere), context, land(DAMAGE, unit(3, source="dump_log")))
        )
        .selectExpr("*", "length(raw) AS kept")
        .collect()
    )
    found = {
        (
            row.source,
            row.input,
            row.offset,
            row.reason,
            row.kept,
            row.raw_bytes,
            row.path,
            row.position,
        )
        for row in rows
    }
    assert found == {
        ("dump_log", "__consumer_offsets-3", 5, "short", 1024, 9000, None, None),
        ("dump_log", "__consumer_offsets-9", 5, "short", 1024, 9000, None, None),
        ("dump_log", "__consumer_offsets-3", -1, "wrong CRC", 2, 4000, "/a.log", 7),
    }


def test_what_is_no_line_of_a_log_of_a_broker_is_undecoded(
    spark: SparkSession, stage: Stage, land: Stage, context: ReportContext
) -> None:
    lines = lines_of_brokers(spark)
    found = undecoded(inputs_of(stage(), context, land(unit(3)), lines)).collect()
    assert {
        (
            row.source,
            row.input,
            row.offset,
            row.reason,
            bytes(row.raw),
            row.raw_bytes,
            row.encoding,
            row.path,
            row.position,
        )
        for row in found
    } == {
        ("server_log", "/s", 40, "no line, and so 1 more lines", b"xx", 9, "text", "/s", 40),
        ("server_log", "/s", 60, "too long", b"y", 5_000, "text", "/s", 60),
    }
