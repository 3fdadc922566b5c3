"""What a night costs after months: a history of nights on logs that go on, one more night, a night
without news, maintenance, and the size of states.

    .venv/bin/python -m tests.bench.nights
    .venv/bin/python -m tests.bench.nights --nights 5 --records 100000 --groups 250
    .venv/bin/python -m tests.bench.nights --kind churn

By default 30 nights of 2,000,000 records and 5,000 groups. Of churn a fifth of the records are
membership, else one in a hundred.

Each night's log goes on where the one before ended, in new segments: the groups of the night before
live on (tests.bench.days tells the kinds), and one in a hundred is new. Every figure is of a
process of its own. Figures beside targets, not verdicts.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from deltalake import DeltaTable

from groupreplay.tables.upkeep import SMALL_BYTES
from tests.bench.days import DAYS, ChurnDays, SteadyDays
from tests.bench.generate import BEGAN_MS, PARTITIONS, RECORDINGS, partition_of
from tests.bench.plans import Templates
from tests.bench.run import CACHE, HOME, SECOND_COMPILER, run_process
from tests.bench.segments import Copy, write_partition
from tests.bench.stories import DAY_MS, RECORDINGS_FOLDER, Story, read_stories

NEW_SHARE = 0.01
FIRST_NIGHT = datetime.fromtimestamp(BEGAN_MS / 1000, UTC).date()
TARGET_STATE_BYTES, TARGET_MEMBER_BYTES, TARGET_PARTITION_BYTES = 2_048, 300, 40


@dataclass(slots=True)
class Logs:
    """A log that grows by a night at a time.

    groups: number of each -> the night it began.
    offsets: next offset of each partition.
    """

    folder: Path
    stories: list[Story]
    templates: Templates
    days: SteadyDays | ChurnDays
    groups: dict[int, int] = field(default_factory=dict)
    offsets: dict[int, int] = field(default_factory=dict)

    @classmethod
    def begun(cls, folder: Path, kind: str = "steady") -> Logs:
        """kind: of DAYS."""
        stories = [story for name in RECORDINGS for story in read_stories(RECORDINGS_FOLDER / name)]
        templates = Templates(stories)
        return cls(folder, stories, templates, DAYS[kind](stories, templates))

    def add_night(self, night: int, records: int, groups: int) -> tuple[Path, int]:
        """Writes one night's segments; gives their folder and the number of records.

        groups: at the beginning; a share of them is new each night.
        """
        for _ in range(groups if night == 0 else max(int(groups * NEW_SHARE), 1)):
            self.groups[len(self.groups)] = night
        random = np.random.default_rng(night)
        copies: list[list[Copy]] = [[] for _ in range(PARTITIONS)]
        for number, began in self.groups.items():
            index, plan = self.days.of_group(number, night - began, records // len(self.groups))
            if plan is None:
                continue
            began_ms = (
                BEGAN_MS
                + night * DAY_MS
                + int(random.integers(0, max(DAY_MS - int(plan.unit_at[-1]), 1)))
            )
            copies[partition_of(self.stories[index].group_id(number))].append(
                Copy(plan, began_ms, number)
            )
        folder, written = self.folder / f"night-{night:03}", 0
        for partition, members in enumerate(copies):
            if members:
                first = self.offsets.get(partition, 0)
                write_partition(folder, partition, members, self.templates, random, first)
                count = sum(copy.plan.records for copy in members)
                self.offsets[partition] = first + count
                written += count
        for segment in folder.glob("*/*.log"):
            whole = self.whole / segment.parent.name / segment.name
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.hardlink_to(segment)
        return folder, written

    @property
    def whole(self) -> Path:
        """The log directory that has all nights' segments."""
        return self.folder / "whole"


def job(name: str, warehouse: Path, source: Path, *more: str, java: str = "") -> float:
    """Seconds of one job on the warehouse. java: as of `run_process`."""
    place = CACHE / "nights"
    shutil.rmtree(place / "events", ignore_errors=True)
    (place / "events").mkdir(parents=True)
    config = place / "bench.yaml"
    config.write_text(
        f"cluster: bench\nwarehouse: {warehouse}\nsources:\n  - {{kind: segments, path:"
        f" {source}}}\n"
    )
    return run_process(
        [str(HOME / "spark-submit.sh"), name, "--config", str(config), *more], place, java
    )[0]


def rows_of(table: Path) -> list[dict[str, Any]]:
    return [
        row
        for uri in DeltaTable(str(table)).file_uris()
        for row in pq.ParquetFile(uri.removeprefix("file://")).read().to_pylist()
    ]


def newest_run(warehouse: Path) -> dict[str, Any]:
    return max(
        (row for row in rows_of(warehouse / "runs") if row["state"] == "DONE"),
        key=lambda row: row["started_at"],
    )


def data_files(warehouse: Path) -> tuple[int, int]:
    """(files, the small ones) that the newest versions of all tables name."""
    sizes = [
        Path(uri.removeprefix("file://")).stat().st_size
        for path in tables(warehouse)
        for uri in DeltaTable(str(path)).file_uris()
    ]
    return len(sizes), sum(size < SMALL_BYTES for size in sizes)


def tables(warehouse: Path) -> list[Path]:
    return sorted(path for path in warehouse.iterdir() if (path / "_delta_log").is_dir())


def _print_night(label: str, records: int, seconds: float, warehouse: Path) -> None:
    run = newest_run(warehouse)
    steps = " ".join(f"{name} {ms / 1000:.1f}" for name, ms in run["timings"])
    states = dict(run["counts"] or {}).get("group_state", 0)
    print(f"{label:<14}{records:>12,}{seconds:>9.1f}{states:>9,}  {steps}", flush=True)


