"""Commits whose transaction ends in a later unit or night than they were made in."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import GroupsConfig
from groupreplay.night.frames.left_out import LeftOut
from groupreplay.night.frames.replay import night_records
from groupreplay.night.frames.transactions import undecided_commits
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.workers.read_units import DDL

NIGHTS = [date(2026, 11, 20) + timedelta(days=number) for number in range(3)]
Row = dict[str, Any]


def commit(night: int, offset: int, *, producer: int = 7, key: bytes = b"k") -> Row:
    return {
        "kind": "open_commit",
        "night": night,
        "offset": offset,
        "producer_id": producer,
        "offsets_partition": 0,
        "key": key,
    }


def marker(night: int, offset: int, *, committed: bool = True, producer: int = 7) -> Row:
    detail = json.dumps({"committed": committed})
    return {
        "kind": "marker",
        "night": night,
        "offset": offset,
        "producer_id": producer,
        "offsets_partition": 0,
        "detail": detail,
    }


def tombstone(night: int, offset: int, *, key: bytes = b"k") -> Row:
    return {
        "kind": "record",
        "night": night,
        "offset": offset,
        "offsets_partition": 0,
        "key": key,
        "value": None,
    }


def plain(night: int, offset: int, *, key: bytes = b"k") -> Row:
    """A commit of no transaction."""
    return tombstone(night, offset, key=key) | {"value": b"other", "producer_id": -1}


def at_marker(night: int, offset: int, own_offset: int | None, *, producer: int = 8) -> Row:
    """A commit whose marker is in its own unit."""
    detail = {} if own_offset is None else {"detail": json.dumps({"own_offset": own_offset})}
    return plain(night, offset) | {"producer_id": producer} | detail


def raw_records(spark: SparkSession, rows: list[Row]) -> DataFrame:
    names = [column.split()[0].strip("`") for column in DDL.split(", ")]
    usual = {
        "ts_ms": 0,
        "leader_epoch": 4,
        "batch_base_offset": 0,
        "last_hole": -1,
        "encoding": "binary",
        "group_id": "g",
        "value": b"v",
    }
    usual |= {"source": "segments", "input": "__consumer_offsets-0"}
    values = [
        (
            *[(usual | row | {"ts_ms": row["offset"] * 10}).get(name) for name in names],
            NIGHTS[row["night"]],
            row.get("log"),
        )
        for row in rows
    ]
    return spark.createDataFrame(values, DDL + ", `logical_date` DATE, `log_incarnation` INT")


CASES: list[tuple[str, list[Row], dict[int, list[tuple[int, int]]]]] = [
    (
        "committed in the marker's night, not before and not after",
        [commit(0, 5), marker(1, 20), marker(2, 30)],
        {1: [(5, 20)]},
    ),
    (
        "aborted: the next transaction is another",
        [commit(0, 5), marker(1, 20, committed=False), marker(2, 30)],
        {},
    ),
    ("two nights later", [commit(0, 5), marker(2, 30)], {2: [(5, 30)]}),
    ("another producer's marker", [commit(0, 5), marker(1, 20, producer=8)], {}),
    (
        "a marker of the log in the place of a topic's that was created anew",
        [commit(0, 5), marker(1, 20) | {"log": 1}],
        {},
    ),
    ("both of that log", [commit(0, 5) | {"log": 1}, marker(1, 20) | {"log": 1}], {1: [(5, 20)]}),
    ("a marker before it", [marker(0, 2), commit(0, 5)], {}),
    ("of another unit of the same night", [commit(1, 5), marker(1, 20)], {1: [(5, 20)]}),
    (
        "the last of a key",
        [commit(0, 5), commit(0, 6), commit(0, 7, key=b"other"), marker(1, 20)],
        {1: [(6, 20), (7, 20)]},
    ),
    (
        "the group was deleted before the marker came: of an earlier unit, or of the same one",
        [commit(0, 5), commit(0, 6, key=b"other"), tombstone(1, 10), marker(1, 20)],
        {1: [(6, 20)]},
    ),
    (
        "a tombstone before the commit, or behind the marker",
        [tombstone(0, 3), commit(0, 5), marker(1, 20), tombstone(1, 25)],
        {1: [(5, 20)]},
    ),
    (
        "a tombstone of the log that is there now",
        [commit(0, 5), tombstone(1, 10) | {"log": 1}, marker(1, 20)],
        {1: [(5, 20)]},
    ),
    (
        "a plain commit written later counts already: of an earlier unit, or of the marker's",
        [commit(0, 5), commit(0, 6, key=b"other"), plain(1, 10), marker(1, 20)],
        {1: [(6, 20)]},
    ),
    (
        "a plain commit before it, behind the marker, of another key, of another log",
        [
            *(plain(0, 3), commit(0, 5), plain(0, 6, key=b"other"), plain(1, 7) | {"log": 1}),
            *(marker(1, 20), plain(1, 25)),
        ],
        {1: [(5, 20)]},
    ),
    (
        "another transaction's, written later, ends first",
        [commit(0, 5), commit(0, 6, producer=8), marker(0, 10, producer=8), marker(1, 20)],
        {0: [(6, 10)]},
    ),
    (
        "another transaction's, written before, ends first",
        [commit(0, 6), commit(0, 5, producer=8), marker(1, 10, producer=8), marker(1, 20)],
        {1: [(5, 10), (6, 20)]},
    ),
    (
        "another transaction's, written later, is aborted",
        [
            *(commit(0, 5), commit(0, 6, producer=8), marker(1, 20)),
            marker(1, 10, producer=8, committed=False),
        ],
        {1: [(5, 20)]},
    ),
    (
        "another transaction within one unit, written later",
        [commit(0, 5), at_marker(1, 12, 10), marker(1, 20)],
        {},
    ),
    (
        "another transaction within one unit, written before",
        [at_marker(0, 7, 4), commit(0, 5), marker(1, 20)],
        {1: [(5, 20)]},
    ),
    (
        "another transaction within one unit: landed when its own offset was not kept",
        [commit(0, 5), at_marker(0, 7, None), marker(1, 20)],
        {1: [(5, 20)]},
    ),
    (
        "the same transaction goes on in the marker's unit",
        [commit(0, 5), at_marker(1, 20, 12, producer=7), marker(1, 20)],
        {},
    ),
    (
        "one transaction after another",
        [commit(0, 5), marker(1, 20), commit(1, 25), marker(1, 30)],
        {1: [(5, 20), (25, 30)]},
    ),
]
"""(what, rows, night -> (own offset, offset where it counts)); each case has a partition of its
own.
"""


@pytest.mark.parametrize("night", [0, 1, 2])
def test_commit_enters_the_night_of_the_marker_that_ends_its_transaction(
    spark: SparkSession, night: int
) -> None:
    raw = raw_records(
        spark,
        [
            row | {"offsets_partition": partition}
            for partition, (_, rows, _) in enumerate(CASES)
            for row in rows
        ],
    )
    records = night_records(
        raw, NIGHTS[night], RecordsLanding(open_commits=1, markers=1), LeftOut(GroupsConfig())
    )
    is_settled = "kind = 'record' AND CAST(value AS STRING) = 'v'"
    found = records.where(is_settled).orderBy("own_offset").collect()
    for partition, (what, _, settled) in enumerate(CASES):
        placed = [
            (row["own_offset"], row["offset"])
            for row in found
            if row["offsets_partition"] == partition
        ]
        assert placed == settled.get(night, []), what
    for row in found:
        assert row["ts_ms"] == row["offset"] * 10
        assert row["batch_base_offset"] == row["offset"]
        assert (row["group_id"], row["value"], row["logical_date"]) == ("g", b"v", NIGHTS[night])


def test_night_without_markers_looks_at_no_other_night(spark: SparkSession) -> None:
    raw = raw_records(spark, [commit(0, 5), marker(1, 20)])
    for landing in (RecordsLanding(open_commits=1), RecordsLanding(markers=1)):
        assert [
            row["kind"]
            for row in night_records(raw, NIGHTS[1], landing, LeftOut(GroupsConfig())).collect()
        ] == ["marker"]


WAITING: list[tuple[list[Row], list[int]]] = [
    ([commit(0, 5)], [5]),
    ([commit(0, 5), marker(1, 20)], []),
    ([commit(0, 5), marker(1, 20, committed=False), commit(1, 25)], [25]),
    ([commit(0, 5), marker(1, 20, producer=8)], [5]),
    # A marker of the old log says nothing of the commits of the log in its place.
    ([marker(0, 20), commit(1, 5) | {"log": 1}], [5]),
    ([marker(0, 20) | {"log": 1}, commit(1, 5) | {"log": 1}], []),
]
"""(rows, offsets of the commits that wait); each case has a partition of its own."""


def test_commits_wait_for_a_marker_of_their_own_log(spark: SparkSession) -> None:
    rows = [
        row | {"offsets_partition": partition}
        for partition, (case, _) in enumerate(WAITING)
        for row in case
    ]
    raw = raw_records(spark, rows)
    waits = undecided_commits(raw)
    found = {(row["offsets_partition"], row["offset"]) for row in waits.collect()}
    assert found == {(partition, at) for partition, (_, ats) in enumerate(WAITING) for at in ats}
    assert waits.columns == raw.columns
