"""The summary: what is collected, how it reads, and the three queries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import NullType, StructType

from groupreplay.cli.queries import QUERIES, queries
from groupreplay.report.summary.text import (
    SUMMARY_TABLES,
    WIDTH,
    Section,
    section,
    summary_frames,
    summary_lines,
)
from groupreplay.tables.schemas import table_schema

NIGHT = date(2026, 11, 21)
AS_OF = datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)
AS_OF_MS = int(AS_OF.timestamp() * 1000)
USUAL: dict[str, Any] = {
    "BooleanType": False,
    "IntegerType": 0,
    "LongType": 0,
    "StringType": "",
    "TimestampType": AS_OF,
    "ArrayType": [],
    "DateType": NIGHT,
}

Fill = Callable[..., dict[str, DataFrame]]


def _filled(schema: StructType, row: dict[str, Any]) -> tuple[Any, ...]:
    """A row with every NOT NULL column filled in."""
    unknown = row.keys() - set(schema.names)
    assert not unknown, unknown
    return tuple(
        row.get(field.name, None if field.nullable else USUAL[type(field.dataType).__name__])
        for field in schema
    )


@pytest.fixture
def fill(spark: SparkSession) -> Fill:
    def build(**rows: list[dict[str, Any]]) -> dict[str, DataFrame]:
        schemas = {name: table_schema(spark, name).struct for name in SUMMARY_TABLES}
        return {
            name: spark.createDataFrame(
                [_filled(schema, row) for row in rows.get(name, [])], schema
            )
            for name, schema in schemas.items()
        }

    return build


def _collected(tables: dict[str, DataFrame], top: int) -> dict[str, Section]:
    return {
        name: section(frame.collect()) for name, frame in summary_frames(tables, NIGHT, top).items()
    }


def _group(name: str, phase: str, total: int, consumer: int, **values: Any) -> dict[str, Any]:
    blockers = [
        {
            "member_id": f"{name}-{each}",
            "instance_id": None,
            "client_id": f"app-{each}",
            "client_host": "/10.0.0.1",
        }
        for each in range(total - consumer)
    ]
    counts = {
        "members_total": total,
        "members_consumer": consumer,
        "as_of_at": AS_OF,
        "blockers": blockers,
        "history_complete": True,
    }
    return {"group_id": name, "phase": phase, **counts, **values}


def _small_night() -> dict[str, list[dict[str, Any]]]:
    mixed = {
        "team": "payments",
        "progress_pct": 33.3,
        "mixed_since_at": AS_OF - timedelta(days=2, hours=5),
        "is_stalled": True,
    }
    slow = {
        "group_id": "orders",
        "member_id": "m-slow",
        "outcome": "FENCED",
        "revoke_ms": 45_300,
        "unowned_ms": 210,
        "topic": "t",
    }
    slow |= {"team": "orders-team", "client_id": "slow-app", "client_host": "/10.0.0.9"}
    waits = {
        "reason": "WAITING_ON_HOLDER",
        "stuck_ms": 30_000,
        "is_open": True,
        "blocked_by": ["m-slow"],
        "team": "orders-team",
    }
    waits["since_at"] = AS_OF - timedelta(seconds=30)
    acked = {"group_id": "orders", "member_id": "m-quick", "outcome": "ACKED", "topic": "clicks"}
    stalled = {
        "group_id": "mixed",
        "reason": "MIGRATION_STALLED",
        "stuck_ms": 190_800_000,
        "is_open": True,
        "since_at": mixed["mixed_since_at"],
    }
    log = {
        "input": "/server.log",
        "source": "server_log",
        "landed": 5_000,
        "decoded": 20,
        "unknown": 4_980,
    }
    return {
        "migration_progress": [
            _group("new", "NATIVE", 2, 2),
            _group("done", "MIGRATED", 3, 3),
            _group("seen-late", "CONSUMER", 1, 1, history_complete=False),
            _group("mixed", "MIGRATING", 5, 1, **mixed),
            _group("old", "CLASSIC", 2, 0),
            _group("nobody", "EMPTY", 0, 0),
            _group("kafka-connect", "NOT_APPLICABLE", 4, 0, blockers=[]),
            _group("other night", "CLASSIC", 9, 0, logical_date=date(2026, 11, 20)),
        ],
        "revocation_latencies": [
            *[{**slow, "partition": partition} for partition in range(3)],
            *[{**acked, "revoke_ms": ms, "partition": ms} for ms in (100, 200, 300)],
            {**acked, "outcome": "OPEN", "revoke_ms": None},
        ],
        "stuck_members": [
            {
                "group_id": "orders",
                "member_id": "m-slow",
                "client_id": "slow-app",
                "reason": "SLOW_REVOCATION",
                "stuck_ms": 45_300,
            },
            {"group_id": "orders", "member_id": "m-wait", **waits},
            {
                "group_id": "loop\n",
                "member_id": "m",
                "client_id": "c",
                "reason": "FENCE_LOOP",
                "stuck_ms": 200_000,
                "repetitions": 4,
            },
        ],
        "stuck_groups": [stalled],
        "coverage": [
            {
                "input": "a",
                "landed": 1000,
                "decoded": 999,
                "undecoded": 1,
                "reduced": 5000,
                "holes": 12,
            },
            {"input": "b", "decoded": 1},
            log,
        ],
        "undecoded": [{"reason": "value too short"}],
        "anomalies": [
            {"rule": "I9", "severity": "INFO"},
            {"rule": "I9", "severity": "INFO"},
            {"rule": "I1", "severity": "ERROR"},
        ],
    }


EXPECTED = """\
groupreplay, cluster prod, night 2026-11-21, as of 2026-11-21 01:02:03 UTC

