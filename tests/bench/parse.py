"""The pure parts on one core, without Spark: records/s of the parser with its reduction, of
decoding, and of the replay.

    python -m tests.bench.parse FOLDER [--profile]

FOLDER: segments that `tests.bench.generate` wrote. --profile: the costliest functions of each part.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from groupreplay.records.entries import Entry
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.wire.segments.units import SEGMENTS, Unit, UnitFile
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file
from groupreplay.workers.slices import INPUT, slice_replay

ENTRY_COLUMNS = ("offset", "ts_ms", "leader_epoch", "batch_base_offset", "last_hole")
TOP = 25
ARROW_ROWS = 10_000
"""Rows of a batch that Spark hands to a worker."""

Columns = dict[str, list[Any]]
RawRow = tuple[str, int, tuple[int, int, int, int, int], bytes, bytes | None]


def units_of(folder: Path) -> Iterator[Unit]:
    """One unit a partition."""
    for partition in sorted(
        folder.glob("__consumer_offsets-*"), key=lambda one: int(one.name.rpartition("-")[2])
    ):
        files = tuple(
            UnitFile(SEGMENTS, str(path), path.stat().st_size, "1")
            for path in sorted(partition.glob("*.log"))
        )
        yield Unit(int(partition.name.rpartition("-")[2]), -1, -1, files, SEGMENTS, partition.name)


def read(folder: Path) -> list[Columns]:
    """All rows of all units."""
    return [
        columns for unit in units_of(folder) for columns in read_unit(unit, open_file, Codecs())
    ]


def rows_by_group(landed: list[Columns]) -> list[RawRow]:
    """The records that a replay gets, in its order."""
    rows: list[RawRow] = []
    for columns in landed:
        placed = zip(*(columns[name] for name in ENTRY_COLUMNS), strict=True)
        names = ("kind", "group_id", "offsets_partition", "key", "value")
        for place, (kind, group_id, partition, key, value) in zip(
            placed, zip(*(columns[name] for name in names), strict=True), strict=True
        ):
            if kind == "record":
                rows.append((group_id, partition, place, key, value))
    rows.sort(key=lambda row: (row[0], row[1], row[2][0]))
    return rows


def decode_all(rows: list[RawRow]) -> list[tuple[str, int, Entry]]:
    """Raises ValueError for a row that is no record: the generator wrote none."""
    entries = []
    for group_id, partition, place, key, value in rows:
        record = decode(key, value)
        if isinstance(record, (UnknownType, Undecodable)):
            raise ValueError(f"{group_id} at {place[0]}: {record}")
        entries.append((group_id, partition, Entry(*place, record)))
    return entries


def replay_all(entries: list[tuple[str, int, Entry]]) -> dict[str, int]:
    """Replays group after group; returns how many facts of each kind, and anomalies by rule."""
    counts: dict[str, int] = {"state_bytes": 0}
    machine: GroupReplay | None = None
    current = None
    for group_id, partition, entry in entries:
        if (group_id, partition) != current:
            _finish(machine, counts)
            current, machine = (group_id, partition), GroupReplay(group_id, partition, {})
        assert machine is not None
        machine.replay(entry)
        if entry.offset % 2_000 == 0:
            _count(machine.take_facts(), counts)
    _finish(machine, counts)
    return counts


def _finish(machine: GroupReplay | None, counts: dict[str, int]) -> None:
    if machine is not None:
        machine.flush()
        _count(machine.take_facts(), counts)
        _count(machine.open_facts(), counts)
        counts["state_bytes"] += len(machine.state() or b"")


def _count(facts: list[Any], counts: dict[str, int]) -> None:
    for fact in facts:
        name = fact.rule if fact.KIND == "anomaly" else fact.KIND
        counts[name] = counts.get(name, 0) + 1


def _timed(
    what: str, work: Callable[[], Any], records: int | None, profiled: bool
) -> tuple[Any, float]:
    profile = cProfile.Profile() if profiled else None
    gc.collect()
    gc.disable()
    began = time.process_time()
    result = profile.runcall(work) if profile is not None else work()
    seconds = time.process_time() - began
    gc.enable()
    if records is not None:
        print(
            f"{what:<28}{records:>10,} records {seconds:>7.2f} s {records / seconds:>12,.0f}"
            " records/s"
        )
    if profile is not None:
        pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(TOP)
    return result, seconds


def measure(folder: Path, profiled: bool) -> None:
    """Prints the figures of one log. Seconds are CPU seconds of this process, so that neighbours do
    not count.
    """
    landed, seconds = _timed("read_unit", lambda: read(folder), None, profiled)
    found = sum(1 for columns in landed for kind in columns["kind"] if kind == "record")
    total = _records_met(landed)
    print(
        f"{'read_unit':<28}{total:>10,} records {seconds:>7.2f} s {total / seconds:>12,.0f}"
        f" records/s, {found:,} kept"
    )
    rows = rows_by_group(landed)
    _timed("grouped map (all of below)", partial(replay_slices, landed), len(rows), profiled)
    del landed
    entries, _ = _timed("decode", lambda: decode_all(rows), len(rows), profiled)
    counts, _ = _timed("replay", lambda: replay_all(entries), len(rows), profiled)
    print("  " + ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())))


def replay_slices(landed: list[Columns]) -> dict[str, int]:
    """What the grouped map does in a worker, as one slice: rows of frames in, frames of facts
    out.
    """
    rows = pd.concat(
        [pd.DataFrame({name: columns[name] for name in ("kind", *INPUT)}) for columns in landed]
    )
    rows = rows[rows["kind"] == "record"].sort_values(
        ["group_id", "offsets_partition", "offset"], kind="stable"
    )
    frames = (rows.iloc[first : first + ARROW_ROWS] for first in range(0, len(rows), ARROW_ROWS))
    return {"facts": sum(int(frame["rows"].sum()) for frame in slice_replay({})(frames))}


def _records_met(landed: list[Columns]) -> int:
    return sum(
        json.loads(detail)["records"]
        for columns in landed
        for kind, detail in zip(columns["kind"], columns["detail"], strict=True)
        if kind == "unit"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    measure(arguments.folder, arguments.profile)


if __name__ == "__main__":
    main()
