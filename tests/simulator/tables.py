"""Rows of the product's tables, by name, from one of two sources: the replay in pure Python, or the
Delta tables of a warehouse.

Both give the same columns and types, so that a check runs on either: times are ms since the epoch,
UTC; NULL is None; arrays are lists. Left out are what says which run wrote a row (cluster,
logical_date), who owns its group, and what only broker logs can tell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from groupreplay.replay.facts import (
    Anomaly,
    Chain,
    Conversion,
    Epoch,
    Fact,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
)
from tests.simulator.replayed import Coverage, Replayed, Undecoded, replay_recording
from tests.support.sentences import said
from tests.support.stuck_rows import episodes, stuck_ms

Row = dict[str, Any]


class Tables(Protocol):
    """One source of rows."""

    def rows(self, table: str) -> Sequence[Row]:
        """All rows of a table of COLUMNS; of a snapshot those of the last night alone."""
        ...


def _fields(kind: type[Any], *without: str) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(kind) if each.name not in without)


_BLOCKER: Final = ("member_id", "instance_id", "client_id", "client_host")
_NOT_IN_SNAPSHOTS: Final = (
    "to_offset",
    "start_observed",
    "is_final",
    *(f"blocker_{name}s" for name in _BLOCKER),
)
_SAID: Final = ("detail_code", "detail_names", "detail_values")
"""What a sentence is made of. The check of `detail` is the check of these."""

_OF_MEMBERS: Final = (
    "member_id",
    "instance_id",
    *_BLOCKER[2:],
    "member_protocol",
    "blocked_by",
    "deadline_at",
)

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "member_states": _fields(MemberState),
    "member_assignments": _fields(HeldPartition),
    "members": _fields(MemberLife),
    "group_epochs": _fields(Epoch),
    "revocation_latencies": _fields(HandOver),
    "group_conversions": _fields(Conversion),
    "migration_progress": (
        *_fields(GroupSnapshot, *_NOT_IN_SNAPSHOTS),
        "as_of_at",
        "progress_pct",
        "blockers",
    ),
    "stuck_members": (*_fields(Stall, "epochs"), "detail", "stuck_ms", "is_open", "repetitions"),
    "stuck_groups": (
        *_fields(Stall, *_OF_MEMBERS, "partitions_waiting", "partitions_held", "epochs"),
        "detail",
        "stuck_ms",
        "is_open",
        "repetitions",
    ),
    "anomalies": (*_fields(Anomaly, *_SAID), "evidence_partition", "detail"),
    "undecoded": _fields(Undecoded),
    "coverage": _fields(Coverage),
    "member_ends": (
        *("group_id", "incarnation", "from_offset", "member_id", "joined_at", "ended_at"),
        *("end_reason", "end_detail", "end_confidence"),
    ),
    "rebalances": (
        *("group_id", "generation", "started_at", "joined_at", "synced_at"),
        *("members_joined", "outcome"),
    ),
    "refusals": (
        *("group_id", "subject", "api", "error_code", "error", "refusal"),
        *("first_at", "last_at", "attempts"),
    ),
    "coordinator_events": ("offsets_partition", "broker", "event", "occurred_at", "moved_from"),
}
"""Table -> its columns here. Those of the last four are what lines of broker logs prove."""

STORED: Final = {"member_ends": "members"}
"""Tables here that are part of another one's rows."""


class FactTables:
    """Rows made from facts as the report makes them: names filled in, open durations measured,
    stuck episodes past their thresholds."""

    def __init__(self, recording: Path) -> None:
        self._replayed = replay_recording(recording)

    def rows(self, table: str) -> Sequence[Row]:
        return _MAKERS[table](self._replayed)


def _row(fact: Any, columns: Sequence[str]) -> Row:
    return {name: getattr(fact, name) for name in columns}


def _plain(kind: type[Fact], table: str) -> Callable[[Replayed], list[Row]]:
    return lambda replayed: [_row(fact, COLUMNS[table]) for fact in replayed.of(kind)]


def _named(kind: type[HeldPartition | HandOver], table: str) -> Callable[[Replayed], list[Row]]:
    """Rows of kinds that have a topic, which is its name, else the name of its id, else the id's
    text (report/tables/topics.py)."""

    def make(replayed: Replayed) -> list[Row]:
        rows = _plain(kind, table)(replayed)
        for row in rows:
            row["topic"] = row["topic"] or replayed.names.get(row["topic_id"]) or row["topic_id"]
        return rows

    return make


