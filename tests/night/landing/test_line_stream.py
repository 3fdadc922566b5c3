"""Logs of brokers over nights: each line is landed once, whatever became of its file.

Holds night/dry_run.py.
"""

from __future__ import annotations

import gzip
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from groupreplay.config.model import Config
from groupreplay.config.sources import RequestLogSource, ServerLogSource
from groupreplay.night.dry_run import planned_lines
from groupreplay.night.earlier.plan_json import from_json, joined_json
from groupreplay.night.landing.land_units import land
from groupreplay.night.landing.landed import LinesLanding
from groupreplay.night.landing.landed_lines import after_look
from groupreplay.night.landing.line_stream import RAW_LINES, LineStream
from groupreplay.night.plans.inputs import Inputs, find_inputs
from groupreplay.night.plans.plan import Plan
from groupreplay.sources.text_logs import plan_text_units
from groupreplay.tables.warehouse import Warehouse
from tests.workers.text_units import event_line, request_line, server_line

NIGHT = date(2026, 11, 20)


def inputs_of(folder: Path) -> Inputs:
    of: dict[str, Any] = {"broker": 1, "timezone": "UTC"}
    server = ServerLogSource(kind="server_log", path=f"{folder}/server.log*", **of)
    request = RequestLogSource(kind="request_log", path=f"{folder}/request.log*", **of)
    return find_inputs(Config(cluster="c", warehouse="/none", sources=(server, request)))


def test_nights_land_each_line_of_logs_that_grow_roll_and_are_packed_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    warehouse = Warehouse(spark, str(tmp_path / "warehouse"), "c")
    logs = tmp_path / "logs"
    logs.mkdir()
    server, request = logs / "server.log", logs / "request.log"

    def night(day: int, before: LinesLanding) -> LinesLanding:
        inputs, at = inputs_of(logs), NIGHT + timedelta(days=day)
        seen = after_look(before, (file.identity for file in inputs.texts), at)
        units = plan_text_units(inputs.texts, before.watermarks)
        if not units:
            return seen
        return land(warehouse, at, LineStream(tuple(units)), seen, {"run_id": "r"})

    def landed(version: int | None = None) -> Counter[tuple[Any, ...]]:
        rows = (
            warehouse.read(RAW_LINES, version)
            .where("kind = 'line'")
            .selectExpr("source", "member_id", "requests", "day(logical_date) AS day")
        )
        return Counter(tuple(row) for row in rows.collect())

    server.write_bytes(server_line(0) + event_line(1) + event_line(2)[:-1])
    request.write_bytes(
        request_line(1, epoch=0) + request_line(6) + request_line(11) + request_line(12, key=1)
    )
    first = night(0, LinesLanding())
    expected = Counter(
        {
            ("server_log", "m-1", 1, 20): 1,
            ("request_log", "m", 1, 20): 1,
            ("request_log", "m", 2, 20): 1,
        }
    )
    assert landed() == expected
    assert (first.rows, first.kinds, first.sources) == (
        3,
        ("file", "line"),
        ("request_log", "server_log"),
    )
    assert night(0, first) == first

    (logs / "server.log.2026-11-20-10.gz").write_bytes(
        gzip.compress(server_line(0) + event_line(1) + event_line(2) + event_line(3))
    )
    server.write_bytes(event_line(3600 + 4))
    request.write_bytes(request.read_bytes() + request_line(16) + b'{broken requestApiKey":68}\n')
    second = night(1, first.next_night())
    expected += Counter(
        {("server_log", f"m-{number}", 1, 21): 1 for number in (2, 3, 3604)}
        | {("request_log", "m", 1, 21): 1}
    )
    assert landed() == expected

    server.write_bytes(server.read_bytes() + event_line(3600 + 5))
    again = night(1, from_json(LinesLanding, joined_json(second)))
    expected += Counter({("server_log", "m-3605", 1, 21): 1})
    assert landed() == expected
    assert (second.rows, again.rows, again.kinds) == (4, 5, ("damage", "file", "line"))
    assert night(2, again.next_night()).raw_version == -1
    assert landed(again.raw_version) == expected


def test_units_of_logs_are_part_of_a_plan(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(server_line(0))
    (tmp_path / "request.log").write_bytes(request_line(0))
    plan = Plan((), text_units=tuple(plan_text_units(inputs_of(tmp_path).texts, {})))
    assert len(plan.text_units) == 2
    assert from_json(Plan, joined_json(plan)) == plan


def test_a_dry_run_tells_of_logs_and_of_files_that_wait(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(server_line(0))
    (tmp_path / "server.log.1").write_bytes(b"no end")
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(server_line(0))[:11])
    (tmp_path / "request.log").write_bytes(request_line(0))
    inputs = inputs_of(tmp_path)
    lines = planned_lines(inputs, [], plan_text_units(inputs.texts, {}), [NIGHT], "/w")
    size = len(server_line(0))
    assert f"  server_log of broker 1: 1 files of 3, {size} bytes" in lines
    assert f"  cannot be read: {tmp_path}/server.log.gz: gzip ends early" in lines
    assert "  without a whole line yet: 1 files" in lines
    assert "raw_lines" in lines[-1]
    assert "raw_lines" not in planned_lines(Inputs((), (), 0, ()), [], [], [NIGHT], "/w")[-1]
