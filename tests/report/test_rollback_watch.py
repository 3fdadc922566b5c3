"""`rollback_watch`: each signal by a group that has it and by one that just has not, in DuckDB, and
the same rows in Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from groupreplay.config.model import BrokersConfig, WavesConfig
from groupreplay.report.statements import statements
from tests.simulator.proved import ProvedTables
from tests.simulator.tables import FactTables
from tests.support.recordings import recordings
from tests.support.statement_tables import COLUMNS, Rows, asked, asked_of_spark, in_duckdb

TABLES, TEXT = statements(WavesConfig(), BrokersConfig())["decisions/rollback_watch.sql"]
NOW: Final = datetime(2026, 11, 21, 6, tzinfo=UTC)
FLIPPED_H: Final = -10.0

Row = Mapping[str, Any]


def at(hours: float) -> datetime:
    """Hours from as-of."""
    return NOW + timedelta(hours=hours)


def flip(group: str, hours: float = FLIPPED_H, direction: str = "UPGRADE") -> Row:
    return {"group_id": group, "converted_at": at(hours), "direction": direction, "mode": "ONLINE"}


def refusal(group: str, api: str, code: int, attempts: int, hours: float = -9) -> Row:
    told = {"group_id": group, "api": api, "error_code": code, "attempts": attempts}
    return {**told, "last_at": at(hours)}


def fenced(group: str, since_h: float, *ended_h: float) -> list[Row]:
    """Members that a session timeout removed, and one that is there since before."""
    member: dict[str, Any] = {"group_id": group, "joined_at": at(since_h)}
    ended = [{"ended_at": at(hours), "end_detail": "SESSION_EXPIRED"} for hours in ended_h]
    return [member, *({**member, **end} for end in ended)]


def day(group: str, from_h: float, to_h: float, **more: Any) -> Row:
    span = {"from_at": at(from_h), "to_at": at(to_h), "high_unknown": 0}
    return {"group_id": group, **span, "partitions_ms": 1_000_000, **more}


def rebalances(group: str) -> list[Row]:
    """join_ms 100 to 2,000: the nineteenth of twenty is 1,900."""
    return [
        {"group_id": group, "started_at": at(-30), "join_ms": 100 * each} for each in range(1, 21)
    ]


def absence(group: str, gap_ms: int | None, own_ms: int) -> dict[str, Row]:
    gone = {"group_id": group, "instance_id": "i", "from_offset": 7, "outcome": "EXPIRED_RETURNED"}
    before = {"group_id": group, "instance_id": "i", "joined_at": at(-30)}
    return {
        "static_accounting": {**gone, "removed_at": at(-5), "gap_high_ms": gap_ms},
        "members": {**before, "session_timeout_ms": own_ms},
    }


ALARMS: Final = {
    "back": ["WENT_BACK"],
    "fenced": ["FENCED_MORE"],
    "fenced-new": ["FENCED_MORE"],
    "not-consuming": ["OWNS_NOT_CONSUMING"],
    "refused": ["NOT_STARTING"],
    "several": ["WENT_BACK", "STALE_COMMITS"],
}
WATCHED: Final = {
    "cliff": ["CLIFF"],
    "less": ["LESS_AVAILABLE"],
    "mixed": ["MIXED_LONG"],
    "slower": ["SLOWER"],
    "stale": ["STALE_COMMITS"],
}
WELL: Final = (
    *("again", "calm", "cliff-own", "cliff-unknown", "consumes", "cooperative", "fenced-less"),
    *("less-unknown", "mixed-rollout", "quick", "refused-before", "refused-twice"),
    *("stale-heartbeat", "touching"),
)
SIGNALS: Final[dict[str, list[str]]] = {**ALARMS, **WATCHED, **{group: [] for group in WELL}}
"""Group -> the signals that hold, in the order of the statement."""


def tables() -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    rows["coverage"] = [
        {"source": source, "last_at": at(0)} for source in ("server_log", "request_log")
    ]
    progress = {"logical_date": date(2026, 11, 21), "as_of_at": NOW}
    mixed = {"phase": "MIGRATING", "mixed_since_at": at(-3)}
    rows["migration_progress"] = [
        {**progress, "group_id": "calm", "phase": "MIGRATED"},
        *({**progress, **mixed, "group_id": group} for group in ("mixed", "mixed-rollout")),
        {"logical_date": date(2026, 11, 20), "as_of_at": at(-24), **mixed, "group_id": "calm"},
    ]
    rollout = {"class": "ROLLOUT", "started_at": at(-100), "ended_at": at(-96)}
    rows["departure_waves"] = [{"group_id": "mixed-rollout", **rollout}]
    rows["group_conversions"] = [
        *(flip(group) for group in SIGNALS),
        flip("old", -25),
        *(flip(group, -9, "DOWNGRADE") for group in ("back", "several")),
        *(flip("again", -20), flip("again", -15, "DOWNGRADE")),
    ]
    heartbeat = "CONSUMER_GROUP_HEARTBEAT"
    rows["refusals"] = [
        refusal("refused", heartbeat, 111, 3),
        *(refusal("refused-twice", heartbeat, 111, 2), refusal("old", heartbeat, 111, 9)),
        refusal("refused-before", heartbeat, 69, 9, hours=-11),
        *(refusal("stale", "OFFSET_COMMIT", 113, 1), refusal("several", "OFFSET_COMMIT", 25, 1)),
        refusal("stale-heartbeat", heartbeat, 25, 9),
    ]
    rows["stuck_members"] = [
        {"group_id": group, "reason": "ASSIGNED_NOT_CONSUMING", "is_open": is_open}
        for group, is_open in (("not-consuming", True), ("consumes", False))
    ]
    # In 120 hours before the flip 24, so 0.2 an hour; 3 times that, and 1, makes 16 in 10 hours.
    before = [-12.0] * 24
    rows["members"] = [
        *fenced("fenced", -130, *before, *[-1.0] * 17),
        *fenced("fenced-less", -130, *before, *[-1.0] * 16),
        *fenced("fenced-new", FLIPPED_H, *[-1.0] * 11),
    ]
    for group, gap_ms, own_ms in (
        *(("cliff", 50_000, 300_000), ("cliff-own", 50_000, 45_000)),
        ("cliff-unknown", None, 300_000),
    ):
        for table, row in absence(group, gap_ms, own_ms).items():
            rows[table].append(row)
    rows["rebalances"] = [
        row for group in ("slower", "quick", "cooperative") for row in rebalances(group)
    ]
    rows["group_epochs"] = [
        {"group_id": "cooperative", "started_at": at(-30), "cooperative": True},
        {"group_id": "slower", "started_at": at(-30), "cooperative": False},
    ]
    rows["group_days"] = [
        *(day(group, -6, 0, handover_p95_ms=10_001) for group in ("slower", "cooperative")),
        day("quick", -6, 0, handover_p95_ms=10_000),
        *_available("less", 20_000, 20_001),
        *_available("touching", 20_000, 20_000),
        *_available("less-unknown", 20_000, 90_000, high_unknown=1),
    ]
    return rows


def _available(group: str, high_ms: int, low_ms: int, **before: Any) -> list[Row]:
    return [
        day(group, -30, -11, high_ms=high_ms, **before),
        day(group, -200, -180, high_ms=1_000_000, high_unknown=9),
        day(group, -11, 0, low_ms=low_ms),
    ]


def test_each_signal_holds_where_it_must_and_nowhere_else() -> None:
    found = asked(in_duckdb(TABLES, tables()), TEXT)
    assert {row["group_id"]: row["signals"] for row in found} == SIGNALS
    assert [row["group_id"] for row in found] == list(SIGNALS)
    watched = {"ALARM": ALARMS, "WATCH": WATCHED, "OK": WELL}
    assert [row["watch"] for row in found] == [
        watch for watch, groups in watched.items() for _ in groups
    ]
    assert {row["flipped_at"] for row in found} == {at(FLIPPED_H)}
    assert all(row["unseen"] == [] for row in found)
    told = {row["group_id"]: row for row in found}
    assert (told["fenced"]["fenced_before"], told["fenced"]["fenced_after"]) == (24, 17)
    assert told["slower"]["join_p95_ms"] == 1_900
    assert told["less"]["availability_least_before"] == pytest.approx(98)
    assert told["less"]["availability_most_after"] == pytest.approx(97.9999)


def test_what_only_logs_show_is_unseen_where_none_was_read_since() -> None:
    def unseen(coverage: Sequence[Row]) -> list[str]:
        rows = {**tables(), "coverage": coverage, "group_conversions": [flip("calm")]}
        (row,) = asked(in_duckdb(TABLES, rows), TEXT)
        unseen: list[str] = row["unseen"]
        return unseen

    topic = {"source": "segments", "last_at": at(0)}
    early = {"source": "server_log", "last_at": at(-11)}
    all_of_them = ["NOT_STARTING", "FENCED_MORE", "STALE_COMMITS", "SLOWER"]
    assert unseen([]) == unseen([topic, early]) == all_of_them
    assert unseen([{"source": "request_log", "last_at": at(0)}]) == ["FENCED_MORE", "SLOWER"]
    assert unseen([{"source": "server_log", "last_at": at(0)}]) == ["STALE_COMMITS"]


def test_the_heartbeat_interval_is_that_of_the_configuration() -> None:
    brokers = BrokersConfig(heartbeat_interval_ms=6_000)
    text = statements(WavesConfig(), brokers)["decisions/rollback_watch.sql"].text
    found = asked(in_duckdb(TABLES, tables()), text)
    assert next(row["signals"] for row in found if row["group_id"] == "slower") == []


def test_spark_says_the_same(spark: SparkSession) -> None:
    connection = in_duckdb(TABLES, tables())
    found = asked_of_spark(spark, connection, TABLES, TEXT)
    assert found == asked(connection, TEXT)


def of_recording(name: str) -> Rows:
    """Rows of a recording, by the replay of its log and of its brokers' logs."""
    home = recordings()[name]
    facts = FactTables(home)
    members = ProvedTables(home, facts).rows("member_ends")
    lines = {"source": "server_log", "last_at": datetime.max.replace(tzinfo=UTC)}
    night = {"logical_date": date(2026, 11, 21)}
    progress = [{**row, **night} for row in facts.rows("migration_progress")]
    return {
        "coverage": [lines],
        "group_conversions": _read(facts.rows("group_conversions"), "group_conversions"),
        "members": _read(members, "members"),
        "migration_progress": _read(progress, "migration_progress"),
    }


def _read(rows: Sequence[Row], table: str) -> list[Row]:
    """The columns that the statement reads, with times for ms."""
    return [
        {
            name: datetime.fromtimestamp(row[name] / 1000, UTC)
            if name.endswith("_at") and row[name] is not None
            else row[name]
            for name in COLUMNS[table]
            if name in row
        }
        for row in rows
    ]


def test_groups_of_a_recording_that_went_back_are_alarms() -> None:
    found = asked(in_duckdb(TABLES, of_recording("migration-4.3")), TEXT)
    told = {row["group_id"]: (row["watch"], row["signals"]) for row in found}
    assert told["rollback"] == ("ALARM", ["WENT_BACK"])
    assert told["upgrade-crash"] == ("ALARM", ["WENT_BACK", "FENCED_MORE"])
    assert told["upgrade-eager"] == ("OK", [])
    flipped = {"upgrade-slow", "upgrade-coop", "mixed-stall", "static-upgrade"}
    assert told.keys() == flipped | {"upgrade-old-client", "offline-upgrade"} | {
        *("rollback", "upgrade-crash", "upgrade-eager")
    }