def _hand_overs(replayed: Replayed) -> list[Row]:
    """revoke_ms of what is open lasts to as-of (docs/measures.md, Hand-overs)."""
    rows = _named(HandOver, "revocation_latencies")(replayed)
    for row in rows:
        if row["outcome"] == "OPEN" and row["start_observed"]:
            row["revoke_ms"] = replayed.as_of_ms - row["requested_at"]
    return rows


def _progress(replayed: Replayed) -> list[Row]:
    rows = []
    for fact in replayed.of(GroupSnapshot):
        row = _row(fact, _fields(GroupSnapshot, *_NOT_IN_SNAPSHOTS))
        blockers = zip(*(getattr(fact, f"blocker_{name}s") for name in _BLOCKER), strict=True)
        applies = fact.phase != "NOT_APPLICABLE"
        row["as_of_at"] = replayed.as_of_ms
        row["progress_pct"] = (
            round(100.0 * fact.members_consumer / fact.members_total, 1)
            if applies and fact.members_total
            else None
        )
        row["blockers"] = (
            [dict(zip(_BLOCKER, each, strict=True)) for each in blockers] if applies else []
        )
        rows.append(row)
    return rows


def _stuck(table: str, of_members: bool) -> Callable[[Replayed], list[Row]]:
    """Stretches and repetitions past their thresholds."""

    def make(replayed: Replayed) -> list[Row]:
        rows = [*_stretches(replayed), *_repetitions(replayed)]
        return [
            {name: row.get(name) for name in COLUMNS[table]}
            for row in rows
            if (row["member_id"] is not None) == of_members
        ]

    return make


def _stretches(replayed: Replayed) -> Iterator[Row]:
    for stall in replayed.of(Stall):
        lasted_ms = stuck_ms(stall, replayed.as_of_ms)
        if lasted_ms is not None:
            row = _row(stall, _fields(Stall))
            detail = (
                "group epoch {}, target epoch {}".format(*stall.epochs) if stall.epochs else None
            )
            yield {
                **row,
                "detail": detail,
                "stuck_ms": lasted_ms,
                "is_open": stall.until_at is None,
            }


def _repetitions(replayed: Replayed) -> Iterator[Row]:
    """An episode that is open has no closing record, whatever its chain has."""
    for chain in replayed.of(Chain):
        for episode in episodes(chain, replayed.as_of_ms):
            until = replayed.as_of_ms if episode.until_at is None else episode.until_at
            yield {
                **_row(chain, _fields(Chain)),
                "to_offset": None if episode.until_at is None else chain.to_offset,
                "since_at": episode.since_at,
                "until_at": episode.until_at,
                "stuck_ms": until - episode.since_at,
                "is_open": episode.until_at is None,
                "blocked_by": [],
                "repetitions": episode.repetitions,
            }


def _anomalies(replayed: Replayed) -> list[Row]:
    return [
        {
            **_row(fact, _fields(Anomaly, *_SAID)),
            "evidence_partition": fact.offsets_partition,
            "detail": said(fact),
        }
        for fact in replayed.of(Anomaly)
    ]


_MAKERS: Final[dict[str, Callable[[Replayed], list[Row]]]] = {
    "member_states": _plain(MemberState, "member_states"),
    "member_assignments": _named(HeldPartition, "member_assignments"),
    "members": _plain(MemberLife, "members"),
    "group_epochs": _plain(Epoch, "group_epochs"),
    "revocation_latencies": _hand_overs,
    "group_conversions": _plain(Conversion, "group_conversions"),
    "migration_progress": _progress,
    "stuck_members": _stuck("stuck_members", of_members=True),
    "stuck_groups": _stuck("stuck_groups", of_members=False),
    "anomalies": _anomalies,
    "undecoded": lambda replayed: [_row(each, COLUMNS["undecoded"]) for each in replayed.undecoded],
    "coverage": lambda replayed: [_row(each, COLUMNS["coverage"]) for each in replayed.coverage],
}


class DeltaTables:
    """Rows as an analyst reads them."""

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse

    def rows(self, table: str) -> Sequence[Row]:
        columns = COLUMNS[table]
        stored = DeltaTable(str(self._warehouse / STORED.get(table, table))).to_pyarrow_table()
        if table in ("migration_progress", "coverage") and stored.num_rows:
            nights = stored.column("logical_date")
            stored = stored.filter(pc.equal(nights, pc.max(nights)))
        if table == "coverage":
            stored = stored.filter(pc.not_equal(stored.column("source"), "none"))
        rows: list[Row] = pa.table(
            {name: _in_ms(stored.column(name)) for name in columns}
        ).to_pylist()
        return rows


def _in_ms(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
