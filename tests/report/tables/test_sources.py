"""What is told of inputs: coverage that adds up, bytes that were not decoded, rules that sources
broke, names of topics.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from chispa import assert_df_equality
from pyspark.sql import SparkSession

from groupreplay.config.model import BrokersConfig
from groupreplay.night.plans.plan import in_words
from groupreplay.replay.facts import Anomaly, TopicSeen
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.anomalies import anomalies
from groupreplay.report.tables.coverage import (
    NEEDS_OF_DECISIONS,
    coverage,
    unseen_decisions,
)
from groupreplay.report.tables.topics import topics
from groupreplay.report.tables.undecoded import undecoded
from groupreplay.wire.segments import other_logs
from groupreplay.wire.segments.other_logs import shown
from groupreplay.workers.fact_frames import Counts, Undecoded
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.table_inputs import TOPICS_DDL, inputs_of, topics_of


def unit(partition: int, source: str = "segments", **counts: int) -> dict[str, Any]:
    detail = json.dumps(
        {
            "first_offset": 0,
            "next_offset": 10,
            "first_ts_ms": AT,
            "last_ts_ms": AT + 5,
            "batch_crc": 1,
            **counts,
        }
    )
    return {
        "kind": "unit",
        "offsets_partition": partition,
        "input": f"__consumer_offsets-{partition}",
        "source": source,
        "detail": detail,
    }


DAMAGE = {
    "kind": "damage",
    "value": b"\x00\x01",
    "detail": json.dumps({"reason": "wrong CRC", "path": "/a.log", "position": 7, "bytes": 4000}),
}


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
    names = (
        "source",
        "first_offset",
        "next_offset",
        "landed",
        "decoded",
        "unknown",
        "undecoded",
        "reduced",
        "control",
        "holes",
        "late",
    )
    rows = {
        row.input: row
        for row in (
            coverage(inputs_of(staged, context, raw))
            .selectExpr("*", "unix_millis(last_at) AS last_ms", "first_at IS NULL AS is_idle")
            .collect()
        )
    }
    assert tuple(rows["__consumer_offsets-3"][name] for name in names) == (
        "dump_log+segments",
        0,
        12,
        5,
        2,
        1,
        2,
        6,
        1,
        2,
        40,
    )
    assert tuple(rows["__consumer_offsets-4"][name] for name in names) == (
        "segments",
        7,
        7,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    )
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


LINES_DDL = (
    "kind STRING, source STRING, input STRING, position BIGINT, detail STRING, requests BIGINT,"
    " line STRING, counts STRING"
)


def file_row(
    source: str, input_name: str, position: int, loggers: dict[str, int], **counts: int
) -> tuple[Any, ...]:
    names = (
        "lines",
        "matched",
        "unmatched",
        "continuation",
        "passed",
        "damaged",
        "too_long",
        "reduced",
    )
    told = (
        dict.fromkeys(names, 0)
        | {
            "from_position": position,
            "next_position": position + 100,
            "first_ms": AT,
            "last_ms": AT + 5,
        }
        | counts
    )
    return (
        "file",
        source,
        input_name,
        position,
        None,
        None,
        None,
        json.dumps({**told, "loggers": loggers, "identity": "i", "failure": None}),
    )


def test_logs_of_brokers_are_covered_line_by_line(
    spark: SparkSession, stage: Stage, land: Stage, context: ReportContext
) -> None:
    lines = spark.createDataFrame(
        [
            file_row(
                "server_log",
                "/s",
                0,
                {"a": 1, "b": 2},
                lines=9,
                matched=1,
                unmatched=3,
                continuation=2,
                damaged=2,
                too_long=1,
            ),
            file_row(
                "server_log", "/s", 100, {"b": 5}, lines=5, unmatched=5, first_ms=-1, last_ms=-1
            ),
            file_row("request_log", "/r", 0, {}, lines=8, matched=3, passed=5, reduced=2),
            ("line", "server_log", "/s", 7, None, 1, "a line", None),
            (
                "damage",
                "server_log",
                "/s",
                40,
                "no line",
                2,
                "xx",
                json.dumps({"lines": 2, "bytes": 9}),
            ),
            (
                "damage",
                "server_log",
                "/s",
                60,
                "too long",
                1,
                "y",
                json.dumps({"lines": 1, "bytes": 5_000}),
            ),
        ],
        LINES_DDL,
    )
    rows = {
        row.input: row
        for row in coverage(
            inputs_of(stage(Counts(offsets_partition=3)), context, land(unit(3)), lines)
        ).collect()
    }
    names = (
        "source",
        "first_offset",
        "next_offset",
        "landed",
        "decoded",
        "unknown",
        "undecoded",
        "reduced",
        "duplicates",
        "loggers",
    )
    assert tuple(rows["/s"][name] for name in names) == (
        "server_log",
        0,
        200,
        14,
        3,
        8,
        3,
        0,
        0,
        {"a": 1, "b": 7},
    )
    assert tuple(rows["/r"][name] for name in names) == (
        "request_log",
        0,
        100,
        8,
        3,
        5,
        0,
        2,
        0,
        None,
    )
    assert rows["__consumer_offsets-3"].loggers is None
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


def test_what_replicas_disagree_on_is_one_anomaly_without_a_group(
    stage: Stage, land: Stage, context: ReportContext
) -> None:
    def conflict(path: str) -> dict[str, Any]:
        detail = json.dumps({"kept_leader_epoch": 5, "dropped_leader_epoch": 4, "path": path})
        return {"kind": "conflict", "offset": 77, "ts_ms": AT, "detail": detail}

    late = {
        "kind": "late",
        "offset": 4,
        "ts_ms": AT,
        "detail": json.dumps({"records": 7, "filled": [[4, 8], [12, 15]]}),
    }
    other = {
        "kind": "other_log",
        "offset": 0,
        "ts_ms": AT,
        "detail": '{"found": "the batch at offset 0 is of time 9 ms"}',
    }
    raw = land(
        conflict("/b"),
        conflict("/a"),
        {"kind": "clock", "offset": 80, "ts_ms": 5, "detail": '{"ts_ms": 5}'},
        late,
        other,
    )
    rows = {
        row.rule: row for row in anomalies(inputs_of(stage(fact(Anomaly)), context, raw)).collect()
    }
    told = {
        rule: (
            row.group_id,
            row.severity,
            row.evidence_partition,
            row.evidence_offset,
            row.detail,
            row.path,
            row.is_final,
        )
        for rule, row in rows.items()
    }
    assert told == {
        "I1": ("g", "ERROR", 3, 12, "epoch 3 after 4", None, False),
        "REPLICA_CONFLICT": (None, "WARN", 3, 77, "kept leader epoch 5, dropped 4", "/a", True),
        "CLOCK_JUMP": (
            None,
            "WARN",
            3,
            80,
            "record time 5 ms is a day off from both neighbours",
            None,
            True,
        ),
        "LATE_RECORDS": (
            *(
                None,
                "WARN",
                3,
                4,
                (
                    "7 records of offsets [[4,8],[12,15]] came after their night; rebuild_nights"
                    " replays them"
                ),
                None,
                True,
            ),
        ),
        "TOPIC_RECREATED": (
            None,
            "ERROR",
            3,
            0,
            "the batch at offset 0 is of time 9 ms",
            None,
            True,
        ),
    }


def test_another_log_is_said_by_a_code_and_its_numbers(
    stage: Stage, land: Stage, context: ReportContext
) -> None:
    found = [
        shown(other_logs.LEADER_EPOCH, offset=7, leader_epoch=2, known_leader_epoch=5),
        shown(other_logs.SAME_OFFSET_LATER, offset=7, ts_ms=9, known_ts_ms=8),
        shown(other_logs.LOWER_OFFSET_LATER, offset=7, ts_ms=9, next_offset=12, newest_ms=8),
        shown(other_logs.TOPIC_ID, topic_id="new", known_topic_id="old"),
        shown(other_logs.LOWER_END, end_offset=3, next_offset=9),
    ]
    raw = land(
        *(
            {"kind": "other_log", "offset": offset, "ts_ms": AT, "detail": detail}
            for offset, detail in enumerate(found)
        )
    )
    rows = anomalies(inputs_of(stage(fact(Anomaly)), context, raw)).where("group_id IS NULL")
    told = {row.evidence_offset: (row.detail_code, row.detail) for row in rows.collect()}
    codes = [json.loads(detail)["shown_by"] for detail in found]
    assert [told[offset] for offset in range(len(found))] == [
        (code, in_words(detail)) for code, detail in zip(codes, found, strict=True)
    ]


def test_topics_are_what_no_night_before_knew(
    spark: SparkSession, stage: Stage, context: ReportContext
) -> None:
    staged = stage(
        fact(TopicSeen, topic_id="a", topic="alpha", seen_at=AT + 9),
        fact(TopicSeen, topic_id="a", topic="alpha", seen_at=AT, source="K4", partitions=6),
        fact(TopicSeen, topic_id="b", topic="beta"),
        fact(TopicSeen, topic_id="old", topic="old-name"),
    )
    given_rows = [("b", "Beta", 7), ("b", "Beta", 7), ("c", "gamma", None), ("old", "old-name", 1)]
    given = spark.createDataFrame(given_rows, f"{TOPICS_DDL}, partitions INT")
    before, after = (context.logical_date + timedelta(days) for days in (-1, 1))
    known = topics_of(spark, before, ("old", "old-name")).unionByName(
        topics_of(spark, after, ("a", "alpha"))
    )
    new = topics(inputs_of(staged, context, given_topics=given, tables={"topics": known}))
    expected = spark.createDataFrame(
        [
            ("a", "alpha", AT, 6, "K4"),
            ("b", "Beta", AT, 7, "given"),
            ("c", "gamma", context.as_of_ms, None, "given"),
        ],
        "topic_id STRING, topic STRING, seen_ms BIGINT, partitions INT, source STRING",
    )
    found = new.selectExpr(
        "topic_id", "topic", "unix_millis(first_seen_at) AS seen_ms", "partitions", "source"
    )
    assert_df_equality(found, expected, ignore_row_order=True, ignore_nullable=True)


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