def _print_states(warehouse: Path) -> None:
    """Bytes of the newest state of each group that lives, beside its members and the partitions it
    holds.
    """
    states: dict[str, tuple[date, int]] = {}
    for uri in DeltaTable(str(warehouse / "group_state")).file_uris():
        path = Path(uri.removeprefix("file://"))
        night = date.fromisoformat(
            next(part.partition("=")[2] for part in path.parts if part.startswith("logical_date="))
        )
        for row in pq.ParquetFile(path).read().to_pylist():
            if row["group_id"] not in states or states[row["group_id"]][0] < night:
                states[row["group_id"]] = night, len(row["state_bytes"] or b"")
    sizes = {group: size for group, (_, size) in states.items() if size}
    newest = max(
        path.name
        for path in (warehouse / "migration_progress").glob("cluster=bench/logical_date=*")
    ).partition("=")[2]
    members: dict[str, int] = {}
    for uri in DeltaTable(str(warehouse / "migration_progress")).file_uris():
        if f"logical_date={newest}" in uri:
            members |= {
                row["group_id"]: row["members_total"] or 0
                for row in pq.ParquetFile(uri.removeprefix("file://")).read().to_pylist()
            }
    held: dict[str, int] = {}
    for uri in DeltaTable(str(warehouse / "member_assignments")).file_uris():
        if "is_final=false" in uri:
            for row in pq.ParquetFile(uri.removeprefix("file://")).read().to_pylist():
                held[row["group_id"]] = held.get(row["group_id"], 0) + (row["released_at"] is None)
    target = {
        group: (
            TARGET_STATE_BYTES
            + TARGET_MEMBER_BYTES * members.get(group, 0)
            + TARGET_PARTITION_BYTES * held.get(group, 0)
        )
        for group in sizes
    }
    above = sum(size > target[group] for group, size in sizes.items())
    print(
        f"states: {len(sizes):,} groups, {sum(sizes.values()):,} bytes,"
        f" {sum(members.get(group, 0) for group in sizes):,} members,"
        f" {sum(held.get(group, 0) for group in sizes):,} partitions held:"
        f" {sum(sizes.values()) / max(len(sizes), 1):,.0f} bytes a group, at most"
        f" {max(sizes.values(), default=0):,}; {above:,} above 2 KB + 300 B a member + 40 B a"
        " partition"
    )


def bench(nights: int, records: int, groups: int, kind: str, replays_all: bool) -> None:
    place = CACHE / "nights"
    shutil.rmtree(place, ignore_errors=True)
    warehouse, logs = place / "warehouse", Logs.begun(place / "logs", kind)
    print(f"{'night':<14}{'records':>12}{'seconds':>9}{'states':>9}  steps (s)")
    first_s = seconds = 0.0
    folder = place
    for night in range(nights + 1):
        folder, written = logs.add_night(night, records, groups)
        seconds = job(
            "run_nightly",
            warehouse,
            folder,
            "--logical-date",
            str(FIRST_NIGHT + timedelta(days=night)),
        )
        first_s = first_s or seconds
        _print_night(str(night + 1), written, seconds, warehouse)
    before = {path.name: DeltaTable(str(path)).version() for path in tables(warehouse)}
    quiet_s = job(
        "run_nightly",
        warehouse,
        folder,
        "--logical-date",
        str(FIRST_NIGHT + timedelta(days=nights + 1)),
    )
    _print_night("without news", 0, quiet_s, warehouse)
    written_to = sorted(
        path.name
        for path in tables(warehouse)
        if DeltaTable(str(path)).version() > before.get(path.name, -1)
    )
    print(f"one more night against the first: {seconds / first_s:.2f} (target 1.2)")
    print(f"a night without news: {quiet_s:.1f} s (target 60), wrote to {', '.join(written_to)}")
    files = data_files(warehouse)
    maintained_s = job("maintain_tables", warehouse, folder)
    after = data_files(warehouse)
    print(
        f"files (small): {files[0]:,} ({files[1]:,}), after maintain_tables {after[0]:,}"
        f" ({after[1]:,}), which took {maintained_s:.1f} s"
    )
    _print_states(warehouse)
    if replays_all:
        # As docs/cluster.md says of large logs, and tests.bench.run does: the figure that a night
        # is held against is not made worse than it need be.
        whole_s = job("run_nightly", place / "whole", logs.whole, java=SECOND_COMPILER)
        print(
            f"one more night against one run over the whole log ({whole_s:.1f} s):"
            f" 1/{whole_s / seconds:.1f} (target 1/15 after 30 nights)",
            flush=True,
        )
        for how, java in (("as shipped", ""), ("by both of Java's compilers", SECOND_COMPILER)):
            rebuilt_s = job("rebuild_nights", warehouse, folder, java=java)
            print(
                f"one more night against replaying all nights from their raw rows {how}"
                f" ({rebuilt_s:.1f} s): 1/{rebuilt_s / seconds:.1f} (the same target)",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nights", type=int, default=30, help="of history; one more is run (30)")
    parser.add_argument("--records", type=int, default=2_000_000, help="of each night (2,000,000)")
    parser.add_argument("--groups", type=int, default=5_000, help="at the beginning (5,000)")
    parser.add_argument("--kind", choices=sorted(DAYS), default="steady", help="of nights (steady)")
    parser.add_argument("--no-replay", action="store_true", help="leave out replaying everything")
    options = parser.parse_args()
    try:
        bench(options.nights, options.records, options.groups, options.kind, not options.no_replay)
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"{Path(error.cmd[0]).name} ended with status {error.returncode}: what it said last is"
            " above"
        )


if __name__ == "__main__":
    main()