MIGRATION to the consumer protocol: 6 groups; 1 more cannot take part (share, streams, simple, Connect), left out
  consumer protocol         3   1 from birth, 1 migrated, 1 since before the log begins
  half-way                  1   1 mixed for too long
  classic protocol          1
  no members                1
  members                  13   7 of them speak the consumer protocol (53.8 %)
  mixed (payments): 33 % done, mixed for 2 d 5 h, waits for app-0 /10.0.0.1, app-1 /10.0.0.1, app-2 /10.0.0.1 and 1 more
  clients that still speak the classic protocol: app-0 (2 groups), app-1 (2 groups), app-2 (1 group), app-3 (1 group)

HAND-OVERS: 7 partitions asked back from a member
  3 given back (half within 200 ms, 99 % within 300 ms), 1 still open, 3 fenced
  slowest to let go, with the member to be charged:
        45.3 s  orders (orders-team): slow-app /10.0.0.9, 3 partitions, fenced, then unowned 210 ms
        300 ms  orders: m-quick, 3 partitions, given back

STUCK: 2 now, 2 that ended
  MIGRATION_STALLED 1 now, 0 ended; WAITING_ON_HOLDER 1 now, 0 ended; FENCE_LOOP 0 now, 1 ended
  SLOW_REVOCATION 0 now, 1 ended
  now        2 d 5 h  MIGRATION_STALLED, mixed: the whole group, since 2026-11-18 20:02:03
  now         30.0 s  WAITING_ON_HOLDER, orders (orders-team): m-wait, held by m-slow, since 2026-11-21 01:01:33
  ended   3 min 20 s  FENCE_LOOP 4 times, loop\\n: c
  ended       45.3 s  SLOW_REVOCATION, orders: slow-app

