"""Rows of the product's tables, by name, from one of two sources: the replay in pure Python, or the
Delta tables of a warehouse.

Both give the same columns and types, so that a check runs on either: times are ms since the epoch,
UTC; NULL is None; arrays are lists. Left out are what says which run wrote a row (cluster,
logical_date), who owns its group, and what only broker logs can tell.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from groupreplay.replay.decision_facts import Absence, Churn, Failover, GroupDay
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
    TopicSeen,
)
from groupreplay.workers.waves.waves import WaveLimits, waves_of
from tests.simulator.columns import BLOCKER, COLUMNS, NOT_IN_SNAPSHOTS, SAID, fields
from tests.simulator.judged import readiness_of
from tests.simulator.line_columns import STORED
from tests.simulator.replayed import Replayed, replay_recording
from tests.support.sentences import said
from tests.support.stuck_rows import episodes, stuck_ms

Row = dict[str, Any]


class Tables(Protocol):
    """One source of rows."""

    def rows(self, table: str) -> Sequence[Row]:
        """All rows of a table of COLUMNS; of a snapshot those of the last night alone."""
        ...


class FactTables:
    """Rows made from facts as the report makes them: names filled in, open durations measured,
    stuck episodes past their thresholds."""

    def __init__(self, recording: Path, replayed: Replayed | None = None) -> None:
        self._replayed = replayed or replay_recording(recording)

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
        row = _row(fact, fields(GroupSnapshot, *NOT_IN_SNAPSHOTS))
        blockers = zip(*(getattr(fact, f"blocker_{name}s") for name in BLOCKER), strict=True)
        applies = fact.phase != "NOT_APPLICABLE"
        row["as_of_at"] = replayed.as_of_ms
        row["progress_pct"] = (
            round(100.0 * fact.members_consumer / fact.members_total, 1)
            if applies and fact.members_total
            else None
        )
        row["blockers"] = (
            [dict(zip(BLOCKER, each, strict=True)) for each in blockers] if applies else []
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
            row = _row(stall, fields(Stall))
            detail = (
                "group epoch {}, target epoch {}".format(*stall.epochs)
                if stall.epochs
                else stall.detail_code
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
                **_row(chain, fields(Chain)),
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
            **_row(fact, fields(Anomaly, *SAID)),
            "evidence_partition": fact.offsets_partition,
            "detail": said(fact),
        }
        for fact in replayed.of(Anomaly)
    ]


def _waves(replayed: Replayed) -> list[Row]:
    """With the limits that a configuration has by default."""
    limits = WaveLimits(gap_ms=300_000, registration_ms=900_000, expansion_ms=300_000)
    newest = _newest(replayed)
    waves = (
        wave
        for chain in replayed.of(Churn)
        for wave in waves_of(dataclasses.asdict(chain), limits, newest[chain.offsets_partition])
    )
    rows = []
    for wave in waves:
        names = ("client_ids", "client_hosts", "instance_ids", "clients_out", "clients_in")
        clients = zip(*(getattr(wave, name) for name in names), strict=True)
        given = {
            "high_ms": None if wave.high_unknown else wave.high_ms,
            "clients": [dict(zip(_CLIENT, each, strict=True)) for each in clients],
        }
        told = [name for name in COLUMNS["departure_waves"] if name not in given]
        rows.append({**_row(wave, told), **given})
    return rows


_CLIENT: Final = ("client_id", "client_host", "instance_id", "departed", "joined")


def _newest(replayed: Replayed) -> dict[int, int]:
    """Partition of the offsets topic -> time of its newest record."""
    return {int(each.input.rpartition("-")[2]): each.last_at or 0 for each in replayed.coverage}


def _days(replayed: Replayed) -> list[Row]:
    """What lives goes on as it stands, to the newest record of its partition."""
    newest = _newest(replayed)
    rows = []
    for fact in replayed.of(GroupDay):
        given = {"epochs": fact.epochs_begun, "availability_least_pct": None}
        given["availability_most_pct"] = None
        given |= {"low_ms": None, "high_ms": None, **_lists(fact)}
        row = {**_row(fact, [each for each in COLUMNS["group_days"] if each not in given]), **given}
        first = row
        rows.append(row)
        now, last = newest[fact.offsets_partition], row
        while fact.rate_members is not None and now > last["to_at"]:
            if last["to_at"] == (last["day"] + 1) * DAY_MS:
                nothing: Row = {
                    name: 0 for name in row if name.endswith("_ms") or name in _OF_A_DAY
                }
                nothing |= {"causes": {}, "handover_hist": []}
                nothing |= {
                    name: None
                    for name in row
                    if name.startswith("handover_") and name.endswith("_ms")
                }
                begin = {"day": last["day"] + 1, "from_at": last["to_at"]}
                begin |= {"from_offset": fact.rate_offset}
                last = {**row, **nothing, **begin, "to_at": last["to_at"]}
                rows.append(last)
            until = min(now, (last["day"] + 1) * DAY_MS)
            for name, rate in _rates_of(fact).items():
                last[name] += rate * (until - last["to_at"])
            last["members_max"] = max(last["members_max"], fact.rate_members)
            last["to_at"] = until
        _tell_least(first, fact)
    return rows


def _tell_least(row: Row, fact: GroupDay) -> None:
    """And low_ms, and high_ms where it is known."""
    row["low_ms"] = row["unowned_ms"] + row["away_ms"] + fact.sync_ms
    high_ms = row["low_ms"] + fact.longer_ms
    row["high_ms"] = None if fact.high_unknown else high_ms
    if row["partitions_ms"]:
        most = 100 * (1 - row["low_ms"] / row["partitions_ms"])
        row["availability_most_pct"] = max(0.0, most)
    if row["partitions_ms"] and not fact.high_unknown:
        row["availability_least_pct"] = max(0.0, 100 * (1 - high_ms / row["partitions_ms"]))


def _topics(replayed: Replayed) -> list[Row]:
    """What was given goes before what was learnt, then the oldest record."""
    as_of_ms = replayed.as_of_ms
    said: list[tuple[str, int, str, str, int | None]] = [
        (topic_id, as_of_ms, topic, "given", partitions)
        for topic_id, (topic, partitions) in replayed.given.items()
    ]
    said += [
        (each.topic_id, each.seen_at, each.topic, each.source, each.partitions)
        for each in replayed.of(TopicSeen)
    ]
    by_id: dict[str, list[tuple[str, int, str, str, int | None]]] = defaultdict(list)
    for each in said:
        by_id[each[0]].append(each)
    rows = []
    for topic_id, found in by_id.items():
        best = min(found, key=lambda each: (each[3] != "given", each[1:4]))
        row: Row = {"topic_id": topic_id, "topic": best[2], "source": best[3]}
        row["first_seen_at"] = min(each[1] for each in found)
        row["partitions"] = max((each[4] for each in found if each[4] is not None), default=None)
        rows.append(row)
    return rows


DAY_MS: Final = 86_400_000
_OF_A_DAY: Final = (
    *("epochs", "joins", "departures", "replaced", "away", "members_max"),
    *("high_unknown", "handovers", "transitions_hidden", "moved", "returned"),
)


def _lists(fact: GroupDay) -> Row:
    buckets = zip(fact.handover_upper_ms, fact.handover_counts, strict=True)
    return {
        "causes": dict(zip(fact.causes, fact.cause_counts, strict=True)),
        "handover_hist": [{"upper_ms": upper_ms, "n": n} for upper_ms, n in buckets],
    }


def _rates_of(fact: GroupDay) -> dict[str, int]:
    rates = {
        "members_ms": fact.rate_members,
        "partitions_ms": fact.rate_partitions,
        "unowned_ms": fact.rate_unowned,
        "away_ms": fact.rate_away,
        "rebalancing_ms": int(bool(fact.is_rebalancing)),
    }
    modes = {f"{mode}_ms": int(fact.mode == mode) for mode in ("consumer", "classic")}
    modes |= {"empty_ms": int(fact.mode == "EMPTY"), "mixed_ms": int(fact.mode == "MIXED")}
    return {name: rate or 0 for name, rate in rates.items()} | modes


def _absences(replayed: Replayed) -> list[Row]:
    """Where no line tells when the process was gone, its away record does, else its last commit."""
    rows = []
    for fact in replayed.of(Absence):
        since = fact.last_commit_at if fact.left_at is None else fact.left_at
        high = elapsed_ms(since, fact.returned_at)
        is_exact, is_static = fact.left_at is not None, fact.membership == "STATIC"
        low = 0 if is_static else elapsed_ms(fact.removed_at, fact.returned_at)
        if high is not None and not is_exact:
            high = max(high, low or 0)
        given = {
            "gap_low_ms": None if fact.returned_at is None else high if is_exact else low,
            "gap_high_ms": high,
            "avoided_moves": 2 * fact.partitions if fact.outcome == "ABSORBED" else 0,
            "epochs": fact.epochs_opened,
        }
        names = [name for name in COLUMNS["static_accounting"] if name not in given]
        rows.append({**_row(fact, names), **given})
    return rows


def elapsed_ms(since_at: int | None, until_at: int | None) -> int | None:
    """None without both, and where clocks of two brokers would make it negative."""
    if since_at is None or until_at is None or until_at < since_at:
        return None
    return until_at - since_at


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
    "coordinator_failovers": _plain(Failover, "coordinator_failovers"),
    "departure_waves": _waves,
    "group_days": _days,
    "static_accounting": _absences,
    "topics": _topics,
    "readiness": lambda replayed: list(readiness_of(replayed)),
    "anomalies": _anomalies,
    "undecoded": lambda replayed: [_row(each, COLUMNS["undecoded"]) for each in replayed.undecoded],
    "coverage": lambda replayed: [_row(each, COLUMNS["coverage"]) for each in replayed.coverage],
}


class DeltaTables:
    """Rows as an analyst reads them."""

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse

    def rows(self, table: str) -> Sequence[Row]:
        stored = DeltaTable(str(self._warehouse / STORED.get(table, table))).to_pyarrow_table()
        if table in ("migration_progress", "coverage") and stored.num_rows:
            nights = stored.column("logical_date")
            stored = stored.filter(pc.equal(nights, pc.max(nights)))
        if table == "coverage":
            stored = stored.filter(pc.not_equal(stored.column("source"), "none"))
        return rows_of(table, stored)


def rows_of(table: str, stored: pa.Table) -> Sequence[Row]:
    """Rows as the product has them, in the columns and types of a table here."""
    columns = COLUMNS[table]
    told = pa.table({name: _as_number(stored.column(name)) for name in columns})
    rows: list[Row] = told.to_pylist(maps_as_pydicts="strict")
    if "high_ms" in columns and "high_unknown" in stored.column_names:
        unknown = stored.column("high_unknown").to_pylist()
        for row, hidden in zip(rows, unknown, strict=True):
            row["high_ms"] = None if hidden else row["high_ms"]
    return rows


def _as_number(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times in ms and days, since the epoch, as facts have them."""
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32())
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
