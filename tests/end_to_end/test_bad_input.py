"""Damaged logs and hostile names through the whole job: the rest is replayed, the damage is told
with its place, nothing fails.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

from groupreplay.cli.outcome import result_lines
from tests.end_to_end.logs import RECORDINGS
from tests.end_to_end.nights import Place
from tests.support.few_tables import few_tables
from tests.wire.encode import batch, commit

HOSTILE = [
    "",
    "a'; DROP TABLE runs; --",
    'quote" and \\ slash',
    "line\nbreak\ttab",
    "{0} ${env:HOME} %s",
    "групппа-組-🎉",
    "x" * 32_767,
    "`back`tick`",
    "nul\0 \u202eturned\u2069 \u200bunseen",
]


def _segment(root: Path, partition: int, content: bytes, first_offset: int = 0) -> None:
    folder = root / f"__consumer_offsets-{partition}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{first_offset:020d}.log").write_bytes(content)


def test_damage_is_told_and_the_rest_is_replayed(spark: SparkSession, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    good = (
        RECORDINGS / "consumer-4.3/segments/broker-1/__consumer_offsets-29/00000000000000000000.log"
    ).read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0xFF
    _segment(logs, 29, bytes(flipped))
    _segment(logs, 1, b"this is no log at all " * 400)
    _segment(logs, 2, good[: 61 + 20])
    huge = bytearray(batch(0, [commit("after")]))
    huge[8:12] = (2**31 - 1).to_bytes(4, "big")
    _segment(logs, 3, bytes(huge) + batch(10, [commit("survivor")]))
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "__consumer_offsets-4.txt").write_text(
        "Dumping x/__consumer_offsets-4/0.log\nbaseOffset: 0 lastOff\n| offset: 0 Cre\n"
    )
    place = Place(
        spark, tmp_path / "warehouse", (("segments", logs), ("dump_log", tmp_path / "dump"))
    )
    with few_tables("undecoded", "group_epochs", is_summarized=True):
        summary = "\n".join(result_lines(place.run()))

    undecoded = (
        place.table("undecoded")
        .select("input", "reason", "path", "position", "raw_bytes")
        .collect()
    )
    damaged = {row["input"] for row in undecoded}
    assert {"__consumer_offsets-29", "__consumer_offsets-1", "__consumer_offsets-3"} <= damaged
    assert all(row["reason"] and row["path"] and row["position"] is not None for row in undecoded)
    assert "not decoded" in summary
    coverage = place.table("coverage").collect()
    assert all(
        row["landed"] == row["decoded"] + row["unknown"] + row["undecoded"] for row in coverage
    )
    groups = {row[0] for row in place.rows("migration_progress", "group_id")}
    assert {"static-bounce", "survivor"} <= groups
    epochs = place.table("group_epochs").where("group_id = 'static-bounce'").count()
    assert epochs > 3


def test_hostile_names_reach_the_tables_unharmed(spark: SparkSession, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    records = [commit(name, topic=name[:200] or "t", ts_ms=1_795_240_000_000) for name in HOSTILE]
    _segment(logs, 7, batch(0, records, ts=1_795_240_000_000))
    (tmp_path / "topics.json").write_text(
        json.dumps([{"topic_id": "AAAAAAAAAAAAAAAAAAAAAQ", "topic": "a'b", "partitions": 1}])
    )
    place = Place(
        spark, tmp_path / "ware house'1", (("segments", logs), ("topics", tmp_path / "topics.json"))
    )
    with few_tables("undecoded", "readiness", is_summarized=True):
        result = place.run()
    assert sorted(row[0] for row in place.rows("migration_progress", "group_id")) == sorted(HOSTILE)
    assert place.rows("undecoded", "reason") == []
    assert len(result_lines(result)) > 5
    assert ("AAAAAAAAAAAAAAAAAAAAAQ", "a'b") in place.rows("topics", "topic_id", "topic")
