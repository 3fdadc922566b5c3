"""Rules that a source broke."""

from __future__ import annotations

import json
from typing import Any

from groupreplay.night.plans.plan import in_words
from groupreplay.replay.facts import Anomaly
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.anomalies import anomalies
from groupreplay.wire.segments import other_logs
from groupreplay.wire.segments.other_logs import shown
from tests.report.conftest import Stage
from tests.report.facts_by_hand import AT, fact
from tests.support.table_inputs import inputs_of


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
    names = ("group_id", "severity", "evidence_partition", "evidence_offset", "path", "is_final")
    assert {rule: tuple(row[name] for name in names) for rule, row in rows.items()} == {
        "I1": ("g", "ERROR", 3, 12, None, False),
        "REPLICA_CONFLICT": (None, "WARN", 3, 77, "/a", True),
        "CLOCK_JUMP": (None, "WARN", 3, 80, None, True),
        "LATE_RECORDS": (None, "WARN", 3, 4, None, True),
        "TOPIC_RECREATED": (None, "ERROR", 3, 0, None, True),
    }
    assert {rule: row.detail for rule, row in rows.items()} == {
        "I1": "epoch 3 after 4",
        "REPLICA_CONFLICT": "kept leader epoch 5, dropped 4",
        "CLOCK_JUMP": "record time 5 ms is a day off from both neighbours",
        "LATE_RECORDS": (
            "7 records of offsets [[4,8],[12,15]] came after their night; rebuild_nights replays"
            " them"
        ),
        "TOPIC_RECREATED": "the batch at offset 0 is of time 9 ms",
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