SEEN: 2 inputs, 1,000 records replayed, 5,000 commits left out that no measure needs
        5,000  lines in 1 log of brokers, 4,980 of them of other loggers or APIs
           12  offsets gone by compaction or loss, in 1 input
  not decoded, see table undecoded: value too short (1 row)
            1  of 7 groups began before the log does, or lie in its holes: their history is not complete
  ERROR  rule I1 broken: 1 time, see table anomalies
  INFO   rule I9 broken: 2 times, see table anomalies"""


@pytest.mark.spark
def test_a_night_reads_as_it_was(fill: Fill) -> None:
    found = _collected(fill(**_small_night()), top=5)
    lines = summary_lines(found, cluster="prod", logical_date=NIGHT, as_of_ms=AS_OF_MS)
    assert "\n".join(lines) == EXPECTED


@pytest.mark.spark
def test_only_top_rows_are_collected(fill: Fill) -> None:
    many = [
        _group(f"g{each:03}", "MIGRATING", 2, 1, mixed_since_at=AS_OF - timedelta(minutes=each))
        for each in range(100)
    ]
    stuck = [
        {
            "group_id": f"g{each}",
            "member_id": "m",
            "reason": "FENCE_LOOP",
            "stuck_ms": each,
            "is_open": each < 3,
        }
        for each in range(100)
    ]
    found = _collected(fill(migration_progress=many, stuck_members=stuck), top=4)
    lengths = {name: len(rows) for name, rows in found.items() if rows}
    assert lengths == {
        "fleet": 1,
        "half_way": 4,
        "classic_clients": 1,
        "stuck_reasons": 1,
        "stuck": 4,
        "coverage": 1,
    }
    assert {row["group_id"] for row in found["half_way"]} == {"g099", "g098", "g097", "g096"}
    assert {row["group_id"] for row in found["stuck"]} == {"g0", "g1", "g2", "g99"}


@pytest.mark.spark
def test_a_night_without_rows_has_a_summary(fill: Fill) -> None:
    found = _collected(fill(), top=5)
    assert summary_lines(found, cluster="c", logical_date=NIGHT, as_of_ms=None) == [
        "groupreplay, cluster c, night 2026-11-21, nothing read yet",
        *("", "MIGRATION to the consumer protocol: 0 groups"),
        *("", "HAND-OVERS: 0 partitions asked back from a member"),
        *("", "STUCK: 0 now, 0 that ended"),
        *("", "SEEN: 0 inputs, 0 records replayed", "  nothing is missing, and no rule was broken"),
    ]


def test_no_line_is_longer_than_a_screen_whatever_the_names() -> None:
    name = "\x1b[31mé\n\t" * 9000
    member = {
        "group_id": name,
        "team": name,
        "member_id": name,
        "client_id": name,
        "client_host": name,
    }
    found: dict[str, Section] = {
        "fleet": [
            {
                "phase": "MIGRATING",
                "groups": 1,
                "members": 2,
                "members_consumer": 1,
                "stalled": 0,
                "incomplete": 0,
            }
        ],
        "half_way": [
            {"group_id": name, "progress_pct": 50.0, "blockers": [name] * 3, "blockers_count": 5000}
        ],
        "classic_clients": [{"client_id": name, "groups": 5, "example": name}] * 5,
        "hand_overs": [{"outcome": "ACKED", "partitions": 3, "revoke_ms": [1, 90_061_000]}],
        "slowest": [
            {**member, "outcome": "ACKED", "partitions": 1, "topic": name, "revoke_ms": 3_700_000}
        ],
        "stuck_reasons": [{"reason": "R" * 30, "open": 1, "ended": 1}] * 9,
        "stuck": [
            {
                **member,
                "reason": "R",
                "stuck_ms": 1,
                "is_open": True,
                "blocked_by": [name, name],
                "repetitions": 3,
                "since": "2026-11-21 01:02:03",
            }
        ],
        "undecoded": [{"reason": name, "rows": 1}],
    }
    lines = summary_lines(found, cluster="c", logical_date=NIGHT, as_of_ms=AS_OF_MS)
    assert max(map(len, lines)) <= WIDTH
    assert all(line.isprintable() for line in lines)


@pytest.mark.spark
def test_queries_run_on_tables_as_they_are(spark: SparkSession) -> None:
    for name in SUMMARY_TABLES:
        spark.createDataFrame([], table_schema(spark, name).struct).createOrReplaceTempView(
            f"summary_{name}"
        )
    for _, statement in queries("/w", "it's"):
        for name in SUMMARY_TABLES:
            statement = statement.replace(f"delta.`/w/{name}`", f"summary_{name}")
        result = spark.sql(statement)
        assert result.collect() == []
        assert not any(isinstance(field.dataType, NullType) for field in result.schema)


def test_queries_quote_the_path_and_the_cluster() -> None:
    assert len(QUERIES) == 3
    for _, statement in queries("s3a://b/it`s/", "it's"):
        assert "delta.`s3a://b/it``s/" in statement
        assert "cluster = 'it\\'s'" in statement
        assert "{" not in statement
